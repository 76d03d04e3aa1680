"""What an assembly of bee depends on, in memory and frozen."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath
from types import MappingProxyType

from promptdbg.engines.base import Inputs
from promptdbg.engines.bee.config import Config
from promptdbg.engines.bee.context import ContextFile
from promptdbg.engines.bee.fuzzy import Candidates
from promptdbg.engines.bee.history import Shape, flat_text, shape_of
from promptdbg.engines.bee.knowledge import Record
from promptdbg.engines.bee.manifest import Tool
from promptdbg.files.tree import FileTree
from promptdbg.files.walkup import Candidate
from promptdbg.model import Json, Source
from promptdbg.text import one_line


@dataclass(frozen=True, slots=True)
class Row:
    """One stored message, and what is measured of it whatever the settings: made by ``Row.of``."""

    id: str
    value: Mapping[str, Json]
    shape: Shape
    source: Source | None = None
    title: str = ""

    @classmethod
    def of(cls, name: str, value: Mapping[str, Json], source: Source | None = None) -> Row:
        row = cls(name, value, shape_of(value), source)
        return replace(row, title=one_line(flat_text(value))) if row.begins_turn else row

    @property
    def begins_turn(self) -> bool:
        return self.value.get("role") == "user" and self.value.get("ephemeral") is not True


@dataclass(frozen=True, slots=True)
class Place:
    """Where the agent stands, as it sees paths.

    ``base`` is the folder ids are relative to; ``chain`` the folders from the root down to ``cwd`` and
    ``walk_from`` the one of them the walk-up begins at. ``home`` is ``None`` where there is none.
    """

    cwd: str
    git_root: str = ""
    base: str = "/"
    walk_from: str = "/"
    chain: tuple[str, ...] = ()
    home: str | None = None
    real: str = ""
    """Where ``base`` really lies; empty where paths are what they are."""

    @property
    def bee_home(self) -> str:
        return f"{self.home.rstrip('/')}/.bee" if self.home is not None else ""

    def real_path(self, path: str) -> str:
        """Where a file really lies, for someone who wants to open it."""
        base = self.base.rstrip("/") + "/"
        inside = self.real and path.startswith(base)
        return str(PurePath(self.real, path[len(base) :]) if inside else PurePath(path))

    def key(self, path: str) -> str:
        """A path as a short, stable name: below ``base`` and on the way up relative to it, in the home
        with ``~``."""
        base = self.base.rstrip("/") + "/"
        if self.home is not None and path.startswith(self.bee_home + "/"):
            return "~" + path[len(self.home.rstrip("/")) :]
        if path.startswith(base):
            return path[len(base) :]
        above = self.base in self.chain and posixpath.dirname(path) in self.chain
        return posixpath.relpath(path, self.base) if above else path


@dataclass(frozen=True, kw_only=True)
class BeeInputs(Inputs):
    """Everything read. ``context`` and ``chosen`` are set where a program hands in finished context
    files or records itself: nothing is then searched for, or chosen.

    ``query`` is the new message, ``None`` when the run goes on after the stored ones. ``candidates``
    are context files found, ``listings`` the files below folders that imports may fuzzily match.
    ``context_window`` is a window learnt otherwise than from bee's table.
    """

    config: Config
    place: Place
    now: datetime
    tree: FileTree = field(default_factory=FileTree)
    listings: Mapping[str, Candidates] = field(default_factory=lambda: MappingProxyType({}))
    candidates: tuple[Candidate, ...] = ()
    context: tuple[ContextFile, ...] | None = None
    records: tuple[Record, ...] = ()
    chosen: bool = False
    filtered: bool = True
    apply_profile: bool = True
    tools: tuple[Tool, ...] = ()
    skills: str = ""
    messages: tuple[Row, ...] = ()
    query: str | None = None
    hint_tags: tuple[str, ...] = ()
    context_window: int | None = None
    input_tokens: int = 0
    summary: str = ""

    def below(self, folder: str) -> Candidates:
        """The files below a folder, for the fuzzy search."""
        return self.listings.get(folder) or _NOTHING


_NOTHING = Candidates.of(())
