"""Storing the session before the request: what cannot be written stops the turn.

``session/manager.py::_save_unlocked`` writes UTF-8 strictly, so a lone surrogate that loaded without
trouble makes every later save raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.rows import Rows, dumps
from promptdbg.engines.reuse import Reuse
from promptdbg.model import Json


def check_saving(
    reuse: Reuse, rows: Rows, metadata: Mapping[str, Json], dialect: Dialect, message: str | None = None
) -> None:
    """Fail as storing the session would.

    Args:
        message: what the user just said, once it is stored too.

    Raises:
        Crash: a row, the metadata or the new message holds a lone surrogate.
    """
    where = "session/manager.py::save" if dialect.strict_rows else "session/manager.py::_save_unlocked"
    _check_text(dumps(dict(metadata)), where, "the session's metadata")
    reuse(_check_rows, rows, where)
    if message is not None:
        _check_text(dumps({"role": "user", "content": message}), where, "the new message")


def _check_rows(rows: Rows, where: str) -> None:
    for row in rows:
        if row.memo.get("storable"):
            continue
        if not _has_bytes(row.value):
            line = f" (line {row.source.start_line})" if row.source else ""
            _check_text(dumps(dict(row.value)), where, f"row {row.id}{line}")
        row.memo["storable"] = True


def _has_bytes(value: Json | Mapping[str, Json]) -> bool:
    """Whether every text in a value can be written; the value itself is not, for a row may be large."""
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, str) and not part.isascii():
            try:
                part.encode("utf-8")
            except UnicodeEncodeError:
                return False
    return True


def _check_text(text: str, where: str, what: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Crash(
            "UnicodeEncodeError",
            str(error),
            where,
            f"A lone surrogate in {what} loads, but every save of the session raises: each turn fails.",
        ) from error
