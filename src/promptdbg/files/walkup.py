"""Context files found by walking from a root folder down to the working folder.

Agents differ in the names they look for and in what hides what; this gives every candidate with
its state, so that an engine can say why a file is not in the prompt.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from promptdbg.files.tree import FileEntry, Files


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file of a wanted name. ``rank`` is the name's place in the order of preference."""

    folder: str
    path: str
    rank: int
    entry: FileEntry


def folders(root: str, folder: str) -> tuple[str, ...]:
    """The folders from ``root`` down to ``folder``, both included; only ``folder`` when it is not
    below ``root``."""
    if folder != root and not folder.startswith(root.rstrip("/") + "/"):
        return (folder,)
    chain = [folder]
    while chain[-1] != root:
        chain.append(posixpath.dirname(chain[-1]))
    return tuple(reversed(chain))


def candidates(files: Files, where: Iterable[str], names: Sequence[str]) -> tuple[Candidate, ...]:
    """Everything but missing files of those names, folder by folder, the preferred name first."""
    found: list[Candidate] = []
    for folder in where:
        for rank, name in enumerate(names):
            path = posixpath.join(folder, name)
            entry = files.file(path)
            if entry.kind != "missing":
                found.append(Candidate(folder, path, rank, entry))
    return tuple(found)
