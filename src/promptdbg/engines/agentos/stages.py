"""The message lists of an assembly, made from a construction, and their decisions with tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.components import Document, HistoryItem
from promptdbg.engines.agentos.log import HISTORY, INITIAL, RETRIEVED, TEMPLATE, Event
from promptdbg.engines.agentos.pipeline import Construction
from promptdbg.engines.agentos.templates import (
    COMPLETION,
    INPUT_ITEM,
    RETRIEVED_ITEM,
    SYSTEM_ITEM,
    Piece,
    system_text,
)
from promptdbg.engines.base import EDITED, Trace
from promptdbg.model import Action, Json, Message, MessageStatus, Rule, Stage, StageKind
from promptdbg.tokens import TokenCounter

_KNOWN = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_NO_CHANGE = frozenset({Action.NOTE, Action.KEEP, Action.PREDICT})
_DOCUMENT_ROLE = "context"


@dataclass(frozen=True, slots=True)
class Given:
    """What the session holds, and what kept parts of it out of the components.

    ``history`` is as stored. ``left_out`` says by which rule and why a message is not a component;
    ``edited`` are messages with a text of ours; ``turn_item`` is the message that became user input.
    """

    history: tuple[HistoryItem, ...] = ()
    left_out: Mapping[str, tuple[Rule, str]] = field(default_factory=lambda: MappingProxyType({}))
    edited: frozenset[str] = frozenset()
    turn_item: str | None = None
    input_off: bool = False


def content_text(content: Json) -> str:
    """What of a message's content is counted: texts as they are, other parts as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            part["text"]
            if isinstance(part, dict) and isinstance(part.get("text"), str)
            else js.stringify(part)
            for part in content
        )
    return "" if content is None else js.stringify(content)


class _Lists:
    """Makes messages, and the decisions between two lists."""

    def __init__(self, made: Construction, counter: TokenCounter, trace: Trace) -> None:
        self.made, self.counter, self.trace = made, counter, trace
        self.events: dict[str, list[Event]] = {}

    def message(
        self, item: str, wire: Mapping[str, Any], sources: tuple[str, ...], *, role: str = "", size: float = 0
    ) -> Message:
        count = self.counter.count
        tokens = count(content_text(wire["content"]))
        for key in ("tool_calls", "thinkingBlocks"):
            if key in wire:
                tokens += count(js.stringify(wire[key]))
        extra = {key: value for key, value in wire.items() if key not in _KNOWN}
        return Message(
            id=item,
            role=role or js.to_string(wire.get("role")),
            content=wire["content"],
            tokens=tokens,
            sources=sources,
            tool_calls=wire.get("tool_calls"),
            tool_call_id=wire.get("tool_call_id"),
            name=wire.get("name"),
            extra=MappingProxyType(extra) if extra else _EMPTY,
            size=whole(size),
            wire=tuple(wire),
        )

    def history(self, items: Iterable[HistoryItem]) -> list[Message]:
        cost = self.made.meter.message if self.made.meter else lambda item: 0.0
        return [self.message(item.item, item.wire, (item.item,), size=cost(item)) for item in items]

    def document(self, document: Document) -> Message:
        content = document.content
        text = "" if js.nullish(content) else js.to_string(content)
        wire: dict[str, Json] = {"role": _DOCUMENT_ROLE, "content": text}
        if not js.nullish(document.source):
            wire["source"] = document.source
        size = self.made.meter.text(content) if self.made.meter else 0
        return self.message(document.item, wire, (document.item,), size=size)

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


_EMPTY: Mapping[str, Json] = MappingProxyType({})


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


def stages_of(
    made: Construction, given: Given, events: Sequence[Event], counter: TokenCounter, trace: Trace
) -> tuple[Stage, ...]:
    """Every list from the session to what the provider gets; fewer where the framework fails."""
    lists = _Lists(made, counter, trace)
    for event in events:
        lists.events.setdefault(event.stage, []).append(event)
    session = tuple(lists.history(given.history))
    found = [_stage("session", StageKind.SESSION, "History as given", session, measured=None)]
    if made.augmented is None or made.outcome is None or made.meter is None:
        return tuple(found)
    initial = _initial(lists, given, session)
    measured_by = f"utf16 / {made.meter.characters:g}"
    size = made.outcome.original
    found.append(
        _compared(
            "initial", StageKind.INITIAL, "Components", session, initial, _merged(given), size, measured_by
        )
    )
    if not made.budgeted:
        return tuple(found)
    after_history = _history_step(lists, initial)
    found.append(
        _compared(
            "history",
            StageKind.STEP,
            "History within its share",
            initial,
            after_history,
            lists.decide(HISTORY, initial, after_history),
            made.outcome.after_history,
            measured_by,
        )
    )
    reduced = _retrieved_step(lists, after_history)
    found.append(
        _compared(
            "retrieved",
            StageKind.STEP,
            "Retrieved context within its share",
            after_history,
            reduced,
            lists.decide(RETRIEVED, after_history, reduced),
            made.outcome.totals.total,
            measured_by,
        )
    )
    if made.output is None:
        return tuple(found)
    written = _template_step(lists, reduced)
    found.append(
        _compared(
            "template",
            StageKind.STEP,
            f"Written by {made.request.template}",
            reduced,
            written,
            lists.decide(TEMPLATE, reduced, written),
            made.estimated or 0,
            measured_by,
        )
    )
    found.append(_final(found[1:], made.estimated or 0, measured_by))
    return tuple(found)


