"""Paths as texts: what a path names, told by its own form and not by the system we run on.

A document may come from another machine, so ``C:\\work`` is a Windows path wherever it is read. What
a person sees of a place inside a folder is relative to it and has ``/``, on every system.
"""

from __future__ import annotations

from pathlib import PurePath, PurePosixPath, PureWindowsPath


def is_windows(path: str) -> bool:
    """Whether an absolute path has Windows' form: a drive, or a share."""
    return path[1:2] == ":" or path.startswith("\\\\")


def is_absolute(path: str) -> bool:
    """Whether a path names a place without a folder that it is in."""
    return path.startswith("/") or is_windows(path)


def is_written_as_path(word: str) -> bool:
    """Whether a word of a command line is meant as a place on disk, whether it is there or not."""
    return word.startswith(("/", "./", "../", "~", ".\\", "..\\")) or is_windows(word)


def below(path: str, folder: str) -> str:
    """A path relative to ``folder``, with ``/``, where it lies in it; elsewhere as it is."""
    if not folder:
        return path
    if not is_windows(folder):
        return path.removeprefix(folder.rstrip("/") + "/")
    here, above = PureWindowsPath(path), PureWindowsPath(folder)
    return here.relative_to(above).as_posix() if above in here.parents else path


def uri(path: str, folder: str) -> str:
    """A path as a URI: relative to ``folder`` where it lies in it."""
    from urllib.parse import quote  # 5 ms that no other command need pay

    short = below(path, folder)
    if short == path and is_absolute(path):
        return (PureWindowsPath if is_windows(path) else PurePosixPath)(path).as_uri()
    return quote(short, errors="surrogateescape")


def inside(folder: str, *names: str) -> str:
    """A path in a folder, written as the system that the folder is of writes it."""
    kind: type[PurePath] = PureWindowsPath if is_windows(folder) else PurePosixPath
    return str(kind(folder, *names))


def disk_root(path: str) -> str:
    """The top of the disk that an absolute path with ``/`` lies on: ``/``, or a drive as ``C:``."""
    return path[:2] if path[1:2] == ":" else "/"
