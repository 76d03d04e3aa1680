"""Orbiter's configuration: both generations, the automation modes, the models' windows.

Validation accepts and refuses what the framework's does, and raises ``ValidationError`` (a
``ValueError``, as the framework's own is).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class ValidationError(ValueError):
    """A configuration value is out of its range or not of its kind."""


class AutomationMode(StrEnum):
    """The presets of generation A (``context/config.py::AutomationMode``)."""

    PILOT = "pilot"
    COPILOT = "copilot"
    NAVIGATOR = "navigator"


class Overflow(StrEnum):
    """What generation B does above its limit (``context/config.py::OverflowStrategy``)."""

    SUMMARIZE = "summarize"
    TRUNCATE = "truncate"
    NONE = "none"
    HOOK = "hook"


_NO_EXTRA: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextConfig:
    """Generation A. Counts are messages, except for the history neuron, which doubles the rounds.

    Raises:
        ValidationError: a count below 1, a trigger outside 0 to 1, or a summary_threshold above
            offload_threshold.
    """

    mode: AutomationMode = AutomationMode.COPILOT
    history_rounds: int = 20
    summary_threshold: int = 10
    offload_threshold: int = 50
    enable_retrieval: bool = False
    neuron_names: tuple[str, ...] = ()
    token_budget_trigger: float = 0.8
    extra: Mapping[str, Any] = field(default_factory=lambda: _NO_EXTRA)

    def __post_init__(self) -> None:
        _set(self, "mode", _choice("mode", self.mode, AutomationMode))
        for name in ("history_rounds", "summary_threshold", "offload_threshold"):
            _set(self, name, _count(name, getattr(self, name)))
        _set(self, "enable_retrieval", _flag("enable_retrieval", self.enable_retrieval))
        _set(self, "neuron_names", _names("neuron_names", self.neuron_names))
        _set(self, "token_budget_trigger", _share("token_budget_trigger", self.token_budget_trigger))
        if self.summary_threshold > self.offload_threshold:
            raise ValidationError(
                f"summary_threshold {self.summary_threshold} is above offload_threshold "
                f"{self.offload_threshold}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitConfig:
    """Generation B (there also called ContextConfig): one limit, the other numbers follow from it.

    Raises:
        ValidationError: a count below 1, a pressure outside 0 to 1, or an unknown overflow.
    """

    limit: int = 20
    overflow: Overflow = Overflow.SUMMARIZE
    keep_recent: int = 5
    token_pressure: float = 0.8
    cache: bool = False
    neuron_names: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=lambda: _NO_EXTRA)

    def __post_init__(self) -> None:
        _set(self, "limit", _count("limit", self.limit))
        _set(self, "overflow", _choice("overflow", self.overflow, Overflow))
        _set(self, "keep_recent", _count("keep_recent", self.keep_recent))
        _set(self, "token_pressure", _share("token_pressure", self.token_pressure))
        _set(self, "cache", _flag("cache", self.cache))
        _set(self, "neuron_names", _names("neuron_names", self.neuron_names))

    @property
    def history_rounds(self) -> int:
        """The limit where something is cut, else 10,000."""
        return self.limit if self.overflow in (Overflow.SUMMARIZE, Overflow.TRUNCATE) else _UNBOUNDED

    @property
    def summary_threshold(self) -> int:
        return self.limit if self.overflow is Overflow.SUMMARIZE else _UNBOUNDED

    @property
    def offload_threshold(self) -> int:
        if self.overflow is Overflow.SUMMARIZE:
            return max(self.limit, int(self.limit * 2.5))
        return _UNBOUNDED

    @property
    def token_budget_trigger(self) -> float:
        return self.token_pressure


AnyConfig = ContextConfig | LimitConfig

_UNBOUNDED = 10_000

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "pilot": {
            "history_rounds": 100,
            "summary_threshold": 100,
            "offload_threshold": 100,
            "enable_retrieval": False,
        },
        "copilot": {
            "history_rounds": 20,
            "summary_threshold": 10,
            "offload_threshold": 50,
            "enable_retrieval": False,
        },
        "navigator": {
            "history_rounds": 10,
            "summary_threshold": 5,
            "offload_threshold": 20,
            "enable_retrieval": True,
        },
    }
)
"""``context/config.py::make_config``. The documentation speaks of fewer neurons; only numbers differ."""


def make_config(mode: AutomationMode | str = "copilot", **overrides: Any) -> ContextConfig:
    """The configuration of a mode, with overrides on top; unknown names are ignored, as there.

    Raises:
        ValueError: there is no such mode.
        ValidationError: the result is not valid.
    """
    chosen = AutomationMode(mode)
    values = {**PRESETS[chosen.value], **overrides}
    known = {key: value for key, value in values.items() if key in ContextConfig.__dataclass_fields__}
    return ContextConfig(mode=chosen, **{k: v for k, v in known.items() if k != "mode"})


MODEL_WINDOWS: Mapping[str, int] = MappingProxyType(
    {
        "gpt-4o": 128_000,
        "gpt-4o-mini": 128_000,
        "o1": 200_000,
        "claude-sonnet-4-6": 200_000,
        "claude-opus-4-6": 200_000,
        "claude-haiku-4-5-20251001": 200_000,
        "gemini-2.0-flash": 1_048_576,
        "gemini-1.5-pro": 2_097_152,
    }
)
"""Tokens (``models/context_windows.py``). Any other model has no trigger and no usage tag."""


def model_window(model: str | None) -> int | None:
    """The window of ``provider:model`` or a bare model name, ``None`` where it is not known."""
    return None if model is None else MODEL_WINDOWS.get(model.partition(":")[2] or model)


# ---- values as the framework's validation coerces them --------------------------------------------


def _set(config: object, name: str, value: object) -> None:
    object.__setattr__(config, name, value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, str):
        try:
            return float(value) if not value.strip().lstrip("+-").isdecimal() else int(value)
        except ValueError:
            raise ValidationError(f"{name} is not a number: {value!r}") from None
    if isinstance(value, (int, float)):
        return value
    raise ValidationError(f"{name} is not a number: {value!r}")


def _count(name: str, value: Any) -> int:
    number = _number(name, value)
    if number != number or number in (float("inf"), float("-inf")) or number != int(number):
        raise ValidationError(f"{name} is not a whole number: {value!r}")
    if number < 1:
        raise ValidationError(f"{name} must be 1 or more, not {int(number)}")
    return int(number)


def _share(name: str, value: Any) -> float:
    number = _number(name, value)
    if not 0 <= number <= 1:
        raise ValidationError(f"{name} must be between 0 and 1, not {number}")
    return float(number)


def _flag(name: str, value: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if value in (0, 1):
        return bool(value)
    raise ValidationError(f"{name} is not true or false: {value!r}")


def _names(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    raise ValidationError(f"{name} is not a list of names: {value!r}")


def _choice(name: str, value: Any, kind: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise ValidationError(f"{name} must be one of {', '.join(kind)}, not {value!r}") from None
