"""What a step did to one message, recorded where it was done.

Steps are pure functions from rows to rows and events; the pipeline turns events into decisions,
statuses and dropped messages. The rows before and after carry the tokens, so the sums always fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.model import Action, Rule, Unit


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one message.

    ``before`` are the rows that went in (two for a merge, none for an insertion), ``after`` the row
    that came out (``None`` when it was dropped).
    """

    action: Action
    item: str
    rule: Rule
    because: str
    before: Rows = ()
    after: Row | None = None
    measured: float | None = None
    limit: float | None = None
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The rows after a step, and what it did; ``rows`` is the tuple that came in when it did nothing."""

    rows: Rows
    events: tuple[Event, ...] = ()


def dropped(
    row: Row,
    rule: Rule,
    because: str,
    *,
    measured: float | None = None,
    limit: float | None = None,
    unit: Unit | None = None,
) -> Event:
    return Event(Action.DROP, row.id, rule, because, (row,), None, measured, limit, unit)


def inserted(row: Row, rule: Rule, because: str) -> Event:
    return Event(Action.INSERT, row.id, rule, because, (), row)


def rewritten(
    before: Row,
    after: Row,
    rule: Rule,
    because: str,
    *,
    action: Action = Action.REWRITE,
    measured: float | None = None,
    limit: float | None = None,
    unit: Unit | None = None,
) -> Event:
    return Event(action, before.id, rule, because, (before,), after, measured, limit, unit)


def merged(left: Row, right: Row, after: Row, rule: Rule, because: str) -> Event:
    return Event(Action.MERGE, after.id, rule, because, (left, right), after)


def difference(
    before: Rows,
    after: Rows,
    *,
    drop: tuple[Rule, Callable[[Row], str]],
    insert: tuple[Rule, Callable[[Row], str]],
    rewrite: tuple[Rule, Callable[[Row], str]],
) -> tuple[Event, ...]:
    """The events that lead from one list to another, for steps that rebuild the list whole."""
    old = {row.id: row for row in before}
    kept = {row.id for row in after}
    events = [dropped(row, drop[0], drop[1](row)) for row in before if row.id not in kept]
    for row in after:
        earlier = old.get(row.id)
        if earlier is None:
            events.append(inserted(row, insert[0], insert[1](row)))
        elif earlier is not row and earlier.value != row.value:
            events.append(rewritten(earlier, row, rewrite[0], rewrite[1](row)))
    return tuple(events)
