"""The prompt cache's keys (``PromptEngine.ts::generateCacheKey``), in both versions.

0.9.164 hashes a few beginnings of texts to 32 bits, so different prompts share a key and the later
caller is served the earlier prompt. Newer source hashes everything with SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.elements import format_of, preference_prompts, verbosity_of
from promptdbg.engines.agentos.texts import Texts
from promptdbg.lengths import utf16_length
from promptdbg.model import Json

SYSTEM_CHARS, INPUT_CHARS, LAST_MESSAGE_CHARS = 50, 100, 50
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def cache_key(
    version: str,
    components: Mapping[str, Json],
    model: Json,
    context: Any,
    template: str,
    texts: Texts,
) -> str:
    """The key a prompt is cached under.

    Raises:
        JsError: the published version throws on these components, before it constructs anything.
    """
    make = _newer_digest if version == rules.NEWER else _published_hash
    name = js.to_string(js.get(model, "modelId"))
    return f"promptcache:{name}:{make(components, model, context, template, texts)}"


def _published_hash(
    components: Mapping[str, Json],
    model: Json,
    context: Any,
    template: str,
    texts: Texts,  # noqa: ARG001 - the newer digest has a use for it
) -> str:
    persona = js.UNDEFINED if js.nullish(context) else js.get(js.get(context, "activePersona"), "id")
    parts = (
        _each(components.get("systemPrompts"), _beginning, ";"),
        _start(components.get("userInput"), INPUT_CHARS),
        _last_message(components.get("conversationHistory")),
        _each(components.get("tools"), lambda tool: js.get(tool, "id"), ","),
        js.get(model, "modelId"),
        template,
        persona,
        js.maybe(context, "currentMood"),
        js.maybe(context, "taskHint"),
        _preferences(js.maybe(context, "userPreferences")),
    )
    return _base36(rolling_hash(js.join((p for p in parts if not isinstance(p, js.Undefined)), "||")))


def _each(values: Any, part: Callable[[Any], Any], separator: str) -> Any:
    if js.nullish(values):
        return js.UNDEFINED
    return js.join([part(value) for value in js.array(values, "map")], separator)


def _beginning(prompt: Any) -> str:
    content = js.get(prompt, "content")
    if not isinstance(content, str):
        raise js.JsError("calls substring on a system prompt that is not a text")
    return js.substring(content, SYSTEM_CHARS)


def _start(text: Any, units: int) -> Any:
    if js.nullish(text):
        return js.UNDEFINED
    if not isinstance(text, str):
        raise js.JsError("calls substring on a user input that is not a text")
    return js.substring(text, units)


def _last_message(history: Any) -> Any:
    if js.nullish(history) or not isinstance(history, list) or not history:
        return js.UNDEFINED
    content = js.maybe(history[-1], "content")
    if js.nullish(content):
        return js.UNDEFINED
    return js.substring(js.to_string(content), LAST_MESSAGE_CHARS)


def _preferences(preferences: Any) -> Any:
    if not isinstance(preferences, (dict, list)):
        return js.UNDEFINED
    found = {"verbosity": verbosity_of(preferences), "preferredFormat": format_of(preferences)}
    given = {key: value for key, value in found.items() if value}
    return js.stringify(given) if given else js.UNDEFINED


def rolling_hash(text: str) -> int:
    """``hash = hash * 31 + unit`` over UTF-16 units, kept to a signed 32-bit number."""
    units = text.encode("utf-16-le", "surrogatepass")
    number = 0
    for low, high in zip(units[::2], units[1::2], strict=True):
        number = (number * 31 + low + (high << 8)) & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def _base36(number: int) -> str:
    digits = ""
    left = abs(number)
    while left or not digits:
        left, digit = divmod(left, 36)
        digits = _DIGITS[digit] + digits
    return "-" + digits if number < 0 else digits


def _newer_digest(
    components: Mapping[str, Json], model: Json, context: Any, template: str, texts: Texts
) -> str:
    rest = dict(context) if isinstance(context, dict) else {}
    rest.pop("workingMemory", None)
    persona = js.maybe(context, "activePersona")
    tools = components.get("tools", js.UNDEFINED)
    read = {
        "personaId": js.maybe(persona, "id"),
        "contextualPromptElements": js.maybe(persona, "contextualPromptElements"),
        "preferencePrompts": [
            {"content": prompt.content, "priority": prompt.priority, "source": prompt.source}
            for prompt in preference_prompts(context, texts)
        ],
        **{key: js.maybe(context, key) for key in _READ_FROM_CONTEXT},
    }
    parts = (
        _key_text(dict(components)),
        _key_text(js.UNDEFINED if js.nullish(tools) else [_tool(tool) for tool in js.array(tools, "map")]),
        _key_text({"modelInfo": model, "templateName": template, "context": rest, "read": read}),
    )
    text = "".join(f"{utf16_length(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


_READ_FROM_CONTEXT = (
    "currentMood",
    "userSkillLevel",
    "taskHint",
    "taskComplexity",
    "language",
    "conversationSignals",
)


def _tool(tool: Json) -> dict[str, Any]:
    return {key: js.get(tool, key) for key in ("id", "name", "description", "inputSchema")}


def _key_text(value: Any) -> str:
    """The JSON of a value, in which an object seen before is a reference; the references are listed
    after it with the place each took."""
    seen: dict[int, int] = {}
    references: list[str] = []
    position = 0

    def visit(current: Any) -> Any:
        nonlocal position
        position += 1
        if not isinstance(current, (dict, list)):
            return current
        if id(current) in seen:
            reference = f"ref:{seen[id(current)]}"
            references.append(f"{position}:{reference}")
            return f"\0{reference}"
        seen[id(current)] = len(seen)
        if isinstance(current, list):
            return [visit(entry) for entry in current]
        return {key: visit(entry) for key, entry in current.items()}

    visited = visit(value)
    text = "undefined" if isinstance(visited, js.Undefined) else js.stringify(visited)
    return f"{text}\x01{','.join(references)}"
