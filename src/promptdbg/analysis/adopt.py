"""Which messages of two unrelated lists are the same, where their ids cannot say.

A recorded request has no ids of ours, and ``m3`` of two sessions are two messages.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from promptdbg.analysis.matching import Key, match
from promptdbg.model import Message


def adopt(left: Sequence[Message], right: Sequence[Message], *, by_id: bool = False) -> tuple[str, ...]:
    """For each message on the right, the id of the same message on the left, else a new id.

    The same is: the same id (where ids speak), the same role and content, the answer to the same
    call, or the same role with the same beginning or end; matched in order.
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


def _text(message: Message) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    try:
        return repr(content)
    except RecursionError:  # nested deeper than Python can follow: matched by its place only
        return ""


def _exact(message: Message) -> Hashable:
    return message.role, _text(message), repr(message.tool_calls), str(message.tool_call_id)


def _call(message: Message) -> Hashable | None:
    if message.tool_call_id is not None:
        return message.role, str(message.tool_call_id)
    calls = message.tool_calls if isinstance(message.tool_calls, list) else []
    ids = tuple(str(call.get("id")) for call in calls if isinstance(call, dict))
    return (message.role, ids) if ids else None


def _beginning(message: Message) -> Hashable | None:
    text = _text(message)
    return (message.role, text[:_KIN]) if text else None


def _end(message: Message) -> Hashable | None:
    text = _text(message)
    return (message.role, text[-_KIN:]) if text else None
