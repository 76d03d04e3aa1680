"""bee's configuration: profiles, the automatic choice of one, scaling, levels, windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

LOCAL_PROVIDERS = frozenset({"ollama", "lmstudio", "llamacpp", "llama-cpp", "vllm", "localai", "omlx"})
LOCAL_WINDOW = 32_768
"""Tokens a local model is taken to have when nothing is known (``turn_compact.go::contextBudget``)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What one profile allows. Budgets are tokens, ``*_chars`` are bytes.

    A budget of 0 or less is none. ``memory_body_chars`` and ``tool_desc_chars``: 0 or less is
    unbounded. ``skill_manifest_chars``: 0 is unbounded, less than 0 drops the section.
    """

    system_prompt_budget: int = 0
    memory_top_k: int = 0
    memory_body_chars: int = 0
    tool_desc_chars: int = 0
    skill_manifest_chars: int = 0
    caveman: str = ""
    tool_output_tokens: int = 0


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "tiny": Profile(3000, 1, 400, 220, -1, "ultra", 1500),
        "normal": Profile(4000, 3, 2000, 160, 100, "full", 8000),
        "large": Profile(12000, 5, 0, 400, 200, "lite", 50000),
    }
)
"""The built-in profiles (``internal/config/defaults.go::Defaults``)."""


@dataclass(frozen=True, slots=True)
class Memory:
    enabled: bool = True
    top_k: int = 3


@dataclass(frozen=True, slots=True)
class Compaction:
    enabled: bool = True
    threshold: float = 0.75


@dataclass(frozen=True, slots=True)
class Config:
    """The keys of ``config.toml`` that reach a prompt; names as in the file."""

    default_provider: str = "openrouter"
    default_model: str = "deepseek/deepseek-v4-flash"
    caveman: str = "auto"
    profile: str = "auto"
    mode: str = "auto"
    extra_tools: tuple[str, ...] = ()
    disabled_tools: tuple[str, ...] = ()
    user_tools: tuple[str, ...] = ()
    memory: Memory = Memory()
    compaction: Compaction = Compaction()
    profiles: Mapping[str, Profile] = field(default_factory=lambda: PROFILES)


def is_local(provider: str) -> bool:
    """``local_provider.go::IsLocalProvider``."""
    return provider.lower() in LOCAL_PROVIDERS


_SPARSE = ("a3b", "a7b", "-moe", "moe-", "coder-30b")
_SMALL = ("flash", "mini", "nano", "haiku", "phi")
_SIZES = ("1b", "3b", "7b", "8b")
_LARGE = ("sonnet-4-7", "sonnet-4-6")
_EDGES = frozenset("-_.:/ \0")


def resolve_auto_profile(provider: str, model: str) -> str:
    """The profile ``auto`` means (``profile.go::ResolveAutoProfileForProvider``)."""
    return auto_profile_reason(provider, model)[0]


def auto_profile_reason(provider: str, model: str) -> tuple[str, str]:
    """The profile that ``auto`` means, and why, as a clause."""
    if is_local(provider):
        return "tiny", f"provider {provider} runs on this machine"
    if not model:
        return "normal", "no model is named"
    name = model.lower().rpartition("/")[2]
    for part in _SPARSE:
        if part in name:
            return "tiny", f"the model's name holds {part!r}"
    for word in (*_SMALL, *_SIZES):
        if _has_token(name, word):
            return "tiny", f"the model's name holds the word {word!r}"
    if _has_token(name, "opus"):
        return "large", "the model's name holds the word 'opus'"
    for part in _LARGE:
        if part in name:
            return "large", f"the model's name holds {part!r}"
    return "normal", "nothing in the model's name says small or large"


def _has_token(name: str, word: str) -> bool:
    at = name.find(word)
    while at >= 0:
        before = name[at - 1] if at else "\0"
        after = name[at + len(word)] if at + len(word) < len(name) else "\0"
        if before in _EDGES and after in _EDGES:
            return True
        at = name.find(word, at + 1)
    return False


def active_profile(config: Config) -> tuple[str, Profile]:
    """The profile in force and the name it was found under (``profile.go::ActiveProfile``).

    ``auto`` is resolved; an unknown name means ``normal``; without that, a profile of zeros.
    """
    name = config.profile
    if name == "auto":
        name = resolve_auto_profile(config.default_provider, config.default_model)
    for candidate in (name, "normal"):
        if candidate in config.profiles:
            return candidate, config.profiles[candidate]
    return "", Profile()


def apply_profile(config: Config) -> Config:
    """Resolve ``auto`` to names (``profile.go::ApplyProfile``): profile, level, and the mode on a
    local provider. What the user chose stays."""
    if config.profile == "auto":
        name = resolve_auto_profile(config.default_provider, config.default_model)
        config = replace(config, profile=name)
    if config.caveman in ("", "auto"):
        config = replace(config, caveman=active_profile(config)[1].caveman)
    if config.mode == "auto" and is_local(config.default_provider):
        config = replace(config, mode="edit")
    return config


def scale_profile(profile: Profile, name: str, context_window: int) -> Profile:
    """More room for ``tiny`` on a large window (``scale.go::ScaleProfileForContext``)."""
    if name != "tiny" or context_window <= 16_000:
        return profile
    return replace(
        profile,
        system_prompt_budget=max(profile.system_prompt_budget, min(int(context_window * 0.05), 8000)),
        tool_output_tokens=max(profile.tool_output_tokens, min(int(context_window * 0.02), 4000)),
    )


_LEVELS = {
    "": "full",
    "off": "off",
    "none": "off",
    "disabled": "off",
    "lite": "lite",
    "light": "lite",
    "full": "full",
    "default": "full",
    "ultra": "ultra",
    "max": "ultra",
}


def parse_level(text: str) -> str:
    """The caveman level a text names, empty for anything unknown, ``auto`` included
    (``caveman.go::ParseLevel``)."""
    return _LEVELS.get(text.strip().lower(), "")


def parse_mode(text: str) -> str:
    """plan, auto, yolo or edit; anything else is edit (``mode.go::ParseMode``)."""
    word = text.strip().lower()
    return word if word in ("plan", "auto", "yolo") else "edit"


_WINDOWS = {
    "claude-haiku-4-5": 200_000,
    "claude-sonnet-4-5": 200_000,
    "claude-sonnet-4-6": 200_000,
    "claude-opus-4-1": 200_000,
    "claude-opus-4-7": 200_000,
    "gpt-4o": 128_000,
    "gpt-4o-mini": 128_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o3-mini": 200_000,
    "deepseek-v4-flash": 1_000_000,
    "deepseek-chat": 65_536,
    "deepseek-reasoner": 65_536,
    "gemini-2.0-flash": 1_000_000,
    "gemini-2.5-flash": 1_000_000,
    "gemini-2.5-pro": 2_000_000,
    "gemini-3-flash-preview": 1_000_000,
    "gemini-3-pro-preview": 2_000_000,
    "gemini-3.1-flash-lite": 1_000_000,
    "gemini-3.1-flash-lite-preview": 1_000_000,
    "gemini-3.1-pro-preview": 2_000_000,
    "llama-3.3-70b-versatile": 131_072,
    "llama-3.1-8b-instant": 131_072,
}


def context_window(model: str) -> int:
    """The window bee knows for a model without asking anyone, 0 for others
    (``models_hardcoded.go::ContextWindow``)."""
    return _WINDOWS.get(model) or _WINDOWS.get(model.rpartition("/")[2], 0)


def context_budget(config: Config, window: int | None = None) -> int:
    """Tokens that compaction and notices measure against; 0 turns both off
    (``turn_compact.go::contextBudget``). ``window`` is a window learnt otherwise."""
    known = window if window is not None else context_window(config.default_model)
    if known > 0:
        return known
    return LOCAL_WINDOW if is_local(config.default_provider) else 0
