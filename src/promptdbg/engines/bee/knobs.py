"""bee's live parameters."""

from __future__ import annotations

from promptdbg.engines.base import holding
from promptdbg.engines.bee.config import Config, active_profile, apply_profile
from promptdbg.engines.bee.configure import in_force, known_window
from promptdbg.engines.bee.context import MAX_DEPTH
from promptdbg.engines.bee.inputs import BeeInputs
from promptdbg.model import Knob

DEEPEST = 10
"""The deepest nesting of imports that can be tried; as deep is read when loading."""

_LEVELS = ("auto", "off", "lite", "full", "ultra")
_MODES = ("auto", "edit", "plan", "yolo")
_ORDER_HELP = "These first; the rest follow."
_FIGURE_HELP = "Follows the profile until it is set."


def _choices(known: tuple[str, ...], configured: str) -> tuple[str, ...]:
    return known if configured in known else (*known, configured)


def knobs(inputs: BeeInputs | None) -> tuple[Knob, ...]:
    """Every knob, with the workspace's own values as defaults."""
    config = inputs.config if inputs else Config()
    return (*_profile(config, inputs), *_files(inputs), *_memory(config, inputs), *_history(config, inputs))


def _profile(config: Config, inputs: BeeInputs | None) -> tuple[Knob, ...]:
    names = tuple(config.profiles)
    applied = inputs.apply_profile if inputs else True
    return (
        Knob(
            "profile", "Profile", "choice", config.profile, "Profile", "auto goes by provider and model.",
            choices=_choices(("auto", *names), config.profile),
        ),
        Knob("provider", "Provider", "text", config.default_provider, "Profile", "A local one means tiny."),
        Knob("model", "Model", "text", config.default_model, "Profile", "Its name decides what auto means."),
        Knob(
            "apply_profile", "Resolving of auto", "toggle", applied, "Profile",
            "As bee's loop does, scaling too. Off: auto stays auto, as for a program that calls Assemble.",
        ),
        *_figures(config, inputs, applied),
        Knob(
            "caveman", "Terseness", "choice", config.caveman, "Profile", "auto takes the profile's level.",
            choices=_choices(_LEVELS, config.caveman),
        ),
        Knob(
            "mode", "Mode", "choice", config.mode, "Profile",
            "auto asks a model, whose answer is taken to be edit here.",
            choices=_choices(_MODES, config.mode),
        ),
    )  # fmt: skip


def _figures(config: Config, inputs: BeeInputs | None, applied: bool) -> tuple[Knob, ...]:
    """The profile's own numbers. They show what applies, and follow the profile until they are set."""
    window = inputs.context_window if inputs else None
    profile = in_force(apply_profile(config), window) if applied else active_profile(config)[1]
    return (
        Knob(
            "context_window", "Context window", "number", known_window(config, window) or None, "Profile",
            "Scales tiny, and is what notices and compaction measure. Until set: bee's table of models.",
            unit="tokens", minimum=0, step=1000, optional=True, zero="not known",
            role="window",
        ),
        Knob(
            "budget", "Prompt budget", "number", profile.system_prompt_budget, "Profile",
            _FIGURE_HELP, unit="tokens", step=100, zero="no budget",
        ),
        Knob(
            "tool_desc_chars", "Tool text cap", "number", profile.tool_desc_chars, "Profile",
            _FIGURE_HELP, unit="bytes", step=10, zero="no cap", caps=("tool",),
        ),
        Knob(
            "skill_manifest_chars", "Skill list cap", "number", profile.skill_manifest_chars, "Profile",
            _FIGURE_HELP + " Below 0: no skills.", unit="bytes", minimum=-1, step=10, zero="no cap",
            caps=("skills", "skill"),
        ),
        Knob(
            "memory_body_chars", "Record body cap", "number", profile.memory_body_chars, "Profile",
            _FIGURE_HELP, unit="bytes", step=50, zero="no cap", caps=("record",),
        ),
        Knob(
            "tool_output_tokens", "Tool result cap", "number", profile.tool_output_tokens, "Profile",
            _FIGURE_HELP + " Each tool has its own cap too.", unit="tokens", step=100,
            caps=("message:tool",),
        ),
    )  # fmt: skip


def _files(inputs: BeeInputs | None) -> tuple[Knob, ...]:
    place = inputs.place if inputs else None
    chain = place.chain if place else ()
    start = place.walk_from if place else "/"
    return (
        Knob(
            "walk_from", "Start of the walk-up", "choice", start, "Files",
            "bee begins at the root of the file system; here files above this folder stay out.",
            choices=_choices(chain, start),
        ),
        Knob(
            "git_root", "Search for the git root", "toggle", True, "Files", "Off: as outside a repository.",
        ),
        Knob(
            "import_depth", "Import depth", "number", MAX_DEPTH, "Files", "What if bee went as deep.",
            unit="count", minimum=0, maximum=DEEPEST,
        ),
        Knob("fuzzy", "Fuzzy imports", "toggle", True, "Files", "What if bee took exact names only."),
        Knob("context_order", "Order of context files", "order", (), "Files", _ORDER_HELP),
        Knob("tool_order", "Order of tools", "order", (), "Files", _ORDER_HELP),
    )  # fmt: skip


def _memory(config: Config, inputs: BeeInputs | None) -> tuple[Knob, ...]:
    now = inputs.now.isoformat() if inputs else ""
    return (
        Knob("memory", "Memory", "toggle", config.memory.enabled, "Memory", "memory.enabled"),
        Knob(
            "top_k", "Number of records", "number", config.memory.top_k, "Memory",
            "memory.top_k: 0 or less is 3, over 5 is 5.", unit="count",
        ),
        Knob(
            "hint_tags", "Hint tags", "text", " ".join(inputs.hint_tags) if inputs else "", "Memory",
            "What a side call would answer when fewer than two records come back.",
        ),
        Knob("clock", "Clock", "text", now, "Memory", "What ages and expiry are measured by, ISO 8601."),
        Knob("record_order", "Order of records", "order", (), "Memory", _ORDER_HELP),
    )  # fmt: skip


def _history(config: Config, inputs: BeeInputs | None) -> tuple[Knob, ...]:
    low, high = holding(config.compaction.threshold, 0, 1)
    return (
        Knob(
            "tool_results", "Cutting of tool results", "toggle", True, "History",
            "Off: stored results as they are. One that bee has cut already is left alone.",
        ),
        Knob(
            "input_tokens", "Reported input tokens", "number", inputs.input_tokens if inputs else 0,
            "History",
            "What the provider counted for the request before, in the middle of a run; 0: not known.",
            unit="tokens", minimum=0, step=1000,
        ),
        Knob("compaction", "Compaction", "toggle", config.compaction.enabled, "History"),
        Knob(
            "threshold", "Compaction threshold", "number", config.compaction.threshold, "History",
            "The share of the window; 0.75 or more is widened on large windows. bee takes any number, "
            "of which these are the ones that make sense.",
            minimum=low, maximum=high, step=0.05, zero="never",
        ),
        Knob(
            "summarizer", "Summarizer", "choice", "works", "History", "What the call for a summary does.",
            choices=("works", "empty", "fails"),
        ),
    )  # fmt: skip
