"""One Phronomy assembly, in the generation that is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from promptdbg.engines.base import Trace, knob_values
from promptdbg.engines.phronomy import rules
from promptdbg.engines.phronomy.direct import assemble_direct
from promptdbg.engines.phronomy.errors import PhronomyError
from promptdbg.engines.phronomy.inputs import PhronomyInputs
from promptdbg.engines.phronomy.knobs import knobs
from promptdbg.engines.phronomy.outcome import Outcome
from promptdbg.engines.phronomy.selecting import assemble_policy
from promptdbg.model import Assembly, Budget, EngineInfo, Failure, Settings
from promptdbg.tokens import TokenCounter

TITLE = "Phronomy"

_VERSIONS = {"1": rules.GEN_1, "2-trims": rules.GEN_2A, "2-raises": rules.GEN_2B, "3": rules.GEN_3}


@dataclass(frozen=True, slots=True)
class Result:
    """An assembly, and what the framework raised on the way, as itself."""

    assembly: Assembly
    error: PhronomyError | None


def assemble(inputs: PhronomyInputs, settings: Settings, counter: TokenCounter) -> Assembly:
    """The prompt, rebuilt. Where the framework would raise, ``failure`` says so and the stages stop.

    Raises:
        UsageError: a setting does not fit.
    """
    return assemble_result(inputs, settings, counter).assembly


def assemble_result(inputs: PhronomyInputs, settings: Settings, counter: TokenCounter) -> Result:
    """The assembly, with the error itself where there is one."""
    values = knob_values(knobs(inputs), settings)
    generation = str(values["generation"])
    outcome = Outcome(counter, Trace())
    error: PhronomyError | None = None
    policy = generation == "3"
    failure = inputs.policy_failure if policy else None
    if failure is None:
        run = assemble_policy if policy else assemble_direct
        try:
            run(inputs, settings, values, outcome)
        except PhronomyError as raised:
            error = raised
            failure = Failure(raised.ruby, outcome.where, str(raised))
    assembly = Assembly(
        engine=EngineInfo("phronomy", TITLE, _VERSIONS[generation]),
        tokenizer=counter.info,
        workspace=inputs.workspace,
        session=inputs.session,
        settings=settings,
        budget=replace(
            outcome.budget or Budget(None, 0, "tokens"),
            knob="max_input_tokens" if policy else "context_window",
        ),
        sections=outcome.placed_sections(),
        stages=outcome.stages.stages,
        decisions=outcome.trace.decisions,
        rules=rules.CATALOGUE,
        warnings=(*inputs.warnings, *outcome.trace.notices),
        failure=failure,
        turns=() if policy else inputs.memo.turns(inputs.rows),
    )
    return Result(assembly, error)
