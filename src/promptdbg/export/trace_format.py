"""``promptdbg/trace/1``: what a program of any language writes to have its own prompt debugged.

    {"schema": "promptdbg/trace/1",
     "program":   {"name": "my-agent", "version": "2.1"},
     "budget":    {"limit": 8000, "unit": "tokens", "window": 10000},
     "sections":  [{"name": "rules", "text": "…", "kept": [[0, 120]], "priority": 5, "path": "RULES.md"}],
     "stages":    [{"name": "history", "messages": [{"id": "u1", "role": "user", "content": "…"}]}],
     "decisions": [{"item": "rules", "action": "truncate", "rule": "cap", "because": "…"}]}

Only ``schema`` is required. A stage's ``kind`` is ``session`` for the first, ``final`` for the
last and ``step`` between, unless it says otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from promptdbg.analysis.items import message_texts
from promptdbg.errors import InputError
from promptdbg.export.load import TRACE_SCHEMA
from promptdbg.export.tree import check_tree
from promptdbg.model import (
    Action,
    Assembly,
    Budget,
    Counted,
    Decision,
    EngineInfo,
    Evidence,
    Json,
    Message,
    MessageStatus,
    Notice,
    Part,
    Rule,
    Section,
    SectionStatus,
    Settings,
    Source,
    Span,
    Stage,
    StageKind,
    Unit,
)
from promptdbg.tokens import TokenCounter

T = TypeVar("T")
_UNITS: tuple[Unit, ...] = ("tokens", "bytes", "chars", "utf16", "lines", "count", "messages")


def assembly_from_trace(document: Json, counter: TokenCounter, where: str = "") -> Assembly:
    """The assembly that a trace describes, with everything it leaves out filled in.

    Raises:
        InputError: a value is of the wrong kind; the line names its place in the document.
    """
    reader = _Reader(where)
    top = reader.object(document, "the document")
    if top.get("schema") != TRACE_SCHEMA:
        hint = "see docs/trace-format.md; a recorded request, or a list of messages, opens too"
        raise InputError(f"has the schema {top.get('schema')!r}, not {TRACE_SCHEMA}", where=where, hint=hint)
    program = reader.object(top.get("program", {}), "program")
    sections = tuple(_sections(reader, top, counter))
    try:
        check_tree(sections)
    except ValueError as error:
        raise InputError(str(error), where=where, hint="see docs/trace-format.md") from error
    lists = [
        _list(reader, entry, n, counter)
        for n, entry in enumerate(reader.list(top.get("stages", []), "stages"))
    ]
    decisions = tuple(_decisions(reader, top))
    stages = _stages(reader, lists)
    return Assembly(
        engine=EngineInfo(
            "given",
            reader.text(program.get("name", "a program"), "program.name"),
            reader.text(program.get("version", ""), "program.version"),
            "as recorded",
        ),
        tokenizer=counter.info,
        workspace=reader.text(top.get("workspace", ""), "workspace"),
        session=None,
        settings=Settings(),
        budget=_budget(reader, top, sections, stages),
        sections=sections,
        stages=stages,
        decisions=decisions,
        rules=tuple(_rules(reader, top, program, decisions)),
        warnings=tuple(
            Notice("trace.warning", reader.text(text, f"warnings[{n}]"))
            for n, text in enumerate(reader.list(top.get("warnings", []), "warnings"))
        ),
    )


class _Reader:
    """Takes values of the kind that is due, or says where another one stands."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, place: str, due: str) -> InputError:
        return InputError(f"{place} must be {due}", where=self.where, hint="see docs/trace-format.md")

    def object(self, value: Json, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.fail(place, "an object")
        return value

    def list(self, value: Json, place: str) -> Sequence[Any]:
        if not isinstance(value, list):
            raise self.fail(place, "a list")
        return value

    def text(self, value: Json, place: str) -> str:
        if not isinstance(value, str):
            raise self.fail(place, "a text")
        return value

    def number(self, value: Json, place: str) -> int | float | None:
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise self.fail(place, "a number")
        return value

    def whole(self, value: Json, place: str) -> int | None:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self.fail(place, "a whole number")
        return value

    def one_of(self, value: Json, place: str, known: Iterable[T]) -> T:
        choices = list(known)
        if value not in choices:
            raise self.fail(place, "one of " + ", ".join(str(choice) for choice in choices))
        return choices[choices.index(value)]


def _sections(reader: _Reader, top: Mapping[str, Any], counter: TokenCounter) -> Iterable[Section]:
    entries = reader.list(top.get("sections", []), "sections")
    seen: Counter[str] = Counter()
    for order, value in enumerate(entries):
        place = f"sections[{order}]"
        entry = reader.object(value, place)
        name = reader.text(entry.get("name", entry.get("id", f"section {order + 1}")), f"{place}.name")
        seen[name] += 1
        own_id = name if seen[name] == 1 else f"{name} ({seen[name]})"  # a name may stand twice
        text = reader.text(entry.get("text", ""), f"{place}.text")
        spans = tuple(_spans(reader, entry, text, place))
        kept = "".join(text[span.start : span.end] for span in spans if span.kept) if spans else text
        status = _section_status(reader, entry, text, spans, place)
        gone = status not in (SectionStatus.KEPT, SectionStatus.TRUNCATED, SectionStatus.EMPTY)
        output = reader.text(entry.get("output", "" if gone else kept), f"{place}.output")
        whole = counter.count(text)
        path = entry.get("path")
        yield Section(
            id=reader.text(entry.get("id", own_id), f"{place}.id"),
            name=name,
            kind=reader.text(entry.get("kind", "section"), f"{place}.kind"),
            order=order,
            text=text,
            output=output,
            status=status,
            tokens=counter.count(output),
            tokens_original=max(whole, counter.count(output)),
            size=len(output),
            size_original=len(text),
            unit="chars",
            parent=entry.get("parent") and reader.text(entry["parent"], f"{place}.parent"),
            priority=reader.number(entry.get("priority"), f"{place}.priority"),
            source=path
            and Source(reader.text(path, f"{place}.path"), reader.whole(entry.get("line"), f"{place}.line")),
            place=reader.one_of(
                entry.get("place", "system"), f"{place}.place", ("system", "tools", "message")
            ),
            spans=spans,
            evidence=Evidence.RECORDED,
        )


def _spans(reader: _Reader, entry: Mapping[str, Any], text: str, place: str) -> Iterable[Span]:
    """``kept`` as pairs of code point offsets, completed with the stretches that are lost."""
    if "kept" not in entry:
        return
    at = 0
    for n, pair in enumerate(reader.list(entry["kept"], f"{place}.kept")):
        here = f"{place}.kept[{n}]"
        bounds = [reader.whole(bound, here) for bound in reader.list(pair, here)]
        if len(bounds) != 2 or bounds[0] is None or bounds[1] is None:
            raise reader.fail(here, "[start, end]")
        start, end = bounds[0], bounds[1]
        if not at <= start <= end <= len(text):
            raise reader.fail(here, f"in order and within the text ({len(text)} characters)")
        if start > at:
            yield Span(at, start, kept=False)
        if end > start:
            yield Span(start, end, kept=True)
        at = end
    if at < len(text):
        yield Span(at, len(text), kept=False)


def _section_status(
    reader: _Reader, entry: Mapping[str, Any], text: str, spans: tuple[Span, ...], place: str
) -> SectionStatus:
    if "status" in entry:
        return SectionStatus(
            reader.one_of(entry["status"], f"{place}.status", [s.value for s in SectionStatus])
        )
    if any(not span.kept for span in spans):
        return SectionStatus.TRUNCATED if any(span.kept for span in spans) else SectionStatus.DROPPED
    return SectionStatus.KEPT if text else SectionStatus.EMPTY


_WIRE = ("role", "content", "tool_calls", "tool_call_id", "name")
_OURS = frozenset({"id", "sources", "tokens", "path", "line"})


def _list(
    reader: _Reader, value: Json, number: int, counter: TokenCounter
) -> tuple[Mapping[str, Any], list[Message]]:
    place = f"stages[{number}]"
    entry = reader.object(value, place)
    messages = [
        _message(reader, message, f"{place}.messages[{n}]", n, counter)
        for n, message in enumerate(reader.list(entry.get("messages", []), f"{place}.messages"))
    ]
    ids = [message.id for message in messages]
    if len(set(ids)) != len(ids):
        raise reader.fail(f"{place}.messages", "messages with ids of their own")
    return entry, messages


def _message(reader: _Reader, value: Json, place: str, index: int, counter: TokenCounter) -> Message:
    entry = reader.object(value, place)
    ident = reader.text(entry.get("id", f"m{index}"), f"{place}.id")
    sources = reader.list(entry.get("sources", [ident]), f"{place}.sources")
    extra = {key: entry[key] for key in entry if key not in _WIRE and key not in _OURS}
    path = entry.get("path")
    message = Message(
        id=ident,
        role=reader.text(entry.get("role", "user"), f"{place}.role"),
        content=entry.get("content"),
        tokens=0,
        sources=tuple(reader.text(source, f"{place}.sources") for source in sources),
        tool_calls=entry.get("tool_calls"),
        tool_call_id=entry.get("tool_call_id"),
        name=entry.get("name"),
        extra=MappingProxyType(extra),
        evidence=Evidence.RECORDED,
        source=path
        and Source(reader.text(path, f"{place}.path"), reader.whole(entry.get("line"), f"{place}.line")),
        wire=tuple(key for key in entry if key not in _OURS),
    )
    given = reader.whole(entry.get("tokens"), f"{place}.tokens")
    tokens = sum(counter.count(text) for text in message_texts(message)) if given is None else given
    return replace(message, tokens=tokens)


def _stages(reader: _Reader, lists: Sequence[tuple[Mapping[str, Any], list[Message]]]) -> tuple[Stage, ...]:
    stages: list[Stage] = []
    for number, (entry, messages) in enumerate(lists):
        place = f"stages[{number}]"
        kind = StageKind.SESSION if number == 0 else StageKind.STEP
        if number == len(lists) - 1 and number > 0:
            kind = StageKind.FINAL
        if "kind" in entry:
            kind = StageKind(reader.one_of(entry["kind"], f"{place}.kind", [k.value for k in StageKind]))
        name = reader.text(entry.get("name", kind.value), f"{place}.name")
        before = stages[-1].messages if stages else tuple(messages)
        statuses, dropped = _changes(before, messages)
        stages.append(
            Stage(
                name=name,
                kind=kind,
                title=reader.text(entry.get("title", name), f"{place}.title"),
                messages=tuple(messages),
                dropped=dropped,
                statuses=MappingProxyType(statuses),
                tokens=sum(message.tokens for message in messages),
            )
        )
    return tuple(stages)


def _changes(
    before: tuple[Message, ...], after: list[Message]
) -> tuple[dict[str, MessageStatus], tuple[Message, ...]]:
    old = {message.id: message for message in before}
    statuses: dict[str, MessageStatus] = {}
    held: set[str] = set()
    for message in after:
        held.update((message.id, *message.sources))
        if message.id not in old:
            statuses[message.id] = MessageStatus.INSERTED
        elif message.to_json() != old[message.id].to_json():
            joined = any(source in old and source != message.id for source in message.sources)
            statuses[message.id] = MessageStatus.MERGED if joined else MessageStatus.REWRITTEN
    return statuses, tuple(message for message in before if message.id not in held)


def _decisions(reader: _Reader, top: Mapping[str, Any]) -> Iterable[Decision]:
    for n, value in enumerate(reader.list(top.get("decisions", []), "decisions")):
        place = f"decisions[{n}]"
        entry = reader.object(value, place)
        unit = entry.get("unit")
        yield Decision(
            id=f"d{n + 1}",
            stage=reader.text(entry.get("stage", "system"), f"{place}.stage"),
            rule=reader.text(entry.get("rule", "unnamed"), f"{place}.rule"),
            action=Action(
                reader.one_of(entry.get("action", "note"), f"{place}.action", [a.value for a in Action])
            ),
            item=reader.text(entry.get("item", ""), f"{place}.item"),
            because=reader.text(entry.get("because", ""), f"{place}.because"),
            before=reader.whole(entry.get("before"), f"{place}.before"),
            after=reader.whole(entry.get("after"), f"{place}.after"),
            measured=reader.number(entry.get("measured"), f"{place}.measured"),
            limit=reader.number(entry.get("limit"), f"{place}.limit"),
            unit=None if unit is None else reader.one_of(unit, f"{place}.unit", _UNITS),
        )


def _rules(
    reader: _Reader, top: Mapping[str, Any], program: Mapping[str, Any], decisions: Sequence[Decision]
) -> Iterable[Rule]:
    """The rules the trace describes, and a bare one for each other that a decision names."""
    name = str(program.get("name", "a program"))
    version = str(program.get("version", ""))
    described: set[str] = set()
    for n, value in enumerate(reader.list(top.get("rules", []), "rules")):
        place = f"rules[{n}]"
        entry = reader.object(value, place)
        ident = reader.text(entry.get("id"), f"{place}.id")
        described.add(ident)
        yield Rule(
            ident,
            reader.text(entry.get("title", ident), f"{place}.title"),
            name,
            version,
            reader.text(entry.get("source", ""), f"{place}.source"),
            reader.text(entry.get("note", ""), f"{place}.note"),
        )
    for ident in dict.fromkeys(decision.rule for decision in decisions):
        if ident not in described:
            yield Rule(ident, ident, name, version, "")


def _budget(
    reader: _Reader, top: Mapping[str, Any], sections: tuple[Section, ...], stages: tuple[Stage, ...]
) -> Budget:
    entry = reader.object(top.get("budget", {}), "budget")
    system = sum(s.tokens for s in sections if s.parent is None and s.place == "system")
    tools = sum(s.tokens for s in sections if s.parent is None and s.place == "tools")
    messages = stages[-1].messages if stages else ()
    # A system message is what the sections became; it is not counted beside them.
    listed = sum(m.tokens for m in messages if m.role != "system" or not system)
    parts = [Part("sections", system), Part("tools", tools), Part("messages", listed)]
    used = reader.whole(entry.get("used"), "budget.used")
    total = sum(part.tokens for part in parts)
    if used is not None and used != total:
        parts.append(Part("not itemised", used - total))
    counted = reader.whole(entry.get("counted"), "budget.counted")
    return Budget(
        counted=None if counted is None else Counted(counted, "this"),
        limit=reader.whole(entry.get("limit"), "budget.limit"),
        used=total if used is None else used,
        unit=reader.one_of(entry.get("unit", "tokens"), "budget.unit", _UNITS),
        parts=tuple(parts),
        window=reader.whole(entry.get("window"), "budget.window"),
    )