def _merged(given: Given) -> frozenset[str]:
    return frozenset({INPUT_ITEM}) if given.turn_item is not None else frozenset()


def _initial(lists: _Lists, given: Given, session: tuple[Message, ...]) -> tuple[Message, ...]:
    made, trace = lists.made, lists.trace
    assert made.augmented is not None
    assert made.outcome is not None
    assert made.meter is not None
    prepared = made.request.prepared
    messages: list[Message] = []
    text = system_text(made.request.template, made.augmented.system)
    if text:
        totals = made.outcome.totals
        system = lists.message(
            SYSTEM_ITEM, {"role": "system", "content": text}, (SYSTEM_ITEM,), size=totals.system
        )
        because = f"{len(made.augmented.system)} system prompts, joined."
        _insert(trace, system, rules.SYSTEM_JOIN, because)
        messages.append(system)
    messages += _initial_history(lists, given, session, prepared.history or ())
    if prepared.documents:
        messages += _initial_documents(lists, prepared.documents)
    if js.truthy(made.augmented.user_input):
        messages.append(_input_message(lists, given, session))
    return tuple(messages)


def _insert(trace: Trace, message: Message, rule: Rule, because: str) -> None:
    trace.decide(
        Action.INSERT, message.id, rule, stage=INITIAL, because=because, before=0, after=message.tokens
    )


def _initial_history(
    lists: _Lists, given: Given, session: tuple[Message, ...], history: tuple[HistoryItem, ...]
) -> list[Message]:
    """The history among the components; what was left out or edited is decided here."""
    if history is given.history:
        return list(session)
    stored = {message.id: message for message in session}
    for item, (rule, because) in given.left_out.items():
        if item in stored:
            lists.trace.decide(
                Action.DROP, item, rule, stage=INITIAL, because=because, before=stored[item].tokens, after=0
            )
    messages = []
    for message in history:
        if message.item not in given.edited:
            messages.append(stored[message.item])
            continue
        edited = lists.history([message])[0]
        lists.trace.decide(
            Action.REWRITE,
            edited.id,
            EDITED,
            stage=INITIAL,
            because="Its text was edited here.",
            before=stored[edited.id].tokens,
            after=edited.tokens,
        )
        messages.append(edited)
    return messages


def _initial_documents(lists: _Lists, documents: tuple[Document, ...]) -> list[Message]:
    messages = [lists.document(document) for document in documents]
    for message in messages:
        because = "Retrieved context, as given."
        lists.trace.decide(Action.INSERT, message.id, rules.COMPONENT, stage=INITIAL, because=because)
    total = sum(message.tokens for message in messages)
    because = f"Retrieved context of {len(messages)} documents."
    lists.trace.decide(
        Action.INSERT, RETRIEVED_ITEM, rules.COMPONENT, stage=INITIAL, because=because, before=0, after=total
    )
    return messages


def _input_message(lists: _Lists, given: Given, session: tuple[Message, ...]) -> Message:
    made = lists.made
    assert made.augmented is not None
    assert made.outcome is not None
    sources = (INPUT_ITEM,) if given.turn_item is None else (INPUT_ITEM, given.turn_item)
    wire = {"role": "user", "content": made.augmented.user_input}
    message = lists.message(INPUT_ITEM, wire, sources, size=made.outcome.totals.user_input)
    if given.turn_item is None:
        _insert(lists.trace, message, rules.COMPONENT, "The user input.")
    else:
        before = next(entry.tokens for entry in session if entry.id == given.turn_item)
        because = "The user's message of this turn travels as the user input."
        lists.trace.decide(
            Action.MERGE,
            INPUT_ITEM,
            rules.COMPONENT,
            stage=INITIAL,
            because=because,
            before=before,
            after=message.tokens,
        )
    return message


def _history_step(lists: _Lists, before: tuple[Message, ...]) -> tuple[Message, ...]:
    outcome = lists.made.outcome
    assert outcome is not None
    history = lists.made.request.prepared.history
    if outcome.history is history or outcome.history == history:
        return before
    there = {message.id: message for message in before}
    left = {message.item for message in outcome.history or ()} - {m.item for m in outcome.summary}
    gone = {message.item for message in history or ()} - left
    summary = lists.history(outcome.summary)
    kept: list[Message] = []
    for message in before:
        if message.id in gone:
            kept += summary
            summary = []
        else:
            kept.append(there[message.id])
    return tuple(kept)


