"""Everything that is read to open a workspace is watched: each file, and each folder that is listed, so
that a file which comes is seen. What the system is asked for is told by the interpreter itself."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from promptdbg import sessions
from promptdbg.debug import Opened, OpenRequest, open_workspace
from promptdbg.engines import ENGINE_NAMES, engine
from promptdbg.examples import Example, examples
from promptdbg.workspace import MANIFEST_NAME

_asked: set[str] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _asked is not None and event in ("open", "os.scandir", "os.listdir"):
        path = arguments[0]
        if isinstance(path, (str, os.PathLike)):
            _asked.add(os.fspath(path))


sys.addaudithook(_audit)  # for ever: a hook cannot be taken back


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The paths that an engine and the reader of its session ask the system for."""
    found: set[str] = set()

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            global _asked
            _asked = found
            try:
                return function(*arguments)
            finally:
                _asked = None

        return run

    for name in ENGINE_NAMES:
        kind = type(engine(name))
        monkeypatch.setattr(kind, "load", noted(kind.load))
    for name in sessions.FORMAT_NAMES:
        module = sessions.session_format(name)
        monkeypatch.setattr(module, "read", noted(module.read))
    return found


def _unwatched(asked: set[str], opened: Opened, folder: Path) -> list[str]:
    inside = {path for path in asked if Path(path).is_relative_to(folder)}
    assert inside, "nothing was read, or the way to tell is broken"
    return sorted(inside - set(opened.watched))


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_path_of_an_example_is_watched(example: Example, tmp_path: Path, asked: set[str]) -> None:
    opened = open_workspace(example.path, OpenRequest(home=str(tmp_path), trust=True))
    assert _unwatched(asked, opened, example.path) == []
    assert str(example.path / MANIFEST_NAME) in opened.watched


NANOBOT = """
engine = "nanobot"
dialect = "main"
config = "own/config.json"
project = "project"
tools = "own/tools.json"
inflight = "own/inflight.jsonl"
media = ["own/note.txt", "own/none.png"]
session = "own/session.jsonl"
builtin_skills = "on"
passages = "names"
"""
BEE = """
engine = "bee"
mount = "/w"
cwd = "lib/deep"
config = "own/bee.toml"
tools = "own/tools.json"
messages = "own/messages.jsonl"
query = "own/query.txt"
summary = "own/summary.txt"
skills = "own/skills"
"""
ORBITER = """
engine = "orbiter"
config = "own/orbiter.yaml"
state = "own/state.json"
parent_state = "own/parent.json"
messages = "own/messages.json"
python = "own/neurons.py"
"""
PHRONOMY = """
engine = "phronomy"
config = "own/phronomy.yaml"
messages = "own/messages.jsonl"
candidates = "own/candidates.json"
"""
AGENTOS = """
engine = "agentos"
agentos = "own/settings.json"
components = "own/components.json"
"""
ROW = json.dumps({"role": "user", "content": "hello"}) + "\n"
SKILL = "---\nname: ferry\ndescription: ferries\n---\nSay which days.\n"
PACKAGE = "home/pipx/venvs/nanobot-ai/Lib/site-packages/nanobot"
EVERYTHING: Mapping[str, Mapping[str, str]] = {
    "nanobot": {
        MANIFEST_NAME: NANOBOT,
        "AGENTS.md": "rule",
        "memory/MEMORY.md": "fact",
        "own/config.json": "{}",
        "own/tools.json": "[]",
        "own/inflight.jsonl": ROW,
        "own/note.txt": "a note",
        "own/session.jsonl": ROW,
        "own/session.checkpoint.json": "{}",
        "project/AGENTS.md": "rule",
        "skills/ferry/SKILL.md": SKILL,
        "skills/empty/other.md": "no skill",
        "plugins/one/plugin.json": "{}",
        f"{PACKAGE}/agent/context.py": "",
        f"{PACKAGE}/templates/agent/identity.md": "",
        f"{PACKAGE}/skills/own/SKILL.md": SKILL,
    },
    "bee": {
        MANIFEST_NAME: BEE,
        "AGENTS.md": "rule, see @guide and @lib/none.md",
        "lib/deep/CLAUDE.md": "rule",
        "lib/empty/deeper/guide.md": "a guide",
        "own/bee.toml": "",
        "own/tools.json": "[]",
        "own/messages.jsonl": ROW,
        "own/query.txt": "look at @notes.md and @missing.md",
        "own/summary.txt": "so far",
        "own/skills/ferry.md": SKILL,
        "home/.bee/store/kiln.md": "---\nname: kiln\n---\nfact\n",
        "home/.bee/AGENTS.md": "rule",
    },
    "orbiter": {
        MANIFEST_NAME: ORBITER,
        "own/orbiter.yaml": "entries: [role]",
        "own/state.json": "{}",
        "own/parent.json": "{}",
        "own/messages.json": "[]",
        "own/neurons.py": "",
    },
    "phronomy": {
        MANIFEST_NAME: PHRONOMY,
        "own/phronomy.yaml": "generation: 3",
        "own/messages.jsonl": ROW,
        "own/candidates.json": "[]",
    },
    "agentos": {
        MANIFEST_NAME: AGENTOS,
        "own/settings.json": "{}",
        "own/components.json": "{}",
    },
}


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_every_path_of_a_workspace_with_everything_is_watched(
    name: str, tmp_path: Path, asked: set[str]
) -> None:
    _write(tmp_path, EVERYTHING[name])
    opened = open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home"), trust=True))
    assert _unwatched(asked, opened, tmp_path) == []
    own = {str(path) for path in (tmp_path / "own").rglob("*") if path.is_file()}
    assert own - set(opened.watched) == set()


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_every_path_of_a_workspace_without_a_manifest_is_watched(
    name: str, tmp_path: Path, asked: set[str]
) -> None:
    files = {path.removeprefix("own/"): text for path, text in EVERYTHING[name].items()}
    del files[MANIFEST_NAME]
    _write(tmp_path / "ws", files)
    request = OpenRequest(engine=name, home=str(tmp_path / "ws" / "home"), trust=True)
    opened = open_workspace(tmp_path / "ws", request)
    assert _unwatched(asked, opened, tmp_path) == []
