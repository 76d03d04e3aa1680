"""A bounded copy of what nanobot reads from a workspace and a session.

The real framework writes into its workspace just by being constructed (it makes folders, moves
session files, cleans up tool results), so it never sees the original. Only regular files are
copied; a link is followed only while it stays inside the folder; the originals are only read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from promptdbg.errors import InputError
from promptdbg.files.disk import read_file
from promptdbg.model import Notice, Source

FILE_LIMIT = 64 * 1024 * 1024
TOTAL_LIMIT = 256 * 1024 * 1024
"""Bytes of one file, and of all of them, that are copied at the most."""

COUNT_LIMIT = 20_000
DEPTH_LIMIT = 16
"""Files and nested folders that are copied at the most."""

WORKSPACE_PARTS = ("AGENTS.md", "SOUL.md", "USER.md", "memory", "skills", "plugins")
"""What nanobot reads of its workspace for a prompt (``agent/context.py``, ``agent/memory.py``,
``agent/skills.py``, ``agent/plugins.py``)."""

PROJECT_PARTS = ("AGENTS.md", "SOUL.md", "USER.md")
"""What it reads of a project folder that is not its workspace."""


@dataclass
class Copier:
    """Copies below one target folder, and keeps count."""

    notices: list[Notice] = field(default_factory=list)
    files: int = 0
    size: int = 0

    def folder(self, source: Path, target: Path, parts: Iterable[str]) -> None:
        """Copy the named parts of a folder.

        Raises:
            InputError: more than the limits.
        """
        target.mkdir(parents=True, exist_ok=True)
        inside = Path(os.path.realpath(source))
        for part in parts:
            self._entry(source / part, target / part, inside, 0)

    def extra(self, source: Path, target: Path) -> bool:
        """Copy one named file; false, with a notice, where it cannot be read."""
        target.parent.mkdir(parents=True, exist_ok=True)
        return self._file(source, target)

    def _entry(self, source: Path, target: Path, inside: Path, depth: int) -> None:
        if depth > DEPTH_LIMIT:
            raise InputError(f"folders nested more than {DEPTH_LIMIT} deep", where=str(source))
        real = Path(os.path.realpath(source))
        if source.is_symlink() and real != inside and inside not in real.parents:
            self._skip(source, "is a link that leads out of the folder")
        elif source.is_dir():
            if real in (inside, *Path(os.path.realpath(source.parent)).parents):
                self._skip(source, "is a link to a folder above it")
                return
            target.mkdir(exist_ok=True)
            for name in _names(source):
                self._entry(source / name, target / name, inside, depth + 1)
        elif os.path.lexists(source):
            self._file(source, target)

    def _file(self, source: Path, target: Path) -> bool:
        read = read_file(source, limit=FILE_LIMIT)
        if read.data is None:
            assert read.problem is not None
            self._skip(source, read.problem.message)
            return False
        try:  # nanobot compares the times of a session and of its checkpoint
            stamp = source.stat().st_mtime_ns
        except OSError as error:  # gone since it was read
            self._skip(source, f"changed while it was being read: {error.strerror or error}")
            return False
        self.files += 1
        self.size += len(read.data)
        if self.files > COUNT_LIMIT:
            raise InputError(f"more than {COUNT_LIMIT:,} files to copy", where=str(source.parent))
        if self.size > TOTAL_LIMIT:
            raise InputError(f"more than {TOTAL_LIMIT:,} bytes to copy", where=str(source.parent))
        target.write_bytes(read.data)
        os.utime(target, ns=(stamp, stamp))
        return True

    def _skip(self, source: Path, reason: str) -> None:
        self.notices.append(Notice("verify.not-copied", f"not copied: {reason}", Source(str(source))))


def _names(folder: Path) -> Iterator[str]:
    try:
        yield from sorted(os.listdir(folder))
    except OSError:
        return
