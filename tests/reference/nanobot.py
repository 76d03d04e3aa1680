"""nanobot's reference cases: a folder each, and one expected file per dialect.

A case holds what nanobot's own functions gave with its passages replaced by their names. Everything
in ``expected`` is compared except ``oracle`` and ``e2e`` (how the case was made), the wording of
``load_warnings`` (that there are any is compared) and ``params`` (which are the inputs).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from promptdbg.engines.base import LoadRequest
from promptdbg.engines.nanobot import ENGINE
from promptdbg.engines.nanobot.assemble import rebuild
from promptdbg.engines.nanobot.beforehand import updated_at
from promptdbg.engines.nanobot.estimate import Estimate
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.engines.nanobot.state import Turn
from promptdbg.model import Settings, Stage, StageKind
from promptdbg.records import SessionRef
from promptdbg.sessions import nanobot as sessions
from promptdbg.tokens import tokenizer
from promptdbg.workspace import Workspace, manifest_from
from tests import invariants
from tests.reference import Case

_DIALECTS = ("main", "0.3.5", "0.2.2")

# Every key a case's params may hold. ``note`` is a comment, ``model`` only names a stub.
_PARAMS = {
    "bins",
    "builtin_skills",
    "channel",
    "chat_id",
    "consolidation",
    "consolidation_ratio",
    "context_block_limit",
    "context_window_tokens",
    "current_message",
    "disabled_skills",
    "env",
    "ephemeral",
    "inflight",
    "max_messages",
    "max_tokens",
    "max_tool_result_chars",
    "media",
    "model",
    "note",
    "now",
    "runtime_context_blocks",
    "sender_id",
    "session_key",
    "timezone",
    "tokenizer",
    "tools",
    "unified_session",
}
_EXPECTED = {
    "archived_summary",
    "budget",
    "compacted_ids_after",
    "compacted_ids_before_last_round",
    "consolidation",
    "crash",
    "e2e",
    "error",
    "final_messages",
    "history",
    "history_tokens",
    "initial_measure",
    "initial_messages",
    "messages_before_governance",
    "oracle",
    "params",
    "persisted_tool_results",
    "pressure",
    "restore",
    "rounds",
    "runtime_context_blocks",
    "session",
    "session_messages",
    "stages",
    "system_prompt_sections",
    "tool_tokens",
}
_SHOWN_WORKSPACE = "/srv/nb/ws"
_SHOWN_PROJECT = "/srv/nb/project"


def collect(folder: Path) -> list[Case]:
    cases: list[Case] = []
    for path in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        cases.extend(
            Case(f"nanobot/{path.name}[{dialect}]", path, dialect)
            for dialect in _DIALECTS
            if (path / f"expected.{dialect}.json").is_file()
        )
    return cases


def check(case: Case) -> None:
    expected = json.loads((case.path / f"expected.{case.variant}.json").read_text("utf-8"))
    unknown = set(expected) - _EXPECTED
    assert not unknown, f"the case expects what this adapter does not know: {sorted(unknown)}"
    turn = run(case, expected["params"])
    assert turn.assembly is not None
    invariants.check(turn.assembly)
    for name, compare in _COMPARISONS.items():
        if name in expected:
            compare(turn, expected[name], expected)


def run(case: Case, params: dict[str, Any]) -> Turn:
    """The case's turn, from its folder and the parameters as they were used."""
    return rebuild(inputs_of(case, params), _settings(params, case.variant), tokenizer("o200k_base"))


def inputs_of(case: Case, params: dict[str, Any]) -> NanobotInputs:
    """The case's folder, as it was loaded with these parameters."""
    unknown = set(params) - _PARAMS
    assert not unknown, f"unknown parameters: {sorted(unknown)}"
    workspace = _workspace(case, params)
    ref = SessionRef(str(case.path / "session.jsonl"), sessions.FORMAT, params["session_key"])
    inputs = ENGINE.load(
        workspace,
        LoadRequest(
            session=sessions.read(ref),
            message=params["current_message"],
            now=params["now"],
            home=str(case.path / "no-home"),
        ),
    )
    if params["builtin_skills"] == "on":
        assert inputs.builtin_skills, "bundled skills are nanobot's own: this case needs an installed copy"
    return inputs


def _workspace(case: Case, params: dict[str, Any]) -> Workspace:
    root = case.path / "workspace"
    assert params["builtin_skills"] in ("off", "on"), f"unknown builtin_skills {params['builtin_skills']}"
    data: dict[str, Any] = {
        "engine": "nanobot",
        "dialect": case.variant,
        "passages": "names",
        "session_key": params["session_key"],
        "channel": params["channel"],
        "chat_id": params["chat_id"],
        "sender": params["sender_id"],
        "tools": params["tools"],
        "media": params["media"],
        "runtime_context": params["runtime_context_blocks"],
        "inflight": params["inflight"],
        "bins": params["bins"],
        "env": params["env"],
        "builtin_skills": params["builtin_skills"],
        "paths": {"workspace": _SHOWN_WORKSPACE},
    }
    if (case.path / "project").is_dir():
        data["project"] = "../project"
        data["paths"]["project"] = _SHOWN_PROJECT
    return Workspace(root, manifest_from(root / "promptdbg.toml", data))


