"""What a recording without its texts cannot tell is told as not known, never as an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from promptdbg.analysis.align import align_assemblies
from promptdbg.analysis.cache import compare_prefix
from promptdbg.analysis.check import Demands, check
from promptdbg.analysis.cut import find_cut
from promptdbg.analysis.duplicates import duplicates
from promptdbg.analysis.lint import lint_assembly
from promptdbg.analysis.trace import trace
from promptdbg.cli import main
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.errors import UsageError
from promptdbg.examples import FOLDER, examples
from promptdbg.export.document import document
from promptdbg.export.load import assembly_from
from promptdbg.export.structure import structure
from promptdbg.model import Assembly
from promptdbg.tokens import tokenizer

NAMES = [example.name for example in examples()]


def _live(name: str) -> Assembly:
    return Debugger(open_workspace(FOLDER / name, OpenRequest(now="2026-01-01T00:00:00+00:00"))).assembly


def _recorded(name: str, *, structured: bool = True) -> Assembly:
    assembly = _live(name)
    written = structure(assembly, b"0" * 32) if structured else document(assembly, text=False)
    return assembly_from(json.loads(json.dumps(written)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("structured", [True, False])
def test_no_breach_is_found_that_the_workspace_does_not_have(name: str, structured: bool) -> None:
    live, recorded = _live(name), _recorded(name, structured=structured)
    for provider in ("openai-chat", "openai-responses", "anthropic"):
        there = {(finding.code, finding.index) for finding in lint_assembly(live, provider)}
        assert {(finding.code, finding.index) for finding in lint_assembly(recorded, provider)} <= there


ASKED: list[Callable[[Assembly], object]] = [
    lambda recorded: trace(recorded, "95 km"),
    lambda recorded: duplicates(recorded, tokenizer()),
    lambda recorded: compare_prefix(recorded, recorded, tokenizer()),
    lambda recorded: check(recorded, Demands(must_reach=("95 km",))),
    lambda recorded: check(recorded, Demands(lint=("anthropic",))),
]


@pytest.mark.parametrize("asked", ASKED)
def test_a_question_about_texts_is_refused(asked: Callable[[Assembly], object]) -> None:
    with pytest.raises(UsageError, match="is not known: this recording was written without its texts"):
        asked(_recorded("nanobot-lost-rule"))


def test_what_needs_no_text_is_still_answered() -> None:
    (outcome,) = check(_recorded("nanobot-lost-rule"), Demands(max_tokens=1_000_000))
    assert outcome.ok


def test_two_recordings_are_held_against_each_other_by_what_they_cost() -> None:
    opened = open_workspace(FOLDER / "nanobot-lost-rule", OpenRequest(now="2026-01-01T00:00:00+00:00"))
    debugger = Debugger(opened)
    edited = debugger.preview(debugger.settings.with_text("memory", "Another memory."))
    left, right = (assembly_from(structure(one, b"0" * 32)) for one in (debugger.assembly, edited))
    live = align_assemblies(debugger.assembly, edited)
    assert [run.changed for run in align_assemblies(left, right).runs] == [run.changed for run in live.runs]


def test_where_a_text_is_cut_is_not_made_up() -> None:
    recorded = _recorded("bee-nasty")
    assert any(section.spans for section in recorded.sections)
    assert all(find_cut(section) is None for section in recorded.sections)


def test_the_command_says_in_one_sentence_what_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "structure.json"
    path.write_text(json.dumps(structure(_live("nanobot-lost-rule"), b"0" * 32)), "utf-8")
    assert main(["lint", str(path)]) == 0
    assert " ".join(capsys.readouterr().out.split()).startswith(
        "This recording was written without its texts:"
    )
    assert main(["lint", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert not found["findings"]
    assert "not known" in found["not_known"]
