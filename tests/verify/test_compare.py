"""An assembly beside a report of the real run: every kind of difference is found and named."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from promptdbg.model import (
    Assembly,
    Budget,
    EngineInfo,
    Failure,
    Message,
    Settings,
    Stage,
    StageKind,
    TokenizerInfo,
)
from promptdbg.verify.compare import MESSAGE_DIFFERENCES, compare, real_failure
from promptdbg.verify.report import ABSENT, Difference


def _stage(name: str, kind: StageKind, rows: list[dict[str, Any]], **fields: Any) -> Stage:
    messages = tuple(
        Message(
            id=f"m{number}",
            role=row.get("role", ""),
            content=row.get("content"),
            tokens=1,
            size=5,
            tool_call_id=row.get("tool_call_id"),
            extra=MappingProxyType({k: v for k, v in row.items() if k == "_meta"}),
            wire=tuple(row),
        )
        for number, row in enumerate(rows)
    )
    return Stage(name, kind, name, messages, tokens=len(messages), **fields)


ROWS: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "hello", "_meta": {"a": 1, "b": True}},
]


def _assembly(*stages: Stage, failure: Failure | None = None) -> Assembly:
    return Assembly(
        engine=EngineInfo("nanobot", "nanobot", "0.3.5"),
        tokenizer=TokenizerInfo("o200k_base", True),
        workspace="/w",
        session=None,
        settings=Settings(),
        budget=Budget(None, 0, "tokens"),
        sections=(),
        stages=stages,
        decisions=(),
        rules=(),
        failure=failure,
    )


def _snapshot(rows: list[dict[str, Any]], size: int = 50, source: str = "tiktoken") -> dict[str, Any]:
    return {"messages": json.dumps(rows), "size": size, "measured_by": source, "sizes": [5] * len(rows)}


def _answer(**fields: Any) -> dict[str, Any]:
    answer = {
        "stored": {"messages": json.dumps(ROWS[1:])},
        "restored": {"messages": json.dumps(ROWS[1:])},
        "history": json.dumps(ROWS[1:]),
        "initial": _snapshot(ROWS),
        "given": _snapshot(ROWS),
        "steps": [{"name": "drop_orphan_tool_results", "changed": False}],
        "sent": _snapshot(ROWS),
        "requests": 1,
        "failure": None,
    }
    return {**answer, **fields}


def _same() -> Assembly:
    return _assembly(
        _stage("session", StageKind.SESSION, ROWS[1:]),
        _stage("history", StageKind.STEP, ROWS[1:]),
        _stage("initial", StageKind.INITIAL, ROWS, size=50, measured_by="tiktoken"),
        _stage("drop_orphan_tool_results", StageKind.STEP, ROWS, size=50, measured_by="tiktoken"),
        _stage("final", StageKind.FINAL, ROWS),
    )


def _found(assembly: Assembly, answer: dict[str, Any]) -> dict[str, tuple[Difference, ...]]:
    return {report.name: report.differences for report in compare(assembly, answer) if not report.equal}


def test_the_same_is_the_same() -> None:
    reports = compare(_same(), _answer())
    assert [report.name for report in reports] == [
        "outcome",
        "session",
        "history",
        "initial",
        "drop_orphan_tool_results",
        "final",
    ]
    assert all(report.equal for report in reports)
    assert [report.messages for report in reports] == [None, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"content": "hello "}, "message 1 content"),
        ({"content": None}, "message 1 content"),
        ({"_meta": {"b": True, "a": 1}}, "message 1 _meta"),
        ({"_meta": {"a": True, "b": True}}, "message 1 _meta"),
        ({"name": "x"}, "message 1 name"),
    ],
)
def test_a_value_that_differs_is_named(change: dict[str, Any], where: str) -> None:
    real = [ROWS[0], {**ROWS[1], **change}]
    assert [d.where for d in _found(_same(), _answer(initial=_snapshot(real)))["initial"]] == [where]


def test_the_values_are_exact() -> None:
    found = _found(_same(), _answer(sent=_snapshot([ROWS[0], {"role": "user", "content": "hallo\u2028"}])))
    assert found == {
        "final": (
            Difference("message 1 content", "hello", "hallo\u2028"),
            Difference("message 1 _meta", {"a": 1, "b": True}, ABSENT),
        )
    }


def test_key_order_counts() -> None:
    real = [{"content": "be brief", "role": "system"}, ROWS[1]]
    (difference,) = _found(_same(), _answer(initial=_snapshot(real)))["initial"]
    assert difference == Difference("message 0 key order", ["role", "content"], ["content", "role"])


def test_missing_and_extra_messages() -> None:
    found = _found(_same(), _answer(initial=_snapshot([*ROWS, {"role": "tool", "content": "x"}])))
    assert found["initial"][0] == Difference("messages", 2, 3)
    assert found["initial"][1] == Difference("message 2", ABSENT, {"role": "tool", "content": "x"})


def test_estimates_are_compared() -> None:
    found = _found(_same(), _answer(initial={**_snapshot(ROWS, 51, "heuristic"), "sizes": [5, 6]}))
    assert [(d.where, d.ours, d.real) for d in found["initial"]] == [
        ("estimate", 50, 51),
        ("measured by", "tiktoken", "heuristic"),
        ("message 1 estimate", 5, 6),
    ]


def test_a_step_that_only_one_side_has() -> None:
    assembly = _same()
    found = _found(replace(assembly, stages=(*assembly.stages[:3], assembly.stages[4])), _answer())
    assert found == {"drop_orphan_tool_results": (Difference("stage", ABSENT, "present"),)}
    found = _found(assembly, _answer(steps=[]))
    assert found == {"drop_orphan_tool_results": (Difference("stage", "present", ABSENT),)}


def test_a_step_that_changed_nothing_has_the_list_before() -> None:
    other = [ROWS[0]]
    steps = [{"name": "drop_orphan_tool_results", "changed": True, **_snapshot(other)}]
    found = _found(_same(), _answer(steps=steps, sent=_snapshot(other)))
    assert set(found) == {"drop_orphan_tool_results", "final"}


CRASH = {"type": "KeyError", "message": "'role'", "where": "session/manager.py::get_history"}


def test_a_crash_on_both_sides_is_the_same() -> None:
    assembly = _assembly(
        _stage("session", StageKind.SESSION, ROWS[1:]),
        failure=Failure("KeyError: 'role'", "session/manager.py::get_history", "a row has no role"),
    )
    answer = _answer(failure=CRASH, history=None, initial=None, given=None, steps=[], sent=None)
    assert _found(assembly, answer) == {}
    failure = real_failure(answer)
    assert failure == Failure("KeyError", "session/manager.py::get_history", "'role'")


@pytest.mark.parametrize(
    "failure",
    [
        None,
        Failure("ValueError: 'role'", "session/manager.py::get_history", ""),
        Failure("KeyError: 'role'", "session/manager.py::load", ""),
        Failure("KeyError: 'content'", "session/manager.py::get_history", ""),
    ],
)
def test_a_crash_that_we_do_not_tell(failure: Failure | None) -> None:
    assembly = _assembly(_stage("session", StageKind.SESSION, ROWS[1:]), failure=failure)
    answer = _answer(failure=CRASH, history=None, initial=None, given=None, steps=[], sent=None)
    assert list(_found(assembly, answer)) == ["outcome"]


def test_a_crash_that_does_not_happen() -> None:
    assembly = replace(_same(), failure=Failure("KeyError", "x.py::f", "no"))
    assert "outcome" in _found(assembly, _answer())


def test_the_words_before_a_message_are_nanobots() -> None:
    """An assembly has the figures of an error, not the sentence around them."""
    real = {"type": "E", "message": "Some words about cli:direct: 9/5 via tiktoken", "where": "a.py::f"}
    ours = replace(_same(), failure=Failure("E: cli:direct: 9/5 via tiktoken", "a.py::f", ""))
    assert _found(ours, _answer(failure=real)) == {}
    ours = replace(_same(), failure=Failure("E: cli:direct: 8/5 via tiktoken", "a.py::f", ""))
    assert list(_found(ours, _answer(failure=real))) == ["outcome"]


def test_stored_rows_are_compared_with_what_stays_behind() -> None:
    row = {"role": "user", "timestamp": "t", "content": "hello", "_meta": {}}
    stage = _stage("session", StageKind.SESSION, [{"role": "user", "content": "hello", "_meta": {}}])
    stored = {"messages": json.dumps([row])}
    answer = _answer(stored=stored, restored=stored)
    (difference,) = _found(_assembly(stage, *_same().stages[1:]), answer)["session"]
    assert difference == Difference("message 0 timestamp", ABSENT, "t")


def test_a_restored_session_is_a_list_of_its_own() -> None:
    more = {"messages": json.dumps([*ROWS[1:], {"role": "assistant", "content": "cut off"}])}
    assert _found(_same(), _answer(restored=more)) == {"restore": (Difference("stage", ABSENT, "present"),)}


def test_rows_of_earlier_requests_are_a_list_of_their_own() -> None:
    assembly = _same()
    stage = _stage("earlier_requests", StageKind.STEP, ROWS)
    with_rows = replace(assembly, stages=(*assembly.stages[:3], stage, *assembly.stages[3:]))
    assert _found(with_rows, _answer(requests=2)) == {}
    assert list(_found(assembly, _answer(requests=2))) == ["earlier_requests"]


def test_the_list_of_differences_is_bounded() -> None:
    many = [{"role": "user", "content": str(number)} for number in range(1000)]
    (report,) = [r for r in compare(_same(), _answer(initial=_snapshot(many))) if r.name == "initial"]
    assert len(report.differences) == MESSAGE_DIFFERENCES
    assert report.messages == 1000


def test_a_later_request_that_failed_before_it_was_sent_begins_with_what_it_was_given() -> None:
    """It is not counted as a request, and a step that changes nothing shows what was given to it."""
    longer = [*ROWS, {"role": "assistant", "content": "more"}]
    assembly = _assembly(
        _stage("session", StageKind.SESSION, ROWS[1:]),
        _stage("history", StageKind.STEP, ROWS[1:]),
        _stage("initial", StageKind.INITIAL, ROWS, size=50, measured_by="tiktoken"),
        _stage("earlier_requests", StageKind.STEP, longer),
        _stage("drop_orphan_tool_results", StageKind.STEP, longer, size=50, measured_by="tiktoken"),
    )
    assert _found(assembly, _answer(given=_snapshot(longer), sent=None)) == {}
