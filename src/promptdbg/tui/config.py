"""A person's own settings of the UI: theme, ASCII, keys. Read from one file, never written.

``config.toml`` in the user's own folder (``files/own.py``)::

    theme = "nord"
    ascii = false

    [keys]                      # ids as the help shows them are in keys.py
    "app.undo" = "ctrl+z"
    "item.toggle" = "space,backspace"
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from promptdbg.files.disk import read_file
from promptdbg.files.own import own_folder
from promptdbg.files.tomltext import TomlError, read_toml
from promptdbg.text import one_line
from promptdbg.tui.keys import KEYS, Key, Place
from promptdbg.tui.ownkeys import clash_lines, keys_here
from promptdbg.tui.places import short_path

_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says. ``problems`` are lines for a person; what they are about is left out."""

    theme: str | None = None
    ascii: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    path: str = ""

    def named(self, key: Key) -> Key:
        """A key of the table as this person presses it."""
        own = self.keys.get(key.id)
        return replace(key, keys=own, shown=own.split(",")[0]) if own else key

    def here(self, *places: Place) -> list[Key]:
        """The keys that work in some places as this person presses them, the nearest first."""
        return keys_here(self.keys, *places)

    def key_line(self, *places: Place) -> list[Key]:
        """What the line at the bottom shows in some places, most wanted first."""
        return sorted((key for key in self.here(*places) if key.rank), key=lambda key: key.rank)


def config_path(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where the file is looked for; ``None`` where there is no home."""
    folder = own_folder(environment)
    return folder / "config.toml" if folder else None


def read_config(path: Path | None) -> Config:
    """The settings in a file; none, when there is no such file."""
    if path is None:
        return Config()
    read = read_file(path, limit=_LIMIT)
    if read.data is None:
        missing = read.problem is None or read.problem.kind == "missing"
        return Config() if missing or read.problem is None else _broken(path, read.problem.message)
    try:
        return _config(path, read_toml(read.data.decode("utf-8-sig")))
    except (UnicodeDecodeError, TomlError) as error:
        return _broken(path, f"is not TOML: {error}")


_SHOWN = 2


def complaints_line(complaints: Sequence[str], path: str) -> str:
    """What is wrong with a person's settings, for a status line: the first of it, and where the rest is."""
    more = len(complaints) - _SHOWN
    rest = (f"{more:,} more (!)",) if more > 0 else ()
    said = " · ".join((*complaints[:_SHOWN], *rest))
    return f"{one_line(short_path(Path(path)))}: {said}" if path else said


def _broken(path: Path, what: str) -> Config:
    return Config(path=str(path), problems=(one_line(what),))


def _config(path: Path, data: Mapping[str, Any]) -> Config:
    problems = [f"{key} is not a setting" for key in data if key not in ("theme", "ascii", "keys")]
    theme, ascii_only, keys = data.get("theme"), data.get("ascii", False), data.get("keys", {})
    if theme is not None and not isinstance(theme, str):
        problems.append("theme must be a text")
        theme = None
    if not isinstance(ascii_only, bool):
        problems.append("ascii must be true or false")
        ascii_only = False
    if not isinstance(keys, dict):
        problems.append("[keys] must be a table")
        keys = {}
    known = {key.id for key in KEYS}
    problems += [f"[keys] {key} is no key's id" for key in keys if key not in known]
    problems += [f"[keys] {key} must be a text" for key, value in keys.items() if not isinstance(value, str)]
    good = {key: value for key, value in keys.items() if key in known and isinstance(value, str) and value}
    problems += clash_lines(good)
    return Config(theme, ascii_only, good, tuple(map(one_line, problems)), str(path))
