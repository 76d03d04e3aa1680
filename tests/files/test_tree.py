"""Files by the paths an agent sees: mounts, limits, the frozen snapshot, the walk-up."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.files.frontmatter import FrontMatterError, Scalar, parse
from promptdbg.files.tree import DiskFiles, FileTree, Limits, Mount, clean, whole_disks
from promptdbg.files.walkup import candidates, folders


def test_the_longest_mount_counts_and_the_rest_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "f").write_text("1")
    (tmp_path / "two" / "f").write_text("2")
    files = DiskFiles([Mount("/w", tmp_path / "one"), Mount("/w/in", tmp_path / "two")])
    assert (files.file("/w/f").data, files.file("/w/in/f").data) == (b"1", b"2")
    assert files.file("/elsewhere").kind == "missing"
    assert files.file("/w/inside").kind == "missing"
    assert files.file("/w").kind == "folder"


def test_a_drive_is_the_top_of_its_disk(tmp_path: Path) -> None:
    (tmp_path / "code" / "api").mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("top")
    (tmp_path / "code" / "api" / "AGENTS.md").write_text("api")
    files = DiskFiles([Mount("C:", tmp_path)])
    chain = folders("C:", "C:/code/api")
    assert chain == ("C:", "C:/code", "C:/code/api")
    found = candidates(files, chain, ["AGENTS.md"])
    assert [(one.path, one.entry.data) for one in found] == [
        ("C:/AGENTS.md", b"top"),
        ("C:/code/api/AGENTS.md", b"api"),
    ]
    assert files.file("D:/AGENTS.md").kind == "missing"
    assert whole_disks("C:/code", "C:/Users/ada") == (Mount("C:", Path("C:/")),)
    assert [mount.path for mount in whole_disks("C:/code", "D:/ada")] == ["C:", "D:"]
    assert whole_disks("/work", "/home/ada") == (Mount("/", Path("/")),)


def test_on_windows_no_name_leads_out_of_a_mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a\\b").write_text("a name on other systems")
    files = DiskFiles([Mount("/w", tmp_path / "in")])
    assert files.file("/w/a\\b").kind == "file"
    monkeypatch.setattr("promptdbg.files.tree._WINDOWS", True)
    files = DiskFiles([Mount("/w", tmp_path / "in")])
    for name in ("a\\b", "..\\secret", "C:/secret", "x:stream"):
        assert files.file(f"/w/{name}").kind == "missing"


def test_a_file_is_read_once_and_cut(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100)
    files = DiskFiles([Mount("/", tmp_path)], limits=Limits(file_bytes=10))
    first = files.file("/f")
    (tmp_path / "f").write_bytes(b"y")
    assert files.file("/f") is first
    assert (len(first.data), first.size, first.whole) == (10, 100, False)


def test_limits_end_reading_and_say_so(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"f{number}").write_text("x")
    files = DiskFiles([Mount("/", tmp_path)], limits=Limits(files=3))
    kinds = [files.file(f"/f{number}").kind for number in range(5)]
    assert kinds == ["file", "file", "file", "unread", "unread"]
    assert "3 files" in files.exhausted
    few = DiskFiles([Mount("/", tmp_path)], limits=Limits(listed=3))
    assert len(few.below("/")) == 3
    assert few.below("/other") == ()


def test_a_snapshot_answers_what_was_asked_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    files = DiskFiles([Mount("/", tmp_path)])
    files.file("/f")
    files.file("/gone")
    tree = files.snapshot()
    assert isinstance(tree, FileTree)
    assert [tree.file(path).kind for path in ("/f", "/gone", "/other")] == ["file", "missing", "unread"]
    assert tree.below("/") == ()


def test_the_chain_of_folders() -> None:
    assert folders("/w", "/w/a/b") == ("/w", "/w/a", "/w/a/b")
    assert folders("/", "/a") == ("/", "/a")
    assert folders("/w", "/w") == ("/w",)
    assert folders("/w", "/elsewhere") == ("/elsewhere",)


def test_candidates_are_told_folder_by_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("A.md", "B.md", "a/B.md"):
        (tmp_path / name).write_text(name)
    found = candidates(DiskFiles([Mount("/", tmp_path)]), ("/", "/a"), ("A.md", "B.md"))
    assert [(entry.path, entry.rank) for entry in found] == [("/A.md", 0), ("/B.md", 1), ("/a/B.md", 1)]


@pytest.mark.parametrize(
    ("path", "plain"), [("/a//b/../c/", "/a/c"), ("//a", "/a"), ("/..", "/"), ("a/./b", "a/b")]
)
def test_clean(path: str, plain: str) -> None:
    assert clean(path) == plain


def test_front_matter_keeps_values_as_written() -> None:
    header = parse('a: 010\nb: "5"\nc: [x, 2026-01-02]\nd:\te\n')
    assert header["a"] == Scalar("010", quoted=False, line=2)
    assert header["b"] == Scalar("5", quoted=True, line=3)
    assert [entry.text for entry in header["c"]] == ["x", "2026-01-02"]
    assert header["d"].text == "e"


@pytest.mark.parametrize(
    ("header", "line", "column"),
    [("a: b: c", 2, 5), ("x: 1\ny: [1", 3, 6), ("- a", 2, 1), ("a: 1\na: 2", 3, 1), ("a: \x00", 2, 4)],
)
def test_front_matter_errors_have_a_place(header: str, line: int, column: int) -> None:
    with pytest.raises(FrontMatterError) as caught:
        parse(header)
    assert (caught.value.line, caught.value.column) == (line, column)
