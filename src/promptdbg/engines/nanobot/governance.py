"""The steps that prepare a copy of the messages for the model before every request, in order.

``agent/context_governance.py::ContextGovernor.prepare_for_model`` (0.2.2: ``agent/runner.py``). Each
step is a function from rows to rows with the events that say what it did. Most depend on little beside
the rows; here each is given that and nothing else, so that it runs again only where that changed.
"""

from __future__ import annotations

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.compaction import compact_inflight, microcompact
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.events import Event, Step, rewritten
from promptdbg.engines.nanobot.governor import Governor, StepFunction
from promptdbg.engines.nanobot.merge import merge_adjacent_users
from promptdbg.engines.nanobot.repairs import (
    backfill,
    drop_orphans,
    strip_malformed_calls,
    strip_placeholders,
)
from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.engines.nanobot.snip import snip
from promptdbg.engines.nanobot.toolresults import Change, Offloaded, ResultRules, normalize
from promptdbg.model import Action


def normalized(rows: Rows, given: ResultRules) -> tuple[Step, tuple[Offloaded, ...]]:
    """Every tool row normalised, results of earlier turns included, and the files that takes."""
    events: list[Event] = []
    files: list[Offloaded] = []
    out: list[Row] | None = None
    for index, row in enumerate(rows):
        if row.role != "tool":
            continue
        after, made, stored = normalized_row(row, given, index)
        files.extend(stored)
        if after is not row:
            out = list(rows) if out is None else out
            out[index] = after
            events.extend(made)
    return Step(tuple(out), tuple(events)) if out is not None else Step(rows), tuple(files)


def normalized_row(
    row: Row, given: ResultRules, index: int
) -> tuple[Row, tuple[Event, ...], tuple[Offloaded, ...]]:
    """A tool row with its result normalised, the row itself when nothing changes; and files it takes."""
    value = row.value
    call_id = str(value.get("tool_call_id") or f"tool_{index}")
    known = row.memo.get("normalized")
    if known is None or known[0] != (given, call_id):
        result = normalize(given, call_id, str(value.get("name") or "tool"), value.get("content"))
        after = row if result.content == value.get("content") else row.with_content(result.content)
        if after is not row and "content" not in value:
            after = row.replaced({**value, "content": result.content})
        answer = (after, _result_events(row, after, result.changes), result.files)
        known = row.memo["normalized"] = ((given, call_id), answer)
    found: tuple[Row, tuple[Event, ...], tuple[Offloaded, ...]] = known[1]
    return found


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


def _placeholders(governor: Governor, rows: Rows) -> Step:
    return governor.reuse(strip_placeholders, rows, governor.prose)


def _malformed(governor: Governor, rows: Rows) -> Step:
    return governor.reuse(strip_malformed_calls, rows)


def _orphans(governor: Governor, rows: Rows) -> Step:
    return governor.reuse(drop_orphans, rows, governor.dialect)


def _missing(governor: Governor, rows: Rows) -> Step:
    return governor.reuse(backfill, rows, governor.dialect, governor.prose)


def _compacted(governor: Governor, rows: Rows) -> Step:
    return governor.reuse(microcompact, rows) if governor.compaction else Step(rows)


def _results(governor: Governor, rows: Rows) -> Step:
    step, files = governor.reuse(normalized, rows, governor.results)
    governor.store(files)
    return step


def _joined(governor: Governor, rows: Rows) -> Step:
    return governor.reuse(merge_adjacent_users, rows, governor.prose)


_REPAIRS: tuple[tuple[str, StepFunction], ...] = (
    ("drop_orphan_tool_results", _orphans),
    ("backfill_missing_tool_results", _missing),
)
_AGAIN: tuple[tuple[str, StepFunction], ...] = tuple((f"{name}_2", step) for name, step in _REPAIRS)
_CLEANING: tuple[tuple[str, StepFunction], ...] = (
    ("strip_placeholder_assistant_messages", _placeholders),
    ("strip_malformed_tool_calls", _malformed),
    *_REPAIRS,
    ("apply_tool_result_budget", _results),
)
_STEPS: dict[str, tuple[tuple[str, StepFunction], ...]] = {
    "0.2.2": (
        *_REPAIRS,
        ("microcompact", _compacted),
        ("apply_tool_result_budget", _results),
        ("snip_history", snip),
        *_AGAIN,
    ),
    "main": (*_CLEANING, ("compact_inflight_overflow", compact_inflight), ("snip_history", snip), *_AGAIN),
    "0.3.5": (*_CLEANING, ("merge_adjacent_user_messages", _joined)),
}


def _forced(governor: Governor, rows: Rows) -> Step:
    return snip(governor, rows, force=True)


FITTING: tuple[tuple[str, StepFunction], ...] = (("snip_history(force)", _forced), *_AGAIN)
"""What 0.3.5 does to a request under pressure in a session that is not kept."""


def steps(dialect: Dialect) -> tuple[tuple[str, StepFunction], ...]:
    """The steps of every request, by the framework's names (a repeated one ends in ``_2``)."""
    return _STEPS[dialect.name]
