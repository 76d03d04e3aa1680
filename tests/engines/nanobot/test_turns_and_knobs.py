"""Turns, requests, switches and the ledger."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from promptdbg.engines.nanobot import ENGINE
from promptdbg.errors import UsageError
from promptdbg.model import Counted, Evidence, MessageStatus, SectionStatus, StageKind
from promptdbg.tokens import tokenizer
from tests.engines.nanobot.making import (
    DIALECTS,
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

ROWS = [
    user("first", timestamp="2026-08-01T08:00:00"),
    assistant("answer"),
    user("second"),
    assistant("", "c1"),
    result("c1", "out"),
    assistant("done"),
    user("/status", _command=True),
    user("third"),
]


def test_turns_are_the_user_s_own_messages(tmp_path: Path) -> None:
    turns = ENGINE.turns(loaded(tmp_path, stored(ROWS)))
    assert [(turn.number, turn.title, turn.row) for turn in turns] == [
        (1, "first", 0),
        (2, "second", 2),
        (3, "third", 7),
    ]
    assert turns[0].time == "2026-08-01T08:00:00"


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 900}, 900),
        ({"context_tokens": 800, "input_tokens": 2_400, "request_count": 3}, 800),
        ({"prompt_tokens": 900, "request_count": 3}, None),  # the sum of three says nothing about one
        ({"prompt_tokens": "many"}, None),
        ([], None),
    ],
)
def test_what_the_provider_counted_stands_beside_the_estimate(
    tmp_path: Path, usage: object, tokens: int | None
) -> None:
    inputs = loaded(tmp_path, stored(ROWS, metadata={"_last_usage": usage}))
    counted = {
        turn: assembled(inputs, settings("main").with_turn(turn)).budget.counted for turn in (2, 3, None)
    }
    assert counted[2] is None  # what was counted is the last turn's
    assert counted[3] == (None if tokens is None else Counted(tokens, "this"))
    assert counted[None] == (None if tokens is None else Counted(tokens, "before"))


def test_a_turn_shows_the_lists_when_its_message_was_sent(tmp_path: Path) -> None:
    inputs = loaded(tmp_path, stored(ROWS))
    first = assembled(inputs, settings("main").with_turn(2))
    assert final_ids(first) == ["system", "m0", "m1", "m2"]
    second = assembled(inputs, settings("main", request=2).with_turn(2))
    assert final_ids(second) == ["system", "m0", "m1", "m2", "m3", "m4"]
    assert "turn.as-of-now" in codes(first)
    last = assembled(inputs, settings("main", request=9).with_turn(2))
    assert "turn.requests" in codes(last)
    with pytest.raises(UsageError, match="no turn 9"):
        assembled(inputs, settings("main").with_turn(9))


def test_an_archive_made_later_does_not_hide_a_turn(tmp_path: Path) -> None:
    metadata = {"_last_summary": {"text": "of all", "last_active": "2026-08-01T00:00:00"}}
    inputs = loaded(tmp_path, stored(ROWS, metadata, archived=7))
    assembly = assembled(inputs, settings("0.3.5").with_turn(2))
    assert final_ids(assembly) == ["system", "m0", "m1", "m2"]
    summary = assembly.section("archived_summary")
    assert summary is not None
    assert summary.status is SectionStatus.EMPTY


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_row_switched_off_was_never_stored(tmp_path: Path, dialect: str) -> None:
    inputs = loaded(tmp_path, stored(ROWS, archived=2))
    assembly = assembled(inputs, settings(dialect).with_off(["m0"]))
    stage = assembly.stages[1]
    assert (stage.name, [message.id for message in stage.dropped]) == ("settings", ["m0"])
    turn = turn_of(inputs, settings(dialect).with_off(["m0"]))
    assert turn.archived == 1


def test_an_edited_message_is_rewritten(tmp_path: Path) -> None:
    assembly = assembled(loaded(tmp_path, stored(ROWS)), settings("main").with_text("m1", "another answer"))
    stage = assembly.stages[1]
    assert stage.status_of("m1") is MessageStatus.REWRITTEN
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    assert next(m.content for m in final.messages if m.id == "m1") == "another answer"


def test_sections_files_skills_entries_and_tools_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text("facts")
    entry = {"cursor": 1, "timestamp": "2026-08-01 10:00", "content": "note", "session_key": "cli:direct"}
    (tmp_path / "memory" / "history.jsonl").write_text(json.dumps(entry))
    (tmp_path / "AGENTS.md").write_text("rules")
    (tmp_path / "skills" / "one").mkdir(parents=True)
    (tmp_path / "skills" / "one" / "SKILL.md").write_text("---\nalways: true\n---\nbody of one")
    inputs = loaded(tmp_path, stored([]))
    for item in ("bootstrap/AGENTS.md", "memory", "recent_history/1", "skills/one", "tools/exec", "identity"):
        whole = assembled(inputs, settings("main")).section(item)
        off = assembled(inputs, settings("main").with_off([item])).section(item)
        assert whole is not None
        assert off is not None
        assert (whole.status, off.status) == (SectionStatus.KEPT, SectionStatus.DISABLED), item
        assert off.tokens == 0
    assert "settings.not-there" in codes(assembled(inputs, settings("main").with_off(["system"])))


def test_edited_files_follow_the_rules_of_their_text(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("rules")
    inputs = loaded(tmp_path, stored([]))
    edited = assembled(inputs, settings("main").with_text("bootstrap/AGENTS.md", "other rules"))
    section = edited.section("bootstrap/AGENTS.md")
    assert section is not None
    assert section.output == "## AGENTS.md\n\nother rules"
    blank = assembled(inputs, settings("main").with_text("bootstrap/AGENTS.md", " "))
    section = blank.section("bootstrap/AGENTS.md")
    assert section is not None
    assert section.status is SectionStatus.DROPPED


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_ledger_sums_to_the_framework_s_own_estimate(tmp_path: Path, dialect: str) -> None:
    assembly = assembled(loaded(tmp_path, stored(ROWS)), settings(dialect))
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    assert assembly.budget.used == final.size
    assert assembly.budget.limit == 200_000 - 8_192 - 1_024
    assert [part.tokens for part in assembly.budget.reserved] == [8_192, 1_024]


def test_a_block_limit_counts_for_requests_only(tmp_path: Path) -> None:
    turn = turn_of(loaded(tmp_path, stored(ROWS)), settings("main", block_limit=5_000))
    assert turn.options.input_budget == 5_000
    assert turn.options.replay_budget == 190_784
    assert turn.options.consolidation_budget == 190_784
    newer = turn_of(loaded(tmp_path, stored(ROWS)), settings("0.3.5", block_limit=5_000))
    assert newer.options.input_budget == 190_784


def test_tools_are_sorted_with_mcp_last(tmp_path: Path) -> None:
    names = ["zeta", "mcp_a", "alpha"]
    tools = [{"name": name, "description": "d", "parameters": {}} for name in names]
    assembly = assembled(loaded(tmp_path, stored([]), tools=tools), settings("main"))
    shown = [s.name for s in assembly.sections if s.parent == "tools"]
    assert shown == ["alpha", "zeta", "mcp_a"]
    parent = assembly.section("tools")
    assert parent is not None
    assert json.loads(parent.output)[0]["function"]["name"] == "alpha"


def test_unknown_tools_are_marked_so(tmp_path: Path) -> None:
    assembly = assembled(loaded(tmp_path, stored([]), tools="none.json"), settings("main"))
    section = assembly.section("tools")
    assert section is not None
    assert section.evidence is Evidence.UNKNOWN


def test_a_bad_clock_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="knob now"):
        ENGINE.assemble(loaded(tmp_path), settings("main", now="tomorrow"), tokenizer("o200k_base"))


def test_ids_do_not_change_with_a_knob(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("rules")
    inputs = loaded(tmp_path, stored(ROWS))
    wide = assembled(inputs, settings("main"))
    narrow = assembled(inputs, settings("main", context_window=1_400, max_output=100))
    assert {s.id for s in wide.sections} == {s.id for s in narrow.sections}


def test_a_turn_s_injected_messages_are_merged_or_kept_apart(tmp_path: Path) -> None:
    inflight = [assistant("", "c1"), result("c1", "out"), user("also"), user("quick")]
    inputs = loaded(tmp_path, stored([]), inflight=inflight)
    assert final_ids(assembled(inputs, settings("main")))[-2:] == ["t1", "t2"]
    newer = assembled(inputs, settings("0.3.5"))
    stage = next(stage for stage in newer.stages if stage.name == "merge_adjacent_user_messages")
    assert stage.status_of("t2") is MessageStatus.MERGED
    assert newer.stages[-1].messages[-1].sources == ("t2", "t3")


def test_an_odd_row_before_the_first_answer_has_a_request_of_its_own(tmp_path: Path) -> None:
    rows = [user("a"), {"role": None, "content": "odd"}, assistant("b"), user("c")]
    turn = turn_of(loaded(tmp_path, stored(rows)), replace(settings("0.3.5", request=3), turn=1))
    assert turn.requests == 3
    assert [row.id for row in turn.recorder.rows] == ["system", "m0", "m1", "m2"]
