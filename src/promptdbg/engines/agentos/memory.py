"""Memory text under a token budget (``MemoryPromptAssembler.ts::assembleMemoryContext``).

Every source has a share of the budget; what fits is written under headings. Headings are never
counted, and the preamble is not taken off the shares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.log import SYSTEM, Log
from promptdbg.engines.agentos.texts import STAND_INS, Texts
from promptdbg.engines.agentos.traces import Written, style_of, write_trace
from promptdbg.lengths import utf16_length
from promptdbg.model import Action, Json, Rule, Unit

SHARES: Mapping[str, float] = MappingProxyType(
    {
        "workingMemory": 0.15,
        "semanticRecall": 0.40,
        "recentEpisodic": 0.25,
        "prospectiveAlerts": 0.05,
        "graphAssociations": 0.05,
        "observationNotes": 0.05,
        "persistentMemory": 0.05,
    }
)
PREAMBLE_ROOM = 100
CHARS_A_TOKEN = 4
EPISODIC = "episodic"


@dataclass(frozen=True, slots=True)
class MemoryInput:
    """What the assembler is given. ``budget`` is in tokens; traces are JSON as the framework has it."""

    budget: float
    traits: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    working: str = ""
    persistent: str = ""
    traces: Sequence[Json] = ()
    prospective: Sequence[str] = ()
    graph: Sequence[str] = ()
    observations: Sequence[str] = ()
    allocation: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """One memory: its text as it would be written whole, and what is written.

    ``kept`` is the stretch of ``text`` that is written, as offsets; ``offset`` is where ``output``
    begins in the memory text, ``None`` when nothing of it stands there.
    """

    item: str
    group: str
    text: str
    output: str
    tokens: float
    lost: tuple[int, int] | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """The memory text and what it was made of. ``groups`` are (id, text under the heading)."""

    text: str
    tokens_used: float
    allocation: Mapping[str, float]
    included_ids: tuple[Json, ...]
    groups: tuple[tuple[str, str], ...]
    parts: tuple[MemoryPart, ...]


def estimate(text: str) -> int:
    """Tokens of a memory: UTF-16 units over 4, rounded up."""
    return math.ceil(utf16_length(text) / CHARS_A_TOKEN)


def assemble_memory(given: MemoryInput, now: float, log: Log, texts: Texts = STAND_INS) -> MemoryContext:
    """The memory text within the budget.

    Args:
        now: milliseconds since 1970, for the ages of memories.

    Raises:
        JsError: a trace lacks what its style prints.
    """
    return _Assembler(given, now, log, texts).run()


class _Assembler:
    """One run: the shares, and the sections found so far."""

    def __init__(self, given: MemoryInput, now: float, log: Log, texts: Texts) -> None:
        self.given, self.now, self.log, self.texts = given, now, log, texts
        self.shares = {**SHARES, **given.allocation}
        self.style = style_of(given.traits)
        self.used: float = 0
        self.sections: list[tuple[str, str, list[MemoryPart]]] = []
        self.lost: list[MemoryPart] = []
        self.included: list[Json] = []

    def share(self, name: str) -> float:
        return js.floor(self.given.budget * self.shares[name])

    def run(self) -> MemoryContext:
        self._preamble()
        self._persistent()
        left = self._working()
        self._traces(left)
        for group, name, notes in self._note_groups():
            parts = [
                MemoryPart(f"memory/{group}/{number}", group, f"- {note}", f"- {note}", estimate(note))
                for number, note in enumerate(notes)
            ]
            self._list(group, parts, self.share(name), [None] * len(parts))
        return self._context()

    def _note_groups(self) -> tuple[tuple[str, str, Sequence[str]], ...]:
        return (
            ("prospective", "prospectiveAlerts", self.given.prospective),
            ("graph", "graphAssociations", self.given.graph),
            ("observations", "observationNotes", self.given.observations),
        )

    def _preamble(self) -> None:
        text = self.texts.memory_preambles[self.style]
        tokens = estimate(text)
        part = MemoryPart("memory/preamble", "preamble", text, text, tokens)
        if self.given.budget >= tokens + PREAMBLE_ROOM:
            self._add("preamble", text, [part], tokens)
        else:
            self._drop(
                part,
                rules.MEMORY_PREAMBLE,
                f"The preamble of {tokens} tokens needs {PREAMBLE_ROOM} more in the budget.",
                tokens + PREAMBLE_ROOM,
                self.given.budget,
            )

    def _persistent(self) -> None:
        text, share = self.given.persistent, self.share("persistentMemory")
        if not text:
            return
        part = MemoryPart("memory/persistent", "persistent", text, text, estimate(text))
        if not share > 0:
            self._drop(part, rules.MEMORY_PERSISTENT, "It has no share of the budget.", part.tokens, share)
            return
        room = share * CHARS_A_TOKEN
        if utf16_length(text) > room:
            kept = js.substring(text, room)
            because = f"Its {utf16_length(text):,} characters are over the {room:,.0f} of its share."
            self._note(Action.TRUNCATE, part, rules.MEMORY_PERSISTENT, because, part.tokens, share)
            part = replace(part, output=kept + self.texts.memory_cut, lost=(_whole(kept), len(text)))
        self._add("persistent", part.output, [part], js.smallest(part.tokens, share))

    def _working(self) -> float:
        """Write the working memory, if all of it fits; what it leaves of its share."""
        text, share = self.given.working, self.share("workingMemory")
        if not text:
            return share
        part = MemoryPart("memory/working", "working", text, text, estimate(text))
        if part.tokens > share:
            because = (
                f"Its {part.tokens:,.0f} tokens are over its share of {share:,.0f}; no part of it is used."
            )
            self._drop(part, rules.MEMORY_WORKING, because, part.tokens, share)
            return share
        self._add("working", text, [part], part.tokens)
        return share - part.tokens

    def _traces(self, left: float) -> None:
        semantic = self.share("semanticRecall") + left
        for _, name, notes in self._note_groups():
            semantic += 0 if notes else self.share(name)
        groups: dict[str, list[tuple[Json, Written]]] = {"semantic": [], EPISODIC: []}
        for trace in self.given.traces:
            kind = EPISODIC if js.get(trace, "type") == EPISODIC else "semantic"
            groups[kind].append((trace, write_trace(trace, self.style, self.now)))
        for group, share in (("semantic", semantic), (EPISODIC, self.share("recentEpisodic"))):
            parts = [self._trace_part(group, trace, written) for trace, written in groups[group]]
            ids = [js.get(trace, "id") for trace, _ in groups[group]]
            self._list(group, parts, share, ids)

    def _trace_part(self, group: str, trace: Json, written: Written) -> MemoryPart:
        item = f"memory/{js.to_string(js.get(trace, 'id'))}"
        return MemoryPart(item, group, written.whole, written.text, estimate(written.text), written.lost)

    def _list(self, group: str, parts: Sequence[MemoryPart], share: float, ids: Sequence[Json]) -> None:
        """Take parts in order until the first that does not fit the share."""
        taken: list[MemoryPart] = []
        used: float = 0
        for part in parts:
            if used + part.tokens > share:
                break
            taken.append(part)
            used += part.tokens
        for number, part in enumerate(parts[len(taken) :]):
            because = (
                f"The first that does not fit: {used:,.0f} + {part.tokens:,.0f} tokens of {share:,.0f}."
                if not number
                else "It comes after the first that did not fit."
            )
            self._drop(part, rules.MEMORY_MISFIT, because, used + part.tokens, share)
        for part in taken:
            if part.lost is not None:
                because = f"Its content is cut by {part.lost[1] - part.lost[0]:,} characters."
                self._note(Action.TRUNCATE, part, rules.MEMORY_SHORTENED, because)
        if taken:
            self.included += [name for name, _ in zip(ids, taken, strict=False) if name is not None]
            self._add(group, "\n".join(part.output for part in taken), taken, used)

    def _add(self, group: str, body: str, parts: list[MemoryPart], tokens: float) -> None:
        self.sections.append((group, body, parts))
        self.used += tokens

    def _drop(self, part: MemoryPart, rule: Rule, because: str, measured: float, limit: float) -> None:
        self._note(Action.DROP, part, rule, because, measured, limit)
        self.lost.append(replace(part, output="", lost=(0, len(part.text)) if part.text else None))

    def _note(
        self,
        action: Action,
        part: MemoryPart,
        rule: Rule,
        because: str,
        measured: float | None = None,
        limit: float | None = None,
    ) -> None:
        unit: Unit | None = None if measured is None else "tokens"
        self.log.add(SYSTEM, action, part.item, rule, because, measured=measured, limit=limit, unit=unit)

    def _context(self) -> MemoryContext:
        pieces: list[str] = []
        parts: list[MemoryPart] = []
        offset = 0
        for group, body, members in self.sections:
            heading = self.texts.memory_headings.get(group, "")
            at = offset + len(heading)
            for part in members:
                parts.append(replace(part, offset=at))
                at += len(part.output) + 1
            pieces.append(heading + body)
            offset += len(heading) + len(body) + 2
        return MemoryContext(
            text="\n\n".join(pieces),
            tokens_used=self.used,
            allocation=MappingProxyType(self.shares),
            included_ids=tuple(self.included),
            groups=tuple((group, body) for group, body, _ in self.sections),
            parts=tuple(_in_order(parts, self.lost)),
        )


def _whole(kept: str) -> int:
    """Code points of a cut text that are whole characters: a split one at its end is lost."""
    return len(kept) - (1 if kept and "\ud800" <= kept[-1] <= "\udbff" else 0)


_ORDER = ("preamble", "persistent", "working", "semantic", EPISODIC, "prospective", "graph", "observations")


def _in_order(parts: Iterable[MemoryPart], lost: Iterable[MemoryPart]) -> list[MemoryPart]:
    return sorted((*parts, *lost), key=lambda part: _ORDER.index(part.group))
