"""The knobs: what of a construction can be tried, with the workspace's own values as defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.config import DEFAULT_WINDOW
from promptdbg.engines.agentos.templates import ANTHROPIC, CHAT, COMPLETION, GEMINI
from promptdbg.engines.agentos.tools import ANTHROPIC_FORMAT, OPENAI_FORMAT
from promptdbg.engines.base import holding
from promptdbg.model import Json, Knob

AUTO = "auto"
SUMMARIZER_OFF, SUMMARIZER_WORKS, SUMMARIZER_FAILS = "off", "works", "fails"
THINKING_BY_MODEL, THINKING_STRIP, THINKING_KEEP = "model", "strip", "keep"

CONTEXT_TEXTS = {
    "mood": "currentMood",
    "task_hint": "taskHint",
    "language": "language",
    "skill_level": "userSkillLevel",
    "complexity": "taskComplexity",
}
"""Knobs that set a key of the execution context."""
PREFERENCE_TEXTS = {"verbosity": "verbosity", "format": "preferredFormat"}
"""Knobs that set a key of the user's preferences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What a workspace says itself: the knobs' defaults."""

    version: str = rules.PUBLISHED
    model: Json = None
    context: Json = None
    config: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    template: str | None = None
    summarizer: str = SUMMARIZER_OFF
    turn_count: Any = None
    memory_budget: float | None = None
    gmi_history: float | None = None
    thinking: str = THINKING_BY_MODEL
    set_context: bool = True


def knobs_for(own: Defaults) -> tuple[Knob, ...]:
    """The knobs of a workspace."""
    context = own.context if isinstance(own.context, dict) else {}
    preferences = context.get("userPreferences")
    return (
        *_engine_knobs(own.version, own.template),
        *_model_knobs(own.model if isinstance(own.model, dict) else {}),
        *_history_knobs(own),
        *_budget_knobs(own),
        *_context_knobs(context, preferences if isinstance(preferences, dict) else {}),
        Knob("manifest", "Tool manifest of the persona", "toggle", own.set_context, group="tools",
             help="whether the context is set on the engine; without it the manifest does nothing"),
        *_memory_knobs(own.memory_budget),
    )  # fmt: skip


def _history_knobs(own: Defaults) -> tuple[Knob, ...]:
    return (
        Knob(
            "turn_count",
            "Length of the current turn",
            "number",
            _number(own.turn_count),
            group="history",
            unit="messages",
            optional=True,
            help="currentTurnMessageCount; the published version ignores it",
        ),
        Knob(
            "keep_tool_rounds",
            "Keeping of whole tool rounds",
            "toggle",
            False,
            group="history",
            help="as documented; no version does it (newer only)",
        ),
        Knob(
            "gmi_history",
            "GMI history limit",
            "number",
            own.gmi_history,
            group="history",
            unit="messages",
            minimum=0,
            optional=True,
            help="a GMI keeps 20; none: all of the history is given",
        ),
    )


def _budget_knobs(own: Defaults) -> tuple[Knob, ...]:
    history = own.config.get("historyManagement")
    trigger = _number(history.get("summarizationTriggerRatio") if isinstance(history, dict) else None, 0.8)
    low, high = holding(trigger, 0, 1)
    return (
        Knob(
            "summarizer",
            "Summarizer",
            "choice",
            own.summarizer,
            group="budget",
            choices=(SUMMARIZER_OFF, SUMMARIZER_WORKS, SUMMARIZER_FAILS),
        ),
        Knob("trigger_ratio", "Summary trigger", "number", trigger, group="budget", minimum=low, maximum=high,
             step=0.1, zero="never", help="the part of the history's share above which it is summarized; "
             "AgentOS takes any number, of which these are the ones that make sense"),
        Knob(
            "thinking",
            "Earlier thinking",
            "choice",
            own.thinking,
            group="budget",
            choices=(THINKING_BY_MODEL, THINKING_STRIP, THINKING_KEEP),
            help="AGENTOS_ANTHROPIC_STRIP_PRIOR_THINKING (newer, Anthropic only)",
        ),
    )  # fmt: skip


def _engine_knobs(version: str, template: str | None) -> tuple[Knob, ...]:
    known = (AUTO, CHAT, ANTHROPIC, COMPLETION, GEMINI)
    return (
        Knob("version", "Version", "choice", version, group="engine", choices=rules.VERSIONS),
        Knob(
            "template",
            "Template",
            "choice",
            template if template in known else AUTO,
            group="engine",
            choices=known,
            help="auto: the call's, else the model's, else the configured one",
        ),
        Knob("cache", "Prompt cache key", "toggle", False, group="engine",
             help="prompts with the same key are served from the cache"),
    )  # fmt: skip


def _model_knobs(model: Mapping[str, Json]) -> tuple[Knob, ...]:
    name = model.get("modelId")
    support = model.get("toolSupport")
    support = support if isinstance(support, dict) else {}
    form = support.get("format")
    return (
        Knob(
            "model",
            "Model",
            "text",
            name if isinstance(name, str) else "",
            group="model",
            help="gpt-4 in the name: 3.8 characters a token; claude: 4.2; else 4",
        ),
        Knob("window", "Context window", "number", _number(model.get("maxContextTokens"), DEFAULT_WINDOW),
             group="model", unit="tokens", step=256, role="window"),
        Knob(
            "optimal",
            "Optimal context",
            "number",
            _number(model.get("optimalContextTokens")),
            group="model",
            unit="tokens",
            step=256,
            zero="the window is the limit",
            optional=True,
            help="the budget; 0 or none: the window",
        ),
        Knob("vision", "Image support", "toggle", _supported(model.get("visionSupport")), group="model"),
        Knob("tools", "Tool support", "toggle", _supported(support), group="tools"),
        Knob(
            "tool_format",
            "Tool format",
            "choice",
            form if form in (OPENAI_FORMAT, ANTHROPIC_FORMAT) else "other",
            group="tools",
            choices=(OPENAI_FORMAT, ANTHROPIC_FORMAT, "other"),
        ),
    )  # fmt: skip


def _context_knobs(context: Mapping[str, Json], preferences: Mapping[str, Json]) -> tuple[Knob, ...]:
    titles = {
        "mood": "Mood",
        "task_hint": "Task hint",
        "language": "Language",
        "skill_level": "Skill of the user",
        "complexity": "Complexity of the task",
        "verbosity": "Preferred length",
        "format": "Preferred format",
    }
    found = [
        Knob(name, titles[name], "text", _word(source.get(key)), group="context", optional=True)
        for source, names in ((context, CONTEXT_TEXTS), (preferences, PREFERENCE_TEXTS))
        for name, key in names.items()
    ]
    signals = context.get("conversationSignals")
    words = tuple(word for word in signals if isinstance(word, str)) if isinstance(signals, list) else ()
    found.insert(5, Knob("signals", "Conversation signals", "order", words, group="context"))
    return tuple(found)


def _memory_knobs(budget: float | None) -> tuple[Knob, ...]:
    if budget is None:
        return ()
    return (Knob("memory_budget", "Memory budget", "number", budget, group="memory", unit="tokens", step=50,
                 caps=("memory",)),)  # fmt: skip


def _supported(support: Json) -> bool:
    return isinstance(support, dict) and js.truthy(support.get("supported"))


def _word(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any, default: float | None = None) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return default
    return value
