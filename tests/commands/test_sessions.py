"""The sessions that are listed, and what is said of one that is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptdbg.cli import main
from promptdbg.examples import FLAGSHIP, find


def _workspace(folder: Path, *names: str, manifest: str = "") -> Path:
    head = json.dumps({"_type": "metadata", "key": "cli:direct"})
    (folder / "SOUL.md").write_text("Be kind.")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{head}\n")
    (folder / "promptdbg.toml").write_text(f'engine = "nanobot"\n{manifest}')
    return folder


def _listed(capsys: pytest.CaptureFixture[str], folder: Path) -> list[dict[str, object]]:
    assert main(["sessions", str(folder), "--json"]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_the_session_of_the_first_example_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    path = find(FLAGSHIP).path
    found = _listed(capsys, path)
    assert [entry["path"] for entry in found] == [str(path / "session.jsonl")]
    assert found[0]["reason"] == "promptdbg.toml names it"
    assert main(["sessions", str(path)]) == 0
    assert "session.jsonl" in capsys.readouterr().out


def test_the_named_session_is_the_first_and_stands_there_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("sessions/a.jsonl", "sessions/b.jsonl", "c.jsonl")
    folder = _workspace(tmp_path, *names, manifest='session = "c.jsonl"\n')
    assert Path(str(_listed(capsys, folder)[0]["path"])).name == "c.jsonl"
    assert len(_listed(capsys, folder)) == 3
    _workspace(tmp_path, manifest='session = "sessions/a.jsonl"\n')
    found = _listed(capsys, folder)
    assert [Path(str(entry["path"])).name for entry in found] == ["a.jsonl", "b.jsonl"]
    assert str(found[0]["reason"]).startswith("promptdbg.toml names it; 0.2.2's name")


def test_a_named_session_that_is_not_there_is_listed_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _workspace(tmp_path, manifest='session = "gone.jsonl"\n')
    assert main(["sessions", str(folder)]) == 0
    assert "promptdbg.toml names it; does not exist" in capsys.readouterr().out


def test_an_unknown_session_is_told_with_the_keys_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _workspace(tmp_path, *(f"sessions/s{number}.jsonl" for number in range(10)))
    assert main(["inspect", str(folder), "--session", "nope"]) == 2
    line = capsys.readouterr().err
    assert "nope: does not exist (name a session file, or one of: latest, cli:direct" in line
    assert "and 2 more" in line


def test_where_there_is_no_session_a_file_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(_workspace(tmp_path)), "--session", "nope"]) == 2
    assert capsys.readouterr().err.endswith("nope: does not exist (name a session file)\n")


def test_a_session_file_in_place_of_a_folder_is_led_to_its_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _workspace(tmp_path, "session.jsonl")
    assert main(["inspect", str(folder / "session.jsonl")]) == 2
    assert "a session file goes behind --session" in capsys.readouterr().err
