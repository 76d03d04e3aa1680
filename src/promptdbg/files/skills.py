"""Skill folders: every ``<root>/<name>/SKILL.md``, read as text with what stood in the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from promptdbg.files.disk import entries, is_folder, read_file

SKILL_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StrictText:
    """A file read as strict UTF-8 with every line ending turned into LF.

    ``error`` is the exception a strict reader would raise (``Class: message``); ``text`` is then
    ``None``. ``found`` is false when there is no such file.
    """

    path: Path
    text: str | None = None
    found: bool = True
    error: str = ""


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One skill: its folder's name, its file, and its place in the order the folder lists it."""

    name: str
    file: StrictText
    position: int


def read_strict(path: Path, *, limit: int = SKILL_LIMIT) -> StrictText:
    """Read a text file as Python's ``read_text(encoding="utf-8")`` does, never raising."""
    read = read_file(path, limit=limit)
    if read.problem is not None:
        if read.problem.kind == "missing":
            return StrictText(path, found=False)
        name = {"directory": "IsADirectoryError", "permission": "PermissionError"}.get(
            read.problem.kind, "OSError"
        )
        return StrictText(path, error=f"{name}: {read.problem.message}")
    assert read.data is not None
    try:
        text = read.data.decode("utf-8")
    except UnicodeDecodeError as error:
        return StrictText(path, error=f"UnicodeDecodeError: {error}")
    return StrictText(path, text.replace("\r\n", "\n").replace("\r", "\n"))


def find_skills(root: Path) -> tuple[SkillFile, ...]:
    """The skills under ``root`` in the order the folder lists them; none when it cannot be listed."""
    found: list[SkillFile] = []
    for folder in filter(is_folder, entries(root)):
        file = read_strict(folder / "SKILL.md")
        if file.found:
            found.append(SkillFile(folder.name, file, len(found)))
    return tuple(found)
