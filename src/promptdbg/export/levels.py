"""The three levels of an export, and the report of what was hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from promptdbg.engines import ENGINE_NAMES
from promptdbg.export.document import Document, document
from promptdbg.export.redact import Redactor, Rules
from promptdbg.export.strings import Stays, Texts
from promptdbg.export.structure import structure
from promptdbg.export.vocabulary import ROLES, is_decision, is_plain
from promptdbg.model import Assembly, Decision, EngineInfo, Message, Section, Stage, TokenizerInfo
from promptdbg.tokens import ENCODINGS

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
    redactor = Redactor(_TEXTS.of(assembly), rules, progress)
    redacted = _redacted(assembly, redactor)
    return Export(
        level, document(redacted), redacted, MappingProxyType(redactor.kinds), tuple(_doubts(assembly))
    )


def characters(assembly: Assembly) -> int:
    """How many characters the redacted level searches, for a progress bar."""
    return sum(len(text) for text in _TEXTS.of(assembly))


_WIRE = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})

_STAYS: Stays = {
    (EngineInfo, "name"): frozenset({*ENGINE_NAMES, "given"}).__contains__,
    (TokenizerInfo, "name"): ENCODINGS.__contains__,
    (Section, "kind"): is_plain,
    (Stage, "name"): is_plain,
    (Decision, "stage"): is_plain,  # as the stage that it names
    (Decision, "id"): is_decision,
    (Message, "role"): ROLES.__contains__,
    (Message, "wire"): _WIRE.__contains__,  # the keys a message is written by; all else of it is text
}
"""What is not looked into: words of our own in places of their own, which a user or a machine of that
name must not take away. Every other text is redacted, also of a field that is added later: all of
them are a stranger's where the assembly was read from a file. What refers to something by its name
still does, since the same text becomes the same text."""

_TEXTS = Texts(_STAYS)


def _redacted(assembly: Assembly, redactor: Redactor) -> Assembly:
    """The assembly with every text redacted. All numbers stay: they are those of the real prompt."""
    made: Assembly = _TEXTS.changed(assembly, lambda text: redactor.redact(text).text)
    sections = zip(assembly.sections, made.sections, strict=True)
    return replace(made, sections=tuple(_moved(was, now, redactor) for was, now in sections))


def _moved(was: Section, now: Section, redactor: Redactor) -> Section:
    """The places in a text that became another."""
    # ``offset`` counts characters of the real prompt.
    return replace(now, spans=redactor.redact(was.text).spans(was.spans), offset=None)


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
