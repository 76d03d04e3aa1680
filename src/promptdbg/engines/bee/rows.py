"""The JSON files of a workspace: tools and stored messages."""

from __future__ import annotations

import json

from promptdbg.engines.bee.inputs import Row
from promptdbg.engines.bee.manifest import Tool
from promptdbg.engines.named import broken
from promptdbg.files.structured import json_reason
from promptdbg.model import Json, Notice, Source

_MOST_NESTED = 100


def read_tools(path: str, data: bytes | None) -> tuple[tuple[Tool, ...], list[Notice]]:
    """The tools of a ``tools.json``, and what is wrong with some of them; nothing where there is no file.

    Raises:
        InputError: it is not JSON.
    """
    if data is None:
        return (), []
    try:
        entries = json.loads(data)
    except json.JSONDecodeError as error:
        raise broken(f"column {error.colno}: {error.msg}", Source(path, error.lineno)) from error
    except (ValueError, RecursionError) as error:
        raise broken(f"is not JSON: {json_reason(error)}", Source(path)) from error
    tools: list[Tool] = []
    notices: list[Notice] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else [entries], start=1):
        tool = _tool(entry)
        if tool is None:
            what = f"tool {index} has no name, or a description, snippet or schema of the wrong kind"
            notices.append(Notice("bee.tools", f"{what}; left out", Source(path)))
        else:
            tools.append(tool)
    return tuple(tools), notices


def _tool(entry: Json) -> Tool | None:
    """A tool from its entry, whose names may be written as in Go or in JSON."""
    if not isinstance(entry, dict) or _too_deep(entry):
        return None
    given = {key.lower(): value for key, value in entry.items()}
    name, description, snippet = given.get("name"), given.get("description") or "", given.get("snippet") or ""
    schema = given.get("schema")
    if not isinstance(name, str) or not isinstance(description, str) or not isinstance(snippet, str):
        return None
    return Tool(name, description, snippet, schema) if schema is None or isinstance(schema, dict) else None


def read_messages(path: str, data: bytes | None) -> tuple[tuple[Row, ...], list[Notice]]:
    """The messages of a ``messages.jsonl``, and what is wrong in which line."""
    rows: list[Row] = []
    notices: list[Notice] = []
    for number, line in enumerate((data or b"").split(b"\n"), start=1):
        if not line.strip():
            continue
        source = Source(path, number, number)
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            notices.append(Notice("bee.messages", f"is not JSON: {json_reason(error)}", source))
            continue
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            notices.append(Notice("bee.messages", "is not a message with a role", source))
        elif _too_deep(value):
            notices.append(Notice("bee.messages", f"is nested deeper than {_MOST_NESTED} levels", source))
        else:
            rows.append(Row.of(f"m{len(rows)}", value, source))
    return tuple(rows), notices


def _too_deep(value: Json) -> bool:
    """Whether a JSON value nests deeper than can be walked safely."""
    level = [value]
    for _ in range(_MOST_NESTED):
        level = [
            inner
            for entry in level
            for inner in (entry.values() if isinstance(entry, dict) else entry)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
