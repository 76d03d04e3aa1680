"""Phronomy's live parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from promptdbg.engines.phronomy.budget import InputBudget, TokenBudget, resolve_budget, to_i
from promptdbg.engines.phronomy.errors import PhronomyError
from promptdbg.engines.phronomy.estimate import TOKENIZERS, Estimate
from promptdbg.engines.phronomy.inputs import GENERATIONS, PhronomyInputs
from promptdbg.engines.phronomy.policy import CONVERSATION_SHARE
from promptdbg.model import Json, Knob, Value

CUSTOM = "custom"
"""The tokenizer of a Python program's own."""


def knobs(inputs: PhronomyInputs | None) -> tuple[Knob, ...]:
    """Every knob; the defaults are the workspace's."""
    base = inputs or PhronomyInputs(workspace="")
    return (*_shared(base), *_budget(base), *_policy(base))


def _shared(base: PhronomyInputs) -> tuple[Knob, ...]:
    tokenizers = (*TOKENIZERS, CUSTOM) if base.estimate else tuple(TOKENIZERS)
    return (
        Knob(
            "generation",
            "Generation",
            "choice",
            base.generation,
            "",
            "1: Builder. 2-trims and 2-raises: Assembler. 3: policy.",
            choices=GENERATIONS,
        ),
        Knob(
            "tokenizer",
            "Tokenizer",
            "choice",
            CUSTOM if base.estimate else base.tokenizer,
            "",
            "What estimates tokens; the framework's own is code points / 4, rounded up per piece.",
            choices=tokenizers,
        ),
        Knob(
            "trusted",
            "Trusted knowledge",
            "order",
            tuple(entry.id for entry in base.knowledge if entry.chunk.trusted is True),
            "",
            "Knowledge whose tag says trusted. Generation 2.",
        ),
    )


def _budget(base: PhronomyInputs) -> tuple[Knob, ...]:
    def number(name: str, title: str, help_text: str, role: Literal["", "window", "answer"] = "") -> Knob:
        return Knob(
            name,
            title,
            "number",
            _whole(base.budget.get(name)),
            "budget",
            help_text,
            unit="tokens",
            step=100,
            optional=True,
            role=role,
        )

    model = base.budget.get("model")
    return (
        number("context_window", "Context window", "The whole window. Generations 1 and 2.", "window"),
        number(
            "max_output_tokens", "Output reserve", "Kept free for the answer. Generations 1 and 2.", "answer"
        ),
        number("overhead", "Overhead", "Kept free besides; negative widens. Generations 1 and 2."),
        number("max_input_tokens", "Input limit", "The only number of generation 3."),
        Knob(
            "model",
            "Model",
            "text",
            None if model is None else str(model),
            "budget",
            "Looked up in the registry where no number is given.",
            optional=True,
        ),
    )


def _whole(value: Json) -> int | None:
    """A number as Ruby takes it; what it would refuse shows as not set and fails when used."""
    if value is None:
        return None
    try:
        return to_i(value)
    except PhronomyError:
        return None


def _policy(base: PhronomyInputs) -> tuple[Knob, ...]:
    return (
        Knob(
            "share",
            "Conversation share",
            "number",
            CONVERSATION_SHARE if base.share is None else base.share,
            "policy",
            "What the conversation is offered first; another than 0.6 is a what-if.",
            minimum=0,
            maximum=1,
            step=0.05,
        ),
        Knob(
            "call_mode", "Call mode", "choice", base.call_mode, "policy", "Ask adds the current input.",
            choices=("ask", "complete"),
        ),
        Knob(
            "execution_id", "Execution", "text", base.execution_id, "policy",
            "Whose working messages complete mode requires.", optional=True,
        ),
        Knob(
            "required", "Required items", "order", tuple(i.key or i.id for i in base.items if i.required),
            "policy", "Items that must go in.",
        ),
        Knob("order", "Candidate order", "order", (), "policy", "Candidates to put first, in this order."),
    )  # fmt: skip


def estimate_of(inputs: PhronomyInputs, values: Mapping[str, Value]) -> Estimate:
    """The estimator the knobs choose."""
    name = str(values["tokenizer"])
    return inputs.estimate if name == CUSTOM and inputs.estimate else TOKENIZERS[name]


def token_budget(inputs: PhronomyInputs, values: Mapping[str, Value]) -> TokenBudget | None:
    """The budget of generations 1 and 2; ``None`` where nothing was given.

    Raises:
        PhronomyError: the framework refuses it.
    """
    numbers: dict[str, Json] = {
        name: _kept(inputs, values, name) for name in ("context_window", "max_output_tokens", "overhead")
    }
    model = values["model"]
    if model is None and all(value is None for value in numbers.values()):
        return None
    return TokenBudget(model=None if model is None else str(model), models=inputs.models, **numbers)


def _kept(inputs: PhronomyInputs, values: Mapping[str, Value], name: str) -> Json:
    """The knob's number, or the value as written where the knob could not show it."""
    written = inputs.budget.get(name)
    return written if values[name] is None and _whole(written) is None else values[name]


def input_budget(inputs: PhronomyInputs, values: Mapping[str, Value]) -> InputBudget | None:
    """The budget of generation 3.

    Raises:
        PhronomyError: the limit is not positive.
    """
    limit = _kept(inputs, values, "max_input_tokens")
    if limit is not None:
        return InputBudget(to_i(limit))
    model, provider = values["model"], inputs.budget.get("provider")
    return resolve_budget(
        None if model is None else str(model), None if provider is None else str(provider), inputs.models
    )


def with_trust(inputs: PhronomyInputs, values: Mapping[str, Value]) -> PhronomyInputs:
    """The inputs with the trusted flags of the knob."""
    chosen = values["trusted"]
    trusted = set(chosen) if isinstance(chosen, tuple) else set()
    return replace(
        inputs,
        knowledge=tuple(
            entry
            if (entry.id in trusted) == (entry.chunk.trusted is True)
            else replace(entry, chunk=replace(entry.chunk, trusted=entry.id in trusted))
            for entry in inputs.knowledge
        ),
    )
