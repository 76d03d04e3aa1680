"""Message lists of any provider's shape in one neutral form, for rules that are about pairs, roles
and sizes: OpenAI chat, OpenAI Responses, Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from promptdbg.model import Json

Provider: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic"]
PROVIDERS: tuple[Provider, ...] = ("openai-chat", "openai-responses", "anthropic")


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a message. ``size`` is in bytes of its base64 text, 0 for a URL."""

    size: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One message (or item) of a request.

    ``leading`` counts the tool results that come before any other content; a result after other
    content is misplaced for Anthropic. ``hollow`` says that it carries nothing at all.
    """

    index: int
    role: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    leading: int = 0
    images: tuple[Image, ...] = ()
    hollow: bool = False
    empty_thinking: bool = False


def messages_of(body: Json) -> tuple[list[Json], Provider]:
    """The messages of a request body, and the provider whose shape it has.

    A list is taken as messages; ``input`` means Responses, ``messages`` OpenAI chat unless its
    blocks or keys are Anthropic's. Anything else has no messages.
    """
    if isinstance(body, list):
        return body, _shape(body, {})
    if not isinstance(body, dict):
        return [], "openai-chat"
    if isinstance(body.get("input"), (list, str)):
        items = body["input"]
        return ([{"role": "user", "content": items}] if isinstance(items, str) else items), "openai-responses"
    messages = body.get("messages")
    if not isinstance(messages, list):
        return [], "openai-chat"
    return messages, _shape(messages, body)


def request_rows(body: Json) -> list[Json]:
    """The messages of a request body or a bare list as chat messages, with the system prompt of Anthropic
    and the instructions of Responses, which stand beside them, in front."""
    rows, shape = messages_of(body)
    if shape == "openai-responses":
        rows = [_chat_message(row) for row in rows]
    beside = body if isinstance(body, dict) else {}
    system = beside.get("instructions" if shape == "openai-responses" else "system")
    return rows if system is None else [{"role": "system", "content": system}, *rows]


def _chat_message(item: Json) -> Json:
    """A Responses item as the chat message that says the same."""
    if not isinstance(item, dict) or "role" in item or not isinstance(kind := item.get("type"), str):
        return item
    call = item.get("call_id") or item.get("id")
    if kind.endswith("_call_output"):
        return {"role": "tool", "tool_call_id": call, "content": item.get("output")}
    if kind == "reasoning":
        return {"role": "assistant", "content": None, "thinking_blocks": item.get("summary")}
    if not kind.endswith("_call"):
        return {"role": kind, "content": json.dumps(item, ensure_ascii=False)}
    given = next((item[key] for key in ("arguments", "input", "action") if key in item), "")
    said = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    function = {"name": item.get("name") or kind, "arguments": said}
    called = [{"id": call, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": called}


def counted_input(body: Json) -> int | None:
    """The input tokens that the provider counted, where the record has its answer beside the request:
    what was read from a cache is counted apart by some."""
    if not isinstance(body, dict):
        return None
    answer = body.get("response")
    for holder in (body, answer if isinstance(answer, dict) else {}):
        usage = holder.get("usage", holder)
        if not isinstance(usage, dict):
            continue
        for key in ("prompt_tokens", "input_tokens"):
            if type(usage.get(key)) is int:
                apart = (usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens"))
                return int(usage[key]) + sum(figure for figure in apart if type(figure) is int)
    return None


def text_of(content: Json) -> str:
    """The text of a message's content, block by block."""
    texts = (str(block.get("text") or "") for block in _blocks(content))
    return "\n".join(text for text in texts if text)


_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})


def _shape(messages: Sequence[Json], body: dict[str, Json]) -> Provider:
    if "system" in body or "anthropic_version" in body:
        return "anthropic"
    for message in messages:
        if not isinstance(message, dict):
            continue
        if "type" in message and "role" not in message:
            return "openai-responses"
        content = message.get("content")
        if isinstance(content, list) and any(
            isinstance(block, dict) and block.get("type") in _ANTHROPIC_BLOCKS for block in content
        ):
            return "anthropic"
    return "openai-chat"


