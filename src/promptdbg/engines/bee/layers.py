"""The layers of bee's configuration: defaults, the file, the environment.

Sources: ``internal/config/{load,types}.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType

from promptdbg.engines.bee.config import Compaction, Config, Memory, Profile
from promptdbg.model import Json

_KINDS: dict[str, type] = {"str": str, "int": int, "bool": bool, "float": float}
_WORDS = {str: "a text", int: "a whole number", bool: "true or false", float: "a number"}
_TEXTS = dict.fromkeys(("default_provider", "default_model", "caveman", "profile", "mode"), str)
_LISTS = ("extra_tools", "disabled_tools")
_ENVIRONMENT = {
    "BEE_PROVIDER": "default_provider",
    "BEE_MODEL": "default_model",
    "BEE_CAVEMAN": "caveman",
    "BEE_PROFILE": "profile",
    "BEE_MODE": "mode",
}


def _kinds(table: type) -> dict[str, type]:
    return {entry.name: _KINDS[str(entry.type)] for entry in fields(table)}


def merge_document(config: Config, document: Mapping[str, Json]) -> tuple[Config, tuple[str, ...]]:
    """A configuration with the keys of a ``config.toml`` laid over it, and what was wrong.

    A partial table changes only the keys it names (``load.go::mergeFile``). A key of the wrong
    kind is left out and reported; bee itself refuses the whole file then.
    """
    reader = _Reader()
    changes = reader.values(document, _TEXTS)
    for key in _LISTS:
        changes |= reader.names(document, key)
    changes |= reader.user_tools(document)
    memory = reader.values(reader.table(document, "memory"), _kinds(Memory), "memory.")
    compaction = reader.values(reader.table(document, "compaction"), _kinds(Compaction), "compaction.")
    profiles = dict(config.profiles)
    given = reader.table(document, "profiles")
    for name in given:
        where = f"profiles.{name}."
        values = reader.values(reader.table(given, name, "profiles."), _kinds(Profile), where)
        profiles[name] = replace(profiles.get(name, Profile()), **values)
    merged = replace(
        config,
        **changes,
        memory=replace(config.memory, **memory),
        compaction=replace(config.compaction, **compaction),
        profiles=MappingProxyType(profiles),
    )
    return merged, tuple(reader.wrong)


class _Reader:
    """Takes typed values from a document and remembers what did not fit."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def table(self, document: Mapping[str, Json], key: str, where: str = "") -> Mapping[str, Json]:
        value = document.get(key, {})
        if isinstance(value, dict):
            return value
        self.wrong.append(f"{where}{key} must be a table")
        return {}

    def values(
        self, table: Mapping[str, Json], kinds: Mapping[str, type], where: str = ""
    ) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, kind in kinds.items():
            if key not in table:
                continue
            if _fits(table[key], kind):
                found[key] = table[key]
            else:
                self.wrong.append(f"{where}{key} must be {_WORDS[kind]}")
        return found

    def names(self, document: Mapping[str, Json], key: str) -> dict[str, Json]:
        value = document.get(key)
        if value is None:
            return {}
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            return {key: tuple(value)}
        self.wrong.append(f"{key} must be a list of tool names")
        return {}

    def user_tools(self, document: Mapping[str, Json]) -> dict[str, Json]:
        value = document.get("user_tools", [])
        tables = value if isinstance(value, list) else [value]
        named = [
            tool["name"] for tool in tables if isinstance(tool, dict) and isinstance(tool.get("name"), str)
        ]
        if len(named) < len(tables):
            self.wrong.append("user_tools must be tables with a name")
        return {"user_tools": tuple(named)} if named else {}


def _fits(value: Json, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def merge_environment(config: Config, environment: Mapping[str, str]) -> Config:
    """The configuration with bee's environment variables over it; empty ones are ignored
    (``load.go::mergeEnv``)."""
    changes: dict[str, Json] = {
        name: environment[variable] for variable, name in _ENVIRONMENT.items() if environment.get(variable)
    }
    if extra := environment.get("BEE_EXTRA_TOOLS"):
        changes["extra_tools"] = tuple(part.strip() for part in extra.split(",") if part.strip())
    return replace(config, **changes)
