"""Every text file below a folder, bounded: for finding words in files an agent would never read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from promptdbg.files.disk import read_file

FILES_MAX = 5_000
FILE_SIZE_MAX = 1_048_576
_PRUNED = frozenset({"node_modules", "__pycache__", "venv", "dist", "build", "target", "vendor"})
# Of the hidden folders only those that agents and code hosts keep instructions in.
_HIDDEN = frozenset(
    {".github", ".claude", ".codex", ".cursor", ".gemini", ".agents", ".nanobot", ".bee", ".windsurf"}
)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that reads as text; ``relative`` is its path below the scanned folder, with ``/``. ``used`` says
    that an engine read it, though perhaps not all of it is of use to it."""

    path: Path
    relative: str
    text: str
    used: bool = False


def _may_hold_instructions(folder: str) -> bool:
    return folder in _HIDDEN if folder.startswith(".") else folder not in _PRUNED


def text_files(
    root: Path, *, files_max: int = FILES_MAX, size_max: int = FILE_SIZE_MAX
) -> Iterator[TextFile]:
    """The text files below ``root`` in sorted order; links to folders are not followed.

    Binary files (a NUL in the first 8 KB) and files over ``size_max`` bytes are passed over, and
    so is everything after the first ``files_max`` files.
    """
    seen = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if _may_hold_instructions(name))
        for name in sorted(names):
            if seen >= files_max:
                return
            path = Path(folder, name)
            try:
                status = path.stat()
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode) or status.st_size > size_max:
                continue
            seen += 1
            data = read_file(path, limit=size_max).data
            if data is not None and b"\0" not in data[:8192]:
                yield TextFile(path, path.relative_to(root).as_posix(), data.decode("utf-8", "replace"))
