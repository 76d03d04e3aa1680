"""The line of a TOML document that a key stands on, which Python's parser does not tell."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_PARSES_MAX = 60
"""Attempts at the most; a key that is not found by then is told without its line."""


def key_line(text: str, *keys: str) -> int | None:
    """The line (from 1) on which the value of a key begins, or its table; ``None`` where that is not found.

    The document up to a line holds the key once the statement that brings it is whole, so it is parsed
    up to those lines that name the key.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    left = _PARSES_MAX
    for number, line in enumerate(lines):
        if keys[-1] not in line:
            continue
        for end in range(number + 1, len(lines) + 1):
            if not left:
                return None
            left -= 1
            parsed = _parsed("\n".join(lines[:end]))
            if parsed is not None:
                if _has(parsed, keys):
                    return number + 1
                break
    return None


def table_lines(text: str, key: str) -> tuple[int, ...]:
    """The lines of the headers ``[[key]]``. A text in the document that looks like one counts as one."""
    header = re.compile(rf"[ \t]*\[\[[ \t]*{re.escape(key)}[ \t]*\]\]")
    return tuple(number for number, line in enumerate(text.split("\n"), 1) if header.match(line))


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _has(found: Any, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True
