"""Messages as objects, measured once: as given, and as the chat template writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from promptdbg.bulk import quick
from promptdbg.engines.agentos import js, rules
from promptdbg.model import Json

SUMMARY_ROLE = "summary"
COUNTED_KEYS = ("tool_calls", "thinkingBlocks")
"""Keys beside the content whose JSON is counted by a tokenizer."""

_CHAT_ROLES = {
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "user": "user",
    SUMMARY_ROLE: "system",
}


@quick
@dataclass(frozen=True, slots=True)
class Form:
    """A message as an object. ``counted`` are the texts a tokenizer counts, ``length`` is the UTF-16
    length of its JSON, ``keys`` are its keys in order."""

    message: Mapping[str, Json]
    counted: tuple[str, ...]
    length: int
    keys: tuple[str, ...]


def form_of(message: Mapping[str, Json]) -> Form:
    """A message, measured."""
    counted = [content_text(message["content"])]
    counted += (js.stringify(message[key]) for key in COUNTED_KEYS if key in message)
    return Form(message, tuple(counted), int(js.length(js.stringify(message))), tuple(message))


def content_text(content: Json) -> str:
    """What of a message's content is counted: texts as they are, other parts as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_part_text(part) for part in content)
    return "" if content is None else js.stringify(content)


def _part_text(part: Json) -> str:
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else js.stringify(part)


def given_form(raw: Json, role: Any, content: Any) -> Form:
    """A history message with the keys a template may write, as it was given."""
    wire: dict[str, Json] = {"role": role, "content": None if js.nullish(content) else content}
    for key in ("name", "tool_call_id", *COUNTED_KEYS):
        value = js.get(raw, key)
        if js.truthy(value) and value != []:
            wire[key] = value
    return form_of(wire)


def chat_forms(raw: Json, role: Any, content: Any, given: Form) -> dict[str, Form]:
    """The forms of a history message in the chat template, by version.

    A summary has none, since its heading is a text of the framework's; nor has a message whose calls
    cannot be read, which throws once the template is applied.
    """
    if role == SUMMARY_ROLE:
        return {}
    found: dict[str, Form] = {}
    for version in rules.VERSIONS:
        try:
            written = chat_message(raw, role, content, version)
        except js.JsError:
            continue
        same = next((form for form in (given, *found.values()) if form.message == written), None)
        found[version] = same or form_of(written)
    return found


def chat_message(raw: Json, role: Any, content: Any, version: str, heading: str = "") -> dict[str, Json]:
    """A history message as the chat template writes it.

    Args:
        heading: what stands in front of a summary.

    Raises:
        JsError: its tool calls or thinking blocks cannot be read.
    """
    written: dict[str, Json] = {
        "role": _CHAT_ROLES.get(role, "user") if isinstance(role, str) else "user",
        "content": None,
    }
    if isinstance(content, str):
        written["content"] = heading + content if role == SUMMARY_ROLE else content
    elif isinstance(content, list):
        written["content"] = content
    elif js.truthy(content):
        written["content"] = js.stringify(content)
    for key in ("name", "tool_call_id"):
        if js.truthy(value := js.get(raw, key)):
            written[key] = value
    calls = _calls(js.get(raw, "tool_calls"), version)
    if calls is not None:
        written["tool_calls"] = calls
    blocks = js.get(raw, "thinkingBlocks")
    takes_thinking = version == rules.NEWER and written["role"] == "assistant"
    if takes_thinking and js.truthy(blocks) and js.length(blocks) > 0:
        written["thinkingBlocks"] = list(js.array(blocks, "an iterator"))
    return written


def _calls(calls: Any, version: str) -> list[Json] | None:
    if not js.truthy(calls) or js.length(calls) == 0:
        return None
    return [_call(call, version) for call in js.array(calls, "map")]


def _call(call: Json, version: str) -> Json:
    arguments = js.get(call, "arguments")
    if not isinstance(arguments, str):
        arguments = js.stringify({} if js.nullish(arguments) else arguments)
    function = {"name": js.get(call, "name"), "arguments": arguments}
    written = {"id": js.get(call, "id"), "type": "function", "function": defined(function)}
    signature = js.get(call, "thoughtSignature")
    if version == rules.NEWER and js.truthy(signature):
        written["thoughtSignature"] = signature
    return defined(written)


def defined(value: Mapping[str, Any]) -> dict[str, Json]:
    """An object without the keys that are undefined, as its JSON has it."""
    return {key: entry for key, entry in value.items() if not isinstance(entry, js.Undefined)}
