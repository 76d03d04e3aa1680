"""The budget as a ledger: what the prompt is made of, line by line, and what is taken off the window.

The parts sum to ``used``; what the provider counted, and by how much it differs, are lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from promptdbg.model import Budget, Counted


class Kind(StrEnum):
    """What a line is."""

    PART = "part"
    USED = "used"
    LEFT = "left"
    OVER = "over"
    LIMIT = "limit"
    WINDOW = "window"
    RESERVED = "reserved"
    COUNTED = "counted"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: a name, an amount in the budget's unit, and a word about it."""

    kind: Kind
    name: str
    amount: int
    about: str = ""


def ledger(budget: Budget, counted: Counted | None = None) -> tuple[Entry, ...]:
    """The lines in order: parts, their sum, the limit and where it comes from, what a provider counted.

    Args:
        counted: what a provider counted, where that was recorded elsewhere than in the budget.
    """
    used = budget.used
    return (
        *(Entry(Kind.PART, part.name, part.tokens, _share(part.tokens, used)) for part in budget.parts),
        Entry(Kind.USED, "used", used),
        *_limit(budget),
        *_counted(budget, counted or budget.counted),
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole > 0 else ""


def _limit(budget: Budget) -> Iterator[Entry]:
    if budget.window is not None:
        yield Entry(Kind.WINDOW, "window", budget.window)
    for part in budget.reserved:
        yield Entry(Kind.RESERVED, f"less {part.name}", -part.tokens)
    if budget.limit is None:
        return
    yield Entry(Kind.LIMIT, "limit", budget.limit)
    left = budget.limit - budget.used
    yield Entry(Kind.LEFT, "left", left) if left >= 0 else Entry(Kind.OVER, "over", -left)


def _counted(budget: Budget, counted: Counted | None) -> Iterator[Entry]:
    if counted is None:
        return
    this = counted.request == "this"
    about = "for this request" if this else "for the request before"
    yield Entry(Kind.COUNTED, "provider counted", counted.tokens, about)
    if this and budget.unit == "tokens":
        gap = counted.tokens - budget.used
        about = f"{gap / budget.used:+.1%} of the estimate" if budget.used else ""
        yield Entry(Kind.GAP, "gap", gap, about)
