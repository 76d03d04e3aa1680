"""Saving the settings of now as a named scenario in ``promptdbg.toml``: only when asked to.

The file is appended to, never rewritten: comments and order stay. What would be written is
parsed first, so a broken manifest is never left behind.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from promptdbg.errors import InputError, UsageError
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
    path = workspace / MANIFEST_NAME
    try:
        old = path.read_text("utf-8-sig") if path.exists() else ""
        known = tomllib.loads(old).get("scenarios", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot be added to: {error}", where=str(path)) from error
    if name in known:
        raise UsageError(f"there is a scenario {name!r} already", where=MANIFEST_NAME)
    new = old + ("" if not old or old.endswith("\n\n") else "\n" if old.endswith("\n") else "\n\n")
    new += scenario_toml(name, settings)
    manifest_from(path, tomllib.loads(new))
    _write(path, new)
    return path


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


def _write(path: Path, text: str) -> None:
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        if path.exists():
            os.chmod(temporary, path.stat().st_mode)
        else:
            os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except (OSError, UnicodeEncodeError) as error:
        raise InputError(f"cannot be written: {error}", where=str(path)) from error
