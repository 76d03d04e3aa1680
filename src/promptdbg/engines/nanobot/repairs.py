"""Steps that make a list of messages legal: every result has its call, every call its result.

``agent/context_governance.py::ContextGovernor`` (0.2.2: ``agent/runner.py``).
"""

from __future__ import annotations

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.events import Event, Step, dropped, inserted, rewritten
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.rows import Row, Rows, answered_id, call_ids, calls_of
from promptdbg.model import Action, Json


def strip_placeholders(rows: Rows, prose: Prose) -> Step:
    """Assistant rows that only say that a message was left out."""
    events: list[Event] = []
    kept: list[Row] = []
    for row in rows:
        content = row.content
        if (
            row.role == "assistant"
            and isinstance(content, str)
            and not row.value.get("tool_calls")
            and prose.equals("placeholder_assistant", content.strip())
        ):
            events.append(dropped(row, rules.PLACEHOLDER, "it only says that a message was omitted"))
        else:
            kept.append(row)
    return Step(tuple(kept), tuple(events)) if events else Step(rows)


def strip_malformed_calls(rows: Rows) -> Step:
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


def drop_orphans(rows: Rows, dialect: Dialect) -> Step:
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
            why = _orphan(answered, declared, fulfilled, dialect)
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


def backfill(rows: Rows, dialect: Dialect, prose: Prose) -> Step:
    """A fixed answer after the results that directly follow a call nobody answered."""
    fulfilled = {answered_id(row.value) for row in rows if row.role == "tool"}
    missing: dict[int, list[tuple[str, Json]]] = {}
    for index, row in enumerate(rows):
        if row.role == "assistant" and row.value.get("tool_calls"):
            for call in calls_of(row.value):
                if call.get("id") and str(call["id"]) not in fulfilled:
                    name = _call_name(call, dialect)
                    missing.setdefault(index, []).append((str(call["id"]), name))
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
            filled = _backfilled(prose, row, call_id, name, number)
            events.append(
                inserted(filled, rules.BACKFILL, f"no message answers call {call_id!r} of {row.id}")
            )
            waiting.append(filled)
    out.extend(waiting)
    return Step(tuple(out), tuple(events))


def _backfilled(prose: Prose, caller: Row, call_id: str, name: Json, number: int) -> Row:
    value = {
        "role": "tool",
        "tool_call_id": call_id,
        "name": name,
        "content": prose.fixed("backfill"),
    }
    return Row(f"backfill:{call_id}:{number}", value, sources=(caller.id,))


def _call_name(call: dict[str, Json], dialect: Dialect) -> Json:
    """The name as the call holds it; later versions than 0.2.2 make a text of any value."""
    function = call.get("function")
    name = function.get("name", "") if isinstance(function, dict) else ""
    return name if isinstance(name, str) or dialect.strict_rows else str(name)
