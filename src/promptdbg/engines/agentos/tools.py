"""Tool schemas: which tools are sent and in what form (``PromptEngine.ts::formatToolSchemasForModel``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.components import Tool
from promptdbg.engines.agentos.log import TOOLS, Log
from promptdbg.model import Action, Json, Rule

OPENAI_FORMAT = "openai_functions"
ANTHROPIC_FORMAT = "anthropic_tools"


def supported(model: Json) -> bool:
    """Whether the model takes tools.

    Raises:
        JsError: the model target says nothing about tools at all.
    """
    return js.truthy(js.get(js.get(model, "toolSupport"), "supported"))


def filtered(
    tools: Sequence[Tool], model: Json, config: Mapping[str, Json], persona: Any, log: Log | None
) -> list[tuple[Tool, str | None]]:
    """The tools the persona's manifest lets through, each with the reason the framework notes.

    Args:
        persona: the id of the persona of the context that was *set* on the engine, if any.
    """
    entry = _manifest_entry(config, persona)
    if entry is None:
        return [(tool, None) for tool in tools]
    override = js.maybe(js.get(entry, "modelOverrides"), js.to_string(js.get(model, "modelId")))
    enabled, disabled = js.get(entry, "enabledToolIds"), js.get(entry, "disabledToolIds")
    left: list[tuple[Tool, str | None]] = [(tool, None) for tool in tools]
    if js.truthy(override):
        why = "It is not on the persona's list for this model."
        left = _passed(
            left, _listed(override, True), "included:model_override", rules.TOOLS_OVERRIDE, why, log
        )
    elif js.truthy(enabled) and js.length(enabled) > 0:
        why = "It is not on the persona's list of enabled tools."
        left = _passed(
            left, _listed(enabled, True), "included:enabled_tool_ids", rules.TOOLS_ENABLED, why, log
        )
    if js.truthy(disabled) and js.length(disabled) > 0:
        why = "It is on the persona's list of disabled tools."
        left = _passed(left, _listed(disabled, False), None, rules.TOOLS_DISABLED, why, log)
    return left


def _manifest_entry(config: Mapping[str, Json], persona: Any) -> Any:
    if not js.truthy(persona):
        return None
    entry = js.maybe(js.get(config, "toolSchemaManifest"), js.to_string(persona))
    return entry if js.truthy(entry) else None


def _listed(ids: Any, wanted: bool) -> Callable[[Tool], bool]:
    """Whether a tool's id is (or is not) on a list."""
    listed = js.array(ids, "an iterator") if not isinstance(ids, str) else list(ids)
    return lambda tool: js.includes(listed, js.get(tool.raw, "id")) is wanted


def _passed(
    tools: list[tuple[Tool, str | None]],
    passes: Callable[[Tool], bool],
    reason: str | None,
    rule: Rule,
    why: str,
    log: Log | None,
) -> list[tuple[Tool, str | None]]:
    left = []
    for tool, before in tools:
        if passes(tool):
            left.append((tool, reason or before))
        elif log is not None:
            log.add(TOOLS, Action.DROP, tool.item, rule, why)
    return left


def schemas(
    tools: Sequence[Tool], model: Json, config: Mapping[str, Json], persona: Any, log: Log | None = None
) -> list[tuple[str, Json]]:
    """The tool schemas sent to the model, each with the item it is made from.

    Without support for tools nothing is sent. ``log`` is left out where the same schemas are made a
    second time (the Anthropic template does that).
    """
    if not supported(model):
        for tool in tools if log is not None else ():
            because = "The model supports no tools; it still costs 50 tokens of the budget."
            assert log is not None
            log.add(TOOLS, Action.DROP, tool.item, rules.TOOLS_UNSUPPORTED, because)
        return []
    wrapped = js.get(js.get(model, "toolSupport"), "format") == OPENAI_FORMAT
    return [
        (tool.item, schema(tool, wrapped, reason))
        for tool, reason in filtered(tools, model, config, persona, log)
    ]


def schema(tool: Tool, wrapped: bool, reason: str | None = None) -> Json:
    """One tool as it is sent: wrapped as an OpenAI function, or its definition alone."""
    definition = _definition(tool.raw)
    note = {} if reason is None else {"_filteringReason": reason}
    return {"type": "function", "function": definition, **note} if wrapped else {**definition, **note}


def _definition(raw: Json) -> dict[str, Json]:
    given = js.get(raw, "inputSchema")
    has_schema = js.truthy(given) and not (isinstance(given, (dict, list, str)) and not len(given))
    if isinstance(given, (int, float)):
        has_schema = False  # Object.keys of a number or boolean is empty
    definition = {
        "name": _first(raw, "name", "id"),
        "description": _first(raw, "description", "displayName", "name"),
        "parameters": given if has_schema else _empty_schema(),
    }
    return {key: value for key, value in definition.items() if not isinstance(value, js.Undefined)}


def _first(raw: Json, *keys: str) -> Any:
    """``raw.a || raw.b || …``: the first that is true, else the last as it is."""
    value: Any = js.UNDEFINED
    for key in keys:
        value = js.get(raw, key)
        if js.truthy(value):
            break
    return value


def _empty_schema() -> Json:
    return {"type": "object", "properties": {}, "additionalProperties": False}
