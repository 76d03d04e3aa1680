"""The Python interface: bee's own functions, plain or explained."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from promptdbg.engines import bee
from promptdbg.files.tree import DiskFiles, Mount
from promptdbg.model import Assembly, StageKind
from tests import invariants
from tests.engines.bee.workspaces import write

NOW = datetime(2026, 5, 30, 12, 0, tzinfo=UTC)
CONFIG = bee.Config(profile="normal", caveman="off")


def test_assemble_gives_the_text_or_the_assembly() -> None:
    tools = [bee.Tool("read", "Read a file.\nMore."), bee.Tool("bash", snippet="run")]
    records = [bee.Record("tea", b"Two minutes.", modified=NOW)]
    context = [bee.ContextFile("/w/AGENTS.md", b"root rules")]
    text = bee.assemble(CONFIG, tools, "a: b (prompt)", records, context, cwd="/w/demo", now=NOW)
    explained = bee.assemble(
        CONFIG, tools, "a: b (prompt)", records, context, cwd="/w/demo", now=NOW, explain=True
    )
    assert isinstance(explained, Assembly)
    invariants.check(explained)
    assert explained.system_text == text
    assert text.endswith(
        '\n\n## Project Context\n<context path="/w/AGENTS.md">\nroot rules\n</context>\n\n'
        "## Tools\n- read: Read a file.\n- bash: run\n\n## Skills\na: b (prompt)\n\n"
        '## Memory\n<memory name="tea" age="today" priority=3>\nTwo minutes.\n</memory>'
    )


def test_assemble_does_not_resolve_auto_by_itself() -> None:
    config = bee.Config(default_provider="ollama", profile="auto", caveman="auto")
    applied = bee.apply_profile(config)
    assert (applied.profile, applied.caveman, applied.mode) == ("tiny", "ultra", "edit")
    plain, resolved = bee.assemble(config, cwd="/w"), bee.assemble(applied, cwd="/w")
    assert bee.estimate_tokens(resolved) - bee.estimate_tokens(plain) >= (334 + 435) // 4


def test_context_files_are_loaded_below_a_root(tmp_path: Path) -> None:
    write(
        tmp_path, {"AGENTS.md": "@note.md", "z/Note.md": "N", "in/CLAUDE.md": "in", "h/.bee/CLAUDE.md": "g"}
    )
    files = bee.load_context_files("/in", "/h/.bee", files=bee.api.disk(tmp_path))
    assert [(file.path, file.body) for file in files] == [
        ("/h/.bee/CLAUDE.md", b"g"),
        ("/AGENTS.md", b'<import path="/z/Note.md">\nN\n</import>'),
        ("/in/CLAUDE.md", b"in"),
    ]
    explained = bee.load_context_files("/in", "/h/.bee", files=bee.api.disk(tmp_path), explain=True)
    invariants.check(explained)
    assert "bee.import.fuzzy" in {entry.rule for entry in explained.decisions}


def test_context_files_are_loaded_below_a_drive(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "@~/note.md", "me/note.md": "N"})
    found = bee.load_context_files(
        "C:/in", home="C:/me", files=DiskFiles([Mount("C:", tmp_path)]), explain=True
    )
    invariants.check(found)
    texts = {section.id: section.text for section in found.sections}
    assert "context/C:/AGENTS.md" in texts
    imports = [section.text for section in found.sections if section.parent == "context/C:/AGENTS.md"]
    assert imports == ["N"]


def test_attachments(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A\n"})
    assert bee.expand_at_paths("see @a.md", str(tmp_path)) == "see ### @a.md\n```\nA\n```"
    explained = bee.expand_at_paths("see @a.md @b", str(tmp_path), explain=True)
    invariants.check(explained)
    assert {s.id for s in explained.sections if s.kind == "attachment"} == {
        "attachments/@a.md",
        "attachments/@b",
    }


def test_context_notice() -> None:
    assert bee.should_warn(70, 100)
    assert not bee.should_warn(69, 100)
    assert bee.format_context_warning(69, 100) == ""
    assert len(bee.format_context_warning(250, 100)) == 122 + 6 + 2


def test_estimates_are_bytes_over_four_rounded_down() -> None:
    assert bee.estimate_tokens("é" * 3 + "x") == 1
    block = {"type": "tool_use", "tool_use": {"id": "1", "name": "abcd", "input": {"b": "<", "a": 1.0}}}
    assert (
        bee.estimate_message_tokens({"role": "assistant", "content": [block]})
        == len(r'{"a":1,"b":"\u003c"}') // 4 + 1
    )


def test_compaction_plain_and_explained() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": f"m{number}"}]} for number in range(6)]
    assert bee.compact(messages, "S")[0]["content"] == [{"type": "text", "text": "[compacted history]\nS"}]
    assert bee.compact(messages, None) == messages
    explained = bee.compact(messages, "S", explain=True)
    invariants.check(explained)
    final = explained.stage(StageKind.FINAL)
    assert final is not None
    assert [message.id for message in final.messages] == ["system", "summary:1", "m2", "m3", "m4", "m5"]


def test_scaling_and_filters_under_their_own_names() -> None:
    tiny = bee.Config().profiles["tiny"]
    assert bee.scale_profile(tiny, "tiny", 131_072) == replace(
        tiny, system_prompt_budget=6553, tool_output_tokens=2621
    )
    assert bee.scale_profile(tiny, "normal", 131_072) == tiny
    assert bee.filter_tools(["read", "ls", "x"], "tiny", "edit", ["x"]) == ["read", "x"]
    assert bee.resolve_auto_profile("openai", "gpt-4o-mini") == "tiny"


def test_a_store_is_scanned_and_asked(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "---\nname: kiln\n---\nK", "INDEX.md": "i", "b.md": "plain", "c.txt": "no"})
    assert {record.name for record in bee.scan_store(tmp_path)} == {"kiln", "b"}
    assert bee.knowledge_query(tmp_path, "the kiln", 1)[0].body == b"K"
    assert bee.scan_store(tmp_path / "missing") == []


@pytest.mark.parametrize(
    ("content", "limit", "cut"), [("x" * 40, 10, False), ("x" * 41, 10, True), ("", 1, False)]
)
def test_tool_results(content: str, limit: int, cut: bool) -> None:
    shown, truncated = bee.truncate_with_limit("read", content, limit)
    assert truncated is cut
    assert shown.startswith(content[:40])
