"""Reading files a stranger may have made: bounded, never a device, a pipe or a socket.

Every reader of workspaces and sessions goes through here. A problem is a value, not an exception,
because one bad file must never take the rest of the picture with it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

FILE_LIMIT = 256 * 1024 * 1024
"""Bytes read from one file at the most, where the caller names no other bound."""

ProblemKind: TypeAlias = Literal[
    "missing", "directory", "not-regular", "permission", "too-large", "loop", "io"
]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file could not be read: a stable kind, and one clause for a person."""

    kind: ProblemKind
    message: str


@dataclass(frozen=True, slots=True)
class FileRead:
    """The bytes of a file, or the problem. ``size`` is the size on disk where it is known."""

    path: Path
    data: bytes | None = None
    problem: Problem | None = None
    size: int = 0
    modified: float = 0.0


_noted: ContextVar[set[str] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[set[str]]:
    """The paths that are asked for in the block: files read or missed, folders listed. Whoever has to know
    when an answer changes watches them; a list that each reader kept itself would have gaps."""
    paths: set[str] = set()
    token = _noted.set(paths)
    try:
        yield paths
    finally:
        _noted.reset(token)


def _note(path: Path) -> None:
    if (paths := _noted.get()) is not None:
        paths.add(str(path))


def read_file(path: Path, *, limit: int = FILE_LIMIT, cut: bool = False) -> FileRead:
    """Read a regular file, following links.

    Args:
        limit: bytes at the most. A larger file is a ``too-large`` problem.
        cut: instead of refusing a larger file, return its first ``limit`` bytes.
    """
    _note(path)
    try:
        # Opening alone can act on a device, so it is looked at first; and again once open, because
        # the name may point elsewhere by then. O_NONBLOCK: a FIFO without a writer must not hang.
        if problem := _not_a_file(os.stat(path)):
            return FileRead(path, problem=problem)
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        return FileRead(path, problem=_problem(error))
    try:
        status = os.fstat(descriptor)
        if problem := _not_a_file(status):
            return FileRead(path, problem=problem)
        if status.st_size > limit and not cut:
            return _too_large(path, status.st_size, limit)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # One byte more: a file that grows, or one of /proc that has no size, must not be cut unseen.
            data = file.read(limit + 1) or b""
        if len(data) > limit and not cut:
            return _too_large(path, len(data), limit)
        return FileRead(path, data[:limit], size=status.st_size, modified=status.st_mtime)
    except OSError as error:
        return FileRead(path, problem=_problem(error))
    finally:
        os.close(descriptor)


def is_file(path: Path) -> bool:
    """Whether a regular file is there. What may not be looked at, or has a name that no file can
    have, counts as not there; ``Path.is_file`` raises for some of it."""
    _note(path)
    return os.path.isfile(path)


def is_folder(path: Path) -> bool:
    """Whether a folder is there; never raises, as ``is_file``."""
    found = os.path.isdir(path)
    if not found:  # of one that is there, what is read in it tells
        _note(path)
    return found


def is_there(path: Path) -> bool:
    """Whether a name is taken, be it by a link that leads nowhere; never raises, as ``is_file``."""
    _note(path)
    return os.path.lexists(path)


def is_document(path: Path) -> bool:
    """Whether a path names a JSON document rather than a workspace or a session."""
    return path.suffix == ".json" and not is_folder(path)


def entries(folder: Path) -> tuple[Path, ...]:
    """What is in a folder, in the order the system lists it; nothing where it cannot be listed."""
    return tuple(Path(entry.path) for entry in scan(folder))


def scan(folder: Path) -> list[os.DirEntry[str]]:
    """As ``entries``, with what the system tells of each."""
    _note(folder)
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (OSError, ValueError):
        return []


def expanded(text: str) -> Path:
    """A path with its ``~`` replaced; as it stands where that names nobody's home."""
    return Path(os.path.expanduser(text))


def resolved(path: Path) -> Path:
    """The path without links; with them where they lead in a circle, or no file can have the name."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def _too_large(path: Path, size: int, limit: int) -> FileRead:
    message = f"is {size:,} bytes, more than the {limit:,} that are read"
    return FileRead(path, problem=Problem("too-large", message), size=size)


def _not_a_file(status: os.stat_result) -> Problem | None:
    if stat.S_ISDIR(status.st_mode):
        return Problem("directory", "is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        return Problem("not-regular", "is a device, pipe or socket; not read")
    return None


def _problem(error: OSError | ValueError) -> Problem:
    if isinstance(error, ValueError):  # an embedded NUL in the name
        return Problem("missing", "is not a possible file name")
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return Problem("missing", "does not exist")
    if error.errno == errno.EISDIR:
        return Problem("directory", "is a folder, not a file")
    if error.errno in (errno.EACCES, errno.EPERM):
        # Windows reports a folder opened as a file as a permission error.
        return Problem("permission", "cannot be read: permission denied")
    if error.errno == errno.ELOOP:
        return Problem("loop", "is a link that leads back to itself")
    if error.errno == errno.ENXIO:
        return Problem("not-regular", "is a device, pipe or socket; not read")
    return Problem("io", f"cannot be read: {error.strerror or error}")