def entries(messages: Sequence[Json]) -> list[Entry]:
    """The messages in neutral form, whichever of the three shapes each has."""
    return [_entry(index, message) for index, message in enumerate(messages)]


def _entry(index: int, message: Json) -> Entry:
    if not isinstance(message, dict):
        return Entry(index, "?", hollow=True)
    kind = message.get("type")
    if "role" not in message and isinstance(kind, str):
        return _item(index, kind, message)
    role = str(message.get("role"))
    blocks = list(_blocks(message.get("content")))
    calls = [_id(b.get("id")) for b in blocks if b.get("type") == "tool_use"]
    tool_calls = message.get("tool_calls")
    calls += (
        [_id(c.get("id")) for c in tool_calls or () if isinstance(c, dict)] if _is_list(tool_calls) else []
    )
    results = [_id(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"]
    leading = _leading(blocks)
    if role == "tool" and not results:
        results, leading = [_id(message.get("tool_call_id"))], 1
    return Entry(
        index,
        role,
        calls=tuple(calls),
        results=tuple(results),
        leading=leading,
        images=tuple(_images(blocks)),
        hollow=not calls and not results and not any(_says_something(block) for block in blocks),
        empty_thinking=any(_is_empty_thinking(block) for block in _thinking(message, blocks)),
    )


def _item(index: int, kind: str, item: dict[str, Json]) -> Entry:
    """A Responses item that is not a message."""
    call = _id(item.get("call_id") or item.get("id"))
    if kind.endswith("_call_output"):
        return Entry(index, "tool", results=(call,), leading=1)
    if kind.endswith("_call"):
        # Hosted tools answer themselves; only these wait for an output of ours.
        waits = kind in ("function_call", "custom_tool_call", "local_shell_call")
        return Entry(index, "assistant", calls=(call,) if waits else ())
    return Entry(index, "assistant" if kind == "reasoning" else kind)


def _blocks(content: Json) -> Iterator[dict[str, Json]]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in content:
            yield unwrapped(block) if isinstance(block, dict) else {"type": "text", "text": str(block)}


def unwrapped(block: dict[str, Json]) -> dict[str, Json]:
    """A call or result that stands inside its block, as bee stores it, as the block itself."""
    kind = block.get("type")
    inner = block.get(kind) if kind in ("tool_use", "tool_result") else None
    if not isinstance(inner, dict):
        return block
    return {**inner, "type": kind, **({"tool_use_id": inner["use_id"]} if "use_id" in inner else {})}


def _leading(blocks: Sequence[dict[str, Json]]) -> int:
    count = 0
    for block in blocks:
        if block.get("type") != "tool_result":
            break
        count += 1
    return count


def _says_something(block: dict[str, Json]) -> bool:
    if block.get("type") in ("text", "input_text", "output_text"):
        text = block.get("text")
        return isinstance(text, str) and bool(text.strip())
    return True


def _images(blocks: Sequence[dict[str, Json]]) -> Iterator[Image]:
    for block in blocks:
        kind = block.get("type")
        if kind == "image" and isinstance(block.get("source"), dict):
            data = block["source"].get("data")
            yield Image(len(data) if isinstance(data, str) else 0)
        elif kind in ("image_url", "input_image"):
            url = block.get("image_url")
            url = url.get("url") if isinstance(url, dict) else url
            data = url.partition(",")[2] if isinstance(url, str) and url.startswith("data:") else ""
            yield Image(len(data))
        elif kind == "tool_result":
            yield from _images(list(_blocks(block.get("content"))))


def _thinking(message: dict[str, Json], blocks: list[dict[str, Json]]) -> list[dict[str, Json]]:
    own = message.get("thinking_blocks")
    return blocks + [block for block in (own if isinstance(own, list) else ()) if isinstance(block, dict)]


def _is_empty_thinking(block: dict[str, Json]) -> bool:
    return block.get("type") == "thinking" and not block.get("thinking") and bool(block.get("signature"))


def _id(value: Json) -> str:
    return "" if value is None else str(value)


def _is_list(value: Json) -> bool:
    return isinstance(value, list)
