"""Prompts that a path names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptdbg.debug import Debugger, Opened, OpenRequest, open_workspace
from promptdbg.errors import InputError, UsageError
from promptdbg.export.document import document
from promptdbg.export.opening import prompt_at, prompt_named
from promptdbg.model import Settings
from tests.fake_engine import install


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    install(monkeypatch)
    folder = tmp_path / "beside"
    folder.mkdir()
    (folder / "promptdbg.toml").write_text('engine = "fake"\n')
    return open_workspace(folder)


def test_a_wrong_value_there_is_told_with_its_place(beside: Opened, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "promptdbg.toml").write_text('engine = "fake"\n[settings]\nnothing = 1\n')
    with pytest.raises(InputError, match=r"promptdbg\.toml:3: unknown knob 'nothing'"):
        prompt_named(str(other), Debugger(beside))


def test_every_turn_is_assembled_with_the_place_of_what_is_wrong(beside: Opened, tmp_path: Path) -> None:
    from promptdbg.tui.screens.turns import _preview

    debugger = Debugger(beside)
    manifest = tmp_path / "beside" / "promptdbg.toml"
    manifest.write_text('engine = "fake"\n[settings]\nnothing = 1\n')
    debugger.opened = open_workspace(manifest.parent)
    with pytest.raises(InputError, match=r"promptdbg\.toml:3"):
        _preview(debugger)(debugger.opened.base)


TWO_TURNS = """engine = "fake"
[settings]
cap = 300
[scenarios.small]
cap = 5
[scenarios.1]
cap = 7
[[sections]]
name = "a"
text = "some words that are long enough"
[[messages]]
role = "user"
content = "one"
[[messages]]
role = "user"
content = "two"
"""


@pytest.fixture
def debugger(beside: Opened) -> Debugger:
    (beside.workspace.path / "promptdbg.toml").write_text(TWO_TURNS)
    opened = open_workspace(beside.workspace.path, OpenRequest())
    return Debugger(opened, opened.base.with_value("cap", 20))


def test_a_scenario_comes_before_a_turn_and_both_before_a_path(
    debugger: Debugger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").mkdir()
    for word, title, cap in (("small", "scenario small", 5), ("1", "scenario 1", 7), ("2", "turn 2", 20)):
        assembly, said = prompt_named(word, debugger)
        assert (said, assembly.settings.values["cap"]) == (title, cap)
    assert prompt_named("2", debugger)[0].turn == 2
    with pytest.raises(InputError, match="no framework's files"):
        prompt_named("./small", debugger)
    for word in ("3", "9" * 5000):
        with pytest.raises(UsageError, match="no user message"):
            prompt_named(word, debugger)
    with pytest.raises(UsageError, match="'loose' is no scenario, turn, session file, folder or JSON"):
        prompt_named("loose", debugger)


def test_another_folder_is_as_its_own_files_say(debugger: Debugger, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "promptdbg.toml").write_text(TWO_TURNS)
    assembly, _ = prompt_named(str(other), debugger)
    assert assembly.settings.values == {"cap": 300}
    assert prompt_at(str(other), debugger, debugger.assembly) == assembly


@pytest.mark.parametrize("name", ["saved.json", "saved"])
def test_what_was_saved_is_known_whatever_it_is_called(debugger: Debugger, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(json.dumps(document(debugger.assembly)))
    assembly, said = prompt_named(str(tmp_path / name), debugger)
    assert (said, assembly.sections) == (str(tmp_path / name), debugger.assembly.sections)


def test_another_session_is_tried_with_the_same_but_for_single_messages(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    for name in ("now", "then"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "AGENTS.md").write_text("Never use tabs.")
    (tmp_path / "promptdbg.toml").write_text('engine = "nanobot"\nsession = "now.jsonl"\n')
    opened = open_workspace(tmp_path, OpenRequest(now="2026-03-01T09:30"))
    item = next(s.id for s in Debugger(opened).assembly.sections if "AGENTS" in s.id)
    debugger = Debugger(opened, Settings().with_off([item, "m0"]).with_turn(1))
    assembly, _ = prompt_named(str(tmp_path / "then.jsonl"), debugger)
    assert (set(assembly.settings.off), assembly.turn) == ({item}, None)
    assert assembly.session == str(tmp_path / "then.jsonl")
