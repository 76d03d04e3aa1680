"""Tool schemas as nanobot sends them (``agent/tools/registry.py::get_definitions``)."""

from __future__ import annotations

from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.estimate import ToolSet, tool_set
from promptdbg.model import Json


def tool_name(definition: Json) -> str:
    """The name in a schema; empty where it has none."""
    if not isinstance(definition, dict):
        return ""
    function = definition.get("function")
    name = function.get("name") if isinstance(function, dict) else definition.get("name")
    return name if isinstance(name, str) else ""


def tool_id(definition: Json) -> str:
    return f"tools/{tool_name(definition)}"


def schema(definition: Json) -> Json:
    """A tool in the shape of the request; one written as name, description, parameters is wrapped."""
    if not isinstance(definition, dict) or "function" in definition:
        return definition
    return {
        "type": "function",
        "function": {
            "name": definition.get("name"),
            "description": definition.get("description"),
            "parameters": definition.get("parameters"),
        },
    }


def ordered(tools: tuple[Json, ...]) -> tuple[Json, ...]:
    """The schemas by name, those of MCP servers after the others; of two with one name the last counts."""
    by_name = {tool_name(tool): schema(tool) for tool in tools}
    return tuple(by_name[name] for name in sorted(by_name, key=lambda name: (name.startswith("mcp_"), name)))


def unknown_tools(dialect: Dialect) -> str:
    """That the schemas are not known, and what they would be about."""
    return (
        f"the tool schemas are not known; a fresh install of {dialect.name} has about "
        f"{dialect.fresh_tools:,} tokens of them, of {dialect.fresh_total:,} for a first message"
    )


def order_tools(tools: tuple[Json, ...] | None, off: frozenset[str]) -> ToolSet:
    """The schemas of a request, without those that are switched off."""
    if tools is None:
        return tool_set((), known=False)
    if "tools" in off:
        return tool_set(())
    return tool_set(tuple(tool for tool in ordered(tools) if tool_id(tool) not in off))
