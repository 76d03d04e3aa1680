"""Prompts that a path names."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.debug import Opened, open_workspace
from promptdbg.errors import InputError
from promptdbg.export.opening import prompt_at
from promptdbg.model import Settings
from promptdbg.tokens import tokenizer
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
        prompt_at(str(other), beside, Settings(), tokenizer())


def test_every_turn_is_assembled_with_the_place_of_what_is_wrong(beside: Opened, tmp_path: Path) -> None:
    from promptdbg.debug import Debugger
    from promptdbg.tui.screens.turns import _preview

    debugger = Debugger(beside)
    manifest = tmp_path / "beside" / "promptdbg.toml"
    manifest.write_text('engine = "fake"\n[settings]\nnothing = 1\n')
    debugger.opened = open_workspace(manifest.parent)
    with pytest.raises(InputError, match=r"promptdbg\.toml:3"):
        _preview(debugger)(debugger.opened.base)
