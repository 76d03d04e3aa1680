"""``trace``: where a text occurs in everything that was loaded (and in what was not), and for each
occurrence whether the model saw it, where, or at which stage and by which rule it was lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath
from typing import Literal, TypeAlias

from promptdbg.analysis.items import message_texts, need_texts, section_offset
from promptdbg.analysis.room import final_room
from promptdbg.analysis.surviving import Place, Surviving
from promptdbg.files.scan import TextFile
from promptdbg.model import (
    Assembly,
    Decision,
    Message,
    Section,
    SectionStatus,
    Source,
    Stage,
    settling,
)
from promptdbg.text import position

Verdict: TypeAlias = Literal["seen", "cut", "dropped", "shadowed", "disabled", "literal", "not read"]
Match: TypeAlias = Literal["exact", "folded", "words"]

HITS_MAX = 200
"""Occurrences reported at the most; a search for ``e`` must not take the machine with it."""

UNREAD_MAX = 20
"""Files that the engine does not read, reported at the most; one place in each."""

CONTEXT = 60
"""Characters around an occurrence that a hit keeps of its line; one more behind it where the line goes on."""


@dataclass(frozen=True, slots=True)
class SeenAt:
    """Where the model sees it: the message of the final list, the offset in it, and how far into
    the request that is, as a share of the window (of the request, where there is no window).

    ``index`` and ``offset`` count from 0; a person is told the offset from 1, as a column is."""

    message: str
    index: int
    offset: int
    tokens_before: int
    share: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One occurrence. ``line`` and ``column`` count from 1 in the item's (or file's) text."""

    item: str
    source: Source | None
    line: int
    column: int
    offset: int
    before: str
    text: str
    after: str
    verdict: Verdict
    because: str
    stage: str = ""
    decision: Decision | None = None
    seen_at: SeenAt | None = None


@dataclass(frozen=True, slots=True)
class TraceResult:
    """The hits, and how they were found. ``more`` is true where the bound cut the search off."""

    query: str
    match: Match
    hits: tuple[Hit, ...]
    more: bool = False

    @property
    def seen(self) -> bool:
        """Whether the model saw any of the occurrences."""
        return any(hit.verdict == "seen" for hit in self.hits)


def trace(assembly: Assembly, query: str, files: Iterable[TextFile] = ()) -> TraceResult:
    """Find ``query``: exact, else without regard to case and white space, else by its words.

    Args:
        files: text files of the workspace. Those that the assembly holds are passed over, and of those that
            the engine used only what is in no item and no other file counts.

    Raises:
        UsageError: the assembly was read from a file without its texts.
    """
    need_texts(assembly, "where a text is")
    loaded = {section.source.path for section in assembly.sections if section.source}
    if assembly.session:
        loaded.add(assembly.session)
    others = [file for file in files if str(file.path) not in loaded and file.relative not in loaded]
    unread = [file for file in others if not file.used]
    used = [file for file in others if file.used]
    for match, pattern in _patterns(query):
        first = list(islice(_hits(assembly, pattern, unread), HITS_MAX + 1))
        if first := first or list(_file_hits(assembly, pattern, used)):
            return TraceResult(query, match, tuple(first[:HITS_MAX]), len(first) > HITS_MAX)
    return TraceResult(query, "exact", ())


def _patterns(query: str) -> Iterator[tuple[Match, re.Pattern[str]]]:
    if not query.strip():
        return
    yield "exact", re.compile(re.escape(query))
    words = query.split()
    yield "folded", re.compile(r"\s+".join(re.escape(word) for word in words), re.IGNORECASE)
    kept = [word for word in re.findall(r"\w+", query) if len(word) > 2]
    if len(kept) > 1:
        # All the words on one line, in any order; lookaheads that cannot backtrack into each other.
        looks = "".join(rf"(?=[^\n]*?\b{re.escape(word)}\b)" for word in kept)
        yield "words", re.compile(rf"^{looks}[^\n]*", re.IGNORECASE | re.MULTILINE)


def _hits(assembly: Assembly, pattern: re.Pattern[str], unread: list[TextFile]) -> Iterator[Hit]:
    lists = _Lists(assembly)
    parents = {section.parent for section in assembly.sections if section.parent}
    for section in assembly.sections:
        if section.id not in parents:
            for match in pattern.finditer(section.text):
                yield _section_hit(assembly, section, match, lists)
    for message in _distinct_messages(assembly):
        for text in message_texts(message):
            for match in pattern.finditer(text):
                yield _message_hit(assembly, message, text, match, lists)
    yield from _file_hits(assembly, pattern, unread)


