"""Sections while they are made: bytes and byte offsets, turned into ``Section`` at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promptdbg.engines.base import SWITCHED_OFF, Trace
from promptdbg.engines.bee.gotext import wire
from promptdbg.model import Action, Place, Rule, Section, SectionStatus, Source, Span, Unit
from promptdbg.tokens import TokenCounter

STAGE = "system"


@dataclass(slots=True, eq=False)
class Draft:
    """A section in the making.

    ``text`` is the original, ``whole`` what would stand in the prompt without any loss, ``output``
    what does, ``at`` the byte it begins at. ``kept`` are the byte ranges of ``text`` that survive;
    ``None`` where that says nothing.
    """

    id: str
    name: str
    kind: str
    text: bytes = b""
    whole: bytes = b""
    output: bytes = b""
    status: SectionStatus = SectionStatus.KEPT
    parent: str | None = None
    priority: float | None = None
    source: Source | None = None
    place: Place = "system"
    at: int | None = None
    kept: tuple[tuple[int, int], ...] | None = None
    whole_tokens: int | None = None
    """The tokens of ``whole``, where they have been counted."""
    stand_in: str = ""


class Desk:
    """Where drafts are made and their losses recorded, with token counts before and after."""

    def __init__(self, counter: TokenCounter) -> None:
        self.trace = Trace()
        self.counter = counter
        self.drafts: list[Draft] = []
        self._ids: set[str] = set()

    def count(self, data: bytes) -> int:
        return self.counter.count(wire(data)) if data else 0

    def add(self, draft: Draft) -> Draft:
        """Put a draft on the list; an id that is taken gets a number."""
        base, number = draft.id, 1
        while draft.id in self._ids:
            number += 1
            draft.id = f"{base}#{number}"
        self._ids.add(draft.id)
        self.drafts.append(draft)
        return draft

    def note(
        self,
        item: str,
        rule: Rule,
        because: str,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """Record something that changed nothing."""
        self.decide(Action.NOTE, item, rule, because, None, None, measured, limit, unit)

    def keep(
        self,
        item: str,
        rule: Rule,
        because: str,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """Record that an item was kept because of a comparison."""
        self.decide(Action.KEEP, item, rule, because, None, None, measured, limit, unit)

    def literal(
        self,
        draft: Draft,
        rule: Rule,
        because: str,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """A reference stays as typed."""
        draft.status = SectionStatus.LITERAL
        self.decide(Action.LITERAL, draft.id, rule, because, None, None, measured, limit, unit)

    def cut(
        self,
        draft: Draft,
        rule: Rule,
        output: bytes,
        because: str,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """An item is shortened to ``output``."""
        before, after = self.count(draft.output), self.count(output)
        draft.output, draft.status = output, SectionStatus.TRUNCATED
        self.decide(Action.TRUNCATE, draft.id, rule, because, before, after, measured, limit, unit)

    def drop(
        self,
        draft: Draft,
        rule: Rule,
        because: str,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """An item is left out."""
        before = self._lose(draft, SectionStatus.DROPPED)
        self.decide(Action.DROP, draft.id, rule, because, before, 0, measured, limit, unit)

    def shadow(self, draft: Draft, rule: Rule, because: str) -> None:
        """An item is hidden by another."""
        before = self._lose(draft, SectionStatus.SHADOWED)
        self.decide(Action.SHADOW, draft.id, rule, because, before, 0)

    def disable(self, draft: Draft) -> None:
        """An item the user switched off."""
        before = self._lose(draft, SectionStatus.DISABLED)
        because = "Switched off here; everything else is computed as if it were not there."
        self.decide(Action.DISABLE, draft.id, SWITCHED_OFF, because, before, 0)

    def _lose(self, draft: Draft, status: SectionStatus) -> int:
        """Take an item out of the prompt; its tokens until now."""
        before = self.count(draft.output)
        if draft.output is draft.whole:
            draft.whole_tokens = before
        draft.output, draft.status, draft.at, draft.kept = b"", status, None, None
        return before

    def decide(
        self,
        action: Action,
        item: str,
        rule: Rule,
        because: str,
        before: int | None = None,
        after: int | None = None,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """Record a decision about the system prompt; the arguments are those of ``Decision``."""
        self.trace.decide(
            action,
            item,
            rule,
            stage=STAGE,
            because=because,
            before=before,
            after=after,
            measured=measured,
            limit=limit,
            unit=unit,
        )

    def sections(self, prompt: bytes) -> tuple[Section, ...]:
        """The finished sections; ``prompt`` is the text their offsets point into."""
        offsets = code_points(prompt, sorted({d.at for d in self.drafts if d.at is not None}))
        return tuple(self._section(draft, order, offsets) for order, draft in enumerate(self.drafts))

    def _section(self, draft: Draft, order: int, offsets: dict[int, int]) -> Section:
        text = wire(draft.text)
        output = wire(draft.output) if draft.output else ""
        tokens = self.counter.count(output) if output else 0
        original = draft.whole_tokens
        if original is None:
            original = tokens if draft.whole == draft.output else self.count(draft.whole)
        return Section(
            id=draft.id,
            name=draft.name,
            kind=draft.kind,
            order=order,
            text=text,
            output=output,
            status=draft.status,
            tokens=tokens,
            tokens_original=original,
            size=len(draft.output),
            size_original=len(draft.whole),
            unit="bytes",
            parent=draft.parent,
            priority=draft.priority,
            source=draft.source,
            place=draft.place,
            offset=None if draft.at is None else offsets[draft.at],
            spans=() if draft.kept is None else spans(draft.text, draft.kept),
            stand_in=draft.stand_in,
        )


def code_points(data: bytes, offsets: Sequence[int]) -> dict[int, int]:
    """For ascending byte offsets into ``data``, the code points before them in its wire text."""
    if data.isascii():
        return {offset: offset for offset in offsets}
    found: dict[int, int] = {}
    at = points = 0
    for offset in offsets:
        points += len(wire(data[at:offset]))
        at = offset
        found[offset] = points
    return found


def spans(text: bytes, kept: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Kept and lost stretches of a text in code points, from the byte ranges that are kept.

    A character of which a cut left only some bytes counts as lost.
    """
    edges: list[tuple[int, int, bool]] = []
    end = 0
    for start, stop in kept:
        start, stop = _whole(text, start, up=True), _whole(text, stop, up=False)
        if start >= stop:
            continue
        if start > end:
            edges.append((end, start, False))
        edges.append((start, stop, True))
        end = stop
    if end < len(text):
        edges.append((end, len(text), False))
    points = code_points(text, sorted({edge for start, stop, _ in edges for edge in (start, stop)}))
    return tuple(Span(points[start], points[stop], keep) for start, stop, keep in edges)


def _whole(text: bytes, at: int, *, up: bool) -> int:
    """The nearest character boundary, at most three bytes on or back."""
    for step in range(4):
        moved = at + step if up else at - step
        if moved <= 0 or moved >= len(text) or text[moved] & 0xC0 != 0x80:
            return max(0, min(moved, len(text)))
    return at
