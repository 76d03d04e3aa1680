"""Saving the settings of now as a named scenario in ``promptdbg.toml``: only when asked to.

The file is appended to, never rewritten: comments and order stay. What would be written is
parsed first, so a broken manifest is never left behind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from promptdbg.errors import InputError, UsageError
from promptdbg.export.write import write_atomically
from promptdbg.files.disk import read_file, resolved
from promptdbg.files.tomltext import read_toml
from promptdbg.model import Settings, Value
from promptdbg.workspace import MANIFEST_NAME, manifest_from

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def save_scenario(workspace: Path, name: str, settings: Settings) -> Path:
    """Append a scenario to the manifest of a workspace, making the manifest if there is none.

    Raises:
        UsageError: the name is taken or empty, or a value has no form in TOML.
        InputError: the file cannot be read or written.
    """
    name = name.strip()
    if not name:
        raise UsageError("a scenario needs a name")
    path = resolved(workspace / MANIFEST_NAME)  # a link stays one: what it leads to is written
    old = _read(path)
    known = _parsed(path, old, "cannot be added to").get("scenarios")
    if isinstance(known, dict) and name in known:
        raise UsageError(f"there is a scenario {name!r} already", where=MANIFEST_NAME)
    end = "\r\n" if b"\r\n" in old else "\n"
    blank = old.endswith((b"\n\n", b"\n\r\n"))
    gap = "" if not old or blank else end if old.endswith(b"\n") else end * 2
    added = gap + scenario_toml(name, settings).replace("\n", end)
    try:
        new = old + added.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"cannot be written: {error}", where=str(path)) from error
    manifest_from(path, _parsed(path, new, "cannot take a scenario at its end"))
    write_atomically(path, new, force=True, private=False)
    return path


def _read(path: Path) -> bytes:
    """What the manifest holds; nothing where there is none."""
    read = read_file(path)
    if read.problem is not None and read.problem.kind != "missing":
        raise InputError(f"cannot be added to: {read.problem.message}", where=str(path))
    return read.data or b""


def _parsed(path: Path, data: bytes, failed: str) -> dict[str, Any]:
    try:
        return read_toml(data.decode("utf-8-sig"))
    except ValueError as error:
        raise InputError(f"{failed}: {error}", where=str(path)) from error


def scenario_toml(name: str, settings: Settings) -> str:
    """The tables of a scenario.

    Raises:
        UsageError: a knob is set to nothing, which TOML cannot say.
    """
    table = f"scenarios.{_key(name)}"
    lines = [f"[{table}]"]
    for knob, value in sorted(settings.values.items()):
        lines.append(f"{_key(knob)} = {_value(knob, value)}")
    if settings.off:
        lines.append("off = [" + ", ".join(_text(item) for item in sorted(settings.off)) + "]")
    for title, entries in (("priorities", settings.priorities), ("texts", settings.texts)):
        lines += _table(f"{table}.{title}", entries)
    return "\n".join(lines) + "\n"


def _table(name: str, entries: Mapping[str, float] | Mapping[str, str]) -> list[str]:
    if not entries:
        return []
    rows = [f"{_key(key)} = {_value(key, entries[key])}" for key in sorted(entries)]
    return ["", f"[{name}]", *rows]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(name: str, value: Value) -> str:
    if value is None:
        raise UsageError(f"{name} is set to nothing, which {MANIFEST_NAME} cannot hold")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_text(part) for part in value) + "]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