def _settings(params: dict[str, Any], dialect: str) -> Settings:
    consolidation = params["consolidation"]
    modes = {"fail": "fails", "reply": "succeeds"}
    assert consolidation["mode"] in modes, f"unknown consolidation mode {consolidation}"
    assert set(consolidation) <= {"mode", "text"}, f"unknown consolidation keys {consolidation}"
    assert params["tokenizer"] in ("cl100k_base", "unavailable"), f"unknown tokenizer {params['tokenizer']}"
    values: dict[str, Any] = {
        "dialect": dialect,
        "context_window": params["context_window_tokens"],
        "max_output": params["max_tokens"],
        "block_limit": params["context_block_limit"],
        "tool_result_cap": params["max_tool_result_chars"],
        "consolidation": modes[consolidation["mode"]],
        "consolidation_ratio": params["consolidation_ratio"],
        "max_messages": params["max_messages"],
        "unified_session": params["unified_session"],
        "disabled_skills": tuple(params["disabled_skills"]),
        "ephemeral": params["ephemeral"],
        "timezone": params["timezone"],
        "tokenizer": params["tokenizer"] == "cl100k_base",
        "skill_order": "name",
    }
    if "text" in consolidation:
        values["summary"] = consolidation["text"]
    return Settings(values=values)


# ---- comparisons: one for each key of ``expected`` -----------------------------------------------


def _values(rows: Rows) -> list[Any]:
    return [dict(row.value) for row in rows]


def _sent(stage: Stage) -> list[Any]:
    return [message.to_json() for message in stage.messages]


def _sizes(stage: Stage) -> list[int | None]:
    return [message.size for message in stage.messages]


def _stage(turn: Turn, kind: StageKind) -> Stage:
    assert turn.assembly is not None
    stage = turn.assembly.stage(kind)
    assert stage is not None, f"there is no stage {kind}"
    return stage


def _measure(estimate: Estimate) -> dict[str, Any]:
    return {"prompt_tokens": estimate.tokens, "source": estimate.source}


def _session(turn: Turn, expected: dict[str, Any], whole: dict[str, Any]) -> None:
    loaded = turn.loaded
    stem = Path(expected["file"]).stem
    key = turn.inputs.session_key
    assert stem in (sessions.storage_key(key), re.sub(r'[<>:"/\\|?*]', "_", key.replace(":", "_")))
    assert expected["key"] == key
    assert expected["message_count"] == len(loaded.rows)
    assert expected["last_consolidated"] == loaded.last_consolidated
    assert expected["metadata"] == loaded.metadata
    for name in ("created_at", "updated_at"):
        stored = getattr(loaded, name)
        assert expected[name] == ("<wall clock>" if stored is None else stored), name
    assert bool(expected["load_warnings"]) == bool(loaded.notices)


