"""One Orbiter assembly: the prompt from the neurons, the conversation through the window."""

from __future__ import annotations

from promptdbg.engines.base import Trace, knob_values
from promptdbg.engines.orbiter import rules
from promptdbg.engines.orbiter.config import AnyConfig, ValidationError, model_window
from promptdbg.engines.orbiter.conversation import converse
from promptdbg.engines.orbiter.drafts import Build, BuildError, Draft, NeuronContext
from promptdbg.engines.orbiter.inputs import OrbiterInputs
from promptdbg.engines.orbiter.knobs import VARIABLE, config_from, knobs
from promptdbg.engines.orbiter.neurons import EXO_NAMES, PRIORITIES, instant
from promptdbg.engines.orbiter.prompt import build, otherwise_ordered
from promptdbg.engines.orbiter.sections import failed_sections, sections_of
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry
from promptdbg.engines.rows import message_of
from promptdbg.engines.stages import Stages
from promptdbg.errors import UsageError
from promptdbg.model import (
    Assembly,
    Budget,
    Counted,
    EngineInfo,
    Evidence,
    Notice,
    Part,
    Section,
    Settings,
    StageKind,
    Value,
)
from promptdbg.tokens import TokenCounter

TITLE = "Orbiter"

_VERSIONS = {"A": "A (orbiter-ai main 563caeb0)", "B": "B (exo 7b8c8796)"}


class PromptBuilderError(Exception):
    """A neuron's name is not registered."""


def assemble(inputs: OrbiterInputs, settings: Settings, counter: TokenCounter) -> Assembly:
    """The prompt, rebuilt. Where the framework would raise, ``failure`` says so and the stages stop.

    Raises:
        UsageError: a setting does not fit.
    """
    values = knob_values(knobs(inputs), settings)
    trace = Trace()
    stored = inputs.memo.messages_at(
        inputs.rows, settings.turn, counter, lambda row: message_of(row, counter)
    )
    stages = Stages(counter, stored)
    stages.first("session", "Messages as stored")
    drafts: list[Draft] = []
    failure, system = inputs.failure, ""
    if failure is None:
        try:
            config = _config(inputs, values)
            drafts, system = _prompt(inputs, settings, values, config, counter, trace)
            converse(inputs, settings, values, config, stages, trace, system, drafts)
        except BuildError as error:
            failure = error.failure
    sections = failed_sections(inputs) if failure else sections_of(drafts, counter, stages)
    differs = otherwise_ordered(drafts, str(values["priority_order"]))
    return Assembly(
        engine=EngineInfo("orbiter", TITLE, _VERSIONS[str(values["generation"])], _fidelity(stages, differs)),
        tokenizer=counter.info,
        workspace=inputs.workspace,
        session=inputs.session,
        settings=settings,
        budget=_budget(values, sections, stages, counter, system),
        sections=sections,
        stages=stages.stages,
        decisions=() if failure else trace.decisions,
        rules=rules.CATALOGUE,
        warnings=(*inputs.warnings, *_entry_warnings(inputs), *_order_warning(differs), *trace.notices),
        failure=failure,
        turns=inputs.memo.turns(inputs.rows),
    )


def _config(inputs: OrbiterInputs, values: dict[str, Value]) -> AnyConfig:
    try:
        return config_from(inputs, values)
    except ValidationError as error:
        raise BuildError(error, "context/config.py::ContextConfig") from error
    except ValueError as error:  # a mode that does not exist
        raise BuildError(error, "context/config.py::make_config") from error


def prompt_text(inputs: OrbiterInputs, settings: Settings, counter: TokenCounter) -> str:
    """The system prompt alone.

    Raises:
        Exception: what the framework raises, as itself.
    """
    values = knob_values(knobs(inputs), settings)
    try:
        return _prompt(inputs, settings, values, _config(inputs, values), counter, Trace())[1]
    except BuildError as error:
        raise error.__cause__ or error from None


def _fidelity(stages: Stages, differs: bool) -> str:
    """Exact, but for the order that only the documentation knows, and for what a model would have answered
    when it was asked for a summary."""
    guessed = any(message.evidence is Evidence.UNKNOWN for message in stages.messages)
    apart = ["in the documented order, not in that of the code"] if differs else []
    apart += ["the summary's text is a stand-in"] if guessed else []
    return ", ".join([*apart, "all else is exact"]) if apart else "exact"


