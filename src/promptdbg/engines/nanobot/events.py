"""What a step did to one message, recorded where it was done.

Steps are pure functions from rows to rows and events; the pipeline turns events into decisions,
statuses and dropped messages. The rows before and after carry the tokens, so the sums always fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from promptdbg.bulk import quick
from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.model import Action, Rule, Unit


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One thing that happened to one message; equal to nothing but itself, like a row.

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
    """The rows after a step, and what it did; ``rows`` is the list that came in when it did nothing."""

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
    """Two rows of the list became one."""
    return Event(Action.MERGE, after.id, rule, because, (left, right), after)


def absorbed(left: Row, after: Row, rule: Rule, because: str) -> Event:
    """A row of the list took in one that was never in it."""
    return Event(Action.MERGE, after.id, rule, because, (left,), after)


def compressed(before: Rows, after: Rows, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """One event for each message that differs between two lists, from all that happened on the way.

    Messages that came and went in between leave no event; what they said is in those they joined.
    """
    if not events:
        return ()
    told, into = _history(events)
    old = {row.id: row for row in before}
    present = {row.id for row in after}
    out: list[Event] = []
    joined: set[str] = set()
    for row in after:
        earlier, last = old.get(row.id), told.get(row.id)
        if earlier is row or last is None:
            continue
        taken = tuple(old[s] for s in row.sources if s in old and s != row.id and s not in present)
        joined.update(item.id for item in taken)
        action = Action.INSERT if earlier is None else Action.MERGE if taken else last.action
        sources = (earlier, *taken) if earlier is not None else taken
        out.append(
            Event(action, row.id, last.rule, last.because, sources, row, last.measured, last.limit, last.unit)
        )
    for row in before:
        last = told.get(row.id) or told.get(_carrier(row.id, into))
        if row.id not in present and row.id not in joined and last is not None:
            out.append(
                dropped(
                    row, last.rule, last.because, measured=last.measured, limit=last.limit, unit=last.unit
                )
            )
    return tuple(out)


def _history(events: tuple[Event, ...]) -> tuple[dict[str, Event], dict[str, str]]:
    """The last change of each message, and which message each merged one went into."""
    told: dict[str, Event] = {}
    into: dict[str, str] = {}
    for event in events:
        if event.action in (Action.NOTE, Action.PREDICT):
            continue
        told[event.item] = event
        for row in event.before:
            if row.id != event.item:
                into[row.id] = event.item
    return told, into


def _carrier(item: str, into: dict[str, str]) -> str:
    """The message that holds, or last held, what a merged message said."""
    while item in into:
        item = into[item]
    return item


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