def _session_messages(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    stage = _stage(turn, StageKind.SESSION)
    assert expected == _values(turn.loaded.rows)
    assert expected == [
        {key: value for key, value in _stored(message).items() if key in row}
        for message, row in zip(stage.messages, expected, strict=True)
    ]


def _stored(message: Any) -> dict[str, Any]:
    """A stored row back from its message: what is sent, and what travels with it."""
    return {**message.to_json(), **message.extra}


def _restore(turn: Turn, expected: dict[str, Any], whole: dict[str, Any]) -> None:
    assert turn.restored is not None
    assert expected["appended"] == _values(turn.restored.appended)
    # The route is bookkeeping that the turn writes; it changes no prompt.
    after = {key: value for key, value in expected["metadata_after"].items() if key != "_compaction_route"}
    if turn.options.unified:
        after.pop("last_channel", None)
    left = {key: value for key, value in turn.restored.metadata.items() if key in after}
    assert after == left
    assert not {"runtime_checkpoint", "pending_user_turn"} & set(turn.restored.metadata)
    if turn.current is not None:
        assert expected["current_message_after_attachment_rewrite"] == turn.current.text
        assert expected["media_after"] == list(turn.current.media)


def _archived_summary(turn: Turn, expected: Any, whole: dict[str, Any]) -> None:
    summary = turn.summary
    if expected is None:
        assert summary is None
    elif isinstance(expected, str):  # 0.2.2 has it as the text of its section
        assert summary is not None
        assert "[Archived Context Summary]\n\n" + expected == summary.section()
    else:
        assert summary is not None
        assert expected == {"text": summary.text, "last_active": summary.last_active}


def _consolidation(turn: Turn, expected: dict[str, Any], whole: dict[str, Any]) -> None:
    result, options = turn.consolidated, turn.options
    assert result is not None
    summary = turn.restored.metadata.get("_last_summary") if turn.restored else None
    if result.summary is not None:
        summary = {"text": result.summary, "last_active": updated_at(turn)}
    actual = {
        "probe_estimate": result.probe.tokens,
        "source": result.probe.source,
        "budget": options.consolidation_budget,
        "skipped_because_ephemeral": options.ephemeral,
        "target": options.consolidation_target,
        "would_consolidate": result.wanted,
        "first_boundary": list(result.first_boundary) if result.first_boundary else None,
        "replay_token_budget": options.replay_budget,
        "ran_llm_calls": [
            {"messages": call.messages, "mode": "reply" if call.works else "fail"} for call in result.calls
        ],
        "last_consolidated_before": result.last_before,
        "last_consolidated_after": result.last_after,
        "history_jsonl_lines_added": len(result.entries),
        "summary_after": summary,
    }
    assert set(expected) <= set(actual)
    assert expected == {key: actual[key] for key in expected}


def _history(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    assert turn.history is not None
    assert expected == _values(turn.history.rows)
    assert turn.assembly is not None
    stage = next(stage for stage in turn.assembly.stages if stage.name == "history")
    assert expected == _sent(stage)


def _history_tokens(turn: Turn, expected: list[int], whole: dict[str, Any]) -> None:
    assert turn.history is not None
    assert expected == [turn.estimator.message(row) for row in turn.history.rows]


def _runtime_blocks(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    assert turn.current is not None
    assert expected == [{"source": block.source, "content": block.content} for block in turn.current.blocks]


def _tool_tokens(turn: Turn, expected: int, whole: dict[str, Any]) -> None:
    assert expected == turn.estimator.tools(turn.tools, after_text=False)


def _prompt_sections(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    # A request that was compacted has a newer prompt; the case shows the first.
    first = _first_prompt(turn)
    assert [entry["name"] for entry in expected] == [name for name, _text in first]
    for entry, (_name, text) in zip(expected, first, strict=True):
        assert entry["text"] == text
        assert entry["chars"] == len(text)
        assert entry["tokens"] == turn.estimator.text(text)
    compacted = turn.request is not None and turn.request.summary is not None
    if not compacted:
        assert turn.assembly is not None
        shown = [s for s in turn.assembly.sections if s.parent is None and s.place == "system" and s.output]
        assert [(s.name, s.output, s.size) for s in shown] == [
            (entry["name"], entry["text"], entry["tokens"]) for entry in expected
        ]


def _first_prompt(turn: Turn) -> list[tuple[str, str]]:
    assert turn.first_prompt is not None
    return [(draft.name, draft.output) for draft in turn.first_prompt.drafts if draft.output]


def _initial_messages(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    assert expected == _sent(_stage(turn, StageKind.INITIAL))


def _initial_measure(turn: Turn, expected: dict[str, Any], whole: dict[str, Any]) -> None:
    stage = _stage(turn, StageKind.INITIAL)
    assert expected == {
        "prompt_tokens": stage.size,
        "source": stage.measured_by,
        "per_message_tokens": _sizes(stage),
    }


def _budget(turn: Turn, expected: dict[str, Any], whole: dict[str, Any]) -> None:
    budget = turn.options.input_budget
    actual = {
        "input_budget": budget,
        "safety_buffer": 1024,
        "inflight_target": int(budget * 0.85),
        "inflight_start_index": len(turn.initial),
        "microcompact_keep_recent": 10,
    }
    assert set(expected) <= set(actual)
    assert expected == {key: actual[key] for key in expected}
    assert turn.assembly is not None
    assert turn.assembly.budget.limit == (budget or None)


def _compacted_before(turn: Turn, expected: list[str], whole: dict[str, Any]) -> None:
    assert turn.request is not None
    assert sorted(expected) == sorted(turn.request.compacted_before)


def _compacted_after(turn: Turn, expected: list[str], whole: dict[str, Any]) -> None:
    assert turn.governor is not None
    assert sorted(expected) == sorted(turn.governor.compacted)


def _before_governance(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    assert turn.request is not None
    assert expected == _values(turn.request.before)


def _stages(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    assert turn.request is not None
    assert turn.assembly is not None
    stages = {stage.name: stage for stage in turn.assembly.stages}
    steps = turn.request.steps
    assert [entry["name"] for entry in expected] == [named.name for named in steps]
    before: Rows = turn.request.before
    for entry, named in zip(expected, steps, strict=True):
        where = f"stage {entry['name']}"
        unknown = set(entry) - {
            "changed",
            "delta",
            "llm_calls",
            "messages",
            "name",
            "per_message_tokens",
            "prompt_tokens",
            "same_as_previous",
            "source",
            "summary",
        }
        assert not unknown, f"{where}: unknown keys {sorted(unknown)}"
        stage = stages[entry["name"]]
        assert entry["changed"] == (_values(before) != _values(named.step.rows)), where
        assert entry["changed"] == stage.changed, where
        assert entry.get("same_as_previous", False) == (not entry["changed"]), where
        if "messages" in entry:
            assert entry["messages"] == _sent(stage), where
            _check_delta(entry, before, named.step.rows, where)
        assert entry["prompt_tokens"] == stage.size, where
        assert entry["source"] == stage.measured_by, where
        assert entry["per_message_tokens"] == _sizes(stage), where
        if "summary" in entry:
            assert entry["summary"] == turn.request.summary, where
        if "llm_calls" in entry:
            sent = turn.request.summary_request
            assert [call["messages"] for call in entry["llm_calls"]] == ([] if sent is None else [sent]), (
                where
            )
        before = named.step.rows


def _check_delta(entry: dict[str, Any], before: Rows, after: Rows, where: str) -> None:
    """Rows that the case calls modified keep their place; the others are as the ids say."""
    delta = entry["delta"]
    assert set(delta) <= {"modified", "removed", "inserted"}, where
    for old, new in delta.get("modified", []):
        assert before[old].id == after[new].id, where
        assert before[old].value != after[new].value, where
    if not delta.get("inserted") and not delta.get("modified"):
        kept = {row.id for row in after}
        assert delta.get("removed", []) == [i for i, row in enumerate(before) if row.id not in kept], where


def _pressure(turn: Turn, expected: Any, whole: dict[str, Any]) -> None:
    assert turn.request is not None
    pressure = turn.request.pressure
    actual = {"measured": pressure.tokens, "source": pressure.source} if pressure else None
    assert expected == actual


def _error(turn: Turn, expected: Any, whole: dict[str, Any]) -> None:
    failure = turn.request.failure if turn.request else None
    if expected is None:
        assert failure is None
        return
    assert failure is not None
    words = json.dumps(expected)
    assert failure.error in words
    assert failure.message.rpartition(": ")[2].partition(" ")[0] in words


def _final_messages(turn: Turn, expected: list[Any], whole: dict[str, Any]) -> None:
    assert expected == _sent(_stage(turn, StageKind.FINAL))


def _rounds(turn: Turn, expected: int, whole: dict[str, Any]) -> None:
    assert expected == turn.requests


def _persisted(turn: Turn, expected: list[str], whole: dict[str, Any]) -> None:
    assert turn.governor is not None
    roots = {_SHOWN_WORKSPACE: "ws", _SHOWN_PROJECT: "project"}
    actual: list[str] = []
    for file in turn.governor.files.values():
        root = next(root for root in roots if file.path.startswith(root + "/"))
        actual.append(f"{roots[root]}{file.path.removeprefix(root)} ({file.size} bytes)")
    assert expected == sorted(actual)


def _crash(turn: Turn, expected: dict[str, Any], whole: dict[str, Any]) -> None:
    crash = turn.crash
    assert crash is not None, f"nanobot raises {expected['type']}"
    assert expected == {"type": crash.error, "message": crash.message, "where": crash.where}
    assert turn.assembly is not None
    failure = turn.assembly.failure
    assert failure is not None
    assert failure.error == f"{crash.error}: {crash.message}"


def _ignored(turn: Turn, expected: Any, whole: dict[str, Any]) -> None:
    """How the case was made."""


_COMPARISONS = {
    "oracle": _ignored,
    "params": _ignored,
    "e2e": _ignored,
    "session": _session,
    "session_messages": _session_messages,
    "restore": _restore,
    "archived_summary": _archived_summary,
    "consolidation": _consolidation,
    "crash": _crash,
    "history": _history,
    "history_tokens": _history_tokens,
    "runtime_context_blocks": _runtime_blocks,
    "tool_tokens": _tool_tokens,
    "system_prompt_sections": _prompt_sections,
    "initial_messages": _initial_messages,
    "initial_measure": _initial_measure,
    "budget": _budget,
    "compacted_ids_before_last_round": _compacted_before,
    "messages_before_governance": _before_governance,
    "stages": _stages,
    "pressure": _pressure,
    "error": _error,
    "compacted_ids_after": _compacted_after,
    "final_messages": _final_messages,
    "rounds": _rounds,
    "persisted_tool_results": _persisted,
}
assert set(_COMPARISONS) == _EXPECTED

__all__ = ["Row", "check", "collect", "run"]
