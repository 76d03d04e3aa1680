"""The conversation: rows as stored, the list the agent starts from, the window over it."""

from __future__ import annotations

from collections.abc import Mapping

from promptdbg.engines.base import Trace
from promptdbg.engines.orbiter import rules
from promptdbg.engines.orbiter.config import AnyConfig, ContextConfig, model_window
from promptdbg.engines.orbiter.drafts import Draft
from promptdbg.engines.orbiter.inputs import OrbiterInputs
from promptdbg.engines.orbiter.window import Summarizer, Window, apply_tag, apply_window, not_run
from promptdbg.engines.rows import Added, Row, message_of, start
from promptdbg.engines.stages import Stages
from promptdbg.model import Action, SectionStatus, Settings, Value

_IN_PROMPT = (SectionStatus.KEPT, SectionStatus.TRUNCATED)


def converse(
    inputs: OrbiterInputs,
    settings: Settings,
    values: Mapping[str, Value],
    config: AnyConfig,
    stages: Stages,
    trace: Trace,
    system: str,
    drafts: list[Draft],
) -> None:
    """Add every stage from the initial list to the final one."""
    start(
        stages,
        trace,
        settings,
        "The agent's list before the window",
        first=_prompt(stages, system, drafts),
        last=_current(inputs, settings, stages),
    )
    window = Window(stages, trace)
    model = values["model"]
    total = model_window(None if model is None else str(model))
    used = values["last_input_tokens"]
    _window(values, config, window, used, total)
    if isinstance(used, (int, float)) and total is not None:
        apply_tag(window, int(used), total)
    stages.final("What the provider gets")


def _prompt(stages: Stages, system: str, drafts: list[Draft]) -> Added | None:
    if not system:
        return None
    kept = tuple(draft.id for draft in drafts if draft.status in _IN_PROMPT)
    made = stages.make("system-prompt", system, kept)
    return Added(made, rules.JOIN, f"The system prompt of {len(kept)} neuron(s) comes first.")


def _current(inputs: OrbiterInputs, settings: Settings, stages: Stages) -> Added | None:
    if inputs.current is None or settings.turn is not None:
        return None
    row = Row("current", {"role": "user", "content": inputs.current})
    because = "The new user message is appended to the history."
    return Added(message_of(row, stages.counter), rules.INPUT, because)


def _window(
    values: Mapping[str, Value], config: AnyConfig, window: Window, used: Value, total: int | None
) -> None:
    """The pass that the agent makes here, if it makes one."""
    later = isinstance(used, (int, float)) and not isinstance(used, bool)
    pressure = later and total is not None and _pressed(window, config, float(str(used)), total)
    forced = {"auto": pressure, "on": True, "off": False}[str(values["forced"])]
    if later and not forced and isinstance(config, ContextConfig):
        not_run(window, "after the first call the window runs only under token pressure, and there is none")
        return
    apply_window(window, config, forced=forced, summarizer=summarizer_of(values))


def _pressed(window: Window, config: AnyConfig, used: float, total: int) -> bool:
    limit = config.token_budget_trigger
    pressed = used / total > limit
    if window.stages.messages:
        word = "above" if pressed else "not above"
        share = f"{used:,.0f} of {total:,} tokens: {used / total:.1%}"
        window.trace.decide(
            Action.NOTE,
            window.stages.messages[-1].id,
            rules.PRESSURE,
            stage="initial",
            because=f"The call before took {share}, {word} the trigger of {limit:.0%}.",
            measured=used,
            limit=limit * total,
            unit="tokens",
        )
    return pressed


def summarizer_of(values: Mapping[str, Value]) -> Summarizer | None:
    """The stand-in for the provider's call."""
    if values["provider"] == "none":
        return None
    answer = str(values["summary"])

    def summarize(_text: str) -> str:
        if values["provider"] == "fails":
            raise RuntimeError("the summarizer fails, as set")
        return answer

    return summarize
