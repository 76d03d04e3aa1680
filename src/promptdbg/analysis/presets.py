"""Windows and output limits of well-known models, to try what a prompt becomes with another one.

As their makers published them by the middle of 2025; a provider may offer less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promptdbg.model import Knob, Settings, Value


@dataclass(frozen=True, slots=True)
class Preset:
    """A model's figures in tokens: the whole window, and the longest answer."""

    name: str
    window: int
    answer: int


PRESETS = (
    Preset("gpt-5", 400_000, 128_000),
    Preset("gpt-4.1", 1_047_576, 32_768),
    Preset("gpt-4o", 128_000, 16_384),
    Preset("o3", 200_000, 100_000),
    Preset("claude-opus-4", 200_000, 32_000),
    Preset("claude-sonnet-4", 200_000, 64_000),
    Preset("gemini-2.5-pro", 1_048_576, 65_536),
    Preset("deepseek-chat", 131_072, 8_192),
    Preset("local 32k", 32_768, 4_096),
    Preset("local 8k", 8_192, 1_024),
)

_BY_NAME = {preset.name: preset for preset in PRESETS}

KNOB = Knob(
    "model preset",
    "Model preset",
    "choice",
    None,
    help="Sets the window, and what is reserved for the answer, to those of a model.",
    choices=tuple(_BY_NAME),
    optional=True,
)
"""The presets as a knob that turns others; no engine knows it."""


def preset_knob(knobs: Sequence[Knob]) -> Knob | None:
    """The knob of the presets, where an engine has a window to set."""
    return KNOB if any(knob.role == "window" for knob in knobs) else None


def preset_value(knobs: Sequence[Knob], settings: Settings) -> str | None:
    """The preset whose figures the settings have; ``None`` where they are none's."""
    now = {knob.role: settings.values.get(knob.name, knob.default) for knob in knobs if knob.role}
    figures = {preset.name: _figures(preset) for preset in PRESETS}
    return next((name for name, own in figures.items() if {role: own[role] for role in now} == now), None)


def with_preset(knobs: Sequence[Knob], settings: Settings, name: str | None) -> Settings:
    """The settings with a model's figures; without a name with the workspace's own."""
    preset = _BY_NAME.get(name) if name is not None else None
    for knob in knobs:
        if not knob.role:
            continue
        value: Value = knob.default if preset is None else _figures(preset)[knob.role]
        same = value == knob.default
        settings = settings.without_value(knob.name) if same else settings.with_value(knob.name, value)
    return settings


def _figures(preset: Preset) -> dict[str, int]:
    return {"window": preset.window, "answer": preset.answer}
