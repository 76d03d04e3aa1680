"""YAML, TOML, JSON and JSON Lines from disk, with the file, line and column of every problem.

A problem is a notice, never an exception. YAML keeps the line of each value, times stay texts, and a
document whose aliases would unfold into something huge is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from promptdbg.files.disk import FILE_LIMIT, FileRead, read_file
from promptdbg.model import Json, Notice, Source
from promptdbg.text import position

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: keys and indexes from the root."""

YAML_LIMIT = 16 * 1024 * 1024
"""Bytes of a YAML file at the most; its parser is slow."""

_EXPANDED_MAX = 300_000  # values after unfolding aliases; more is a "billion laughs" document
_NESTING_MAX = 400


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
        return Parsed(path, json.loads(text))
    except json.JSONDecodeError as error:
        return _broken(path, "json", error.msg, error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        return _broken(path, "json", _reason(error), None, None)


def _json_lines(path: Path, text: str) -> Parsed:
    rows: list[Json] = []
    notices: list[Notice] = []
    lines: dict[KeyPath, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            notices += _broken(path, "json", error.msg, number, error.colno).notices
            continue
        except (ValueError, RecursionError) as error:
            notices += _broken(path, "json", _reason(error), number, 1).notices
            continue
        lines[(len(rows),)] = number
        rows.append(row)
    return Parsed(path, rows, notices=tuple(notices), lines=MappingProxyType(lines))


_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def _toml(path: Path, text: str) -> Parsed:
    try:
        return Parsed(path, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        what = _TOML_PLACE.sub("", str(error))
        return _broken(path, "toml", what, *(map(int, place.groups()) if place else (None, None)))
    except RecursionError as error:
        return _broken(path, "toml", _reason(error), None, None)


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


# ---- YAML ---------------------------------------------------------------------------------------


@cache
def _loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Safe YAML whose times stay texts, as a configuration file's author typed them."""

    Loader.yaml_implicit_resolvers = {
        first: [entry for entry in resolvers if entry[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _yaml(path: Path, text: str) -> Parsed:
    import yaml  # 20 ms: only where there is a YAML file

    loader = None
    try:
        loader = _loader()(text)
        node = loader.get_single_node()
        if node is None:
            return Parsed(path)
        lines: dict[KeyPath, int] = {}
        for keys, line in _node_lines(node):
            lines[keys] = line
            if len(lines) > _EXPANDED_MAX:
                return _broken(path, "yaml", "its aliases unfold into too many values", line, 1)
        return Parsed(path, loader.construct_document(node), lines=MappingProxyType(lines))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "is not YAML"
        place = (mark.line + 1, mark.column + 1) if mark else (None, None)
        return _broken(path, "yaml", what, *place)
    except yaml.reader.ReaderError as error:
        line, column = position(text, min(error.position, len(text)))
        return _broken(
            path, "yaml", f"character {ord(text[error.position]):#06x} is not allowed", line, column
        )
    except (RecursionError, ValueError) as error:
        return _broken(path, "yaml", _reason(error), None, None)
    finally:
        if loader is not None:
            loader.dispose()


def _node_lines(root: Any) -> Iterator[tuple[KeyPath, int]]:
    """Every value's path and line, aliases unfolded, without recursion of our own."""
    stack: list[tuple[KeyPath, Any]] = [((), root)]
    while stack:
        keys, node = stack.pop()
        if len(keys) > _NESTING_MAX:
            raise RecursionError
        yield keys, node.start_mark.line + 1
        if node.id == "sequence":
            stack += [((*keys, index), child) for index, child in enumerate(node.value)]
        elif node.id == "mapping":
            stack += [((*keys, _key(name)), child) for name, child in node.value]


def _key(node: Any) -> str:
    return node.value if isinstance(node.value, str) else ""
