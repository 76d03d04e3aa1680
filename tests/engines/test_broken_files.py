"""A broken file of an engine is told as that: one line with its place, never a prompt made without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.cli import main
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.engines import ENGINE_NAMES
from promptdbg.errors import InputError

BROKEN = [
    ("phronomy", "phronomy.yaml", "generation: [", 1),
    ("phronomy", "phronomy.yaml", "- generation\n", 1),
    ("phronomy", "messages.json", "[\n{,", 2),
    ("phronomy", "candidates.json", "{", 1),
    ("orbiter", "orbiter.yaml", "entries: [task\ntask_id: x\n", 2),
    ("orbiter", "state.json", '{"facts":\n ["a",]}', 2),
    ("orbiter", "parent_state.json", "{", 1),
    ("orbiter", "messages.json", "[", 1),
    ("agentos", "agentos.json", "{\n,", 2),
    ("agentos", "components.json", '{\n "userInput": "Q",\n,}', 3),
    ("agentos", "components.json", "[1]", None),
    ("bee", "bee.toml", "a = 1\nb = = 2", 2),
    ("bee", "tools.json", "[\n{", 2),
    ("nanobot", "config.json", "{", 1),
    ("nanobot", "tools.json", "[", 1),
    ("nanobot", "config.json", "[]", None),
]
USUAL = {
    "phronomy": ("phronomy.yaml", "generation: 1\n"),
    "orbiter": ("orbiter.yaml", "entries: [fact]\n"),
    "agentos": ("agentos.json", "{}"),
    "bee": ("AGENTS.md", "x"),
    "nanobot": ("SOUL.md", "x"),
}


def _workspace(folder: Path, engine: str) -> Path:
    (folder / "promptdbg.toml").write_text(f'engine = "{engine}"\n')
    name, text = USUAL[engine]
    (folder / name).write_text(text)
    return folder


def test_every_engine_has_a_broken_file() -> None:
    assert {engine for engine, *_ in BROKEN} == set(ENGINE_NAMES)


@pytest.mark.parametrize(("engine", "name", "text", "line"), BROKEN)
def test_a_broken_file_is_one_line_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str, name: str, text: str, line: int | None
) -> None:
    place = _workspace(tmp_path, engine) / name
    place.write_text(text)
    assert main(["inspect", str(tmp_path)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    where = f"promptdbg: {place}:{line}: " if line else f"promptdbg: {place}: "
    assert output.err.startswith(where)
    assert output.err.count(name) == 1
    assert "correct the file" in output.err


@pytest.mark.parametrize(("engine", "name", "text", "line"), BROKEN)
def test_the_last_good_picture_stays_and_comes_back(
    tmp_path: Path, engine: str, name: str, text: str, line: int | None
) -> None:
    place = _workspace(tmp_path, engine) / name
    good = place.read_text() if place.exists() else None
    debugger = Debugger(open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home"))))
    before = debugger.assembly
    assert str(place) in debugger.opened.watched
    place.write_text(text)
    with pytest.raises(InputError):
        debugger.reload()
    assert debugger.assembly is before
    place.unlink() if good is None else place.write_text(good)
    assert debugger.reload().settings == before.settings


def test_a_broken_line_of_json_lines_is_a_warning(tmp_path: Path) -> None:
    _workspace(tmp_path, "phronomy")
    (tmp_path / "messages.jsonl").write_text('{"role": "user", "content": "a"}\n{"role"\n')
    assembly = Debugger(open_workspace(tmp_path)).assembly
    assert [str(entry.source).rpartition("/")[2] for entry in assembly.warnings] == ["messages.jsonl:2"]


NAMED = [
    ("nanobot", "tools", "mine.json", '{"tools": 1}'),
    ("nanobot", "tools", "mine.json", "[{"),
    ("nanobot", "inflight", "mine.jsonl", b"\xff"),
    ("bee", "tools", "mine.json", "[{"),
    ("phronomy", "messages", "mine.json", "[{"),
    ("orbiter", "state", "mine.json", "[{"),
    ("agentos", "components", "mine.json", "[{"),
]


@pytest.mark.parametrize(("engine", "key", "name", "text"), NAMED)
def test_so_is_a_broken_file_that_the_manifest_names(
    tmp_path: Path, engine: str, key: str, name: str, text: str | bytes
) -> None:
    _workspace(tmp_path, engine)
    (tmp_path / "promptdbg.toml").write_text(f'engine = "{engine}"\n{key} = "{name}"\n')
    place = tmp_path / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=name):
        open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home")))


@pytest.mark.parametrize(
    ("engine", "name"), [("bee", "tools.json"), ("bee", "query.txt"), ("nanobot", "tools.json")]
)
def test_so_is_one_that_is_no_file(tmp_path: Path, engine: str, name: str) -> None:
    (_workspace(tmp_path, engine) / name).mkdir()
    with pytest.raises(InputError, match=name):
        open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home")))


def test_another_programs_file_of_a_usual_name_is_a_warning(tmp_path: Path) -> None:
    (_workspace(tmp_path, "nanobot") / "tools.json").write_text('{"hammer": 1}')
    assembly = Debugger(open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home")))).assembly
    assert "tools.broken" in [notice.code for notice in assembly.warnings]
