"""The box in which one chooses what to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptdbg.tui.others import Other, about
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.choices import Choice, ChoiceBox

ELSEWHERE = Choice("a file or a folder", "JSON that promptdbg wrote, a session, a workspace")
"""The last row: a place is to be named."""


def others_box(
    others: Sequence[Other],
    current: Other,
    picture: Picture,
    chosen: Callable[[Other], None],
    named: Callable[[], None],
) -> ChoiceBox:
    """What there is to compare with.

    Args:
        named: called when a place is to be named instead.
    """
    rows = [*(Choice(other.title, about(other, picture)) for other in others), ELSEWHERE]
    start = others.index(current) if current in others else -1

    def taken(row: int) -> None:
        if row < len(others):
            chosen(others[row])
        else:
            named()

    return ChoiceBox("Compare the prompt as it is now with", rows, start, taken)
