"""A snapshot of the files an agent may read, by the paths the agent sees.

``DiskFiles`` answers from disk and remembers each answer; ``snapshot`` freezes what was asked into
a ``FileTree`` that an assembly can read without any I/O. Paths are absolute and use ``/``; a mount
says which real folder stands for which of them, so a workspace can be looked at as if it lay
elsewhere, and nothing above it leaks in.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from promptdbg.files.disk import is_folder, is_there, read_file, scan
from promptdbg.paths import disk_root

_WINDOWS = os.name == "nt"

EntryKind: TypeAlias = Literal["file", "folder", "missing", "refused", "unread"]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What is at a path. ``data`` may be less than ``size`` bytes where reading was bounded.

    ``refused`` is something that is never read (a device, a pipe, a link to itself, no permission)
    and ``unread`` something that was not asked for when the snapshot was taken, or came after a
    limit; ``why`` says which, as a clause.
    """

    kind: EntryKind
    data: bytes = b""
    size: int = 0
    modified: float = 0.0
    why: str = ""

    @property
    def whole(self) -> bool:
        return len(self.data) >= self.size


MISSING = FileEntry("missing", why="does not exist")
_UNREAD = FileEntry("unread", why="was not there when the workspace was read")


class Files(Protocol):
    """Anything that knows files by path."""

    def file(self, path: str) -> FileEntry:
        """What is at an absolute path."""

    def below(self, folder: str) -> tuple[str, ...]:
        """The files below a folder, as paths relative to it, in the order they are walked."""


@dataclass(frozen=True, slots=True)
class FileTree:
    """Files in memory; never changes. A path nobody asked for is ``unread``."""

    files: Mapping[str, FileEntry] = field(default_factory=lambda: MappingProxyType({}))
    listings: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def file(self, path: str) -> FileEntry:
        return self.files.get(path, _UNREAD)

    def below(self, folder: str) -> tuple[str, ...]:
        return self.listings.get(folder, ())


@dataclass(frozen=True, slots=True)
class Mount:
    """``path`` is what the agent calls the folder that really lies at ``real``."""

    path: str
    real: Path


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read at the most: bytes of one file, bytes and number of all, files listed."""

    file_bytes: int = 131_072
    total_bytes: int = 64 * 1024 * 1024
    files: int = 20_000
    listed_per_folder: int = 2_000
    listed: int = 200_000


class DiskFiles:
    """Files on disk, read once each and within limits.

    Args:
        mounts: where paths lie; the longest one that holds a path counts. A path in none of them
            does not exist.
        pruned: names of folders that a listing does not enter.
    """

    def __init__(
        self, mounts: Iterable[Mount], *, limits: Limits | None = None, pruned: Iterable[str] = ()
    ) -> None:
        self._mounts = sorted(mounts, key=lambda mount: -len(mount.path))
        self._limits = limits or Limits()
        self._pruned = frozenset(pruned)
        self._files: dict[str, FileEntry] = {}
        self._listings: dict[str, tuple[str, ...]] = {}
        self._bytes = 0
        self._listed = 0
        self.exhausted: str = ""

    def real(self, path: str) -> Path | None:
        """Where a path really lies, ``None`` outside every mount."""
        for mount in self._mounts:
            if mount.path == "/" or path == mount.path or path.startswith(mount.path + "/"):
                rest = path[len(mount.path) :].lstrip("/")
                # There a name cannot hold these, and joined as it stands it would lead out of the mount.
                if _WINDOWS and mount.path != "/" and any(mark in rest for mark in "\\:"):
                    return None
                return mount.real / rest
        return None

    def file(self, path: str, *, limit: int | None = None) -> FileEntry:
        known = self._files.get(path)
        if known is None:
            known = self._files[path] = self._read(path, limit or self._limits.file_bytes)
        return known

    def _read(self, path: str, limit: int) -> FileEntry:
        real = self.real(path)
        if real is None:
            return MISSING
        if self._bytes >= self._limits.total_bytes or len(self._files) >= self._limits.files:
            most = f"{self._limits.files:,} files or {self._limits.total_bytes:,} bytes"
            self.exhausted = f"more than {most} are referred to"
            return FileEntry("unread", why="comes after the most that is read")
        read = read_file(real, limit=limit, cut=True)
        if read.problem is not None:
            if read.problem.kind in ("missing", "directory"):
                kind: EntryKind = "folder" if read.problem.kind == "directory" else "missing"
                return FileEntry(kind, why=read.problem.message)
            return FileEntry("refused", why=read.problem.message)
        data = read.data or b""
        self._bytes += len(data)
        return FileEntry("file", data, max(read.size, len(data)), read.modified)

    def below(self, folder: str) -> tuple[str, ...]:
        known = self._listings.get(folder)
        if known is None:
            real = self.real(folder)
            left = min(self._limits.listed_per_folder, self._limits.listed - self._listed)
            if left <= 0:
                self.exhausted = f"more than {self._limits.listed:,} files would have to be listed"
            known = () if real is None or left <= 0 else walk(real, self._pruned, left)
            self._listed += len(known)
            self._listings[folder] = known
        return known

    def snapshot(self) -> FileTree:
        """Everything asked for so far."""
        return FileTree(MappingProxyType(dict(self._files)), MappingProxyType(dict(self._listings)))


def walk(root: Path, pruned: frozenset[str], most: int) -> tuple[str, ...]:
    """Relative paths of what is not a folder below ``root``, at most so many, as Go walks them.

    Each folder's names are taken in byte order, files and folders mixed. Links are listed and never
    entered; a root that is itself a link is listed as ``.``, and a pruned one holds nothing. Folders
    that cannot be read are passed over.
    """
    if not is_there(root):
        return ()
    if os.path.islink(root) or not is_folder(root):
        return (".",)
    if root.name in pruned:
        return ()
    found: list[str] = []
    pending = [("", iter(_names(root)))]
    while pending and len(found) < most:
        prefix, names = pending[-1]
        for entry in names:
            relative = prefix + entry.name
            if not entry.is_dir(follow_symlinks=False):
                found.append(relative)
                if len(found) >= most:
                    break
            elif entry.name not in pruned:
                pending.append((relative + "/", iter(_names(Path(entry.path)))))
                break
        else:
            pending.pop()
    return tuple(found)


def _names(folder: Path) -> list[os.DirEntry[str]]:
    return sorted(scan(folder), key=lambda entry: os.fsencode(entry.name))


def whole_disks(*paths: str) -> tuple[Mount, ...]:
    """Mounts under which paths are what they are: of the disks that these absolute paths lie on."""
    roots = dict.fromkeys(map(disk_root, paths))
    return tuple(Mount(root, Path(root if root == "/" else f"{root}/")) for root in roots)


def clean(path: str) -> str:
    """The shortest equal path, by its letters alone: links are not followed."""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned
