"""Reading a workspace for bee: all I/O is here, and every problem becomes a notice.

Files of a workspace, each optional, with the manifest key that names another:

- ``bee.toml`` (``config``): keys of bee's configuration; ``[environment]`` in the manifest over it
- the project itself, from ``cwd`` up to the virtual root: ``AGENTS.md``, ``CLAUDE.md``, what they import
- ``home/.bee`` (``home``): the global context file and, in ``store/``, the knowledge records (``store``)
- ``tools.json`` (``tools``), ``skills.txt`` or a folder ``skills`` of ``.md`` files (``skills``)
- ``messages.jsonl`` (``messages``), ``query.txt`` (``query``), ``summary.txt`` (``summary``)

Further manifest keys: ``mount`` (the path the workspace folder has for the agent), ``cwd``,
``git_root``, ``walk_from``, ``clock``, ``hint_tags``, ``context_window``, ``input_tokens`` and
``[modified]`` (times of record files, which decide their order and age).
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from promptdbg.engines.base import Detection, LoadRequest
from promptdbg.engines.bee.config import Config
from promptdbg.engines.bee.context import (
    MOST_CANDIDATES,
    NAMES,
    PRUNED,
    BeeResolver,
    attached_paths,
    read_imports,
)
from promptdbg.engines.bee.fuzzy import Candidates
from promptdbg.engines.bee.gotext import to_bytes
from promptdbg.engines.bee.inputs import BeeInputs, Place, Row
from promptdbg.engines.bee.knobs import DEEPEST
from promptdbg.engines.bee.knowledge import Record
from promptdbg.engines.bee.layers import merge_document, merge_environment
from promptdbg.engines.bee.manifest import Skill, Tool, skills_manifest
from promptdbg.engines.bee.rows import read_messages, read_tools
from promptdbg.engines.bee.skills import read_skill
from promptdbg.engines.bee.store import read_store, record_times, store_folder
from promptdbg.engines.named import broken
from promptdbg.errors import InputError
from promptdbg.files.disk import entries, is_folder, is_there, read_file
from promptdbg.files.tomltext import TomlError, read_toml
from promptdbg.files.tree import DiskFiles, Limits, Mount, clean, whole_disks
from promptdbg.files.walkup import Candidate, candidates, folders
from promptdbg.model import Json, Notice, Source, is_finite
from promptdbg.paths import disk_root
from promptdbg.times import iso_time
from promptdbg.workspace import Workspace

CONTEXT_FILE_BYTES = 1_048_576
"""Bytes read of a context file. The prompt takes at most 8,192 of what they expand to."""

# What a user of another agent needs to know, whose folder looks the same.
_SHARED = {
    "AGENTS.md": "nanobot reads it too (--engine nanobot); other agents that do, such as Codex and Cursor, "
    "are not rebuilt here",
    "CLAUDE.md": "other agents that read it, such as Claude Code, are not rebuilt here",
}
_TEXT_BYTES = 64 * 1024 * 1024
_RECORD_BYTES = 4 * 1024 * 1024


def detect(workspace: Workspace) -> Detection | None:
    """Files that only bee has, else context files that several agents share."""
    folder = workspace.path
    for name in ("bee.toml", ".bee", "home/.bee"):
        if os.path.exists(folder / name):
            return Detection(50, f"{name} is bee's")
    for name in NAMES:
        if os.path.isfile(folder / name):
            return Detection(10, f"a guess, for {name} is all there is to go by: {_SHARED[name]}")
    return None


def load(workspace: Workspace, request: LoadRequest) -> BeeInputs:
    """Everything an assembly needs.

    Raises:
        InputError: bee.toml is broken, or the manifest contradicts itself (a working folder outside
            the workspace, a clock that is no time).
    """
    return _Loading(workspace, request).inputs()


@dataclass(slots=True)
class _Loading:
    workspace: Workspace
    request: LoadRequest
    notices: list[Notice] = field(default_factory=list)

    def inputs(self) -> BeeInputs:
        config = self._config()
        now = self._now()
        query = self._query()
        files, place = self._place()
        found = self._candidates(files, place)
        listings = self._read_closure(files, place, found, query)
        if files.exhausted:
            self._notice("bee.limit", f"{files.exhausted}; the rest is taken as not there")
        return BeeInputs(
            workspace=str(self.workspace.path),
            config=config,
            place=place,
            now=now,
            tree=files.snapshot(),
            listings=MappingProxyType(listings),
            candidates=found,
            records=self._records(place),
            tools=self._tools(),
            skills=self._skills(),
            messages=self._messages(),
            query=query,
            hint_tags=tuple(self._strings("hint_tags")),
            context_window=self._number("context_window"),
            input_tokens=self._number("input_tokens") or 0,
            summary=self._text("summary", "summary.txt") or "",
            warnings=tuple(self.notices),
        )

    # ---- manifest keys ------------------------------------------------------------------------------

    def _notice(self, code: str, message: str, path: Path | None = None, line: int | None = None) -> None:
        self.notices.append(Notice(code, message, Source(str(path), line, line) if path else None))

    def _option(self, key: str) -> Json:
        return self.workspace.options.get(key)

    def _string(self, key: str, default: str = "") -> str:
        value = self._option(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.workspace.wrong("must be a text", key)
        return value

    def _strings(self, key: str) -> list[str]:
        value = self._option(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.workspace.wrong("must be a list of texts", key)
        return value

    def _number(self, key: str) -> int | None:
        value = self._option(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0 or not is_finite(value):
            raise self.workspace.wrong("must be a whole number, 0 or more", key)
        return value

    def _file(self, key: str, default: str) -> tuple[Path, bool]:
        """The file a key names, and whether the manifest asked for it."""
        named = self._string(key)
        return self.workspace.path / (named or default), bool(named)

    def _bytes(self, key: str, default: str, limit: int = _TEXT_BYTES) -> tuple[Path, bytes | None]:
        path, asked = self._file(key, default)
        read = read_file(path, limit=limit)
        if read.problem is not None and read.problem.kind != "missing":
            raise broken(read.problem.message, Source(str(path)))
        if read.problem is not None:
            if asked:
                self._notice("bee.unreadable", read.problem.message, path)
            return path, None
        return path, read.data

    def _text(self, key: str, default: str) -> str | None:
        data = self._bytes(key, default)[1]
        return None if data is None else data.decode("utf-8", "surrogateescape")

    # ---- the small files ----------------------------------------------------------------------------

    def _config(self) -> Config:
        path, data = self._bytes("config", "bee.toml")
        config = Config()
        if data is not None:
            try:
                document = read_toml(data.decode("utf-8-sig"))
            except (TomlError, UnicodeDecodeError) as error:  # bee does not start either
                line = error.line if isinstance(error, TomlError) else None
                raise broken(f"is not TOML: {error}", Source(str(path), line)) from error
            config, wrong = merge_document(config, document)
            for message in wrong:
                self._notice("bee.config", f"{message}; bee refuses the whole file", path)
        environment = self._option("environment") or {}
        if not isinstance(environment, dict):
            raise self.workspace.wrong("must be a table", "environment")
        return merge_environment(config, {key: str(value) for key, value in environment.items()})

    def _now(self) -> datetime:
        text = self.request.now or self._string("clock")
        if not text:
            return datetime.now(UTC).replace(microsecond=0)
        try:
            moment = iso_time(text)
        except ValueError as error:
            if self.request.now:
                raise InputError(f"{text!r} is not an ISO time", where="--now") from error
            raise self.workspace.wrong(f"must be an ISO time, not {text!r}", "clock") from error
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def _query(self) -> str | None:
        if self.request.message is not None:
            return self.request.message
        return self._text("query", "query.txt")

    def _tools(self) -> tuple[Tool, ...]:
        path, data = self._bytes("tools", "tools.json")
        tools, notices = read_tools(str(path), data)
        self.notices += notices
        return tools

    def _skills(self) -> str:
        folder = self.workspace.path / self._string("skills", "skills")
        if not is_folder(folder):
            return self._text("skills", "skills.txt") or ""
        skills: list[Skill] = []
        for path in sorted(entries(folder), key=lambda entry: os.fsencode(entry.name)):
            if path.suffix.lower() != ".md" or is_folder(path):
                continue
            read = read_file(path, limit=_RECORD_BYTES)
            if read.data is None:
                self._notice(
                    "bee.unreadable", read.problem.message if read.problem else "cannot be read", path
                )
                continue
            skill, notice = read_skill(str(path), read.data)
            if notice:
                self.notices.append(notice)
            if skill:
                skills.append(skill)
        return skills_manifest(skills)

    def _messages(self) -> tuple[Row, ...]:
        path, data = self._bytes("messages", "messages.jsonl")
        rows, notices = read_messages(str(path), data)
        self.notices += notices
        return rows

    # ---- where things lie ---------------------------------------------------------------------------

    def _place(self) -> tuple[DiskFiles, Place]:
        folder = self.workspace.path
        real = folder.as_posix()
        mount = clean(self._string("mount", real))
        if not mount.startswith("/") and mount != real:
            raise self.workspace.wrong("must be an absolute path", "mount")
        whole = mount == real
        home = self._home(mount, whole)
        mounts = whole_disks(real, home or real) if whole else (Mount(mount, folder),)
        files = DiskFiles(mounts, limits=Limits(listed_per_folder=MOST_CANDIDATES), pruned=PRUNED)
        cwd = clean(posixpath.join(mount, self._string("cwd", mount)))
        inside = cwd == mount or cwd.startswith(mount.rstrip("/") + "/")
        if not inside and mount != real:
            raise self.workspace.wrong(f"{cwd} is not below mount {mount}", "cwd")
        root = disk_root(real) if whole else mount
        chain = folders(root, cwd)
        # Without a mount the folder lies where the agent sees it, and bee walks up to the root.
        start = clean(posixpath.join(mount, self._string("walk_from", root)))
        if start not in chain:
            if self._string("walk_from"):
                raise self.workspace.wrong(f"{start} is no folder from {chain[0]} to {cwd}", "walk_from")
            start = chain[0]  # on another disk than the workspace
        git = self._option("git_root")
        git_root = self._git_root(files, chain) if git is None else self._string("git_root")
        if git_root and git_root not in chain and not git_root.startswith("/"):
            git_root = clean(posixpath.join(mount, git_root))
        place = Place(cwd, git_root, mount, start, chain, home, real if mount != real else "")
        return files, place

    def _home(self, mount: str, whole: bool) -> str | None:
        named = self._string("home")
        if named or is_folder(self.workspace.path / "home" / ".bee"):
            return clean(posixpath.join(mount, named or "home"))
        if self.request.home is None or not whole:
            return None
        return clean(Path(self.request.home).as_posix())

    def _git_root(self, files: DiskFiles, chain: tuple[str, ...]) -> str:
        for folder in reversed(chain):
            real = files.real(folder)
            if real is not None and is_there(real / ".git"):
                return folder
        return ""

    def _candidates(self, files: DiskFiles, place: Place) -> tuple[Candidate, ...]:
        where = [place.bee_home] if place.bee_home else []
        for folder in (*where, *place.chain):
            for name in NAMES:
                files.file(posixpath.join(folder, name), limit=CONTEXT_FILE_BYTES)
        found = candidates(files, (*where, *place.chain), NAMES)
        for candidate in found:
            if candidate.entry.kind == "file" and not candidate.entry.whole:
                text = f"has {candidate.entry.size:,} bytes; the first {CONTEXT_FILE_BYTES:,} are read"
                self._notice("bee.context-size", text, Path(candidate.path))
        return found

    def _read_closure(
        self, files: DiskFiles, place: Place, found: tuple[Candidate, ...], query: str | None
    ) -> dict[str, Candidates]:
        listings: dict[str, Candidates] = {}

        def below(folder: str) -> Candidates:
            if folder not in listings:
                listings[folder] = Candidates.of(files.below(folder))
            return listings[folder]

        texts = [(entry.path, entry.entry.data) for entry in found if entry.entry.kind == "file"]
        read_imports(BeeResolver(files, below, place.home), texts, DEEPEST)
        for path in attached_paths(to_bytes(query or ""), place.cwd):
            files.file(path)
        return listings

    def _records(self, place: Place) -> tuple[Record, ...]:
        bundled = self.workspace.path / "home" / ".bee"
        named = self._string("store")
        if named:
            folder: Path | None = self.workspace.path / named
        elif self._string("home"):
            folder = store_folder(self.workspace.path / self._string("home") / ".bee", place.git_root)
        elif is_folder(bundled):
            folder = store_folder(bundled, place.git_root)
        else:
            folder = store_folder(Path(place.bee_home), place.git_root) if place.bee_home else None
        if folder is None:
            return ()
        try:
            times = record_times(self._option("modified"))
        except ValueError as error:
            name = str(error)
            keys = ("modified", name) if name else ("modified",)
            raise self.workspace.wrong("must be a time" if name else "must be a table", *keys) from error
        records, notices = read_store(folder, times)
        self.notices += notices
        return records