def _file_hits(assembly: Assembly, pattern: re.Pattern[str], files: list[TextFile]) -> Iterator[Hit]:
    found = (hit for file in files if (hit := _file_hit(assembly, file, pattern)) is not None)
    yield from islice(found, UNREAD_MAX)


def _file_hit(assembly: Assembly, file: TextFile, pattern: re.Pattern[str]) -> Hit | None:
    """The first place in a file that is in no item; the others would say the same."""
    match = pattern.search(file.text)
    if match is None:
        return None
    line, _ = position(file.text, match.start())
    source = Source(str(file.path), line)
    if file.used:
        because = f"{assembly.engine.title} reads this file, but puts no such text of it into a prompt"
    else:
        because = unread_reason(assembly, file.relative)
    return _hit(file.relative, source, file.text, match, "not read", because)


def _distinct_messages(assembly: Assembly) -> Iterator[Message]:
    """Each message once, as it first appears. The system prompt is searched by its sections."""
    seen: set[str] = set()
    searched = bool(assembly.sections)
    for stage in assembly.stages:
        for message in stage.messages:
            if message.id not in seen and not (searched and message.role == "system"):
                seen.add(message.id)
                yield message


class _Lists:
    """The message lists by item, and where the messages of the final one stand."""

    def __init__(self, assembly: Assembly) -> None:
        self.stages = assembly.stages
        self.room = final_room(assembly)
        self.final = self.room.messages
        self.surviving = Surviving()
        self._holders: dict[int, dict[str, int]] = {}

    def index(self, messages: tuple[Message, ...], item: str) -> int | None:
        """Where in a list the item is, or is merged in. Stages that share a list share the index."""
        holders = self._holders.get(id(messages))
        if holders is None:
            holders = {}
            for index, message in enumerate(messages):
                for source in message.sources:
                    holders.setdefault(source, index)
            holders.update((message.id, index) for index, message in enumerate(messages))
            self._holders[id(messages)] = holders
        return holders.get(item)

    def holder(self, stage: Stage, item: str) -> Message | None:
        index = self.index(stage.messages, item)
        return None if index is None else stage.messages[index]

    def seen_at(self, index: int, offset: int, text_length: int) -> SeenAt:
        message = self.final[index]
        before = self.room.before[index] + round(message.tokens * offset / max(text_length, 1))
        return SeenAt(message.id, index, offset, before, self.room.share(before))


def _section_hit(assembly: Assembly, section: Section, match: re.Match[str], lists: _Lists) -> Hit:
    verdict, because = _section_verdict(section, match.start(), match.end())
    decision = None
    seen_at = None
    if verdict == "seen":
        seen_at = _section_seen_at(assembly, section, match, lists)
    else:
        decision = _deciding(assembly, section)
        because = decision.because if decision else because
    source = section.source
    if source is not None:
        line, _ = position(section.text, match.start())
        source = Source(source.path, (source.start_line or 1) + line - 1)
    return _hit(
        section.id,
        source,
        section.text,
        match,
        verdict,
        because,
        stage=decision.stage if decision else "",
        decision=decision,
        seen_at=seen_at,
    )


def _section_verdict(section: Section, start: int, end: int) -> tuple[Verdict, str]:
    status = section.status
    if status is SectionStatus.TRUNCATED:
        lost = [span for span in section.spans if not span.kept and span.start < end and start < span.end]
        if not lost:
            return "seen", f"in the kept part of {section.name}"
        whole = any(span.start <= start and end <= span.end for span in lost)
        return "cut", f"{'in' if whole else 'partly in'} the lost part of {section.name}"
    verdicts: dict[SectionStatus, Verdict] = {
        SectionStatus.DROPPED: "dropped",
        SectionStatus.SHADOWED: "shadowed",
        SectionStatus.DISABLED: "disabled",
        SectionStatus.LITERAL: "literal",
    }
    if status in verdicts:
        return verdicts[status], f"{section.name} is {status.value}"
    return "seen", f"in {section.name}"


def _deciding(assembly: Assembly, section: Section) -> Decision | None:
    """The decision that settled the section, or the section it is part of."""
    entry: Section | None = section
    seen: set[str] = set()
    while entry is not None and entry.id not in seen:
        seen.add(entry.id)
        if (decision := settling(assembly.decisions_on(entry.id))) is not None:
            return decision
        entry = assembly.section(entry.parent) if entry.parent else None
    return None


