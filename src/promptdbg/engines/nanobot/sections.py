"""Drafts of sections: what a builder knows while it writes a text, before tokens are counted.

A draft tree becomes ``Section`` values and decisions in ``finish``; builders only fill in texts,
statuses and reasons, so that the prompt can also be built for a probe without counting anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from promptdbg.engines.base import Trace
from promptdbg.engines.nanobot.estimate import Estimator
from promptdbg.model import (
    Action,
    Evidence,
    Place,
    Rule,
    Section,
    SectionStatus,
    Source,
    Span,
    Unit,
)
from promptdbg.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something happened to a section; ``loses`` marks the one that took its text away."""

    action: Action
    rule: Rule
    because: str
    measured: float | None = None
    limit: float | None = None
    unit: Unit | None = None
    loses: bool = False


@dataclass(slots=True)
class Draft:
    """A section in the making.

    ``output`` is what stands in the prompt; ``whole`` what would stand there without any loss (the
    output itself unless something was lost). ``inner`` is where a child's output begins in its
    parent's.
    """

    id: str
    name: str
    kind: str
    text: str
    output: str
    status: SectionStatus = SectionStatus.KEPT
    whole: str | None = None
    source: Source | None = None
    place: Place = "system"
    reasons: list[Reason] = field(default_factory=list)
    children: list[Draft] = field(default_factory=list)
    spans: tuple[Span, ...] = ()
    inner: int | None = None
    evidence: Evidence = Evidence.COMPUTED
    stand_in: str = ""

    def lose(
        self,
        status: SectionStatus,
        action: Action,
        rule: Rule,
        because: str,
        *,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> Draft:
        """Take the whole section out of the prompt, for a reason."""
        if self.whole is None:
            self.whole = self.output
        self.output = ""
        self.status = status
        self.inner = None
        self.reasons.append(Reason(action, rule, because, measured, limit, unit, loses=True))
        return self

    def note(self, rule: Rule, because: str, action: Action = Action.NOTE) -> Draft:
        self.reasons.append(Reason(action, rule, because))
        return self


def joined(drafts: list[Draft], separator: str, offset: int = 0) -> str:
    """The outputs of the drafts that have any, joined; sets where each begins, from ``offset``."""
    parts: list[str] = []
    position = offset
    for draft in drafts:
        if not draft.output:
            continue
        if parts:
            position += len(separator)
        draft.inner = position
        parts.append(draft.output)
        position += len(draft.output)
    return separator.join(parts)


def walk(drafts: list[Draft]) -> Iterator[Draft]:
    """Every draft, a parent before its parts."""
    for draft in drafts:
        yield draft
        yield from walk(draft.children)


@dataclass(frozen=True)
class Ink:
    """What turns drafts into sections: counters, and where decisions go."""

    counter: TokenCounter
    estimator: Estimator
    trace: Trace
    stage: str
    """The stage the decisions belong to."""


def finish(drafts: list[Draft], ink: Ink, *, first: int = 0) -> list[Section]:
    """Sections and decisions from drafts; ``first`` is the order of the first section."""
    order = count(first)
    sections: list[Section] = []
    for draft in drafts:
        sections.extend(_finished(draft, None, 0, ink, order))
    return sections


def _finished(
    draft: Draft, parent: str | None, base: int | None, ink: Ink, order: Iterator[int]
) -> list[Section]:
    """A draft's section, then those of its parts."""
    number = next(order)
    offset = None if draft.inner is None or base is None else base + draft.inner
    parts = [part for child in draft.children for part in _finished(child, draft.id, offset, ink, order)]
    tokens, size = ink.counter.count(draft.output), ink.estimator.text(draft.output)
    if draft.whole is not None:
        tokens_whole, size_whole = ink.counter.count(draft.whole), ink.estimator.text(draft.whole)
    else:
        own = [part for part in parts if part.parent == draft.id]
        tokens_whole = tokens + sum(part.tokens_original - part.tokens for part in own)
        size_whole = size + sum(part.size_original - part.size for part in own)
    _decide(draft, ink.trace, ink.stage, tokens_whole, tokens)
    section = Section(
        id=draft.id,
        name=draft.name,
        kind=draft.kind,
        order=number,
        text=draft.text,
        output=draft.output,
        status=_status(draft),
        tokens=tokens,
        tokens_original=tokens_whole,
        size=size,
        size_original=size_whole,
        unit="tokens",
        parent=parent,
        source=draft.source,
        place=draft.place,
        offset=offset if draft.output else None,
        spans=draft.spans,
        evidence=draft.evidence,
        stand_in=draft.stand_in,
    )
    return [section, *parts]


_NO_LOSS = (SectionStatus.KEPT, SectionStatus.EMPTY, SectionStatus.LITERAL)


def _status(draft: Draft) -> SectionStatus:
    """A kept parent that lost a part is truncated."""
    if draft.status is SectionStatus.KEPT and any(_status(c) not in _NO_LOSS for c in draft.children):
        return SectionStatus.TRUNCATED
    return draft.status


def _decide(draft: Draft, trace: Trace, stage: str, whole: int, tokens: int) -> None:
    for reason in draft.reasons:
        trace.decide(
            reason.action,
            draft.id,
            reason.rule,
            stage=stage,
            because=reason.because,
            before=whole if reason.loses else None,
            after=tokens if reason.loses else None,
            measured=reason.measured,
            limit=reason.limit,
            unit=reason.unit,
        )
