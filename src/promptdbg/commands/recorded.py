"""A request that was really sent, as a stage beside the computed ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from promptdbg.analysis.items import message_texts
from promptdbg.analysis.requests import counted_input, request_rows
from promptdbg.errors import InputError
from promptdbg.export.load import read_json
from promptdbg.model import Evidence, Json, Message, Stage, StageKind
from promptdbg.tokens import TokenCounter

_KNOWN = ("role", "content", "tool_calls", "tool_call_id", "name")


def recorded_stage(path: Path, counter: TokenCounter) -> Stage:
    """The messages of a request body (or a bare list of messages) in a JSON file.

    Tokens count each message's texts; what a provider adds around them is not known.

    Raises:
        InputError: the file cannot be read, is not JSON, or holds no messages.
    """
    body = read_json(path)
    messages = tuple(_message(number, row, counter) for number, row in enumerate(request_rows(body)))
    if not messages:
        raise InputError("holds no messages", where=str(path), hint="a request body, or a list of messages")
    return Stage(
        name="recorded",
        kind=StageKind.FINAL,
        title="Recorded",
        messages=messages,
        tokens=sum(message.tokens for message in messages),
        size=counted_input(body),
        unit="tokens",
        measured_by="provider",
    )


def _message(number: int, row: Json, counter: TokenCounter) -> Message:
    if not isinstance(row, dict):
        row = {"role": "?", "content": row}
    message = Message(
        id=f"recorded:{number}",
        role=str(row.get("role", row.get("type", "?"))),
        content=row.get("content"),
        tokens=0,
        sources=(f"recorded:{number}",),
        tool_calls=row.get("tool_calls"),
        tool_call_id=row.get("tool_call_id"),
        name=row.get("name"),
        extra={key: value for key, value in row.items() if key not in _KNOWN},
        evidence=Evidence.RECORDED,
        wire=tuple(row),
    )
    return replace(message, tokens=sum(counter.count(text) for text in message_texts(message)))
