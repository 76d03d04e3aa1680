"""``why`` as a command: of a file it tells the item that was read from it, or why it is not read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptdbg.cli import main
from promptdbg.debug import Debugger, open_workspace
from promptdbg.examples import FLAGSHIP, find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "AGENTS.md": "# root rules",
        "app/api/AGENTS.md": "never edit migrations",
        "notes.txt": "never edit migrations",
        "promptdbg.toml": 'engine = "bee"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", ["app/api/AGENTS.md", "notes.txt"])
def test_a_file_that_is_not_read_is_told_as_trace_tells_it(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["why", str(folder), name, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["item"], answer["status"], answer["lost"], answer["fixes"]) == (name, "not read", True, [])
    assert main(["trace", str(folder), "never edit migrations", "--json"]) == 1
    hits = {hit["item"]: hit["because"] for hit in json.loads(capsys.readouterr().out)["hits"]}
    assert answer["because"] == hits[name]
    assert main(["why", str(folder), name]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"NOT READ  {name}")
    assert hits[name] in output.replace("\n", " ")
    assert "0 of 3 tokens" in output


def test_it_may_be_named_from_where_one_stands(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "app")
    for word in ("api/AGENTS.md", str(folder / "app/api/AGENTS.md")):
        assert main(["why", str(folder), word]) == 0
        assert capsys.readouterr().out.startswith("NOT READ  app/api/AGENTS.md")


def test_a_file_that_is_read_leads_to_its_item(capsys: pytest.CaptureFixture[str]) -> None:
    path = find(FLAGSHIP).path
    skills = [s for s in Debugger(open_workspace(path)).assembly.sections if s.kind == "skill" and s.source]
    for skill in skills:
        assert skill.source is not None
        assert main(["why", str(path), skill.source.below(str(path))]) == 0
        assert skill.id in capsys.readouterr().out.splitlines()[0]


def test_a_file_of_many_items_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(find(FLAGSHIP).path), "session.jsonl"]) == 2
    assert "43 items come from session.jsonl (name one: m0, m1" in capsys.readouterr().err


def test_what_is_neither_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = folder.parent / "elsewhere.txt"
    outside.write_text("x")
    for word in ("app/AGENTS.txt", str(outside), "app"):
        assert main(["why", str(folder), word]) == 2
        assert "no item" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "words"), [("trace", "FOLDER TEXT"), ("why", "FOLDER ITEM")])
def test_where_the_folder_stands_last_the_error_says_that_it_comes_first(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, words: str
) -> None:
    assert main([command, "British", str(folder)]) == 2
    told = f"British: no such folder (the folder comes first: promptdbg {command} {words})"
    assert told in capsys.readouterr().err
    # A folder that is there but cannot be used, and a second word that is no folder: as before.
    assert main([command, str(folder / "notes.txt"), str(folder)]) == 2
    assert "is not a folder (name the folder" in capsys.readouterr().err
    assert main([command, "British", "English"]) == 2
    assert "no such folder (name the folder" in capsys.readouterr().err


def test_why_and_compare_have_one_word_for_a_cut_message(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(find(FLAGSHIP).path)
    assert main(["why", path, "m27", "--no-fixes"]) == 0
    assert capsys.readouterr().out.startswith("◐ CUT  m27")
    assert main(["compare", path]) == 0
    assert "CUT" in capsys.readouterr().out
