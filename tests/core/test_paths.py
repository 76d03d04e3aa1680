"""Paths as texts, whichever system wrote them and whichever reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from promptdbg.model import Source
from promptdbg.paths import below, disk_root, inside, is_written_as_path, uri
from promptdbg.render import on_disk


@pytest.mark.parametrize(
    ("path", "folder", "shown"),
    [
        ("/srv/api/AGENTS.md", "/srv", "api/AGENTS.md"),
        ("/srv/api/AGENTS.md", "/", "srv/api/AGENTS.md"),
        ("/srv", "/srv", "/srv"),
        ("/srv-other/AGENTS.md", "/srv", "/srv-other/AGENTS.md"),
        ("/srv/a\\b.md", "/srv", "a\\b.md"),
        ("/srv/AGENTS.md", "", "/srv/AGENTS.md"),
        ("AGENTS.md", "/srv", "AGENTS.md"),
        (r"C:\srv\api\AGENTS.md", r"C:\srv", "api/AGENTS.md"),
        (r"C:\srv\api\AGENTS.md", "C:\\", "srv/api/AGENTS.md"),
        ("C:/srv/api/AGENTS.md", r"C:\srv", "api/AGENTS.md"),
        (r"c:\Srv\AGENTS.md", r"C:\srv", "AGENTS.md"),
        (r"C:\srv", r"C:\srv", r"C:\srv"),
        (r"D:\srv\AGENTS.md", r"C:\srv", r"D:\srv\AGENTS.md"),
        (r"C:\srv-other\AGENTS.md", r"C:\srv", r"C:\srv-other\AGENTS.md"),
        (r"\\host\share\srv\AGENTS.md", r"\\host\share\srv", "AGENTS.md"),
        (r"AGENTS.md", r"C:\srv", "AGENTS.md"),
    ],
)
def test_a_path_in_a_folder_is_shown_relative_to_it(path: str, folder: str, shown: str) -> None:
    assert below(path, folder) == shown
    assert Source(path, 3).below(folder) == f"{shown}:3"


@pytest.mark.parametrize(
    ("path", "folder", "shown"),
    [
        ("/srv/a b.md", "/srv", "a%20b.md"),
        ("/other/a b.md", "/srv", "file:///other/a%20b.md"),
        (r"C:\srv\api\a.md", r"C:\srv", "api/a.md"),
        (r"D:\api\a.md", r"C:\srv", "file:///D:/api/a.md"),
        ("agentos.json", "/srv", "agentos.json"),
        ("/srv/\udcff", "/srv", "%FF"),
    ],
)
def test_a_path_as_a_uri(path: str, folder: str, shown: str) -> None:
    assert uri(path, folder) == shown


@pytest.mark.parametrize(("path", "root"), [("/srv/api", "/"), ("C:/srv/api", "C:"), ("d:/", "d:")])
def test_the_top_of_the_disk_is_a_drive_or_the_root(path: str, root: str) -> None:
    assert disk_root(path) == root


def test_a_place_is_told_whole_where_the_current_folder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    assert on_disk(Source("/srv/AGENTS.md", 3)) == "/srv/AGENTS.md:3"


@pytest.mark.parametrize(
    ("folder", "path"),
    [("/srv", "/srv/a/SKILL.md"), (r"C:\srv", r"C:\srv\a\SKILL.md"), ("C:/srv", r"C:\srv\a\SKILL.md")],
)
def test_a_path_is_written_as_its_own_system_writes_it(folder: str, path: str) -> None:
    assert inside(folder, "a", "SKILL.md") == path


@pytest.mark.parametrize("word", ["/w", "./w", "../w", "~/w", r".\w", r"..\w", r"C:\w", r"\\host\w"])
def test_a_word_that_is_meant_as_a_place(word: str) -> None:
    assert is_written_as_path(word)
    assert not is_written_as_path("memory/MEMORY.md")
