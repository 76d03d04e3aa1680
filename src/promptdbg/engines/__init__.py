"""The engines by name. A module is imported only when its engine is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from promptdbg.engines.base import AnyEngine
from promptdbg.errors import UsageError

_ENGINES = {
    "nanobot": "promptdbg.engines.nanobot:ENGINE",
    "orbiter": "promptdbg.engines.orbiter:ENGINE",
    "bee": "promptdbg.engines.bee:ENGINE",
    "phronomy": "promptdbg.engines.phronomy:ENGINE",
    "agentos": "promptdbg.engines.agentos:ENGINE",
}

ENGINE_NAMES = tuple(_ENGINES)

DATA_FILES = {
    "components.json": ("agentos",),
    "candidates.json": ("phronomy",),
    "messages.jsonl": ("bee", "orbiter", "phronomy"),
    "messages.json": ("orbiter", "phronomy"),
}
"""Input files that tell no engine by themselves, since other programs have files of that name, and the
engines that read them once they are chosen."""


@cache
def engine(name: str) -> AnyEngine:
    """The engine of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in _ENGINES:
        raise UsageError(f"unknown engine {name!r}", hint="one of " + ", ".join(ENGINE_NAMES))
    module, _, attribute = _ENGINES[name].partition(":")
    found: AnyEngine = getattr(import_module(module), attribute)
    return found
