"""Whether a folder is nanobot's, which version it is for, and where its configuration lies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptdbg.cli import main
from promptdbg.debug import OpenRequest, open_workspace
from promptdbg.engines.base import LoadRequest
from promptdbg.engines.nanobot import ENGINE
from promptdbg.engines.nanobot import inputs as inputs_module
from promptdbg.engines.nanobot.installed import find_installed
from promptdbg.model import SectionStatus
from promptdbg.workspace import Workspace, open_folder
from tests.engines.nanobot.making import DIALECTS, assembled, loaded, settings, stored, user, write_session


@pytest.fixture(autouse=True)
def _no_installed_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs_module, "find_installed", lambda home: None)


def _touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize(
    ("files", "score"),
    [
        ([".nanobot/workspace-id"], 50),
        ([".nanobot/tool-results/x/a.txt"], 50),
        (["memory/history.jsonl"], 50),
        (["sessions/a.jsonl", "memory/MEMORY.md"], 50),
        (["SOUL.md", "USER.md"], 20),
        (["SOUL.md"], 10),
        (["AGENTS.md"], None),
        ([".nanobot/config.json"], None),
    ],
)
def test_detection(tmp_path: Path, files: list[str], score: int | None) -> None:
    for name in files:
        _touch(tmp_path / name)
    found = ENGINE.detect(Workspace(tmp_path))
    assert (found.score if found else None) == score


@pytest.mark.parametrize(
    ("name", "dialect"),
    [("sessions/a.jsonl", "0.2.2"), (".nanobot/workspace-id", "0.3.5"), ("SOUL.md", "0.3.5")],
)
def test_the_version_is_told_by_where_sessions_lie(tmp_path: Path, name: str, dialect: str) -> None:
    _touch(tmp_path / name)
    inputs = ENGINE.load(Workspace(tmp_path), LoadRequest(home=str(tmp_path / "home")))
    assert inputs.dialect == dialect
    assert inputs.found_version is not None
    assert inputs.found_version.name == dialect


def test_inspect_says_why_this_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _touch(tmp_path / "memory" / "MEMORY.md")
    _touch(tmp_path / "sessions" / "cli_direct.jsonl")
    assert main(["inspect", str(tmp_path)]) == 0
    assert "version    0.2.2: sessions lie in the workspace" in capsys.readouterr().out
    assert main(["inspect", str(tmp_path), "--set", "dialect=main"]) == 0
    assert "version    " not in capsys.readouterr().out
    (tmp_path / "promptdbg.toml").write_text('dialect = "0.3.5"\n')
    assert main(["inspect", str(tmp_path)]) == 0
    assert "version    " not in capsys.readouterr().out


def test_the_configuration_above_a_workspace_sets_the_defaults(tmp_path: Path) -> None:
    config = {"agents": {"defaults": {"contextWindowTokens": 32_000, "disabledSkills": ["x"]}}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    _touch(tmp_path / "workspace" / "SOUL.md")
    inputs = ENGINE.load(Workspace(tmp_path / "workspace"), LoadRequest(home=str(tmp_path / "home")))
    knobs = {knob.name: knob.default for knob in ENGINE.knobs(inputs)}
    assert knobs["context_window"] == 32_000
    assert knobs["disabled_skills"] == ("x",)
    opened = open_workspace(tmp_path / "workspace", OpenRequest(home=str(tmp_path / "home")))
    assert str(tmp_path / "config.json") in opened.watched


def test_an_example_with_a_manifest_is_the_same_on_every_machine(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".nanobot").mkdir(parents=True)
    config = {"agents": {"defaults": {"contextWindowTokens": 5}}}
    (home / ".nanobot" / "config.json").write_text(json.dumps(config))
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / "promptdbg.toml").write_text('engine = "nanobot"\n')
    inputs = ENGINE.load(open_folder(workspace), LoadRequest(home=str(home)))
    assert inputs.config.context_window == 200_000


def test_a_workspace_opens_from_disk_to_assembly(tmp_path: Path) -> None:
    write_session(tmp_path / "sessions" / "cli_direct.jsonl", [user("hi")])
    _touch(tmp_path / "memory" / "MEMORY.md")
    opened = open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home"), now="2026-08-20T09:30:00"))
    assert opened.engine.name == "nanobot"
    assert [ref.key for ref in opened.sessions] == ["cli:direct"]
    assert [turn.title for turn in opened.turns] == ["hi"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_project_s_own_files(tmp_path: Path, dialect: str) -> None:
    workspace, project = tmp_path / "ws", tmp_path / "project"
    for folder, text in ((workspace, "agent"), (project, "project")):
        folder.mkdir()
        for name in ("AGENTS.md", "SOUL.md"):
            (folder / name).write_text(f"{text} {name}")
    session = stored([], {"workspace_scope": {"project_path": str(project)}})
    assembly = assembled(loaded(workspace, session, channel="websocket"), settings(dialect))
    agents, soul = assembly.section("bootstrap/AGENTS.md"), assembly.section("bootstrap/SOUL.md")
    assert agents is not None
    assert soul is not None
    assert agents.text == "project AGENTS.md"
    assert soul.text == ("project SOUL.md" if dialect == "0.2.2" else "agent SOUL.md")
    if dialect != "0.2.2":
        copy = assembly.section("bootstrap/project/SOUL.md")
        assert copy is not None
        assert copy.status is SectionStatus.SHADOWED
    elsewhere = assembled(loaded(workspace, session), settings(dialect)).section("bootstrap/AGENTS.md")
    assert elsewhere is not None
    assert elsewhere.text == "agent AGENTS.md"


@pytest.mark.parametrize(
    "folder",
    [
        ".local/share/uv/tools/nanobot-ai/lib/python3.12/site-packages",
        "AppData/Roaming/uv/tools/nanobot-ai/Lib/site-packages",
        "Library/Application Support/pipx/venvs/nanobot-ai/lib/python3.12/site-packages",
        "pipx/venvs/nanobot-ai/Lib/site-packages",
    ],
)
def test_a_tool_of_uv_or_pipx_is_found_on_every_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert find_installed(tmp_path) is None
    for part in ("agent", "templates"):
        (tmp_path / folder / "nanobot" / part).mkdir(parents=True)
    found = find_installed(tmp_path)
    assert found is not None
    assert found.path == tmp_path / folder / "nanobot"
