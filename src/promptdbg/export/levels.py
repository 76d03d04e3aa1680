"""The three levels of an export, and the report of what was hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from promptdbg.export.document import Document, document
from promptdbg.export.redact import Redactor, Rules
from promptdbg.export.structure import structure
from promptdbg.model import Assembly, Json, Message, Section, Settings, Source, Stage

Level: TypeAlias = Literal["structure", "redacted", "full"]
LEVELS: tuple[Level, ...] = ("structure", "redacted", "full")


@dataclass(frozen=True, slots=True)
class Export:
    """An export, ready to be written: the document, the assembly it stands for (redacted where the
    level says so, ``None`` for a structure), and what was hidden, by kind."""

    level: Level
    document: Document
    assembly: Assembly | None
    hidden: Mapping[str, int]
    doubts: tuple[str, ...] = ()

    def report(self) -> str:
        """What was hidden, as one line."""
        if self.level == "structure":
            return "structure only: no text, no names but well-known ones, no paths"
        if self.level == "full":
            return "nothing was hidden: this holds every text as it is"
        shown = ", ".join(f"{count} {kind}" for kind, count in self.hidden.items())
        return f"hid {shown}" if shown else "found nothing to hide"


def export(
    assembly: Assembly,
    level: Level,
    salt: bytes,
    rules: Rules | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Export:
    """Make an export.

    Args:
        salt: for the hashes of a structure export, see ``write.machine_salt``.
        rules: what the redacted level hides beyond the default.
        progress: told the characters searched so far.
    """
    if level == "structure":
        return Export(level, structure(assembly, salt), None, MappingProxyType({}))
    if level == "full":
        return Export(level, document(assembly), assembly, MappingProxyType({}))
    redactor = Redactor(_texts(assembly), rules, progress)
    redacted = _redacted(assembly, redactor)
    return Export(
        level, document(redacted), redacted, MappingProxyType(redactor.kinds), tuple(_doubts(assembly))
    )


def characters(assembly: Assembly) -> int:
    """How many characters the redacted level searches, for a progress bar."""
    return sum(len(text) for text in dict.fromkeys(_texts(assembly)))


def _texts(assembly: Assembly) -> Iterator[str]:
    for section in assembly.sections:
        yield section.text
        yield section.output
        yield section.name
        if section.source:
            yield section.source.path
    for stage in assembly.stages:
        for message in (*stage.messages, *stage.dropped):
            yield from _strings(message.to_json())
    for decision in assembly.decisions:
        yield decision.because
    for notice in assembly.warnings:
        yield notice.message
    for turn in assembly.turns:
        yield turn.title
    yield assembly.workspace
    yield assembly.session or ""
    yield from _strings(dict(assembly.settings.values))
    yield from assembly.settings.texts.values()


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _strings(key)
            yield from _strings(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _strings(entry)


def _redacted(assembly: Assembly, redactor: Redactor) -> Assembly:
    """The assembly with every text redacted. All numbers stay: they are those of the real prompt."""

    def text(value: str) -> str:
        return redactor.redact(value).text

    messages: dict[int, Message] = {}

    def message(entry: Message) -> Message:
        if id(entry) not in messages:
            messages[id(entry)] = replace(
                entry,
                id=text(entry.id),
                sources=tuple(text(source) for source in entry.sources),
                role=text(entry.role),
                content=redactor.json(entry.content),
                tool_calls=redactor.json(entry.tool_calls),
                tool_call_id=redactor.json(entry.tool_call_id),
                name=redactor.json(entry.name),
                extra=MappingProxyType(redactor.json(dict(entry.extra))),
                source=_source(entry.source, text),
                wire=tuple(text(key) for key in entry.wire),
            )
        return messages[id(entry)]

    return replace(
        assembly,
        workspace=text(assembly.workspace),
        session=None if assembly.session is None else text(assembly.session),
        settings=_settings(assembly.settings, redactor),
        sections=tuple(_section(section, redactor) for section in assembly.sections),
        stages=tuple(_stage(stage, message, text) for stage in assembly.stages),
        decisions=tuple(replace(d, item=text(d.item), because=text(d.because)) for d in assembly.decisions),
        warnings=tuple(
            replace(n, message=text(n.message), source=_source(n.source, text)) for n in assembly.warnings
        ),
        failure=assembly.failure and replace(assembly.failure, message=text(assembly.failure.message)),
        turns=tuple(replace(turn, title=text(turn.title)) for turn in assembly.turns),
    )


def _section(section: Section, redactor: Redactor) -> Section:
    original = redactor.redact(section.text)
    return replace(
        section,
        id=redactor.redact(section.id).text,
        name=redactor.redact(section.name).text,
        parent=None if section.parent is None else redactor.redact(section.parent).text,
        text=original.text,
        output=redactor.redact(section.output).text,
        spans=original.spans(section.spans),
        source=_source(section.source, lambda value: redactor.redact(value).text),
        offset=None,  # it counts characters of the real prompt
    )


def _stage(stage: Stage, message: Callable[[Message], Message], text: Callable[[str], str]) -> Stage:
    return replace(
        stage,
        messages=tuple(message(entry) for entry in stage.messages),
        dropped=tuple(message(entry) for entry in stage.dropped),
        statuses=MappingProxyType({text(item): status for item, status in stage.statuses.items()}),
    )


def _settings(settings: Settings, redactor: Redactor) -> Settings:
    return replace(
        settings,
        values=MappingProxyType({k: _value(v, redactor) for k, v in settings.values.items()}),
        texts=MappingProxyType(redactor.json(dict(settings.texts))),
        off=frozenset(redactor.redact(item).text for item in settings.off),
        priorities=MappingProxyType(redactor.json(dict(settings.priorities))),
    )


def _value(value: Json, redactor: Redactor) -> Json:
    shown = redactor.json(value)
    return tuple(shown) if isinstance(value, tuple) else shown


def _source(source: Source | None, text: Callable[[str], str]) -> Source | None:
    return None if source is None else replace(source, path=text(source.path))


def _doubts(assembly: Assembly) -> Iterator[str]:
    """What redaction cannot judge: pictures and other data that is not text."""
    opaque = 0
    final = assembly.stages[-1] if assembly.stages else None
    for message in final.messages if final else ():
        for block in message.content if isinstance(message.content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            opaque += kind not in ("text", "tool_use", "tool_result", "thinking")
    if opaque:
        what = "picture or file" if opaque == 1 else "pictures or files"
        yield f"{opaque:,} {what} inside messages: not looked into"
