"""What a build works on: each neuron on its way into the prompt, and the job as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from promptdbg.engines.base import Trace
from promptdbg.engines.orbiter.config import AnyConfig
from promptdbg.engines.orbiter.inputs import Entry, OrbiterInputs
from promptdbg.engines.orbiter.neurons import NOTHING, Fragment, Line
from promptdbg.engines.orbiter.state import ContextState
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry
from promptdbg.model import Action, Failure, Rule, SectionStatus, Settings
from promptdbg.tokens import TokenCounter

STAGE = "system"


class BuildError(Exception):
    """The framework fails here: what it raises, where."""

    def __init__(self, error: Exception, where: str) -> None:
        super().__init__(str(error))
        self.failure = Failure(type(error).__name__, where, str(error) or type(error).__name__)


@dataclass(slots=True)
class Part:
    """One entry of a list neuron: its line, whether it is kept, where it begins in the prompt."""

    id: str
    line: Line
    text: str
    status: SectionStatus = SectionStatus.KEPT
    before: int = 0
    start: int = 0
    output: str = ""


@dataclass(slots=True)
class Draft:
    """One neuron on its way into the prompt. ``text`` is what it prints, before variables."""

    entry: Entry
    priority: Any
    id: str
    order: int = 0
    whole: Fragment = NOTHING
    text: str = ""
    parts: list[Part] = field(default_factory=list)
    status: SectionStatus = SectionStatus.KEPT
    original: str = ""
    original_tokens: int = 0
    start: int = 0
    output: str = ""

    @property
    def kept_parts(self) -> list[Part]:
        return [part for part in self.parts if part.status is SectionStatus.KEPT]


@dataclass(frozen=True, slots=True)
class NeuronContext:
    """What the built-in neurons read."""

    task_id: str
    state: ContextState
    config: AnyConfig
    clock: str | None
    platform: str | None


@dataclass(slots=True)
class Build:
    """One build: what goes in, and the decisions so far."""

    inputs: OrbiterInputs
    settings: Settings
    context: NeuronContext
    registry: DynamicVariableRegistry | None
    counter: TokenCounter
    trace: Trace

    def resolved(self, text: str) -> str:
        """A text alone with its variables replaced; as it is where a resolver fails."""
        if self.registry is None or "${" not in text:
            return text
        try:
            return self.registry.resolve_template(text, self.context.state)
        except Exception:
            return text

    def measure(self, draft: Draft) -> int:
        """Tokens of a neuron's text without any loss; counted only where something is lost."""
        draft.original_tokens = self.counter.count(self.resolved(draft.original)) if draft.original else 0
        return draft.original_tokens

    def lose(
        self, draft: Draft, status: SectionStatus, action: Action, rule: Rule, because: str, **numbers: Any
    ) -> None:
        """A neuron that would print something does not reach the prompt, nor do its parts."""
        draft.status = status
        before = self.measure(draft)
        self.trace.decide(
            action, draft.id, rule, stage=STAGE, because=because, before=before, after=0, **numbers
        )
        for part in draft.kept_parts:
            part.status = status
            self.trace.decide(
                action, part.id, rule, stage=STAGE, because=f"Its neuron {draft.id} is not in the prompt.",
                before=part.before, after=0,
            )  # fmt: skip
