"""Tool schemas that are not in the workspace are shown as not known, never as nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptdbg.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("promptdbg.engines.nanobot.inputs.find_installed", lambda home: None)
    (tmp_path / "SOUL.md").write_text("Be kind.")
    return tmp_path


def test_the_commands_say_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(folder)]) == 0
    output = capsys.readouterr().out
    row = next(line for line in output.splitlines() if "tool schemas" in line)
    assert row.split()[:5] == ["?", "UNKNOWN", "tool", "schemas", "?"]
    assert "? 1 UNKNOWN" in output
    assert main(["why", str(folder), "tools"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("? UNKNOWN  tools")
    assert "the tool schemas are not known; a fresh install of 0.3.5 has about" in output
    assert "Nothing was taken" not in output
    assert main([str(folder), "--plain"]) == 0
    assert "tool schemas: what it holds is not known." in capsys.readouterr().out


@pytest.mark.parametrize("form", ["md", "html"])
def test_the_exports_say_so(folder: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert main(["export", str(folder), "--level", "full", "--format", form, "-o", "-"]) == 0
    assert "? UNKNOWN" in capsys.readouterr().out


def test_the_document_is_as_before(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(folder), "--json"]) == 0
    found = [s for s in json.loads(capsys.readouterr().out)["sections"] if s["id"] == "tools"]
    assert [(s["status"], s["evidence"], s["tokens"]) for s in found] == [("empty", "unknown", 0)]
