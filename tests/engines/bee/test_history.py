"""The message lists: attachments, tool results, the notice, compaction, what is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptdbg.errors import UsageError
from promptdbg.model import Assembly, Evidence, MessageStatus, SectionStatus, Settings, StageKind
from tests.engines.bee.workspaces import assembled, decision, opened, section

Json = Any


def text(role: str, words: str, **more: Json) -> Json:
    return {"role": role, "content": [{"type": "text", "text": words}], **more}


def call(name: str, number: str, path: str = "x") -> Json:
    use = {"id": number, "name": name, "input": {"path": path}}
    return {
        "role": "assistant",
        "content": [{"type": "thinking", "text": "hm"}, {"type": "tool_use", "tool_use": use}],
    }


def result(number: str, words: str) -> Json:
    return {
        "role": "tool",
        "content": [{"type": "tool_result", "tool_result": {"use_id": number, "content": words}}],
    }


def lines(*rows: Json) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def stage(assembly: Assembly, name: str) -> Any:
    return next(entry for entry in assembly.stages if entry.name == name)


def final(assembly: Assembly) -> Any:
    found = assembly.stage(StageKind.FINAL)
    assert found is not None
    return found


def test_attachments_stand_in_the_new_message_and_each_is_told(tmp_path: Path) -> None:
    files = {"a.md": "A @b.md\n", "b.md": "B", "in/c.md": "C"}
    assembly = assembled(opened(tmp_path, files, message="see @a.md, @in/c.md. @/etc/hosts @none"))
    current = final(assembly).messages[-1]
    assert current.content[0]["text"] == "see ### @a.md\n```\nA @b.md\n```, @in/c.md. @/etc/hosts @none"
    statuses = {s.id: s.status.value for s in assembly.sections if s.kind == "attachment"}
    assert statuses == {
        "attachments/@a.md": "kept",
        "attachments/@in/c.md.": "literal",
        "attachments/@/etc/hosts": "literal",
        "attachments/@none": "literal",
    }
    off = assembled(
        opened(tmp_path, files, message="see @a.md"), Settings(off=frozenset({"attachments/@a.md"}))
    )
    assert final(off).messages[-1].content[0]["text"] == "see @a.md"
    assert section(off, "attachments/@a.md").status is SectionStatus.DISABLED


def test_stored_messages_are_not_expanded_again(tmp_path: Path) -> None:
    rows = lines(text("user", "### @a.md\n```\nA\n```"), text("assistant", "ok"))
    workspace = opened(tmp_path, {"a.md": "A", "messages.jsonl": rows})
    assembly = assembled(workspace, Settings(turn=1))
    assert final(assembly).messages[-1].content == [{"type": "text", "text": "### @a.md\n```\nA\n```"}]


def test_a_long_result_keeps_its_head_and_bash_its_tail_too(tmp_path: Path) -> None:
    log = "".join(f"line {number}\n" for number in range(20_000)) + "error: build failed\n"
    rows = lines(text("user", "go"), call("bash", "1"), result("1", log), call("read", "2"), result("2", log))
    workspace = opened(tmp_path, {"messages.jsonl": rows})
    assembly = assembled(workspace)
    by_bash, by_read = (final(assembly).messages[n].content[0]["tool_result"]["content"] for n in (3, 5))
    assert by_bash.endswith("error: build failed\n")
    assert "error: build failed" not in by_read
    cut = decision(assembly, "m2", "bee.tool-result.cut")
    assert (cut.measured, cut.limit, cut.unit) == (len(log), 32_000, "bytes")
    same = assembled(workspace, Settings(values={"tool_results": False}))
    assert not stage(same, "tool-results").changed
    smaller = assembled(workspace, Settings(values={"tool_output_tokens": 10}))
    assert decision(smaller, "m2", "bee.tool-result.cut").limit == 40


def test_the_notice_goes_before_the_newest_result_in_the_middle_of_a_run(tmp_path: Path) -> None:
    rows = lines(text("user", "go"), call("ls", "1"), result("1", "files"))
    workspace = opened(tmp_path, {"messages.jsonl": rows})
    values = {"context_window": 1000, "input_tokens": 700, "compaction": False}
    assembly = assembled(workspace, Settings(values=values))
    shown = final(assembly).messages[-1].content[0]["tool_result"]["content"]
    assert shown.endswith("\n\nfiles")
    assert len(shown) == 122 + 4 + 2 + len("files")
    assert decision(assembly, "m2", "bee.notice.context").limit == 700
    below = assembled(workspace, Settings(values={**values, "input_tokens": 699}))
    assert not stage(below, "context-notice").changed


ROWS = (
    text("user", "always answer in metric units"),
    call("read", "1", "long/" * 80),
    result("1", "x" * 40),
    text("assistant", "read it"),
    text("user", "and the lids?"),
    text("assistant", "seventeen"),
)


def test_compaction_keeps_four_and_can_part_a_call_from_its_result(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"messages.jsonl": lines(*ROWS), "summary.txt": "SUM", "query.txt": "next"})
    assembly = assembled(workspace, Settings(values={"context_window": 150, "threshold": 0.7}))
    ids = [message.id for message in final(assembly).messages]
    assert ids[:2] == ["system", "summary:1"]
    assert [message.id for message in stage(assembly, "compact-history").dropped] == ["m0", "m1"]
    assert "m2" in ids  # the result stays, its call is gone
    summary = stage(assembly, "compact-history").messages[1]
    assert summary.content[0]["text"] == "[compacted history]\nSUM"
    assert summary.evidence is Evidence.UNKNOWN
    assert summary.sources == ("m0", "m1")
    assert "29 bytes of its text" in decision(assembly, "m0", "bee.compact.summary").because
    assert "nothing of it" in decision(assembly, "m1", "bee.compact.summary").because


def test_a_failed_summary_changes_nothing_and_an_empty_one_deletes(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"messages.jsonl": lines(*ROWS)})
    values = {"context_window": 150, "threshold": 0.7}
    failed = assembled(workspace, Settings(values={**values, "summarizer": "fails"}))
    assert len(final(failed).messages) == 7
    assert "the summary failed" in decision(failed, "system", "bee.compact.unchanged").because
    empty = assembled(workspace, Settings(values={**values, "summarizer": "empty"}))
    assert final(empty).messages[1].content[0]["text"] == "[compacted history]\n"


def test_reported_usage_decides_only_in_the_middle_of_a_run(tmp_path: Path) -> None:
    middle = opened(tmp_path, {"messages.jsonl": lines(*ROWS)})
    values = {"context_window": 100_000, "input_tokens": 99_000}
    assert stage(assembled(middle, Settings(values=values)), "compact").changed
    fresh = opened(tmp_path, {"messages.jsonl": lines(*ROWS), "query.txt": "new"})
    assert not stage(assembled(fresh, Settings(values=values)), "compact").changed


def test_screen_notes_and_thinking_do_not_reach_the_provider(tmp_path: Path) -> None:
    rows = lines(
        text("user", "hi"), text("user", "(saved)", ephemeral=True), call("ls", "1"), result("1", "ok")
    )
    assembly = assembled(opened(tmp_path, {"messages.jsonl": rows}))
    assert [m.id for m in stage(assembly, "initial").dropped] == ["m1"]
    assert [block["type"] for block in final(assembly).messages[2].content] == ["tool_use"]
    assert final(assembly).statuses["m2"] is MessageStatus.REWRITTEN


def test_turns_are_built_as_they_were(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"messages.jsonl": lines(*ROWS)})
    assert [turn.title for turn in workspace.turns] == ["always answer in metric units", "and the lids?"]
    first = assembled(workspace, Settings(turn=1))
    assert [message.id for message in final(first).messages] == ["system", "m0"]
    second = assembled(workspace, Settings(turn=2))
    assert [message.id for message in final(second).messages] == ["system", "m0", "m1", "m2", "m3", "m4"]
    stored = final(second).messages[-1].source  # the same item as in later turns
    assert stored is not None
    assert stored.start_line == 5
    with pytest.raises(UsageError, match="no turn 3"):
        assembled(workspace, Settings(turn=3))


def test_messages_can_be_switched_off_and_edited(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"messages.jsonl": lines(*ROWS)})
    assembly = assembled(workspace, Settings(off=frozenset({"m1", "m2"}), texts={"m0": "in miles"}))
    assert [message.id for message in final(assembly).messages] == ["system", "m0", "m3", "m4", "m5"]
    assert final(assembly).messages[1].content == [{"type": "text", "text": "in miles"}]


def test_broken_lines_are_told_and_left_out(tmp_path: Path) -> None:
    deep = '{"role": "user", "content": ' + "[" * 300 + "]" * 300 + "}\n"
    rows = lines(text("user", "a")) + "{broken\n[1]\n\n" + deep + lines(text("assistant", "b"))
    workspace = opened(tmp_path, {"messages.jsonl": rows})
    found = [
        (notice.code, notice.source.start_line if notice.source else 0)
        for notice in workspace.inputs.warnings
    ]
    assert found == [("bee.messages", 2), ("bee.messages", 3), ("bee.messages", 5)]
    assert [message.id for message in final(assembled(workspace)).messages] == ["system", "m0", "m1"]


ODD: tuple[Json, ...] = (
    {"role": "user"},
    {"role": "user", "content": None},
    {
        "role": "tool",
        "content": [1, None, "x", {"type": "tool_result"}, {"type": "tool_result", "tool_result": 5}],
    },
    {"role": "tool", "content": [{"type": "tool_result", "tool_result": {"use_id": [1], "content": ["x"]}}]},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "tool_use": {"id": {}, "name": 5, "input": "\ud800"}}],
    },
    {"role": "assistant", "content": {"type": "text"}},
    {"role": "", "content": [{"type": "text", "text": 7}, {"type": [], "text": "x"}]},
)


def test_rows_of_any_shape_are_taken_as_they_are(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"messages.jsonl": lines(*ODD)})
    assembly = assembled(workspace, Settings(values={"context_window": 10, "tool_output_tokens": 1}))
    assert final(assembly).messages[0].id == "system"
    for turn in workspace.turns:
        assembled(workspace, Settings(turn=turn.number))
