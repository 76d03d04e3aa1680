"""Loading: what is found, what is wrong and where, and what is watched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptdbg.debug import Opened, OpenRequest, open_workspace
from promptdbg.engines.bee import ENGINE
from promptdbg.errors import InputError
from promptdbg.model import Settings
from promptdbg.workspace import open_folder
from tests.engines.bee.workspaces import assembled, opened, section, write


def test_detection_says_why(tmp_path: Path) -> None:
    assert ENGINE.detect(open_folder(tmp_path)) is None
    write(tmp_path, {"CLAUDE.md": "x"})
    shared = ENGINE.detect(open_folder(tmp_path))
    assert shared is not None
    assert shared.score == 10
    assert "CLAUDE.md" in shared.reason
    assert "a guess" in shared.reason
    assert "Claude Code" in shared.reason
    write(tmp_path, {"bee.toml": ""})
    own = ENGINE.detect(open_folder(tmp_path))
    assert own is not None
    assert own.score == 50


@pytest.mark.parametrize(
    ("files", "code", "line", "words"),
    [
        ({"bee.toml": "profile = 5\n"}, "bee.config", None, "profile must be a text"),
        (
            {"bee.toml": "[profiles.tiny]\ncaveman = 1\n"},
            "bee.config",
            None,
            "profiles.tiny.caveman must be a text",
        ),
        ({"tools.json": '[{"description": "a"}]'}, "bee.tools", None, "tool 1 has no name"),
        ({"home/.bee/store/a.md": "---\nname: a\ntags: [x\n---\nA"}, "bee.front-matter", 3, "column"),
        ({"home/.bee/store/a.md": "---\npriority: high\n---\nA"}, "bee.front-matter", 2, "whole number"),
        ({"skills/a.md": "---\nname: a\n---\nbody"}, "bee.skill", 1, "type"),
        ({"skills/a.md": "---\nname: a: b\ntype: prompt\n---\nbody"}, "bee.skill", 2, "front matter"),
    ],
)
def test_bad_files_are_told_with_their_place(
    tmp_path: Path, files: dict[str, str], code: str, line: int | None, words: str
) -> None:
    workspace = opened(tmp_path, files)
    found = [notice for notice in workspace.inputs.warnings if notice.code == code]
    assert len(found) == 1, workspace.inputs.warnings
    assert words in found[0].message
    assert found[0].source is not None
    assert found[0].source.start_line == line
    assembled(workspace)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ('cwd = "/elsewhere"\n', "not below mount"),
        ('walk_from = "/w/x"\n', "/w/x is no folder from /w to /w"),
        ("tools = 5\n", "tools must be a text"),
        ('context_window = "big"\n', "context_window must be a whole number"),
        ("hint_tags = [1]\n", "hint_tags must be a list of texts"),
        ('[modified]\n"a.md" = 5\n', "modified.a.md must be a time"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(tmp_path: Path, manifest: str, words: str) -> None:
    write(tmp_path, {"home/.bee/store/a.md": "A"})
    with pytest.raises(InputError, match=words):
        opened(tmp_path, {}, manifest)


def test_layers_of_the_configuration(tmp_path: Path) -> None:
    config = 'profile = "normal"\ncaveman = "lite"\n[profiles.normal]\nsystem_prompt_budget = 123\n'
    manifest = '[environment]\nBEE_CAVEMAN = "ultra"\nBEE_EXTRA_TOOLS = " a, ,b"\nBEE_MODEL = ""\n'
    workspace = opened(tmp_path, {}, manifest, config)
    loaded = workspace.inputs.config  # type: ignore[attr-defined]
    assert (loaded.caveman, loaded.extra_tools) == ("ultra", ("a", "b"))
    assert loaded.default_model == "deepseek/deepseek-v4-flash"
    assert loaded.profiles["normal"].system_prompt_budget == 123
    assert loaded.profiles["normal"].tool_desc_chars == 160


def test_skills_come_from_a_folder_sorted_by_name(tmp_path: Path) -> None:
    files = {
        "skills/z.md": "---\nname: alpha\ntype: exec\ndescription: first\n---\n",
        "skills/a.md": "---\ntype: prompt\ndescription: last\n---\nbody",
    }
    workspace = opened(tmp_path, files)
    assert (
        section(assembled(workspace), "skills").output == "## Skills\na: last (prompt)\nalpha: first (exec)"
    )


def test_the_git_root_is_found_and_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    workspace = opened(tmp_path, {"sub/x": ""}, 'cwd = "sub"\n')
    assert "/w/sub.\n" in section(assembled(workspace), "identity").output
    off = assembled(workspace, Settings(values={"git_root": False}))
    assert "\n" not in section(off, "identity").output.partition("/w/sub.")[2]


def test_everything_that_matters_is_watched(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"AGENTS.md": "@a.md", "a.md": "A", "in/x": ""}, 'cwd = "in"\n')
    watched = {Path(path).relative_to(tmp_path).as_posix() for path in workspace.watched}
    assert {
        "AGENTS.md",
        "CLAUDE.md",
        "in/AGENTS.md",
        "a.md",
        "bee.toml",
        "tools.json",
        "query.txt",
    } <= watched


def test_a_workspace_without_a_manifest_stands_where_it_is(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "here @a.md", "a.md": "A", "bee.toml": 'caveman = "off"\n'})
    workspace = open_workspace(
        tmp_path, OpenRequest(home=str(tmp_path / "nobody"), now="2026-05-30T12:00:00")
    )
    assembly = assembled(workspace)
    assert workspace.engine is ENGINE
    assert f'<import path="{tmp_path.resolve()}/a.md">' in assembly.system_text
    assert "context/AGENTS.md/@a.md" in [entry.id for entry in assembly.sections]


def test_nothing_is_written(tmp_path: Path) -> None:
    before = {"AGENTS.md": "x", "messages.jsonl": json.dumps({"role": "user", "content": "hi"})}
    workspace = opened(tmp_path, before)
    names = sorted(path.name for path in tmp_path.rglob("*"))
    assembled(workspace)
    assert sorted(path.name for path in tmp_path.rglob("*")) == names


def test_without_a_mount_files_above_the_folder_are_read_as_bee_does(tmp_path: Path) -> None:
    names = ("AGENTS.md", "app/AGENTS.md", "app/api/AGENTS.md")
    write(tmp_path, {name: f"# {name}" for name in names})
    folder, asked = tmp_path / "app/api", OpenRequest(home=str(tmp_path / "nobody"))

    def found(workspace: Opened) -> list[str]:
        sections = assembled(workspace).sections
        return [s.text.splitlines()[-1] for s in sections if s.name.endswith("AGENTS.md")]

    assert found(open_workspace(folder, asked)) == [f"# {name}" for name in names]
    there = {section.id for section in assembled(open_workspace(folder, asked)).sections}
    assert there >= {"context/../../AGENTS.md", "context/../AGENTS.md", "context/AGENTS.md"}
    write(folder, {"promptdbg.toml": f'engine = "bee"\nwalk_from = "{(tmp_path / "app").as_posix()}"'})
    assert found(open_workspace(folder, asked)) == [f"# {name}" for name in names[1:]]
