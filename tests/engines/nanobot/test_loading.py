"""Loading a session: offsets, times, the checkpoint file and renamed tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptdbg.engines.nanobot.dialects import DIALECTS
from promptdbg.engines.nanobot.loading import load_session
from promptdbg.records import Record
from tests.engines.nanobot.making import (
    assembled,
    assistant,
    codes,
    final_ids,
    loaded,
    result,
    settings,
    stored,
    turn_of,
    user,
)

_NEW = DIALECTS["0.3.5"]


@pytest.mark.parametrize(("offset", "expected"), [(2, 2), (True, 0), (-1, 0), (9, 0), ("1", 0), (None, 0)])
def test_offsets_outside_the_rows_are_zero(offset: Any, expected: int) -> None:
    session = load_session(stored([user("a"), user("b"), user("c")], archived=offset), DIALECTS["main"])
    assert session.last_consolidated == expected


def test_the_last_metadata_line_wins_wherever_it_stands() -> None:
    first = stored([user("a")], {"title": "one"})
    late = Record(3, {"_type": "metadata", "metadata": {"title": "two"}, "updated_at": "not a time"})
    session = load_session(replace(first, records=(*first.records, late)), DIALECTS["main"])
    assert session.metadata == {"title": "two"}
    assert session.updated_at == "2026-08-19T08:30:00"
    assert [notice.code for notice in session.notices] == ["session.repaired"]


def test_metadata_that_is_no_object_stops_the_oldest() -> None:
    broken = stored([user("a")])
    records = (Record(1, {"_type": "metadata", "metadata": [1]}), *broken.records[1:])
    assert load_session(replace(broken, records=records), DIALECTS["main"]).metadata == {}
    crash = load_session(replace(broken, records=records), DIALECTS["0.2.2"]).crash
    assert crash is not None
    assert crash.error == "AttributeError"


def _with_sidecar(payload: Any, **more: Any) -> Any:
    session = stored([user("a")])
    return replace(
        session, sidecar={"path": "/x.checkpoint.json", "stale": False, "payload": payload, **more}
    )


def _payload(**changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "session_key": "cli:direct",
        "base_updated_at": "2026-08-19T08:30:00",
        "base_message_count": 1,
        "checkpoint": {"assistant_message": assistant("half done")},
        **changes,
    }


def test_a_checkpoint_file_that_fits_is_taken() -> None:
    session = load_session(_with_sidecar(_payload()), _NEW)
    assert session.metadata["runtime_checkpoint"]["assistant_message"]["content"] == "half done"
    assert load_session(_with_sidecar(_payload()), DIALECTS["main"]).metadata == {}


@pytest.mark.parametrize(
    "sidecar",
    [
        _with_sidecar(_payload(base_message_count=2)),
        _with_sidecar(_payload(base_updated_at="2026-08-19T08:31:00")),
        _with_sidecar(_payload(session_key="other")),
        _with_sidecar(_payload(checkpoint=None)),
        _with_sidecar(_payload(), stale=True),
        _with_sidecar(None, problem="is not JSON"),
    ],
)
def test_a_checkpoint_file_that_does_not_fit_is_ignored(sidecar: Any) -> None:
    session = load_session(sidecar, _NEW)
    assert session.metadata == {}
    assert [notice.code for notice in session.notices] == ["session.sidecar"]


def test_a_crashed_turn_is_restored_from_it(tmp_path: Path) -> None:
    checkpoint = {
        "assistant_message": assistant("", "c1", "c2"),
        "completed_tool_results": [result("c1", "out")],
        "pending_tool_calls": [{"id": "c2", "function": {"name": "exec"}}, {"id": 5}],
    }
    session = _with_sidecar(_payload(checkpoint=checkpoint))
    assembly = assembled(loaded(tmp_path, session), settings("0.3.5"))
    assert final_ids(assembly) == ["system", "m0", "restored:0", "restored:1", "restored:2", "current"]


def test_a_turn_that_was_never_answered_is_closed(tmp_path: Path) -> None:
    session = stored([user("a")], {"pending_user_turn": True})
    assert final_ids(assembled(loaded(tmp_path, session), settings("main"))) == [
        "system",
        "m0",
        "interrupted",
        "current",
    ]


@pytest.mark.parametrize(("dialect", "marked"), [("main", False), ("0.3.5", True), ("0.2.2", False)])
def test_only_the_newest_marks_the_row_that_closes_a_turn(tmp_path: Path, dialect: str, marked: bool) -> None:
    session = stored([user("a")], {"pending_user_turn": True})
    restored = turn_of(loaded(tmp_path, session), settings(dialect)).restored
    assert restored is not None
    assert restored.rows[-1].value.get("_recovery_interrupted", False) is marked


def test_a_renamed_tool_is_read_under_its_new_name(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "write_stdin", "arguments": '{"chars":"ls","yield_time_ms":5}'}}
    rows = [user("a"), {**assistant(""), "tool_calls": [call]}, result("c1", "out", "write_stdin")]
    inputs = loaded(tmp_path, stored(rows))
    session = inputs.loaded("0.3.5")
    function = session.rows[1].value["tool_calls"][0]["function"]
    assert function == {"name": "exec_session", "arguments": '{"input":"ls","timeout_ms":5}'}
    assert session.rows[2].value["name"] == "exec_session"
    assert session.migrated == ("m1", "m2")
    assert inputs.loaded("main").rows[2].value["name"] == "write_stdin"
    decisions = [d.item for d in assembled(inputs, settings("0.3.5")).decisions if "exec-session" in d.rule]
    assert decisions == ["m1", "m2"]


def test_a_provider_s_own_state_is_told(tmp_path: Path) -> None:
    session = stored([{"_type": "provider_state", "state": {"kind": "responses"}}, user("a")])
    assembly = assembled(loaded(tmp_path, session), settings("main"))
    assert "session.provider-state" in codes(assembly)
    assert final_ids(assembly) == ["system", "m0"]


@pytest.mark.parametrize(
    ("checkpoint", "error"),
    [
        (
            {"pending_tool_calls": [{"id": "c1", "function": "exec"}]},
            "AttributeError: 'str' object has no attribute 'get'",
        ),
        ({"completed_tool_results": 5}, "TypeError: 'int' object is not iterable"),
    ],
)
def test_an_odd_checkpoint_stops_all_but_the_newest(tmp_path: Path, checkpoint: Any, error: str) -> None:
    inputs = loaded(tmp_path, stored([user("a")], {"runtime_checkpoint": checkpoint}))
    for dialect in ("main", "0.2.2"):
        failure = assembled(inputs, settings(dialect)).failure
        assert failure is not None
        assert (failure.error, failure.where) == (error, "agent/loop.py::_restore_runtime_checkpoint")
    assert assembled(inputs, settings("0.3.5")).failure is None


@pytest.mark.parametrize(
    ("dialect", "active"), [("main", "2026-08-19T08:30:00"), ("0.3.5", "2026-08-20T09:30:00")]
)
def test_only_the_newest_takes_restoring_for_a_change(tmp_path: Path, dialect: str, active: str) -> None:
    metadata = {"runtime_checkpoint": {}, "_last_summary": {"text": "All about tides."}}
    turn = turn_of(loaded(tmp_path, stored([user("a")], metadata)), settings(dialect))
    assert turn.summary is not None
    assert turn.summary.last_active == active
