"""Orbiter's live parameters, and the configuration they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.engines.orbiter.config import AnyConfig, ContextConfig, LimitConfig, make_config
from promptdbg.engines.orbiter.inputs import OrbiterInputs
from promptdbg.model import Knob, Unit, Value

VARIABLE = "variable."
"""Prefix of the knobs that hold a registered variable's value."""

# Each: name, title, unit, generation, what it is.
_COUNTS: tuple[tuple[str, str, Unit, str, str], ...] = (
    (
        "history_rounds",
        "History rounds",
        "count",
        "A",
        "Rounds for the history neuron, messages for the window",
    ),
    (
        "summary_threshold",
        "Summary threshold",
        "messages",
        "A",
        "Messages from which a summary is considered",
    ),
    (
        "offload_threshold",
        "Offload threshold",
        "messages",
        "A",
        "Messages above which the old ones are dropped",
    ),
    ("limit", "Message limit", "messages", "B", "Messages to keep, system messages apart"),
    ("keep_recent", "Number of recent messages", "count", "B", "Messages kept beside a summary"),
)


def knobs(inputs: OrbiterInputs | None) -> tuple[Knob, ...]:
    """Every knob; the defaults are the workspace's."""
    base = inputs or OrbiterInputs(workspace="")
    return (
        *_prompt_knobs(base),
        *_window_knobs(base),
        *_call_knobs(base),
        *_variable_knobs(base),
    )


def _prompt_knobs(base: OrbiterInputs) -> tuple[Knob, ...]:
    return (
        Knob(
            "priority_order",
            "Priority order",
            "choice",
            base.priority_order,
            "prompt",
            "documented: high numbers first. coded: low numbers first, as the source sorts.",
            choices=("documented", "coded"),
        ),
        Knob("separator", "Separator", "text", base.separator, "prompt", "Stands between two fragments."),
        Knob(
            "neuron_budget",
            "Neuron budget",
            "number",
            None,
            "prompt",
            "Our own addition: drops whole neurons, the lowest priority first.",
            unit="tokens",
            minimum=0,
            step=50,
            optional=True,
        ),
        Knob(
            "clock", "Clock", "text", base.clock, "prompt", "ISO time for the system neuron.", optional=True
        ),
        Knob(
            "variables",
            "Variables",
            "toggle",
            base.registry is not None,
            "prompt",
            "Whether the builder is given a variable registry.",
        ),
    )


def _window_knobs(base: OrbiterInputs) -> tuple[Knob, ...]:
    numbers = base.numbers
    return (
        Knob(
            "generation", "Generation", "choice", base.generation, "window", "A: orbiter. B: exo.",
            choices=("A", "B"),
        ),
        Knob(
            "mode",
            "Automation mode",
            "choice",
            base.mode,
            "window",
            "The preset of generation A; numbers set here go on top.",
            choices=("pilot", "copilot", "navigator"),
            optional=True,
        ),
        *(
            Knob(
                name,
                title,
                "number",
                numbers.get(name),
                "window",
                f"{about}. Generation {generation}.",
                unit=unit,
                minimum=1,
                optional=True,
            )
            for name, title, unit, generation, about in _COUNTS
        ),
        Knob(
            "overflow",
            "Overflow",
            "choice",
            numbers.get("overflow"),
            "window",
            "What happens above the limit. Generation B.",
            choices=("summarize", "truncate", "none", "hook"),
            optional=True,
        ),
        Knob(
            "trigger",
            "Token trigger",
            "number",
            numbers.get("token_budget_trigger", numbers.get("token_pressure")),
            "window",
            "Share of the model's window above which a summary is forced.",
            minimum=0,
            maximum=1,
            step=0.05,
            optional=True,
        ),
    )  # fmt: skip


def _call_knobs(base: OrbiterInputs) -> tuple[Knob, ...]:
    return (
        Knob("model", "Model", "text", base.model, "call", "Gives the context window.", optional=True),
        Knob(
            "last_input_tokens",
            "Last input tokens",
            "number",
            base.last_input_tokens,
            "call",
            "What the call before reported; none means this is the first call.",
            unit="tokens",
            minimum=0,
            step=1000,
            optional=True,
        ),
        Knob(
            "forced",
            "Token pressure",
            "choice",
            "auto",
            "call",
            "Whether a summary is forced: by the trigger, always, or never.",
            choices=("auto", "on", "off"),
        ),
        Knob(
            "provider",
            "Summarizer",
            "choice",
            base.provider,
            "call",
            "What becomes of the call that makes a summary.",
            choices=("works", "fails", "none"),
        ),
        Knob("summary", "Summary text", "text", base.summary, "call", "What the summarizer answers."),
    )


def _variable_knobs(base: OrbiterInputs) -> tuple[Knob, ...]:
    if base.registry is None:
        return ()
    return tuple(
        Knob(
            VARIABLE + path,
            f"${{{path}}}",
            "text",
            str(value) if isinstance(value, (str, int, float)) else None,
            "variables",
            "The registered value.",
            optional=True,
        )
        for path in base.registry.list_all()
        if not callable(value := base.registry.value(path))
    )


def config_from(inputs: OrbiterInputs, values: Mapping[str, Value]) -> AnyConfig:
    """The configuration that a workspace and the knobs make.

    Raises:
        ValidationError: the framework would refuse it.
        ValueError: there is no such mode.
    """
    numbers: dict[str, Any] = dict(inputs.numbers)
    for name in (
        "history_rounds",
        "summary_threshold",
        "offload_threshold",
        "limit",
        "keep_recent",
        "overflow",
    ):
        _put(numbers, name, values[name])
    trigger = values["trigger"]
    if values["generation"] == "B":
        _put(numbers, "token_pressure", trigger)
        return LimitConfig(**{k: v for k, v in numbers.items() if k in LimitConfig.__dataclass_fields__})
    _put(numbers, "token_budget_trigger", trigger)
    mode = values["mode"]
    if mode is not None:
        return make_config(str(mode), **numbers)
    return ContextConfig(**{k: v for k, v in numbers.items() if k in ContextConfig.__dataclass_fields__})


def _put(numbers: dict[str, Any], name: str, value: Value) -> None:
    if value is None:
        numbers.pop(name, None)
    else:
        numbers[name] = value
