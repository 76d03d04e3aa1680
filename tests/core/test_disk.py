"""Reading files a stranger may have made."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from promptdbg.files.disk import read_file


def kind_of(path: Path, **options: int) -> str:
    read = read_file(path, **options)  # type: ignore[arg-type]
    assert read.data is None
    assert read.problem is not None
    assert read.problem.message
    return read.problem.kind


def test_regular_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xff\x00abc")
    read = read_file(path)
    assert (read.data, read.problem, read.size) == (b"\xff\x00abc", None, 5)
    assert read.modified == path.stat().st_mtime


def test_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to("a")
    assert read_file(tmp_path / "b").data == b"x"


def test_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_bytes(b"")
    for name in ("none", "none/deeper", "dangling", "file/deeper", "x" * 5000, "nul\0name"):
        assert kind_of(tmp_path / name) == "missing"


def test_folder(tmp_path: Path) -> None:
    assert kind_of(tmp_path) == "directory"


@pytest.mark.timeout(60)
def test_pipe_socket_and_device_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's name may have a hundred bytes at the most
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in (tmp_path / "pipe", Path("socket"), Path("/dev/zero"), Path("/dev/null")):
            assert kind_of(path) == "not-regular"


@pytest.mark.timeout(60)
def test_file_that_becomes_a_pipe_between_look_and_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"x")
    regular = os.stat(tmp_path / "file")
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", lambda path: regular)
        kind = kind_of(tmp_path / "pipe")
    assert kind == "not-regular"


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert kind_of(tmp_path / "a") == "loop"


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"x")

    def denied(*args: object) -> int:  # root may read everything, so the system's answer is made here
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert kind_of(tmp_path / "a") == "permission"


def test_error_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"x")

    def broken(*args: object, **kwargs: object) -> object:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdopen", broken)
    assert kind_of(tmp_path / "a") == "io"


def test_bound(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_file(tmp_path / "a", limit=5).data == b"12345"
    read = read_file(tmp_path / "a", limit=4)
    assert read.problem is not None
    assert (read.problem.kind, read.size) == ("too-large", 5)
    assert read.problem.message == "is 5 bytes, more than the 4 that are read"
    cut = read_file(tmp_path / "a", limit=4, cut=True)
    assert (cut.data, cut.size) == (b"1234", 5)


def test_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(2**40)
    assert kind_of(tmp_path / "a") == "too-large"


def test_file_that_grows_past_the_bound_is_not_cut_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small").write_bytes(b"1")
    (tmp_path / "grown").write_bytes(b"12345")
    small = os.stat(tmp_path / "small")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", lambda descriptor: small)
        kind = kind_of(tmp_path / "grown", limit=4)
    assert kind == "too-large"


def test_descriptors_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    opened: list[int] = []
    closed: list[int] = []
    real_open, real_close = os.open, os.close

    def noted_open(path: Path, flags: int) -> int:
        opened.append(real_open(path, flags))
        return opened[-1]

    def noted_close(descriptor: int) -> None:
        closed.append(descriptor)
        real_close(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", noted_open)
        patched.setattr(os, "close", noted_close)
        read_file(tmp_path / "a")
        read_file(tmp_path / "a", limit=1)
        read_file(tmp_path / "a", limit=1, cut=True)
    assert len(opened) == 3
    assert closed == opened
