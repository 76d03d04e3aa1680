"""Sections from drafts: what each neuron and each entry printed, and what of it the model gets."""

from __future__ import annotations

from typing import Any

from promptdbg.engines.orbiter.drafts import Draft
from promptdbg.engines.orbiter.drafts import Part as DraftPart
from promptdbg.engines.orbiter.inputs import Entry, OrbiterInputs
from promptdbg.engines.orbiter.neurons import LISTINGS
from promptdbg.engines.stages import Stages
from promptdbg.model import Evidence, Section, SectionStatus, Span, StageKind
from promptdbg.tokens import TokenCounter

_IN_PROMPT = (SectionStatus.KEPT, SectionStatus.TRUNCATED)


def sections_of(drafts: list[Draft], counter: TokenCounter, stages: Stages) -> tuple[Section, ...]:
    """The neurons in order, each before its entries. Sizes are code points."""
    system = _system_text(stages)
    sections: list[Section] = []
    for draft in drafts:
        sections.append(_neuron(draft, counter, system))
        if draft.parts:
            sections += (_entry(draft, part, n, counter, system) for n, part in enumerate(draft.parts))
    return tuple(sections)


def _system_text(stages: Stages) -> str:
    last = stages.stages[-1]
    if last.kind is not StageKind.FINAL:
        return ""
    return "".join(m.content for m in last.messages if m.role == "system" and isinstance(m.content, str))


def _offset(start: int, output: str, system: str) -> int | None:
    """``start``, unless the usage tag rewrote the lines around it."""
    return start if output and system.startswith(output, start) else None


def _neuron(draft: Draft, counter: TokenCounter, system: str) -> Section:
    there = draft.status in _IN_PROMPT
    output = draft.output if there else ""
    tokens = counter.count(output) if output else 0
    whole = draft.status is SectionStatus.KEPT
    return Section(
        id=draft.id,
        name=draft.entry.name,
        kind="neuron",
        order=draft.order,
        text=draft.original,
        output=output,
        status=draft.status,
        tokens=tokens,
        tokens_original=tokens if whole else draft.original_tokens,
        size=len(output),
        size_original=len(output) if whole else len(draft.original),
        unit="chars",
        priority=priority_number(draft.priority),
        source=draft.entry.source,
        offset=_offset(draft.start, output, system) if there else None,
        spans=() if whole else _spans(draft),
        evidence=_evidence(draft.entry),
    )


def _entry(draft: Draft, part: DraftPart, order: int, counter: TokenCounter, system: str) -> Section:
    there = part.status is SectionStatus.KEPT
    output = part.output if there else ""
    tokens = counter.count(output) if output else 0
    return Section(
        id=part.id,
        name=part.line.name or part.id,
        kind=LISTINGS[draft.entry.builtin].part,
        order=order,
        text=part.text,
        output=output,
        status=part.status,
        tokens=tokens,
        tokens_original=tokens if there else part.before,
        size=len(output),
        size_original=len(output) if there else len(part.text),
        unit="chars",
        parent=draft.id,
        offset=_offset(part.start, output, system) if there else None,
        spans=() if there or not part.text else (Span(0, len(part.text), False),),
    )


def _spans(draft: Draft) -> tuple[Span, ...]:
    """Kept and lost stretches of the text of a neuron that is not kept whole."""
    length = len(draft.original)
    if draft.status is not SectionStatus.TRUNCATED:
        return (Span(0, length, False),) if length else ()
    spans = [Span(0, len(draft.whole.opening or "") + 1, True)]
    for part in draft.parts:
        start = spans[-1].end
        end = start + len(part.text) + 1
        kept = part.status is SectionStatus.KEPT
        if spans[-1].kept is kept:
            spans[-1] = Span(spans[-1].start, end, kept)
        else:
            spans.append(Span(start, end, kept))
    if spans[-1].kept:
        spans[-1] = Span(spans[-1].start, length, True)
    elif spans[-1].end < length:
        spans.append(Span(spans[-1].end, length, True))
    return tuple(spans)


def priority_number(priority: Any) -> float | None:
    """A priority as a number, ``None`` where it is none."""
    if isinstance(priority, bool) or not isinstance(priority, (int, float)) or priority != priority:
        return None
    return priority


def _evidence(entry: Entry) -> Evidence:
    return Evidence.UNKNOWN if entry.kind == "unknown" else Evidence.COMPUTED


def failed_sections(inputs: OrbiterInputs) -> tuple[Section, ...]:
    """The neurons as they were added, where the framework fails before it has a prompt."""
    return tuple(
        Section(
            id=entry.id,
            name=entry.name,
            kind="neuron",
            order=order,
            text=entry.text,
            output="",
            status=SectionStatus.EMPTY,
            tokens=0,
            tokens_original=0,
            size=0,
            size_original=0,
            unit="chars",
            priority=priority_number(entry.priority),
            source=entry.source,
            evidence=_evidence(entry),
        )
        for order, entry in enumerate(inputs.entries)
    )
