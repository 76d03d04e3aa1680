"""A construction as an ``Assembly``: sections, stages, ledger and decisions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.estimate import Totals
from promptdbg.engines.agentos.lists import decide, whole
from promptdbg.engines.agentos.log import INITIAL, RETRIEVED, Event, Log
from promptdbg.engines.agentos.pipeline import OVER_BUDGET, Construction
from promptdbg.engines.agentos.sections import Sections
from promptdbg.engines.agentos.shown import Extras
from promptdbg.engines.agentos.stages import Given, stages_of
from promptdbg.engines.base import Trace
from promptdbg.model import (
    Action,
    Assembly,
    Budget,
    EngineInfo,
    Failure,
    Notice,
    Part,
    Settings,
    Stage,
    Turn,
)
from promptdbg.tokens import DEFAULT_ENCODING, TokenCounter, tokenizer

NAME, TITLE = "agentos", "AgentOS"
_FIDELITY = "exact figures; the framework's own texts are stand-ins of the same lengths"
_VERSIONS = {rules.PUBLISHED: "0.9.164", rules.NEWER: "newer"}


@dataclass(frozen=True, slots=True)
class Frame:
    """What an assembly shows that the construction does not know."""

    workspace: str = ""
    settings: Settings = field(default_factory=Settings)
    given: Given | None = None
    extras: Extras = field(default_factory=Extras)
    warnings: tuple[Notice, ...] = ()
    turns: tuple[Turn, ...] = ()
    notes: Sequence[Event] = ()
    """Events of what happened before the construction (GMI, settings, cache)."""


def assembly_of(
    made: Construction, log: Log, counter: TokenCounter | None = None, frame: Frame | None = None
) -> Assembly:
    """The assembly of a construction.

    Args:
        counter: what the user pays; the default tokenizer where none is given.
    """
    counter, frame = counter or tokenizer(DEFAULT_ENCODING), frame or Frame()
    trace = Trace()
    events = [*frame.notes, *log.events]
    sections = Sections(made, events, counter, trace, frame.extras).build()
    given = frame.given or Given(made.request.prepared.history or ())
    stages = stages_of(made, given, events, counter, trace)
    _initial_notes(events, stages, {section.id for section in sections}, trace)
    _note_over(made, stages, trace)
    failure = made.failure
    return Assembly(
        engine=EngineInfo(NAME, TITLE, _VERSIONS[made.request.version], _FIDELITY),
        tokenizer=counter.info,
        workspace=frame.workspace,
        session=None,
        settings=frame.settings,
        budget=_budget(made),
        sections=sections,
        stages=stages,
        decisions=trace.decisions,
        rules=rules.RULES,
        warnings=(*frame.warnings, *_issues(made), *trace.notices),
        failure=None if failure is None else Failure(failure.code, _WHERE, failure.message),
        turns=frame.turns,
    )


_WHERE = "src/core/llm/PromptEngine.ts::constructPrompt"


def _initial_notes(
    events: Sequence[Event], stages: Sequence[Stage], sections: set[str], trace: Trace
) -> None:
    """Notes on the components; those on items that are not there any more have nothing to say."""
    if len(stages) < 2:
        return
    known = sections | {message.id for message in stages[1].messages}
    for event in events:
        if event.stage == INITIAL and event.item in known:
            decide(trace, event, None, None)


def _note_over(made: Construction, stages: Sequence[Stage], trace: Trace) -> None:
    issue = next((issue for issue in made.issues if issue.code == OVER_BUDGET), None)
    stage = next((stage for stage in stages if stage.name == RETRIEVED), None)
    if issue is None or stage is None or not stage.messages:
        return
    trace.decide(
        Action.NOTE,
        stage.messages[0].id,
        rules.BUDGET_OVER,
        stage=RETRIEVED,
        because=f"After both steps {issue.message}; it is sent all the same.",
        measured=issue.tokens,
        limit=issue.budget,
        unit="tokens",
    )


def _issues(made: Construction) -> tuple[Notice, ...]:
    return tuple(
        Notice(f"agentos.{issue.code}", issue.message) for issue in made.issues if issue is not made.failure
    )


def _budget(made: Construction) -> Budget:
    window = js.to_number(js.maybe(made.request.model, "maxContextTokens"))
    totals = made.outcome.totals if made.outcome is not None else Totals(0, 0, 0, 0, 0)
    parts = (
        Part("system", whole(totals.system)),
        Part("user input", whole(totals.user_input)),
        Part("history", whole(totals.history)),
        Part("retrieved", whole(totals.retrieved)),
        Part("tools", whole(totals.tools)),
    )
    limit = made.budget if made.outcome is not None else math.nan
    return Budget(
        limit=whole(limit) if math.isfinite(limit) else None,
        used=sum(part.tokens for part in parts),
        unit="tokens",
        parts=parts,
        window=whole(window) if math.isfinite(window) else None,
        knob="optimal" if js.truthy(js.maybe(made.request.model, "optimalContextTokens")) else "window",
    )