def _section_seen_at(
    assembly: Assembly, section: Section, match: re.Match[str], lists: _Lists
) -> SeenAt | None:
    start = section_offset(assembly, section)
    if start is None:
        return None
    inside = section.output.find(match[0])
    if inside < 0:
        return None
    # The output may open with a wrapper; the same text may stand in it twice, so count from there.
    lead = section.output.find(section.text[: match.start()]) if match.start() else inside
    offset = start + (lead + match.start() if match.start() and lead >= 0 else inside)
    for index, message in enumerate(lists.final):
        if message.role == "system" and isinstance(message.content, str):
            return lists.seen_at(index, offset, len(message.content))
    return None


def _message_hit(assembly: Assembly, message: Message, text: str, match: re.Match[str], lists: _Lists) -> Hit:
    place = Place(text, match.start(), match.end())
    index = lists.index(lists.final, message.id)
    found = None if index is None else lists.surviving.offset(place, message.id, lists.final[index])
    if index is not None and found is not None:
        length = sum(len(part) for part in message_texts(lists.final[index]))
        return _hit(
            message.id,
            message.source,
            text,
            match,
            "seen",
            f"message {index} of the final list",
            stage="final",
            seen_at=lists.seen_at(index, found, length),
        )
    stage, holder = _vanished(lists, message.id, place)
    items = {message.id, *((holder.id,) if holder else ())}
    decision = settling(d for d in assembly.decisions if d.stage == stage and d.item in items)
    verdict: Verdict = "cut" if holder is not None else "dropped"
    return _hit(
        message.id,
        message.source,
        text,
        match,
        verdict,
        decision.because if decision else f"gone from {stage} on; the file gives no reason",
        stage=stage,
        decision=decision,
    )


def _vanished(lists: _Lists, item: str, place: Place) -> tuple[str, Message | None]:
    """The first stage after which no message that came from ``item`` holds the text of that place,
    and what is left of the message there (``None``: nothing)."""
    appeared = False
    for stage in lists.stages:
        holder = lists.holder(stage, item)
        if holder is not None and lists.surviving.offset(place, item, holder) is not None:
            appeared = True
        elif appeared:
            return stage.name, holder
    return (lists.stages[-1].name if lists.stages else ""), None


def _hit(
    item: str,
    source: Source | None,
    text: str,
    match: re.Match[str],
    verdict: Verdict,
    because: str,
    *,
    stage: str = "",
    decision: Decision | None = None,
    seen_at: SeenAt | None = None,
) -> Hit:
    line, column = position(text, match.start())
    return Hit(
        item=item,
        source=source,
        line=line,
        column=column,
        offset=match.start(),
        before=text[max(0, match.start() - CONTEXT) : match.start()].rpartition("\n")[2],
        text=match[0],
        after=text[match.end() : match.end() + CONTEXT + 1].partition("\n")[0],
        verdict=verdict,
        because=because,
        stage=stage,
        decision=decision,
        seen_at=seen_at,
    )


# Instruction files by the agent that reads them; facts, for telling why a file was passed over.
_AGENT_FILES = {
    "agents.md": "Codex and other agents",
    "agents.override.md": "Codex",
    "claude.md": "Claude Code",
    "claude.local.md": "Claude Code",
    "gemini.md": "Gemini CLI",
    "soul.md": "nanobot",
    "user.md": "nanobot",
    ".cursorrules": "Cursor",
    ".windsurfrules": "Windsurf",
    ".clinerules": "Cline",
    "copilot-instructions.md": "GitHub Copilot",
}


def unread_reason(assembly: Assembly, relative: str) -> str:
    """Why the engine does not read a file of the workspace, in one sentence."""
    name = PurePath(relative).name
    title = assembly.engine.title
    sources = [PurePath(assembly.workspace, s.source.path) for s in assembly.sections if s.source]
    read = {source.name for source in sources}
    if name in read:
        below = PurePath(assembly.workspace, relative).parent.parents
        if any(source.name == name and source.parent in below for source in sources):
            return f"{title} reads {name} of a folder above this one, not here"
        return f"{title} reads {name}, but not the one in this folder"
    if name.lower() in {known.lower() for known in read}:
        right = next(known for known in sorted(read) if known.lower() == name.lower())
        return f"{title} reads {right}; this file is called {name}"
    if name.lower() in _AGENT_FILES:
        return f"{name} is a file of {_AGENT_FILES[name.lower()]}; {title} does not read it here"
    return f"not a file that {title} puts into a prompt"
