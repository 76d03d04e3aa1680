"""How states are drawn: the marks and words of ``promptdbg.marks`` with a style of this UI.

A state is never told by colour alone. A style is the name of a look of ``promptdbg.tui.looks``.
"""

from __future__ import annotations

from collections.abc import Mapping

from promptdbg.marks import MESSAGE_MARKS, SECTION_MARKS, Mark, mark_of
from promptdbg.model import MessageStatus, SectionStatus

CHANGED = "^"
"""Follows a name whose text, status or cost the last change or reload altered."""

WORD_WIDTH = max(len(mark.word) for mark in (*SECTION_MARKS.values(), *MESSAGE_MARKS.values()))

_TONES = {"plain": "status--keep", "warning": "status--cut", "muted": "status--drop", "accent": "status--add"}
_OWN: dict[SectionStatus | MessageStatus, str] = {
    SectionStatus.DISABLED: "status--off",
    SectionStatus.EMPTY: "status--empty",
}


def style_of(status: SectionStatus | MessageStatus) -> str:
    """The look that a status is drawn with."""
    return _OWN.get(status) or _TONES[mark_of(status).tone]


def glyph_of(mark: Mark, ascii_only: bool) -> str:
    """The mark to draw, one cell wide."""
    return mark.ascii if ascii_only else mark.mark


def counts_text(counts: Mapping[SectionStatus, int], ascii_only: bool) -> str:
    """``●6 ◐1 ○2``: the states there are, in the table's order."""
    return " ".join(
        f"{glyph_of(mark, ascii_only)}{counts[status]:,}"
        for status, mark in SECTION_MARKS.items()
        if counts.get(status)
    )
