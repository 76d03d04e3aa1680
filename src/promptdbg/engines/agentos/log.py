"""The decisions of one construction, recorded where the algorithm makes them.

The algorithm knows items and its own numbers, not tokens of a tokenizer; ``assemble`` adds those.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from promptdbg.bulk import quick
from promptdbg.model import Action, Rule, Unit

SYSTEM, TOOLS = "system", "tools"
"""Places of decisions that concern no message list."""
INITIAL, HISTORY, RETRIEVED, TEMPLATE = "initial", "history", "retrieved", "template"
"""Names of the stages at which decisions are made."""


@quick
@dataclass(frozen=True, slots=True)
class Event:
    """One thing the algorithm did to one item; the fields are those of ``model.Decision``."""

    stage: str
    action: Action
    item: str
    rule: Rule
    because: str
    measured: float | None = None
    limit: float | None = None
    unit: Unit | None = None


@dataclass
class Log:
    """Collects events in the order they happen."""

    events: list[Event] = field(default_factory=list)

    def add(
        self,
        stage: str,
        action: Action,
        item: str,
        rule: Rule,
        because: str,
        *,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        self.events.append(Event(stage, action, item, rule, because, measured, limit, unit))
