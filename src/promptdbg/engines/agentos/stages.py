"""The message lists of an assembly, made from a construction, and their decisions with tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.components import Document, HistoryItem
from promptdbg.engines.agentos.forms import form_of
from promptdbg.engines.agentos.lists import Lists, whole
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
from promptdbg.model import Action, Message, MessageStatus, Rule, Stage, StageKind
from promptdbg.tokens import TokenCounter


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


def stages_of(
    made: Construction, given: Given, events: Sequence[Event], counter: TokenCounter, trace: Trace
) -> tuple[Stage, ...]:
    """Every list from the session to what the provider gets; fewer where the framework fails."""
    lists = Lists(made, counter, trace)
    for event in events:
        lists.events.setdefault(event.stage, []).append(event)
    session = lists.stored(given.history)
    found = [_stage("session", StageKind.SESSION, "History as given", session, made=made, measured=None)]
    if made.augmented is None or made.outcome is None or made.meter is None:
        return tuple(found)
    initial = _initial(lists, given, session)
    found.append(
        _compared(made, "initial", "Components", session, initial, _merged(given), made.outcome.original)
    )
    if made.budgeted:
        found += _steps(lists, initial)
    return tuple(found)


def _steps(lists: Lists, initial: tuple[Message, ...]) -> Iterator[Stage]:
    """The steps from the components on, and the final list where there is one."""
    made, outcome = lists.made, lists.made.outcome
    assert outcome is not None
    history = _history_step(lists, initial)
    merged = lists.decide(HISTORY, initial, history)
    title = "History within its share"
    stages = [_compared(made, HISTORY, title, initial, history, merged, outcome.after_history)]
    reduced = _retrieved_step(lists, history)
    merged = lists.decide(RETRIEVED, history, reduced)
    title = "Retrieved context within its share"
    stages.append(_compared(made, RETRIEVED, title, history, reduced, merged, outcome.totals.total))
    if made.output is not None:
        written, size = _template_step(lists, reduced), made.estimated or 0
        merged = lists.decide(TEMPLATE, reduced, written)
        title = f"Written by {made.request.template}"
        stages.append(_compared(made, TEMPLATE, title, reduced, written, merged, size))
        stages.append(_final(made, initial, stages))
    yield from stages


def _merged(given: Given) -> frozenset[str]:
    return frozenset({INPUT_ITEM}) if given.turn_item is not None else frozenset()


def _initial(lists: Lists, given: Given, session: tuple[Message, ...]) -> tuple[Message, ...]:
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
            SYSTEM_ITEM, form_of({"role": "system", "content": text}), (SYSTEM_ITEM,), size=totals.system
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
    lists: Lists, given: Given, session: tuple[Message, ...], history: tuple[HistoryItem, ...]
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


def _initial_documents(lists: Lists, documents: tuple[Document, ...]) -> tuple[Message, ...]:
    messages = lists.retrieved(documents)
    for message in messages:
        because = "Retrieved context, as given."
        lists.trace.decide(Action.INSERT, message.id, rules.COMPONENT, stage=INITIAL, because=because)
    total = sum(message.tokens for message in messages)
    because = f"Retrieved context of {len(messages)} documents."
    lists.trace.decide(
        Action.INSERT, RETRIEVED_ITEM, rules.COMPONENT, stage=INITIAL, because=because, before=0, after=total
    )
    return messages


def _input_message(lists: Lists, given: Given, session: tuple[Message, ...]) -> Message:
    made = lists.made
    assert made.augmented is not None
    assert made.outcome is not None
    sources = (INPUT_ITEM,) if given.turn_item is None else (INPUT_ITEM, given.turn_item)
    form = form_of({"role": "user", "content": made.augmented.user_input})
    message = lists.message(INPUT_ITEM, form, sources, size=made.outcome.totals.user_input)
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


def _history_step(lists: Lists, before: tuple[Message, ...]) -> tuple[Message, ...]:
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


def _retrieved_step(lists: Lists, before: tuple[Message, ...]) -> tuple[Message, ...]:
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


def _template_step(lists: Lists, before: tuple[Message, ...]) -> tuple[Message, ...]:
    output = lists.made.output
    assert output is not None
    old = {message.id: message for message in before}
    return tuple(_written(lists, piece, old.get(piece.item)) for piece in output.pieces)


def _written(lists: Lists, piece: Piece, old: Message | None) -> Message:
    form = piece.form or form_of(piece.message)
    if old is not None and old.wire is form.keys:
        return old
    role = "" if lists.made.request.template != COMPLETION else _line_role(piece, old)
    if old is None:
        return lists.message(piece.item, form, piece.sources, role=role, size=None)
    sources = (*old.sources, *(source for source in piece.sources if source not in old.sources))
    return _same(old, lists.message(piece.item, form, sources, role=role, size=old.size))


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
    made: Construction,
    measured: float | None,
    statuses: Mapping[str, MessageStatus] | None = None,
    dropped: tuple[Message, ...] = (),
) -> Stage:
    sized = measured is not None and made.meter is not None
    return Stage(
        name=name,
        kind=kind,
        title=title,
        messages=messages,
        dropped=dropped,
        statuses=MappingProxyType(dict(statuses or {})),
        tokens=sum(message.tokens for message in messages),
        size=whole(measured or 0) if sized else None,
        unit="tokens" if sized else None,
        measured_by=f"utf16 / {made.meter.characters:g}" if sized and made.meter else "",
    )


def _compared(
    made: Construction,
    name: str,
    title: str,
    before: tuple[Message, ...],
    after: tuple[Message, ...],
    merged: frozenset[str],
    measured: float,
) -> Stage:
    """A stage, with what it did to each message of the list before."""
    kind = StageKind.INITIAL if name == INITIAL else StageKind.STEP
    if after is before or after == before:
        return _stage(name, kind, title, before, made=made, measured=measured)
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
    return _stage(name, kind, title, after, made=made, measured=measured, statuses=statuses, dropped=dropped)


def _final(made: Construction, initial: tuple[Message, ...], steps: Sequence[Stage]) -> Stage:
    """The last list again, with everything that happened since the components."""
    last = steps[-1]
    there = {message.id for message in initial}
    final = {message.id for message in last.messages}
    statuses: dict[str, MessageStatus] = {}
    dropped: list[Message] = []
    for stage in steps:
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
        made=made,
        measured=made.estimated or 0,
        statuses={item: status for item, status in statuses.items() if item in final},
        dropped=tuple(dropped),
    )
