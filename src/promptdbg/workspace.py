"""A workspace: a folder an agent works in, and the optional manifest ``promptdbg.toml`` in it.

The manifest names the engine, knob values under ``[settings]``, scenarios under
``[scenarios.NAME]``, and whatever input files the engine needs; each engine reads its own keys.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from promptdbg.errors import InputError
from promptdbg.files.disk import read_file, resolved
from promptdbg.model import Json, Settings, Value, is_finite

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


@dataclass(frozen=True, slots=True)
class Workspace:
    """An opened folder. Paths an engine reads are relative to ``path``."""

    path: Path
    manifest: Manifest | None = None

    @property
    def options(self) -> Mapping[str, Json]:
        """The manifest's keys; empty without a manifest."""
        return self.manifest.data if self.manifest else MappingProxyType({})


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
        raise InputError(why, where=str(folder), hint=hint)
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
    import tomllib  # 10 ms that a workspace without a manifest need not pay

    try:
        text = read.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", where=str(path)) from error
    try:
        data = tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, and plain for a number of thousands of digits
        raise InputError(f"is not TOML: {error}", where=str(path)) from error
    except RecursionError as error:
        raise InputError("is nested too deeply", where=str(path)) from error
    return manifest_from(path, data)


def manifest_from(path: Path, data: Mapping[str, Any]) -> Manifest:
    """A manifest from its parsed document.

    Raises:
        InputError: a key has the wrong kind of value.
    """
    engine = data.get("engine")
    if engine is not None and not isinstance(engine, str):
        raise InputError("engine must be a text", where=str(path))
    scenarios = _table(path, data, "scenarios")
    return Manifest(
        path=path,
        engine=engine,
        settings=_settings(path, "settings", _table(path, data, "settings")),
        scenarios=MappingProxyType(
            {
                name: _settings(path, f"scenarios.{name}", _table(path, scenarios, name, f"scenarios.{name}"))
                for name in scenarios
            }
        ),
        data=MappingProxyType(dict(data)),
    )


# Beside knob values a settings table may hold these, as written by "save scenario".
_OFF, _PRIORITIES, _TEXTS = "off", "priorities", "texts"


def _settings(path: Path, where: str, table: Mapping[str, Any]) -> Settings:
    off = table.get(_OFF, [])
    if not isinstance(off, list) or not all(isinstance(item, str) for item in off):
        raise InputError(f"{where}.{_OFF} must be a list of item ids", where=str(path))
    priorities = _table(path, table, _PRIORITIES, f"{where}.{_PRIORITIES}")
    for item, number in priorities.items():
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not is_finite(number):
            raise InputError(f"{where}.{_PRIORITIES}.{item} must be a number", where=str(path))
    texts = _table(path, table, _TEXTS, f"{where}.{_TEXTS}")
    for item, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{where}.{_TEXTS}.{item} must be a text", where=str(path))
    values = {
        name: _value(path, f"{where}.{name}", value)
        for name, value in table.items()
        if name not in (_OFF, _PRIORITIES, _TEXTS)
    }
    return Settings(
        values=MappingProxyType(values),
        off=frozenset(off),
        priorities=MappingProxyType(dict(priorities)),
        texts=MappingProxyType(dict(texts)),
    )


def _value(path: Path, where: str, value: Any) -> Value:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    if isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(f"{where} must be a number, a text, true or false, or a list of texts", where=str(path))


def _table(path: Path, data: Mapping[str, Any], key: str, where: str = "") -> Mapping[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"[{where or key}] must be a table", where=str(path))
    return value
