"""The copy that the real framework works on: bounded, and never a change to the original."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from promptdbg.errors import InputError
from promptdbg.files.disk import read_file
from promptdbg.verify import copying
from promptdbg.verify.copying import WORKSPACE_PARTS, Copier


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    for name, text in {
        "AGENTS.md": "# Rules\r\n",
        "memory/MEMORY.md": "facts",
        "skills/a/SKILL.md": "---\nname: a\n---\n",
        "notes.txt": "not read for a prompt",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_123_456_789))
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_copies_what_a_prompt_is_made_of(workspace: Path, tmp_path: Path) -> None:
    copier = Copier()
    copier.folder(workspace, tmp_path / "copy", WORKSPACE_PARTS)
    assert sorted(_files(tmp_path / "copy")) == ["AGENTS.md", "memory/MEMORY.md", "skills/a/SKILL.md"]
    assert (tmp_path / "copy" / "AGENTS.md").read_bytes() == b"# Rules\r\n"
    assert copier.files == 3
    assert copier.notices == []


def test_keeps_the_time_stamp(workspace: Path, tmp_path: Path) -> None:
    Copier().extra(workspace / "AGENTS.md", tmp_path / "copy" / "AGENTS.md")
    assert (tmp_path / "copy" / "AGENTS.md").stat().st_mtime_ns == 1_700_000_000_123_456_789


def test_a_file_that_goes_while_it_is_read_is_told(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_and_lose(path: Path, limit: int) -> object:
        found = read_file(path, limit=limit)
        path.unlink()
        return found

    monkeypatch.setattr("promptdbg.verify.copying.read_file", read_and_lose)
    copier = Copier()
    assert not copier.extra(workspace / "AGENTS.md", tmp_path / "copy" / "AGENTS.md")
    (notice,) = copier.notices
    assert "changed while it was being read" in notice.message
    assert copier.files == 0


def test_leaves_the_original_as_it_is(workspace: Path, tmp_path: Path) -> None:
    before = {p: (p.lstat().st_mtime_ns, p.lstat().st_mode) for p in workspace.rglob("*")}
    content = _files(workspace)
    Copier().folder(workspace, tmp_path / "copy", WORKSPACE_PARTS)
    assert {p: (p.lstat().st_mtime_ns, p.lstat().st_mode) for p in workspace.rglob("*")} == before
    assert _files(workspace) == content


def test_links_are_followed_inside_only(workspace: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("not yours")
    (workspace / "SOUL.md").symlink_to(secret)
    (workspace / "USER.md").symlink_to(workspace / "notes.txt")
    (workspace / "skills" / "up").symlink_to(workspace, target_is_directory=True)
    copier = Copier()
    copier.folder(workspace, tmp_path / "copy", WORKSPACE_PARTS)
    copied = _files(tmp_path / "copy")
    assert "SOUL.md" not in copied
    assert copied["USER.md"] == b"not read for a prompt"
    assert not any(name.startswith("skills/up") for name in copied)
    assert {notice.code for notice in copier.notices} == {"verify.not-copied"}
    assert {Path(n.source.path).name for n in copier.notices if n.source} == {"SOUL.md", "up"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs in folders")
def test_a_pipe_is_not_read(workspace: Path, tmp_path: Path) -> None:
    os.mkfifo(workspace / "SOUL.md")
    copier = Copier()
    copier.folder(workspace, tmp_path / "copy", WORKSPACE_PARTS)
    assert "SOUL.md" not in _files(tmp_path / "copy")
    assert "pipe" in copier.notices[0].message


@pytest.mark.parametrize(
    ("name", "limit", "words"),
    [("COUNT_LIMIT", 2, "2 files"), ("TOTAL_LIMIT", 10, "10 bytes"), ("DEPTH_LIMIT", 0, "nested")],
)
def test_more_than_the_limits_is_refused(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, words: str
) -> None:
    monkeypatch.setattr(copying, name, limit)
    with pytest.raises(InputError, match=words):
        Copier().folder(workspace, tmp_path / "copy", WORKSPACE_PARTS)


def test_a_file_too_large_is_noticed(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "FILE_LIMIT", 3)
    copier = Copier()
    assert not copier.extra(workspace / "AGENTS.md", tmp_path / "copy" / "AGENTS.md")
    assert "9 bytes" in copier.notices[0].message
