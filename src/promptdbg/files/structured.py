"""YAML, TOML, JSON and JSON Lines from disk, with the file, line and column of every problem.

A problem is a notice, never an exception. YAML keeps the line of each value, times stay texts, and a
document whose aliases would unfold into something huge is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from promptdbg.files.disk import FILE_LIMIT, FileRead, read_file
from promptdbg.model import Json, Notice, Source

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: keys and indexes from the root."""

YAML_LIMIT = 16 * 1024 * 1024
"""Bytes of a YAML file at the most; its parser is slow."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed document. ``found`` is false when there is no such file, ``ok`` when it was parsed.

    ``lines`` gives the line (from 1) of a value by its path; empty for formats that keep none.
    """

    path: Path
    value: Json = None
    found: bool = True
    ok: bool = True
    notices: tuple[Notice, ...] = ()
    lines: Mapping[KeyPath, int] = field(default_factory=lambda: MappingProxyType({}))

    def source(self, *keys: str | int) -> Source:
        """Where a value stands; its nearest known ancestor's line where its own is not known."""
        for end in range(len(keys), -1, -1):
            if (line := self.lines.get(keys[:end])) is not None:
                return Source(str(self.path), line)
        return Source(str(self.path))


def read_structured(path: Path) -> Parsed:
    """Read a file by its suffix: ``.yaml``, ``.yml``, ``.toml``, ``.jsonl``, anything else as JSON."""
    suffix = path.suffix.lower()
    limit = YAML_LIMIT if suffix in (".yaml", ".yml") else FILE_LIMIT
    read = read_file(path, limit=limit)
    if read.problem is not None and read.problem.kind == "missing":
        return Parsed(path, found=False, ok=False)
    text, notice = _text(read)
    if text is None:
        return Parsed(path, ok=False, notices=(notice,) if notice else ())
    if suffix in (".yaml", ".yml"):
        return _yaml(path, text)
    if suffix == ".toml":
        return _toml(path, text)
    return _json_lines(path, text) if suffix == ".jsonl" else _json(path, text)


def _text(read: FileRead) -> tuple[str | None, Notice | None]:
    where = Source(str(read.path))
    if read.problem is not None:
        return None, Notice(f"file.{read.problem.kind}", read.problem.message, where)
    assert read.data is not None
    try:
        return read.data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is not UTF-8"
        line = read.data.count(b"\n", 0, error.start) + 1
        return None, Notice("file.not-utf8", message, Source(str(read.path), line))


def _broken(path: Path, form: str, what: str, line: int | None, column: int | None) -> Parsed:
    """A syntax error. The notice's place has file and line, so its text has the column alone."""
    message = what if column is None else f"column {column}: {what}"
    notice = Notice(f"{form}.syntax", message, Source(str(path), line))
    return Parsed(path, ok=False, notices=(notice,))


def _json(path: Path, text: str) -> Parsed:
    try:
        return Parsed(path, json.loads(text, parse_int=_whole))
    except json.JSONDecodeError as error:
        return _broken(path, "json", error.msg, error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        return _broken(path, "json", json_reason(error), None, None)


_DIGITS_MAX = 300
"""Of a whole number: no arithmetic with fractions takes much longer ones."""


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError("too many digits")
    return int(digits)


def _json_lines(path: Path, text: str) -> Parsed:
    rows: list[Json] = []
    notices: list[Notice] = []
    lines: dict[KeyPath, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_int=_whole)
        except json.JSONDecodeError as error:
            notices += _broken(path, "json", error.msg, number, error.colno).notices
            continue
        except (ValueError, RecursionError) as error:
            notices += _broken(path, "json", json_reason(error), number, 1).notices
            continue
        lines[(len(rows),)] = number
        rows.append(row)
    return Parsed(path, rows, notices=tuple(notices), lines=MappingProxyType(lines))


def _toml(path: Path, text: str) -> Parsed:
    from promptdbg.files.tomltext import TomlError, read_toml  # 10 ms: only where there is a TOML file

    try:
        return Parsed(path, read_toml(text))
    except TomlError as error:
        return _broken(path, "toml", error.what, error.line, error.column)


def json_reason(error: Exception) -> str:
    """Why a text is no JSON that can be read, where the parser names no place."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "a number has too many digits" if "digits" in str(error) else str(error)


def _yaml(path: Path, text: str) -> Parsed:
    from promptdbg.files import yamltext  # 20 ms: only where there is a YAML file

    try:
        node = yamltext.compose(text)
        if node is None:
            return Parsed(path)
        return Parsed(path, yamltext.value(node), lines=MappingProxyType(dict(yamltext.places(node))))
    except yamltext.YamlError as error:
        return _broken(path, "yaml", error.what, error.line, error.column)
