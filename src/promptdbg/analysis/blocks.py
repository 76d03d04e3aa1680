"""What a message holds, as labelled blocks of text: the one place that knows how contents look.

Chat, Responses and Anthropic shapes are read alike. Images and files are named by type and size,
their data is never shown. Anything unknown is shown as JSON. The text is as it came: whoever shows
it makes it safe.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from promptdbg.analysis.requests import unwrapped
from promptdbg.model import Json, Message

BlockKind: TypeAlias = Literal["text", "thinking", "media", "call", "result", "data"]

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a message. ``label`` names it; plain text has none."""

    kind: BlockKind
    label: str
    text: str = ""


def blocks(message: Message) -> tuple[Block, ...]:
    """The parts of a message: thinking, content, calls."""
    return tuple(_blocks(message))


def title(message: Message) -> str:
    """The role, and the tool it speaks of: ``tool grep``, ``assistant → grep, read_file``."""
    if message.role == "tool":
        return f"tool {message.name}" if isinstance(message.name, str) and message.name else "tool"
    names = [_call_name(call) for call in _list(message.tool_calls)]
    own = (unwrapped(block) for block in _dicts(message.content))
    names += [str(b.get("name", "?")) for b in own if b.get("type") == "tool_use"]
    if not names:
        return message.role
    more = f" +{len(names) - 3}" if len(names) > 3 else ""
    return f"{message.role} → {', '.join(names[:3])}{more}"


def full_text(message: Message) -> str:
    """Everything in a message as one text, each block under its label."""
    return "\n".join(part for block in blocks(message) for part in (block_label(block), block.text) if part)


def block_label(block: Block) -> str:
    """The label as a line of its own; empty for plain text."""
    return f"[{block.label}]" if block.label else ""


def preview(message: Message, limit: int) -> str:
    """The beginning of a message, at most some ``limit`` code points, labels in line.

    The name of a single call is left out: the title has it.
    """
    parts: list[str] = []
    room = limit
    single = len(_list(message.tool_calls)) == 1
    for block in _blocks(message):
        label = "" if block.kind == "call" and single else block_label(block)
        text = block.text[:room].lstrip("\n")
        part = f"{label} {text}" if label and text else label or text
        if part:
            parts.append(part)
            room -= len(part)
        if room <= 0:
            break
    return "\n".join(parts)


def _blocks(message: Message) -> Iterator[Block]:
    reasoning = message.extra.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        yield Block("thinking", "thinking", reasoning)
    for block in _list(message.extra.get("thinking_blocks")):
        yield _block(block)
    content = message.content
    if isinstance(content, str):
        if content:
            yield Block("text", "", content)
    elif isinstance(content, list):
        for block in content:
            yield _block(block)
    elif isinstance(content, dict):
        yield _block(content)
    elif content is not None:
        yield Block("data", "not text", _json(content))
    if isinstance(message.tool_calls, list):
        for call in message.tool_calls:
            yield _call(call)
    elif message.tool_calls is not None:
        yield Block("data", "tool_calls, not a list", _json(message.tool_calls))


def _block(block: Json) -> Block:
    if isinstance(block, str):
        return Block("text", "", block)
    if not isinstance(block, dict):
        return Block("data", "not a block", _json(block))
    block = unwrapped(block)
    kind = _type(block)
    if kind in _TEXT_TYPES and isinstance(text := block.get("text", block.get("refusal")), str):
        return Block("text", "" if kind != "refusal" else "refusal", text)
    match kind:
        case "thinking" | "reasoning":
            return Block("thinking", "thinking", _string(block.get("thinking", block.get("summary", ""))))
        case "redacted_thinking":
            return Block("thinking", f"thinking, redacted, {_size(len(str(block.get('data', ''))))}")
        case "tool_use":
            label = f"call {block.get('name', '?')} {block.get('id', '')}".rstrip()
            return Block("call", label, _string(block.get("input", "")))
        case "tool_result":
            inner = block.get("content")
            parts = [_block(part) for part in inner] if isinstance(inner, list) else []
            text = "\n".join(f"{block_label(part)} {part.text}".strip() for part in parts)
            return Block(
                "result",
                f"result of {block.get('tool_use_id', '?')}",
                text if parts else _string(inner or ""),
            )
        case _:
            return _media(kind, block) or Block("data", kind, _json(block))


_MEDIA = frozenset(
    {"image_url", "image", "input_image", "input_audio", "audio", "file", "input_file", "document"}
)


def _media(kind: str, block: dict[str, Json]) -> Block | None:
    """An image, a sound or a file: its type and size, or its address."""
    if kind not in _MEDIA:
        return None
    held = next((block[key] for key in (kind, "source", "image_url") if key in block), block)
    word = "image" if "image" in kind else "audio" if "audio" in kind else "file"
    details = [word]
    url = held.get("url", held.get("file_url")) if isinstance(held, dict) else held
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        details += [head[5:].split(";")[0] or "no type", _size(_decoded(data))]
    elif isinstance(url, str):
        details.append(url[:200])
    elif isinstance(held, dict):
        details += [
            str(value)[:80]
            for key in ("media_type", "format", "filename", "file_id")
            if (value := held.get(key))
        ]
        payload = held.get("data", held.get("file_data"))
        if isinstance(payload, str):
            details.append(_size(_decoded(payload.rpartition(",")[2])))
    meta = block.get("_meta")
    if isinstance(meta, dict) and isinstance(meta.get("path"), str):
        details.append(meta["path"][:200])
    return Block("media", ", ".join(details))


def _call(call: Json) -> Block:
    if not isinstance(call, dict):
        return Block("data", "not a call", _json(call))
    function = call.get("function")
    held = function if isinstance(function, dict) else call
    label = f"call {_call_name(call)} {call.get('id') or ''}".rstrip()
    return Block("call", label, _string(held.get("arguments", "")))


def _call_name(call: Json) -> str:
    if not isinstance(call, dict):
        return "?"
    function = call.get("function")
    name = (function if isinstance(function, dict) else call).get("name")
    return name if isinstance(name, str) and name else "?"


def _type(block: dict[str, Json]) -> str:
    kind = block.get("type")
    return kind[:40] if isinstance(kind, str) and kind else "a block without a type"


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _dicts(value: Json) -> Iterator[dict[str, Json]]:
    return (entry for entry in _list(value) if isinstance(entry, dict))


def _string(value: Json) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Json) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "‹nested too deep to show›"


def _decoded(data: str) -> int:
    """Bytes that a base64 text stands for, without decoding it."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:,.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:,.1f} MB"
