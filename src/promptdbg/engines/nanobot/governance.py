"""The steps that prepare a copy of the messages for the model, before every request.

``agent/context_governance.py::ContextGovernor`` (0.2.2: ``agent/runner.py``). Each step is a function
from rows to rows with the events that say what it did; ``steps`` lists them in a dialect's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import (
    COMPACTABLE_TOOLS,
    INFLIGHT_TARGET,
    MICROCOMPACT_KEEP,
    MICROCOMPACT_MIN_CHARS,
    Dialect,
)
from promptdbg.engines.nanobot.estimate import Estimate, Estimator, ToolSet
from promptdbg.engines.nanobot.events import Event, Step, dropped, inserted, rewritten
from promptdbg.engines.nanobot.merge import merge_adjacent_users
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.rows import (
    Row,
    Rows,
    answered_id,
    call_ids,
    calls_of,
    first_user,
    last_user,
    legal_start,
)
from promptdbg.engines.nanobot.toolresults import Change, Offloaded, ResultRules, normalize
from promptdbg.model import Action, Json


@dataclass
class Governor:
    """What the steps of one turn share; ``compacted`` and ``files`` grow from request to request."""

    dialect: Dialect
    prose: Prose
    estimator: Estimator
    tools: ToolSet
    results: ResultRules
    budget: int
    """Input tokens of a request (section 8.2); 0 switches off what depends on it."""
    inflight_start: int
    compaction: bool = True
    compacted: list[str] = field(default_factory=list)
    files: dict[str, Offloaded] = field(default_factory=dict)

    def measure(self, rows: Rows) -> Estimate:
        return self.estimator.prompt(rows, self.tools)


StepFunction = Callable[[Governor, Rows], Step]


def strip_placeholders(governor: Governor, rows: Rows) -> Step:
    """Assistant rows that only say that a message was left out."""
    events: list[Event] = []
    kept: list[Row] = []
    for row in rows:
        content = row.content
        if (
            row.role == "assistant"
            and isinstance(content, str)
            and not row.value.get("tool_calls")
            and governor.prose.equals("placeholder_assistant", content.strip())
        ):
            events.append(dropped(row, rules.PLACEHOLDER, "it only says that a message was omitted"))
        else:
            kept.append(row)
    return Step(tuple(kept), tuple(events)) if events else Step(rows)


def strip_malformed_calls(governor: Governor, rows: Rows) -> Step:
    """Calls without a name; the row goes with its last call when it says nothing else."""
    events: list[Event] = []
    out: list[Row] = []
    for row in rows:
        calls = row.value.get("tool_calls")
        if row.role != "assistant" or not calls:
            out.append(row)
            continue
        valid = [call for call in calls if _has_name(call)]
        if len(valid) == len(calls):
            out.append(row)
            continue
        lost = len(calls) - len(valid)
        value = {key: item for key, item in row.value.items() if key != "tool_calls"}
        if valid:
            value = {**row.value, "tool_calls": valid}
        because = f"{lost} of {len(calls)} calls have no usable name"
        if not valid and not value.get("content"):
            events.append(dropped(row, rules.MALFORMED_CALL, because + ", and the row says nothing else"))
            continue
        after = row.replaced(value)
        events.append(rewritten(row, after, rules.MALFORMED_CALL, because, action=Action.TRUNCATE))
        out.append(after)
    return Step(tuple(out), tuple(events)) if events else Step(rows)


def _has_name(call: Json) -> bool:
    if not isinstance(call, dict):
        return False
    function = call.get("function")
    name = function.get("name") if isinstance(function, dict) else call.get("name")
    return isinstance(name, str) and bool(name)


def drop_orphans(governor: Governor, rows: Rows) -> Step:
    """Tool results that answer no earlier call, no call at all, or an answered one."""
    declared: set[str] = set()
    fulfilled: set[str] = set()
    events: list[Event] = []
    kept: list[Row] = []
    for row in rows:
        role = row.role
        if role == "assistant" and row.value.get("tool_calls"):
            declared.update(call_ids(row.value))
        elif role == "tool":
            answered = answered_id(row.value)
            why = _orphan(answered, declared, fulfilled, governor.dialect)
            if why:
                events.append(dropped(row, rules.ORPHAN, why))
                continue
            fulfilled.add(answered)
        kept.append(row)
    return Step(tuple(kept), tuple(events)) if events else Step(rows)


def _orphan(answered: str, declared: set[str], fulfilled: set[str], dialect: Dialect) -> str:
    if not answered:
        return "" if dialect.strict_rows else "it names no call"
    if answered not in declared:
        return f"no message before it declares call {answered!r}"
    if answered in fulfilled and not dialect.strict_rows:
        return f"call {answered!r} is answered already"
    return ""


def backfill(governor: Governor, rows: Rows) -> Step:
    """A fixed answer after the results that directly follow a call nobody answered."""
    fulfilled = {answered_id(row.value) for row in rows if row.role == "tool"}
    missing: dict[int, list[tuple[str, Json]]] = {}
    for index, row in enumerate(rows):
        if row.role == "assistant" and row.value.get("tool_calls"):
            for call in calls_of(row.value):
                if call.get("id") and str(call["id"]) not in fulfilled:
                    missing.setdefault(index, []).append((str(call["id"]), _call_name(call)))
    if not missing:
        return Step(rows)
    events: list[Event] = []
    out: list[Row] = []
    waiting: list[Row] = []
    counts: dict[str, int] = {}
    for index, row in enumerate(rows):
        if waiting and row.role != "tool":
            out.extend(waiting)
            waiting = []
        out.append(row)
        for call_id, name in missing.get(index, ()):
            number = counts.get(call_id, 0)
            counts[call_id] = number + 1
            filled = _backfilled(governor, row, call_id, name, number)
            events.append(
                inserted(filled, rules.BACKFILL, f"no message answers call {call_id!r} of {row.id}")
            )
            waiting.append(filled)
    out.extend(waiting)
    return Step(tuple(out), tuple(events))


def _backfilled(governor: Governor, caller: Row, call_id: str, name: Json, number: int) -> Row:
    value = {
        "role": "tool",
        "tool_call_id": call_id,
        "name": name,
        "content": governor.prose.fixed("backfill"),
    }
    return Row(f"backfill:{call_id}:{number}", value, sources=(caller.id,))


def _call_name(call: dict[str, Json]) -> Json:
    function = call.get("function")
    name = function.get("name", "") if isinstance(function, dict) else ""
    return name if isinstance(name, str) else str(name)


def tool_result_budget(governor: Governor, rows: Rows) -> Step:
    """Every tool row normalised, results of earlier turns included."""
    events: list[Event] = []
    out: list[Row] | None = None
    for index, row in enumerate(rows):
        if row.role != "tool":
            continue
        after, made = normalized_row(governor, row, index)
        if after is not row:
            out = list(rows) if out is None else out
            out[index] = after
            events.extend(made)
    return Step(tuple(out), tuple(events)) if out is not None else Step(rows)


def normalized_row(governor: Governor, row: Row, index: int) -> tuple[Row, tuple[Event, ...]]:
    """A tool row with its result normalised; the row itself when nothing changes."""
    given = governor.results
    value = row.value
    call_id = str(value.get("tool_call_id") or f"tool_{index}")
    key = (
        "normalized",
        given.dialect.name,
        id(given.prose),
        given.project,
        given.session_key,
        given.limit,
        call_id,
    )
    known = row.memo.get(key)
    if known is None:
        result = normalize(given, call_id, str(value.get("name") or "tool"), value.get("content"))
        after = row if result.content == value.get("content") else row.with_content(result.content)
        if after is not row and "content" not in value:
            after = row.replaced({**value, "content": result.content})
        known = row.memo[key] = (after, _result_events(row, after, result.changes), result.files)
    after, events, files = known
    for file in files:
        governor.files.setdefault(file.path, file)
    return after, events


def _result_events(row: Row, after: Row, changes: tuple[Change, ...]) -> tuple[Event, ...]:
    events: list[Event] = []
    for number, change in enumerate(changes):
        lossy = change.rule is not rules.EMPTY_RESULT
        events.append(
            rewritten(
                row,
                after if number == len(changes) - 1 else row,
                change.rule,
                change.because,
                action=Action.TRUNCATE if lossy else Action.REWRITE,
                measured=change.measured,
                limit=change.limit,
                unit="chars" if change.measured is not None else None,
            )
        )
    return tuple(events)


# ---- compaction ----------------------------------------------------------------------------------


def microcompact(governor: Governor, rows: Rows) -> Step:
    """0.2.2: results of listed tools, all but the newest ten, whatever the budget."""
    if not governor.compaction:
        return Step(rows)
    found = [i for i, row in enumerate(rows) if row.role == "tool" and _name(row) in COMPACTABLE_TOOLS]
    events: list[Event] = []
    out = list(rows)
    for behind, index in enumerate(found[: max(0, len(found) - MICROCOMPACT_KEEP)]):
        row = rows[index]
        content = row.content
        if not isinstance(content, str) or len(content) < MICROCOMPACT_MIN_CHARS:
            continue
        newer = len(found) - behind - 1
        out[index] = row.with_content(f"[{_name(row)} result omitted from context]")
        because = (
            f"{newer} newer results of listed tools follow, and only the newest {MICROCOMPACT_KEEP} stay"
        )
        events.append(
            rewritten(
                row,
                out[index],
                rules.MICROCOMPACT,
                because,
                action=Action.TRUNCATE,
                measured=newer + 1,
                limit=MICROCOMPACT_KEEP,
                unit="count",
            )
        )
    return Step(tuple(out), tuple(events)) if events else Step(rows)


def _name(row: Row) -> str:
    name = row.value.get("name", "tool")
    return name if isinstance(name, str) else str(name)


def compact_inflight(governor: Governor, rows: Rows) -> Step:
    """main: results of this turn, oldest first, down to 85 % of the budget."""
    if governor.budget <= 0 or not governor.compaction:
        return Step(rows)
    events: list[Event] = []
    out = list(rows)
    for index, row in enumerate(rows):
        if row.role == "tool" and answered_id(row.value) in governor.compacted:
            out[index] = _compacted(governor, row)
            if out[index].content != row.content:
                because = "it was compacted for an earlier request of this turn"
                events.append(rewritten(row, out[index], rules.INFLIGHT, because, action=Action.TRUNCATE))
    current = tuple(out) if events else rows
    estimate = governor.measure(current).tokens
    if estimate > governor.budget:
        current = _compact_candidates(governor, current, estimate, events)
    return Step(current, tuple(events)) if events else Step(rows)


def _compact_candidates(governor: Governor, rows: Rows, estimate: int, events: list[Event]) -> Rows:
    target = int(governor.budget * INFLIGHT_TARGET)
    candidates = list(_candidates(governor, rows))
    for number, index in enumerate(candidates):
        if number == len(candidates) - 1 and estimate <= governor.budget:
            break
        row = rows[index]
        if answered_id(row.value) in governor.compacted:
            continue
        after = _compacted(governor, row)
        governor.compacted.append(answered_id(row.value))
        because = f"the request is {estimate:,} tokens, over {governor.budget:,}; results go until {target:,}"
        events.append(
            rewritten(
                row,
                after,
                rules.INFLIGHT,
                because,
                action=Action.TRUNCATE,
                measured=estimate,
                limit=governor.budget,
                unit="tokens",
            )
        )
        rows = (*rows[:index], after, *rows[index + 1 :])
        estimate = governor.measure(rows).tokens
        if estimate <= target:
            break
    return rows


def _candidates(governor: Governor, rows: Rows) -> Iterator[int]:
    for index in range(governor.inflight_start, len(rows)):
        row = rows[index]
        content = row.content
        if (
            row.role == "tool"
            and row.value.get("name") in COMPACTABLE_TOOLS
            and answered_id(row.value)
            and answered_id(row.value) not in governor.compacted
            and isinstance(content, str)
            and len(content) >= MICROCOMPACT_MIN_CHARS
        ):
            yield index


def _compacted(governor: Governor, row: Row) -> Row:
    return row.with_content(governor.prose.about("compacted", _name(row)))


# ---- snipping ------------------------------------------------------------------------------------


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


# ---- order ---------------------------------------------------------------------------------------

_REPAIRS: tuple[tuple[str, StepFunction], ...] = (
    ("drop_orphan_tool_results", drop_orphans),
    ("backfill_missing_tool_results", backfill),
)
_AGAIN: tuple[tuple[str, StepFunction], ...] = tuple((f"{name}_2", step) for name, step in _REPAIRS)
_CLEANING: tuple[tuple[str, StepFunction], ...] = (
    ("strip_placeholder_assistant_messages", strip_placeholders),
    ("strip_malformed_tool_calls", strip_malformed_calls),
    *_REPAIRS,
    ("apply_tool_result_budget", tool_result_budget),
)
_STEPS: dict[str, tuple[tuple[str, StepFunction], ...]] = {
    "0.2.2": (
        *_REPAIRS,
        ("microcompact", microcompact),
        ("apply_tool_result_budget", tool_result_budget),
        ("snip_history", snip),
        *_AGAIN,
    ),
    "main": (*_CLEANING, ("compact_inflight_overflow", compact_inflight), ("snip_history", snip), *_AGAIN),
    "0.3.5": (*_CLEANING, ("merge_adjacent_user_messages", merge_adjacent_users)),
}


def _forced(governor: Governor, rows: Rows) -> Step:
    return snip(governor, rows, force=True)


FITTING: tuple[tuple[str, StepFunction], ...] = (("snip_history(force)", _forced), *_AGAIN)
"""What 0.3.5 does to a request under pressure in a session that is not kept."""


def steps(dialect: Dialect) -> tuple[tuple[str, StepFunction], ...]:
    """The steps of every request, by the framework's names (a repeated one ends in ``_2``)."""
    return _STEPS[dialect.name]
