"""Stored session formats: one module each, found by name. Reading never repairs and never writes.

A format module has ``find(workspace, home) -> tuple[SessionRef, ...]`` (newest first) and
``read(ref) -> StoredSession``.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from promptdbg.errors import InputError, UsageError
from promptdbg.files.disk import read_file
from promptdbg.records import SessionRef, StoredSession
from promptdbg.workspace import Workspace

_FORMATS = {"nanobot": "promptdbg.sessions.nanobot"}

FORMAT_NAMES = tuple(_FORMATS)

_HEAD = 65_536


class Format(Protocol):
    """What a format module offers."""

    def find(self, workspace: Workspace, home: Path) -> tuple[SessionRef, ...]: ...

    def read(self, ref: SessionRef) -> StoredSession: ...


def session_format(name: str) -> Format:
    """The module of a format.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in _FORMATS:
        raise UsageError(f"unknown session format {name!r}", hint="one of " + ", ".join(FORMAT_NAMES))
    return cast(Format, import_module(_FORMATS[name]))


def ref_for(path: Path, name: str, hint: str) -> SessionRef:
    """A reference to a session file the user named; ``hint`` is what to try where it is none.

    Raises:
        InputError: there is no such file, or it is not a regular file.
    """
    read = read_file(path, limit=_HEAD, cut=True)
    if read.problem is not None:
        raise InputError(read.problem.message, where=str(path), hint=hint)
    return SessionRef(str(path), name, path.stem, read.size, read.modified)
