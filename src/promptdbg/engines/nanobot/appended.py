"""Telling what a message says from the runtime context that was appended to it.

The marker (``_runtime_context`` on disk, ``_meta.runtime_context`` in memory, version 1) holds the
appended text as ``suffix``, or the appended blocks as ``blocks``
(``runtime_context.py::detach_runtime_context``, ``public_history_message``).
"""

from __future__ import annotations

from dataclasses import dataclass

from promptdbg.model import Json

_GAP = "\n\n"
"""Between a text and the context appended to it; nothing stands there when the text is empty."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A content taken apart: what was said, and the appended context as blocks."""

    said: Json
    context: list[Json]


def take_apart(content: Json, marker: Json) -> Parts | None:
    """The parts of a content; ``None`` where the marker does not fit it (it was edited since)."""
    if not isinstance(marker, dict) or marker.get("version") != 1:
        return None
    match content, marker.get("suffix"), marker.get("blocks"):
        case str(), str(suffix), _ if suffix:
            said = "" if content == suffix else content.removesuffix(_GAP + suffix)
            return None if said == content else Parts(said, [{"type": "text", "text": suffix}])
        case list(), _, list(blocks) if blocks:
            tail = content[-len(blocks) :]
            return Parts(content[: -len(blocks)], tail) if tail == blocks else None
        case _:
            return None
