"""What a new turn finds of a crashed one, and the rows it adds before anything is replayed.

main and 0.2.2: ``agent/loop.py::_restore_runtime_checkpoint``; 0.3.5: ``session/recovery.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.events import Event, inserted
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.model import Json

CHECKPOINT, PENDING = "runtime_checkpoint", "pending_user_turn"
_COMPARED = (
    "role",
    "content",
    "tool_call_id",
    "name",
    "tool_calls",
    "reasoning_content",
    "thinking_blocks",
)


@dataclass(frozen=True)
class Restored:
    """The rows after restoring, what was appended, and the metadata that is left."""

    rows: Rows
    metadata: Mapping[str, Json]
    appended: Rows = ()
    events: tuple[Event, ...] = ()
    updated: bool = False
    """Whether the session's ``updated_at`` became now."""
    stored: bool = False
    """Whether there was something to restore, so that the session was stored at once."""


def restore(rows: Rows, metadata: Mapping[str, Json], dialect: Dialect, prose: Prose, now: str) -> Restored:
    """Materialise a checkpoint, else close a pending user turn.

    Raises:
        Crash: the checkpoint holds what main and 0.2.2 cannot go through.
    """
    checkpoint = metadata.get(CHECKPOINT)
    if isinstance(checkpoint, dict):
        return _from_checkpoint(rows, metadata, checkpoint, dialect, prose, now)
    if not metadata.get(PENDING):
        return Restored(rows, metadata)
    left = {key: value for key, value in metadata.items() if key != PENDING}
    if not rows or rows[-1].role != "user":
        return Restored(rows, left, stored=True)
    note = prose.fixed("interrupted_turn")
    closing: dict[str, Json] = {"role": "assistant", "content": note, "timestamp": now}
    if dialect.compacts_requests:
        closing["_recovery_interrupted"] = True
    row = Row("interrupted", closing, stored=True)
    event = inserted(row, rules.CLOSED_TURN, f"{rows[-1].id} was stored but never answered")
    return Restored((*rows, row), left, (row,), (event,), updated=True, stored=True)


def _from_checkpoint(
    rows: Rows,
    metadata: Mapping[str, Json],
    checkpoint: dict[str, Json],
    dialect: Dialect,
    prose: Prose,
    now: str,
) -> Restored:
    restored = _materialised(checkpoint, dialect, prose, now)
    overlap = _overlap(rows, restored)
    appended = tuple(
        Row(f"restored:{index}", value, stored=True)
        for index, value in enumerate(restored)
        if index >= overlap
    )
    because = f"the checkpoint of a crashed turn holds {len(restored)} rows, {overlap} of them stored already"
    events = tuple(inserted(row, rules.RESTORED, because) for row in appended)
    left = {key: value for key, value in metadata.items() if key not in (CHECKPOINT, PENDING)}
    after = (*rows, *appended) if appended else rows
    return Restored(after, left, appended, events, updated=dialect.compacts_requests, stored=True)


def _materialised(
    checkpoint: dict[str, Json], dialect: Dialect, prose: Prose, now: str
) -> list[dict[str, Json]]:
    strict = dialect.compacts_requests
    made: list[dict[str, Json]] = []
    assistant = checkpoint.get("assistant_message")
    if isinstance(assistant, dict) and (not strict or assistant.get("role") == "assistant"):
        made.append({**assistant, "timestamp": assistant.get("timestamp", now)})
    for result in _entries(checkpoint.get("completed_tool_results"), strict):
        if isinstance(result, dict) and (not strict or result.get("role") == "tool"):
            made.append({**result, "timestamp": result.get("timestamp", now)})
    for call in _entries(checkpoint.get("pending_tool_calls"), strict):
        if isinstance(call, dict) and (row := _interrupted(call, strict, prose, now)):
            made.append(row)
    return made


def _entries(value: Json, strict: bool) -> list[Json]:
    """The entries of a checkpoint's list; what is none has none, or cannot be gone through (main, 0.2.2)."""
    if isinstance(value, list):
        return value
    if value and not strict and not isinstance(value, (str, dict)):
        raise _odd("TypeError", f"'{type(value).__name__}' object is not iterable")
    return []


def _odd(error: str, message: str) -> Crash:
    where = "agent/loop.py::_restore_runtime_checkpoint"
    meaning = "The checkpoint of a crashed turn cannot be restored: every turn of this session fails."
    return Crash(error, message, where, meaning)


def _interrupted(call: dict[str, Json], strict: bool, prose: Prose, now: str) -> dict[str, Json] | None:
    call_id, function = call.get("id"), call.get("function")
    if strict and (not isinstance(call_id, str) or not call_id):
        return None
    if function and not strict and not isinstance(function, dict):
        raise _odd("AttributeError", f"'{type(function).__name__}' object has no attribute 'get'")
    name = function.get("name") if isinstance(function, dict) else None
    if not name or (strict and not isinstance(name, str)):
        name = "tool"
    row: dict[str, Json] = {
        "role": "tool",
        "tool_call_id": call_id,
        "name": name,
        "content": prose.fixed("interrupted_tool"),
        "timestamp": now,
    }
    return {**row, "_recovery_interrupted": True} if strict else row


def _overlap(rows: Rows, restored: list[dict[str, Json]]) -> int:
    """The most restored rows that the end of the session already holds."""
    for size in range(min(len(rows), len(restored)), 0, -1):
        pairs = zip(rows[-size:], restored[:size], strict=True)
        if all(_same(left.value, right) for left, right in pairs):
            return size
    return 0


def _same(left: Mapping[str, Json], right: Mapping[str, Json]) -> bool:
    return all(left.get(key) == right.get(key) for key in _COMPARED)
