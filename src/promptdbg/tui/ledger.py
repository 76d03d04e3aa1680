"""The ledger as paragraphs: parts with their bars, the sum, the limit, what a provider counted. Pure."""

from __future__ import annotations

from promptdbg.analysis.ledger import Entry, Kind, ledger
from promptdbg.model import Budget, Counted, Stage
from promptdbg.text import clip_middle, one_line, pad, width
from promptdbg.tui.glyphs import Glyphs
from promptdbg.tui.sentences import signed
from promptdbg.tui.wrapping import BLANK, Paragraph, say

_NAME = 22
_AMOUNT = 10
_SHARE = 5
_BAR = 12

_STYLES = {
    Kind.USED: "virtual--strong",
    Kind.LIMIT: "virtual--strong",
    Kind.OVER: "virtual--error",
    Kind.WINDOW: "virtual--muted",
    Kind.RESERVED: "virtual--muted",
    Kind.COUNTED: "virtual--accent",
    Kind.GAP: "virtual--accent",
}

_AFTER_A_GAP = frozenset({Kind.USED, Kind.WINDOW, Kind.COUNTED})
"""Lines before which a new part of the ledger begins."""


def ledger_lines(budget: Budget, recorded: Stage | None, glyphs: Glyphs) -> list[Paragraph]:
    """The ledger of a budget.

    Args:
        recorded: a request that was really sent; where the provider's count stands beside it, that counts.
    """
    entries = ledger(budget, counted_in(recorded))
    scale = max([budget.used, *(entry.amount for entry in entries if entry.kind is Kind.PART), 1])
    room = min(max((width(one_line(entry.name)) for entry in entries), default=0), _NAME)
    lines = [say((f"in {budget.unit}, by the framework's own measure", "virtual--muted")), BLANK]
    for entry in entries:
        if entry.kind in _AFTER_A_GAP:
            lines.append(BLANK)
        lines.append(_line(entry, room, scale, glyphs))
    if budget.limit is None:
        lines.append(say(("there is no limit", "virtual--muted")))
    return lines


def counted_in(recorded: Stage | None) -> Counted | None:
    """What the provider counted for a recorded request."""
    if recorded is None or recorded.size is None or recorded.measured_by != "provider":
        return None
    return Counted(recorded.size, "this")


def _line(entry: Entry, room: int, scale: int, glyphs: Glyphs) -> Paragraph:
    style = _STYLES.get(entry.kind, "")
    name = pad(clip_middle(one_line(entry.name), room), room)
    amount = signed(entry.amount) if entry.kind is Kind.GAP else f"{entry.amount:,}".replace("-", "−")
    figures = (f"{name}{pad(amount, _AMOUNT, right=True)}  ", style)
    if entry.kind is not Kind.PART:
        return say(figures, (entry.about, "virtual--muted"))
    bar = glyphs.full * round(_BAR * entry.amount / scale)
    share = pad(entry.about, _SHARE, right=True) + "  "
    return say(figures, (share, "virtual--muted"), (bar, "virtual--accent"))