def _retrieved_step(lists: _Lists, before: tuple[Message, ...]) -> tuple[Message, ...]:
    outcome, documents = lists.made.outcome, lists.made.request.prepared.documents
    assert outcome is not None
    if outcome.documents is documents:
        return before
    old = {message.id: message for message in before}
    items = {document.item for document in documents}
    new = [_same(old.get(document.item), lists.document(document)) for document in outcome.documents]
    kept = [message for message in before if message.id not in items]
    at = len(kept) - (1 if kept and kept[-1].id == INPUT_ITEM else 0)  # they stand before the input
    return (*kept[:at], *new, *kept[at:])


def _same(old: Message | None, new: Message) -> Message:
    """The message before, if nothing of it changed."""
    return old if old is not None and old.to_json() == new.to_json() and old.sources == new.sources else new


def _template_step(lists: _Lists, before: tuple[Message, ...]) -> tuple[Message, ...]:
    output = lists.made.output
    assert output is not None
    old = {message.id: message for message in before}
    return tuple(_written(lists, piece, old.get(piece.item)) for piece in output.pieces)


def _written(lists: _Lists, piece: Piece, old: Message | None) -> Message:
    history = piece.history
    if old is not None and history is not None and piece.message is history.wire:
        return old
    role = "" if lists.made.request.template != COMPLETION else _line_role(piece, old)
    new = lists.message(piece.item, piece.message, piece.sources, role=role)
    sources = piece.sources
    if old is not None:
        sources = (*old.sources, *(source for source in sources if source not in old.sources))
    new = replace(new, size=old.size if old is not None else None, sources=sources)
    return _same(old, new)


def _line_role(piece: Piece, old: Message | None) -> str:
    if old is not None:
        return old.role
    return SYSTEM_ITEM if piece.item == SYSTEM_ITEM else "user"


def _stage(
    name: str,
    kind: StageKind,
    title: str,
    messages: tuple[Message, ...],
    *,
    measured: float | None,
    measured_by: str = "",
    statuses: Mapping[str, MessageStatus] | None = None,
    dropped: tuple[Message, ...] = (),
) -> Stage:
    return Stage(
        name=name,
        kind=kind,
        title=title,
        messages=messages,
        dropped=dropped,
        statuses=MappingProxyType(dict(statuses or {})),
        tokens=sum(message.tokens for message in messages),
        size=None if measured is None else whole(measured),
        unit=None if measured is None else "tokens",
        measured_by=measured_by,
    )


def _compared(
    name: str,
    kind: StageKind,
    title: str,
    before: tuple[Message, ...],
    after: tuple[Message, ...],
    merged: frozenset[str],
    measured: float,
    measured_by: str,
) -> Stage:
    """A stage, with what it did to each message of the list before."""
    if after is before or after == before:
        return _stage(name, kind, title, before, measured=measured, measured_by=measured_by)
    old = {message.id: message for message in before}
    statuses: dict[str, MessageStatus] = {}
    swallowed: set[str] = set()
    for message in after:
        there = old.pop(message.id, None)
        if message.id in merged:
            statuses[message.id] = MessageStatus.MERGED
            swallowed.update(message.sources)
        elif there is None:
            statuses[message.id] = MessageStatus.INSERTED
        elif there is not message:
            statuses[message.id] = MessageStatus.REWRITTEN
    dropped = tuple(message for message in old.values() if message.id not in swallowed)
    return _stage(
        name,
        kind,
        title,
        after,
        measured=measured,
        measured_by=measured_by,
        statuses=statuses,
        dropped=dropped,
    )


def _final(stages: Sequence[Stage], measured: float, measured_by: str) -> Stage:
    """The last list again, with everything that happened since the components."""
    initial, last = stages[0], stages[-1]
    there = {message.id for message in initial.messages}
    final = {message.id for message in last.messages}
    statuses: dict[str, MessageStatus] = {}
    dropped: list[Message] = []
    for stage in stages[1:]:
        dropped += (message for message in stage.dropped if message.id in there)
        for item, status in stage.statuses.items():
            if statuses.get(item) is not MessageStatus.MERGED:
                statuses[item] = status
    for item in statuses:
        if item not in there and statuses[item] is not MessageStatus.MERGED:
            statuses[item] = MessageStatus.INSERTED
    return _stage(
        "final",
        StageKind.FINAL,
        "What the provider gets",
        last.messages,
        measured=measured,
        measured_by=measured_by,
        statuses={item: status for item, status in statuses.items() if item in final},
        dropped=tuple(dropped),
    )
