"""Which messages of two unrelated lists are the same, where their ids cannot say.

A recorded request has no ids of ours, and ``m3`` of two sessions are two messages.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from promptdbg.analysis.blocks import full_text
from promptdbg.analysis.matching import Key, match
from promptdbg.model import Json, Message


def adopt(left: Sequence[Message], right: Sequence[Message], *, by_id: bool = False) -> tuple[str, ...]:
    """For each message on the right, the id of the same message on the left, else a new id.

    The same is: the same id (where ids speak), the same role and text, the same calls made or
    answered, or the same role with the same beginning or end; matched in order.
    """
    keys: list[Key[Message]] = [_exact, _call, _beginning, _end]
    if by_id:
        keys.insert(0, lambda message: message.id)
    names = [f"right:{number}" for number in range(len(right))]
    for here, there in match(left, right, keys):
        names[there] = left[here].id
    return tuple(names)


_KIN = 48
"""Code points that two messages must share at the beginning or the end to be the same, reworded."""


def _exact(message: Message) -> Hashable:
    return message.role, full_text(message), str(message.tool_call_id)


def _call(message: Message) -> Hashable | None:
    """The calls a message makes or answers, in the shape of any provider."""
    if message.tool_call_id is not None:
        return "answers", (str(message.tool_call_id),)
    parts = [part for part in _list(message.content) if isinstance(part, dict)]
    answers = tuple(str(part.get("tool_use_id")) for part in parts if part.get("type") == "tool_result")
    if answers:
        return "answers", answers
    calls = [call for call in _list(message.tool_calls) if isinstance(call, dict)]
    calls += [part for part in parts if part.get("type") == "tool_use"]
    return ("calls", tuple(str(call.get("id")) for call in calls)) if calls else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _beginning(message: Message) -> Hashable | None:
    text = full_text(message)
    return (message.role, text[:_KIN]) if text else None


def _end(message: Message) -> Hashable | None:
    text = full_text(message)
    return (message.role, text[-_KIN:]) if text else None
