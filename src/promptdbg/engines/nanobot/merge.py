"""Joining two user messages: the three ways nanobot does it.

At the end of history (``agent/context.py::_merge_message_content``), when a message arrives during a
turn (``agent/runner.py::_append_injected_messages``), and in 0.3.5 on the model's copy of the list.
"""

from __future__ import annotations

from collections.abc import Mapping

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.appended import Parts, take_apart
from promptdbg.engines.nanobot.events import Event, Step, dropped, merged
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.model import Json

META = "_meta"
RUNTIME = "runtime_context"


def joined_content(left: Json, right: Json, *, keep_empty_right: bool) -> Json:
    """Two contents as one: texts with a blank line between, anything else as blocks.

    Args:
        keep_empty_right: whether an empty right side still adds its blank line.
    """
    if isinstance(left, str) and isinstance(right, str):
        if not left:
            return right
        return f"{left}\n\n{right}" if right or keep_empty_right else left
    return [*_blocks(left), *_blocks(right)]


def _blocks(value: Json) -> list[Json]:
    if isinstance(value, list):
        return [item if isinstance(item, dict) else {"type": "text", "text": str(item)} for item in value]
    return [] if value is None else [{"type": "text", "text": str(value)}]


def with_runtime_context(left: Row, right: Row) -> dict[str, Json]:
    """The left message with the right one in it; runtime context of both moves to the end."""
    value = dict(left.value)
    left_meta, right_meta = _meta(left.value), _meta(right.value)
    left_mark, right_mark = left_meta.get(RUNTIME), right_meta.get(RUNTIME)
    before, after = value.get("content"), right.value.get("content")
    first, second = _apart(before, left_mark), _apart(after, right_mark)
    if first is None or second is None:
        value["content"] = joined_content(before, after, keep_empty_right=True)
        return value
    content = joined_content(first.said, second.said, keep_empty_right=True)
    context = [*first.context, *second.context]
    if context:
        content, marker = _reattached(content, [*_sources(left_mark), *_sources(right_mark)], context)
        value[META] = {**right_meta, **left_meta, RUNTIME: marker}
    value["content"] = content
    return value


def _meta(value: Mapping[str, Json]) -> dict[str, Json]:
    meta = value.get(META)
    return meta if isinstance(meta, dict) else {}


def _apart(content: Json, marker: Json) -> Parts | None:
    """The content's parts; all of it was said where no runtime context was ever appended."""
    return take_apart(content, marker) if isinstance(marker, dict) else Parts(content, [])


def _sources(marker: Json) -> list[str]:
    """The names of what supplied the runtime context."""
    named = marker.get("sources") if isinstance(marker, dict) else None
    return [name for name in named if isinstance(name, str) and name] if isinstance(named, list) else []


def _reattached(content: Json, sources: list[str], blocks: list[Json]) -> tuple[Json, dict[str, Json]]:
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if isinstance(content, str) and len(texts) == len(blocks) and all(isinstance(t, str) for t in texts):
        suffix = "\n\n".join(texts)
        text = f"{content}\n\n{suffix}" if content else suffix
        return text, {"version": 1, "sources": sources, "suffix": suffix}
    visible = content if isinstance(content, list) else _blocks(content)
    return [*visible, *blocks], {"version": 1, "sources": sources, "blocks": blocks}


def is_hidden(value: Mapping[str, Json]) -> bool:
    """Whether a row is kept out of the visible conversation (``session/history_visibility.py``)."""
    markers = (value.get("_hidden_history"), value.get("_automation_turn"))
    return any(marker is True or isinstance(marker, Mapping) for marker in markers)


def merge_adjacent_users(rows: Rows, prose: Prose) -> Step:
    """0.3.5: all neighbouring user rows, except hidden ones and the continuation after a summary."""
    events: list[Event] = []
    out: list[Row] = []
    for row in rows:
        if out and row.role == "user" and out[-1].role == "user" and _mergeable(prose, out[-1], row):
            left = out[-1]
            after = left.replaced(with_runtime_context(left, row), (*left.sources, *row.sources))
            because = f"{row.id} follows {left.id} and both are user messages"
            if after.value == left.value:
                events.append(dropped(row, rules.MERGED_USERS, because + "; it adds nothing"))
            else:
                events.append(merged(left, row, after, rules.MERGED_USERS, because))
            out[-1] = after
        else:
            out.append(row)
    return Step(tuple(out), tuple(events)) if events else Step(rows)


def _mergeable(prose: Prose, left: Row, right: Row) -> bool:
    for row in (left, right):
        content = row.content
        if isinstance(content, str) and prose.equals("summary_continuation", content):
            return False
        if is_hidden(row.value):
            return False
    return True
