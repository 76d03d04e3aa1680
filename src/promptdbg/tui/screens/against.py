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
    current: Other | None,
    picture: Picture,
    chosen: Callable[[Other], None],
    named: Callable[[], None] | None = None,
) -> ChoiceBox:
    """What there is to compare with.

    Args:
        named: called when a place is to be named instead; without it none can be.
    """
    rows = [Choice(other.title, about(other, picture)) for other in others]
    rows += [ELSEWHERE] if named is not None else []
    start = others.index(current) if current is not None and current in others else -1

    def taken(row: int) -> None:
        if row < len(others):
            chosen(others[row])
        elif named is not None:
            named()

    return ChoiceBox("Compare the prompt as it is now with", rows, start, taken)