def _order_warning(differs: bool) -> list[Notice]:
    """The documentation and the code disagree, and what is shown is not what is sent."""
    message = (
        "the neurons are in the order of the documentation, high priorities first; the framework's code "
        'sorts low ones first and sends that: priority_order = "coded" shows it'
    )
    return [Notice("orbiter.order-documented", message)] if differs else []


def _prompt(
    inputs: OrbiterInputs,
    settings: Settings,
    values: dict[str, Value],
    config: AnyConfig,
    counter: TokenCounter,
    trace: Trace,
) -> tuple[list[Draft], str]:
    _check_names(inputs, settings, str(values["generation"]))
    clock = values["clock"]
    context = NeuronContext(
        inputs.task_id, inputs.state, config, None if clock is None else str(clock), inputs.platform
    )
    _check_clock(context.clock)
    budget = values["neuron_budget"]
    job = Build(inputs, settings, context, _registry(inputs, values), counter, trace)
    return build(
        job,
        order=str(values["priority_order"]),
        separator=str(values["separator"]),
        budget=int(budget) if isinstance(budget, (int, float)) else None,
    )


def _check_names(inputs: OrbiterInputs, settings: Settings, generation: str) -> None:
    """What ``PromptBuilder.add`` does at once: a name that is not registered is refused."""
    known = PRIORITIES if generation == "A" else EXO_NAMES
    for entry in inputs.entries:
        if entry.builtin and entry.builtin not in known and entry.id not in settings.off:
            error = PromptBuilderError(f"neuron {entry.name!r} is not in the registry")
            raise BuildError(error, rules.ADD.source) from error


def _check_clock(clock: str | None) -> None:
    try:
        instant(clock)
    except ValueError:
        raise UsageError(f"knob clock cannot be {clock!r}", hint="an ISO time") from None


def _registry(inputs: OrbiterInputs, values: dict[str, Value]) -> DynamicVariableRegistry | None:
    """The registry with the values that were changed here; ``None`` where the builder gets none."""
    if not values["variables"]:
        return None
    registry = inputs.registry.copy() if inputs.registry else DynamicVariableRegistry()
    for name, value in values.items():
        path = name.removeprefix(VARIABLE)
        if path != name and value is not None and value != str(registry.value(path)):
            registry.register(path, value)
    return registry


def _entry_warnings(inputs: OrbiterInputs) -> list[Notice]:
    """Names that stand twice in the builder: both are printed."""
    seen: set[str] = set()
    notices = []
    for entry in inputs.entries:
        if entry.name in seen:
            message = f"neuron {entry.name} is added more than once and is printed each time"
            notices.append(Notice("orbiter.duplicate-entry", message, entry.source))
        seen.add(entry.name)
        if isinstance(entry.priority, bool) or not isinstance(entry.priority, (int, float)):
            message = f"the priority of neuron {entry.name} is not a number: {entry.priority!r}"
            notices.append(Notice("orbiter.priority-not-a-number", message, entry.source))
    return notices


def _budget(
    values: dict[str, Value],
    sections: tuple[Section, ...],
    stages: Stages,
    counter: TokenCounter,
    system: str,
) -> Budget:
    """The ledger. Under a neuron budget it is that of the neurons alone, else of the whole list."""
    limit = values["neuron_budget"]
    parts = [
        Part(section.id, section.tokens) for section in sections if section.parent is None and section.tokens
    ]
    total = counter.count(system) if system else 0
    joins = total - sum(part.tokens for part in parts)
    if joins > 0:
        parts.append(Part("joins", joins))
    elif joins < 0:  # a token that spans two neurons was counted for both
        at = max(range(len(parts)), key=lambda index: parts[index].tokens)
        parts[at] = Part(parts[at].name, parts[at].tokens + joins)
    window = model_window(None if values["model"] is None else str(values["model"]))
    last_input = values["last_input_tokens"]
    counted = Counted(int(last_input), "before") if isinstance(last_input, (int, float)) else None
    if isinstance(limit, (int, float)):
        return Budget(
            int(limit), total, "tokens", tuple(parts), window, counted=counted, knob="neuron_budget"
        )
    last = stages.stages[-1]
    rest = (last.tokens if last.kind is StageKind.FINAL else total) - total
    if rest:
        parts.append(Part("messages", rest))
    return Budget(None, total + rest, "tokens", tuple(parts), window, counted=counted, knob="neuron_budget")
