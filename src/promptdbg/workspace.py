"""A workspace: a folder an agent works in, and the optional manifest ``promptdbg.toml`` in it.

The manifest names the engine, knob values under ``[settings]``, scenarios under
``[scenarios.NAME]``, and whatever input files the engine needs; each engine reads its own keys.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from promptdbg.errors import InputError
from promptdbg.files.disk import is_file, read_file, resolved
from promptdbg.model import Json, Settings, Source, Value, is_finite

MANIFEST_NAME = "promptdbg.toml"
_MANIFEST_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Manifest:
    """``promptdbg.toml``, parsed. ``data`` is the whole document, for the engine's own keys."""

    path: Path
    engine: str | None
    settings: Settings
    scenarios: Mapping[str, Settings]
    data: Mapping[str, Json]
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Workspace:
    """An opened folder. Paths an engine reads are relative to ``path``."""

    path: Path
    manifest: Manifest | None = None

    @property
    def options(self) -> Mapping[str, Json]:
        """The manifest's keys; empty without a manifest."""
        return self.manifest.data if self.manifest else MappingProxyType({})

    def source(self, *keys: str) -> Source:
        """Where a key of the manifest stands, or the file; the folder without a manifest."""
        if self.manifest is None:
            return Source(str(self.path))
        return _place(self.manifest.path, self.manifest.text, keys)

    def table_sources(self, key: str, count: int) -> tuple[Source, ...]:
        """Where each of the manifest's ``count`` tables ``[[key]]`` stands."""
        from promptdbg.files.tomllines import table_lines

        lines = table_lines(self.manifest.text, key) if self.manifest else ()
        if len(lines) != count:
            return (Source(self.source().path),) * count
        return tuple(Source(self.source().path, line) for line in lines)

    def wrong(self, what: str, *keys: str) -> InputError:
        """The error that a key of the manifest has a value that cannot be."""
        return InputError(f"{'.'.join(keys)} {what}", where=str(self.source(*keys)))


def open_folder(path: Path | str) -> Workspace:
    """Open a folder and read its manifest, if it has one.

    Raises:
        InputError: the folder does not exist, is not a folder, or its manifest is broken (with
            line and column).
    """
    hint = "name the folder the agent works in"
    try:
        folder = Path(path).expanduser()
    except RuntimeError as error:  # "~name" of a user who does not exist
        raise InputError("no such folder", where=str(path), hint=hint) from error
    if (why := _not_a_folder(folder)) is not None:
        more = "; a session file goes behind --session" if is_file(folder) else ""
        raise InputError(why, where=str(folder), hint=hint + more)
    folder = resolved(folder)
    return Workspace(folder, read_manifest(folder / MANIFEST_NAME))


def _not_a_folder(folder: Path) -> str | None:
    """Why a folder cannot be opened, as a clause; ``None`` when it can."""
    try:
        names = os.scandir(folder)
    except NotADirectoryError:
        # Also what stands in the way of a path that goes on below a file.
        return "is not a folder" if os.path.exists(folder) else "no such folder"
    except PermissionError:
        return "cannot be read: permission denied"
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            return "is a link that leads back to itself"
        if os.path.islink(folder):
            return "is a link to something that is not there"
        return "no such folder"
    names.close()
    return None


def read_manifest(path: Path) -> Manifest | None:
    """The manifest at ``path``, ``None`` when there is no such file.

    Raises:
        InputError: it cannot be read or is not what a manifest must be.
    """
    read = read_file(path, limit=_MANIFEST_LIMIT)
    if read.problem is not None:
        if read.problem.kind == "missing":
            return None
        raise InputError(read.problem.message, where=str(path))
    assert read.data is not None
    from promptdbg.files.tomltext import (  # 10 ms that a workspace without a manifest need not pay
        TomlError,
        read_toml,
    )

    try:
        text = read.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", where=str(path)) from error
    try:
        data = read_toml(text)
    except TomlError as error:
        raise InputError(f"is not TOML: {error}", where=str(path)) from error
    return manifest_from(path, data, text)


def manifest_from(path: Path, data: Mapping[str, Any], text: str = "") -> Manifest:
    """A manifest from its parsed document; ``text`` is what was parsed, for the lines of errors.

    Raises:
        InputError: a key has the wrong kind of value.
    """
    return _Reader(path, text).manifest(data)


# Beside knob values a settings table may hold these, as written by "save scenario".
_OFF, _PRIORITIES, _TEXTS = "off", "priorities", "texts"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checks a document, and tells what is wrong by its key and place."""

    path: Path
    text: str

    def wrong(self, what: str, *keys: str) -> InputError:
        return InputError(f"{'.'.join(keys)} {what}", where=str(_place(self.path, self.text, keys)))

    def manifest(self, data: Mapping[str, Any]) -> Manifest:
        engine = data.get("engine")
        if engine is not None and not isinstance(engine, str):
            raise self.wrong("must be a text", "engine")
        scenarios = {
            name: self.settings(self.table(data, "scenarios", name), "scenarios", name)
            for name in self.table(data, "scenarios")
        }
        return Manifest(
            path=self.path,
            engine=engine,
            settings=self.settings(self.table(data, "settings"), "settings"),
            scenarios=MappingProxyType(scenarios),
            data=MappingProxyType(dict(data)),
            text=self.text,
        )

    def settings(self, table: Mapping[str, Any], *where: str) -> Settings:
        off = table.get(_OFF, [])
        if not isinstance(off, list) or not all(isinstance(item, str) for item in off):
            raise self.wrong("must be a list of item ids", *where, _OFF)
        priorities = self.table(table, _PRIORITIES, above=where)
        for item, number in priorities.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not is_finite(number):
                raise self.wrong("must be a number", *where, _PRIORITIES, item)
        texts = self.table(table, _TEXTS, above=where)
        for item, text in texts.items():
            if not isinstance(text, str):
                raise self.wrong("must be a text", *where, _TEXTS, item)
        values = {
            name: self.value(value, *where, name)
            for name, value in table.items()
            if name not in (_OFF, _PRIORITIES, _TEXTS)
        }
        return Settings(
            values=MappingProxyType(values),
            off=frozenset(off),
            priorities=MappingProxyType(dict(priorities)),
            texts=MappingProxyType(dict(texts)),
        )

    def value(self, value: Any, *keys: str) -> Value:
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return tuple(value)
        if isinstance(value, (bool, int, float, str)):
            return value
        raise self.wrong("must be a number, a text, true or false, or a list of texts", *keys)

    def table(self, data: Mapping[str, Any], *keys: str, above: tuple[str, ...] = ()) -> Mapping[str, Any]:
        """The table that the keys lead to from ``data``, which stands at ``above``; empty without one."""
        found: Any = data
        for depth, key in enumerate(keys, start=1):
            found = found.get(key, {})
            if not isinstance(found, dict):
                name = ".".join((*above, *keys[:depth]))
                place = _place(self.path, self.text, (*above, *keys[:depth]))
                raise InputError(f"[{name}] must be a table", where=str(place))
        table: Mapping[str, Any] = found
        return table


def _place(path: Path, text: str, keys: tuple[str, ...]) -> Source:
    from promptdbg.files.tomllines import key_line  # only where something is wrong

    return Source(str(path), key_line(text, *keys) if keys else None)
