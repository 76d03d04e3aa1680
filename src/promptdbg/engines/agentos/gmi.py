"""What calls the prompt engine: the GMI's system prompts and its history.

``GMI.ts::processTurnStream``, ``ConversationHistoryManager.ts::update``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.engines.agentos import js
from promptdbg.engines.agentos.texts import Texts
from promptdbg.model import Json

MEMORY_JOINER = "\n\n---\n\n"
BASE_PRIORITY, SUMMARY_PRIORITY, DISCOVERY_PRIORITY = 1, 50, 55
SKILLS_PRIORITY, PROFILE_PRIORITY = 57, 60


def base_prompts(base: Any) -> list[Json]:
    """The persona's base prompt as system prompts: a list as given, a text or template at priority 1."""
    if isinstance(base, list):
        return list(base)
    if isinstance(base, dict) and "template" in base:
        return [{"content": base["template"], "priority": BASE_PRIORITY}]
    return [{"content": base, "priority": BASE_PRIORITY}] if isinstance(base, str) else []


def turn_prompts(metadata: Mapping[str, Json], texts: Texts) -> list[Json]:
    """System prompts made from what travels with the turn, in the order they are added."""
    found = (
        (texts.rolling_summary, _text(metadata, "rollingSummary", "text"), SUMMARY_PRIORITY),
        ("", _text(metadata, "promptProfile", "systemInstructions"), PROFILE_PRIORITY),
        (texts.discovery, _text(metadata, "capabilityDiscovery", "promptContext"), DISCOVERY_PRIORITY),
        ("", _text(metadata, "skillPromptContext"), SKILLS_PRIORITY),
    )
    return [{"content": heading + text, "priority": priority} for heading, text, priority in found if text]


def _text(metadata: Mapping[str, Json], *keys: str) -> str:
    value: Any = metadata
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return js.trim(value) if isinstance(value, str) else ""


def system_prompts(persona: Any, metadata: Any, texts: Texts) -> list[Json]:
    """The system prompts a GMI gives the engine for a persona and a turn."""
    base = js.get(persona, "baseSystemPrompt") if isinstance(persona, dict) else None
    turn = turn_prompts(metadata, texts) if isinstance(metadata, dict) else []
    return [*base_prompts(base), *turn]


def retrieved_context(memory: str, retrieved: str) -> str:
    """Memory text and retrieved text as the GMI joins them."""
    return MEMORY_JOINER.join(filter(None, (memory, retrieved)))
