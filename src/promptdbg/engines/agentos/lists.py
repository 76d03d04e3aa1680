"""Makes the messages of the lists, and the decisions between two lists, with tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from promptdbg.engines.agentos import js
from promptdbg.engines.agentos.components import Document, HistoryItem
from promptdbg.engines.agentos.forms import Form
from promptdbg.engines.agentos.log import Event
from promptdbg.engines.agentos.pipeline import Construction
from promptdbg.engines.base import Trace
from promptdbg.model import Action, Json, Message
from promptdbg.tokens import TokenCounter

_KNOWN = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_NOTHING: Mapping[str, Json] = MappingProxyType({})
_NO_CHANGE = frozenset({Action.NOTE, Action.KEEP, Action.PREDICT})
_DOCUMENT_ROLE = "context"


class Lists:
    """Makes messages, and the decisions between two lists."""

    def __init__(self, made: Construction, counter: TokenCounter, trace: Trace) -> None:
        self.made, self.counter, self.trace = made, counter, trace
        self.events: dict[str, list[Event]] = {}

    def message(
        self, item: str, form: Form, sources: tuple[str, ...], *, role: str = "", size: float | None = 0
    ) -> Message:
        """A message of a list; ``role`` is what is shown where the object has none."""
        wire, tokens = form.message, 0
        for text in form.counted:
            tokens += self.counter.count(text)
        return Message(
            id=item,
            role=role or js.to_string(wire.get("role")),
            content=wire["content"],
            tokens=tokens,
            sources=sources,
            tool_calls=wire.get("tool_calls"),
            tool_call_id=wire.get("tool_call_id"),
            name=wire.get("name"),
            extra=_NOTHING if _KNOWN.issuperset(form.keys) else _extra(wire),
            size=None if size is None else whole(size),
            wire=form.keys,
        )

    def stored(self, items: tuple[HistoryItem, ...]) -> tuple[Message, ...]:
        """The history as it was given; made once for each way to measure it."""
        key = ("history", self.counter, self.made.meter)
        return self.made.request.prepared.memo.messages(items, key, lambda item: self.history([item])[0])

    def retrieved(self, documents: tuple[Document, ...]) -> tuple[Message, ...]:
        """The retrieved context as it was given; made once for each way to measure it."""
        key = ("documents", self.counter, self.made.meter)
        return self.made.request.prepared.memo.messages(documents, key, self.document)

    def history(self, items: Iterable[HistoryItem]) -> list[Message]:
        """History messages as they were given."""
        cost = self.made.meter.message if self.made.meter else lambda item: 0.0
        return [self.message(item.item, item.given, (item.item,), size=cost(item)) for item in items]

    def document(self, document: Document) -> Message:
        content = document.content
        text = "" if js.nullish(content) else js.to_string(content)
        wire: dict[str, Json] = {"role": _DOCUMENT_ROLE, "content": text}
        if not js.nullish(document.source):
            wire["source"] = document.source
        size = self.made.meter.text(content) if self.made.meter else 0
        form = Form(wire, (text,), 0, tuple(wire))
        return self.message(document.item, form, (document.item,), size=size)

    def decide(self, stage: str, before: Sequence[Message], after: Sequence[Message]) -> frozenset[str]:
        """Record the stage's events with the tokens they moved; the items that were merged into."""
        events = self.events.get(stage, ())
        if not events:
            return frozenset()
        old, new = {m.id: m for m in before}, {m.id: m for m in after}
        last = {event.item: n for n, event in enumerate(events) if event.action not in _NO_CHANGE}
        merged = set()
        for number, event in enumerate(events):
            tokens_before = tokens_after = None
            if last.get(event.item) == number:
                tokens_before, tokens_after = _moved(event, old, new)
                if event.action is Action.MERGE:
                    merged.add(event.item)
            decide(self.trace, event, tokens_before, tokens_after)
        return frozenset(merged)


def _extra(wire: Mapping[str, Json]) -> Mapping[str, Json]:
    return MappingProxyType({key: value for key, value in wire.items() if key not in _KNOWN})


def decide(trace: Trace, event: Event, before: int | None, after: int | None) -> None:
    """Record an event as a decision, with the tokens of its item before and after."""
    trace.decide(
        event.action,
        event.item,
        event.rule,
        stage=event.stage,
        because=event.because,
        before=before,
        after=after,
        measured=finite(event.measured),
        limit=finite(event.limit),
        unit=event.unit,
    )


def finite(number: float | None) -> float | None:
    """A number for a document: JSON has no NaN and no infinities."""
    return number if number is not None and math.isfinite(number) else None


def whole(number: float) -> int:
    """A framework number as an integer; NaN and infinities count 0."""
    return int(number) if math.isfinite(number) else 0


def _moved(event: Event, old: Mapping[str, Message], new: Mapping[str, Message]) -> tuple[int, int]:
    after = new.get(event.item)
    if event.action is Action.MERGE and after is not None:
        before = sum(old[source].tokens for source in after.sources if source in old)
    else:
        before = old[event.item].tokens if event.item in old else 0
    return before, after.tokens if after is not None else 0
