"""The step that cuts history to what fits beside the system prompt.

``agent/context_governance.py::snip_history``.
"""

from __future__ import annotations

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.events import Event, Step, dropped
from promptdbg.engines.nanobot.governor import Governor
from promptdbg.engines.nanobot.rows import Rows, first_user, last_user, legal_start
from promptdbg.model import Action


def snip(governor: Governor, rows: Rows, *, force: bool = False) -> Step:
    """The newest messages that fit beside the system prompt, from a user row on."""
    if governor.budget <= 0 or not rows:
        return Step(rows)
    estimate = governor.measure(rows)
    if estimate.tokens <= governor.budget and not force:
        return Step(rows)
    system = tuple(row for row in rows if row.role == "system")
    rest = tuple(row for row in rows if row.role != "system")
    if not rest:
        return Step(rows)
    fixed = max(sum(map(governor.estimator.message, system)), governor.measure(system).tokens)
    room = max(0, governor.budget - fixed)
    events: list[Event] = []
    kept = _newest(governor, rest, room, estimate.tokens, events)
    kept = _legal_tail(governor, kept, rest, room, events)
    result = (*system, *kept)
    return Step(rows if result == rows else result, tuple(events))


def _newest(governor: Governor, rest: Rows, room: int, estimate: int, events: list[Event]) -> Rows:
    start, used = len(rest), 0
    while start > 0:
        size = governor.estimator.message(rest[start - 1])
        if start < len(rest) and used + size > room:
            break
        used += size
        start -= 1
    running = used
    gone: list[Event] = []
    for row in reversed(rest[:start]):
        running += governor.estimator.message(row)
        because = (
            f"the request is {estimate:,} tokens, over {governor.budget:,}; with this message "
            f"{running:,} would stand beside the system prompt, where {room:,} fit"
        )
        gone.append(dropped(row, rules.SNIP, because, measured=running, limit=room, unit="tokens"))
    events.extend(reversed(gone))
    return rest[start:]


def _legal_tail(governor: Governor, kept: Rows, rest: Rows, room: int, events: list[Event]) -> Rows:
    user = first_user(kept)
    if user is not None:
        for row in kept[:user]:
            because = f"{kept[user].id} is the first user row that fits; rows in front of it go"
            events.append(dropped(row, rules.SNIP_USER, because))
        kept = kept[user:]
    elif (recovered := last_user(rest)) is not None:
        start = len(rest) - len(kept)
        del events[len(events) - (start - recovered) :]
        kept = rest[recovered:]
        total = sum(map(governor.estimator.message, kept))
        because = f"no user row fits {room:,} tokens, so the last one begins the list, with {total:,}"
        events.append(
            Event(
                Action.NOTE, kept[0].id, rules.SNIP_USER, because, measured=total, limit=room, unit="tokens"
            )
        )
    start, stray = legal_start(kept)
    for row in kept[:start]:
        assert stray is not None
        answered = stray.value.get("tool_call_id")
        because = f"{stray.id} answers call {answered!r}, which was cut, and that wipes all rows up to it"
        events.append(dropped(row, rules.SNIP_LEGAL, because))
    remaining = kept[start:]
    if not remaining and governor.dialect.strict_rows:
        return _last_four(rest, events)
    return remaining


def _last_four(rest: Rows, events: list[Event]) -> Rows:
    """0.2.2 keeps the last four rows when the cuts left nothing."""
    kept = rest[-4:]
    start, _stray = legal_start(kept)
    saved = {row.id for row in kept[start:]}
    events[:] = [event for event in events if event.item not in saved]
    return kept[start:]
