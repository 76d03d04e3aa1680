"""The configuration in force: what is on disk, resolved as bee does, then what the knobs say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from promptdbg.engines.bee.blocks import SYSTEM_ITEM
from promptdbg.engines.bee.config import (
    Config,
    Profile,
    active_profile,
    apply_profile,
    auto_profile_reason,
    context_budget,
    context_window,
    is_local,
    parse_mode,
    resolve_auto_profile,
    scale_profile,
)
from promptdbg.engines.bee.drafts import Desk
from promptdbg.engines.bee.rules import MODE_AUTO, PROFILE_AUTO, PROFILE_SCALE, PROFILE_UNKNOWN
from promptdbg.model import Value

_PROFILE_KNOBS = {
    "budget": "system_prompt_budget",
    "tool_desc_chars": "tool_desc_chars",
    "skill_manifest_chars": "skill_manifest_chars",
    "memory_body_chars": "memory_body_chars",
    "tool_output_tokens": "tool_output_tokens",
}


@dataclass(frozen=True, slots=True)
class Setup:
    """``mode`` is never ``auto``. ``window`` is what notices and compaction measure, 0 for none.
    ``level_of_profile``: nobody chose a terseness level, so it is the profile's."""

    config: Config
    profile: Profile
    mode: str
    window: int
    level_of_profile: bool


def configure(
    base: Config,
    values: Mapping[str, Value],
    changed: Collection[str],
    window: int | None,
    desk: Desk,
    *,
    asks_mode: bool,
) -> Setup:
    """The setup for knob values; what decided is noted.

    Args:
        values: every knob's value.
        changed: the knobs that were set here. A profile's figure or the window counts only if it was:
            else it follows the profile and the model.
        window: the context window that the workspace names.
        asks_mode: whether mode ``auto`` matters.
    """
    config = _with_knobs(base, values)
    _note_profile(config, desk)
    known = whole_number(values["context_window"]) if "context_window" in changed else window
    profile = active_profile(config)[1]
    chosen = config.caveman
    if values["apply_profile"]:
        config = apply_profile(config)
        profile = in_force(config, known)
        _note_scaling(config, profile, known, desk)
    changes = {
        name: number
        for knob, name in _PROFILE_KNOBS.items()
        if knob in changed and (number := whole_number(values[knob])) is not None
    }
    profile = replace(profile, **changes)  # type: ignore[arg-type]
    mode = parse_mode(config.mode)
    if mode == "auto":
        mode = "edit"
        if asks_mode:
            _note_mode(config, desk)
    return Setup(config, profile, mode, context_budget(config, known), config.caveman != chosen)


def whole_number(value: Value) -> int | None:
    """A number knob's value as a whole number; ``None`` where it is not set."""
    return int(value) if isinstance(value, (int, float)) else None


def _with_knobs(base: Config, values: Mapping[str, Value]) -> Config:
    threshold = values["threshold"]
    return replace(
        base,
        default_provider=str(values["provider"]),
        default_model=str(values["model"]),
        profile=str(values["profile"]),
        caveman=str(values["caveman"]),
        mode=str(values["mode"]),
        memory=replace(base.memory, enabled=bool(values["memory"]), top_k=whole_number(values["top_k"]) or 0),
        compaction=replace(
            base.compaction,
            enabled=bool(values["compaction"]),
            threshold=float(threshold) if isinstance(threshold, (int, float)) else 0.0,
        ),
    )


def _note_profile(config: Config, desk: Desk) -> None:
    if config.profile == "auto":
        name, reason = auto_profile_reason(config.default_provider, config.default_model)
        desk.note(SYSTEM_ITEM, PROFILE_AUTO, f"Profile auto means {name}: {reason}.")
    elif config.profile not in config.profiles:
        because = f"There is no profile {config.profile!r}; the budgets of normal apply."
        desk.note(SYSTEM_ITEM, PROFILE_UNKNOWN, because)


def in_force(config: Config, window: int | None) -> Profile:
    """The profile as the loop uses it: with the room it gives tiny on a large window. It does so only
    for models that ``auto`` would call tiny (``turn_run.go::RunWithContentDisplay``). A program that
    calls Assemble itself gets neither that nor ``auto`` resolved."""
    name, profile = active_profile(config)
    if resolve_auto_profile(config.default_provider, config.default_model) != "tiny":
        return profile
    return scale_profile(profile, name, known_window(config, window))


def known_window(config: Config, window: int | None) -> int:
    """The window a workspace names, else the one bee knows for the model, else 0."""
    return context_window(config.default_model) if window is None else window


def _note_scaling(config: Config, scaled: Profile, window: int | None, desk: Desk) -> None:
    profile = active_profile(config)[1]
    if scaled == profile:
        return
    size = known_window(config, window)
    because = (
        f"With a window of {size:,} tokens the prompt budget of tiny is "
        f"{scaled.system_prompt_budget:,} instead of {profile.system_prompt_budget:,}, and a tool result "
        f"may have {scaled.tool_output_tokens:,} tokens instead of {profile.tool_output_tokens:,}."
    )
    desk.note(SYSTEM_ITEM, PROFILE_SCALE, because, measured=size, limit=16_000, unit="tokens")


def _note_mode(config: Config, desk: Desk) -> None:
    if is_local(config.default_provider):
        because = "Mode auto on a local provider is edit, without asking."
    else:
        because = "Mode auto: bee asks the model; edit is assumed here. The knob mode says otherwise."
    desk.note(SYSTEM_ITEM, MODE_AUTO, because)
