"""What the screens draw: one assembly with the indexes that make drawing it cheap.

Pure and free of Textual, made off the event loop. Nothing is decided here; figures are the
assembly's own, ordered, indexed and compared with the picture before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from promptdbg.analysis.tried import lost_items
from promptdbg.debug import Debugger
from promptdbg.model import (
    Assembly,
    Decision,
    Knob,
    Message,
    Rule,
    Section,
    SectionStatus,
    Source,
    StageKind,
    Value,
    settling,
)
from promptdbg.text import one_line, safe
from promptdbg.workspace import Manifest


@dataclass(frozen=True, slots=True)
class Picture:
    """An assembly, indexed.

    ``names`` are the sections' names, safe and on one line. ``sums`` are the tokens up to and with
    each section that is part of no other, ``total`` the last of them, ``widest`` the largest figure
    shown. ``changed`` are the items that differ from the picture before, ``lost`` those that do not
    reach the model whole, ``messages_lost`` how many of them are messages. ``sentence`` says what
    led here and what it did. ``recorded`` is one in which nothing can be tried: no engine is behind it.
    ``tried`` is whether the settings are others than the files', whichever turn is shown.
    """

    assembly: Assembly
    knobs: tuple[Knob, ...]
    sections: Mapping[str, Section]
    names: Mapping[str, str]
    parts: Mapping[str, tuple[str, ...]]
    sums: Mapping[str, int]
    total: int
    widest: int
    decisions: Mapping[str, tuple[Decision, ...]]
    rules: Mapping[str, Rule]
    counts: Mapping[SectionStatus, int]
    engine_reason: str = ""
    question: str = ""
    sentence: str = ""
    changed: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    messages_lost: int = 0
    watched: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    has_priorities: bool = False
    recorded: bool = False
    tried: bool = False
    undo: str | None = None
    redo: str | None = None
    milliseconds: float = 0.0
    _messages: dict[int, Mapping[str, Message]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def roots(self) -> tuple[str, ...]:
        """The sections that are part of no other, in order."""
        return self.parts.get("", ())

    def knob_value(self, knob: Knob) -> Value:
        """A knob's value in this assembly."""
        return self.assembly.settings.values.get(knob.name, knob.default)

    @property
    def told(self) -> tuple[str, float]:
        """What the status line says of it: the same as of the one before, where that was kept."""
        return self.sentence, self.milliseconds

    def message(self, item: str) -> Message | None:
        """A message by its id, as the latest list that holds it has it."""
        places = range(len(self.assembly.stages) - 1, -1, -1)
        return next((found for place in places if (found := self._by_id(place).get(item))), None)

    def first_message(self, item: str) -> Message | None:
        """A message by its id, as the first list that holds it has it."""
        places = range(len(self.assembly.stages))
        return next((found for place in places if (found := self._by_id(place).get(item))), None)

    def _by_id(self, place: int) -> Mapping[str, Message]:
        """The messages of one list, made when it is first looked in: a key press must not walk it."""
        found = self._messages.get(place)
        if found is None:
            stage = self.assembly.stages[place]
            found = {message.id: message for message in reversed((*stage.messages, *stage.dropped))}
            self._messages[place] = found
        return found

    def sent_message(self, item: str) -> Message | None:
        """The message of the final list that an item is in, by itself or merged into it; none where
        the model does not get it."""
        sent = final_messages(self.assembly)
        own = next((message for message in sent if message.id == item), None)
        return own or next((message for message in sent if item in message.sources), None)

    def settled(self, item: str) -> Decision | None:
        """The decision that settled what became of an item."""
        return settling(self.decisions.get(item, ()))

    def where(self, source: Source) -> str:
        """A place on disk as it is shown: relative to the workspace where it is inside, and safe."""
        return safe(source.below(self.assembly.workspace), lines=False)

    @property
    def budget_knob(self) -> Knob | None:
        """The knob that sets the limit, as the engine says."""
        return next((knob for knob in self.knobs if knob.name == self.assembly.budget.knob), None)


def picture_of(debugger: Debugger) -> Picture:
    """The debugger's current assembly as a picture, with no history."""
    assembly = debugger.assembly
    parts: defaultdict[str, list[str]] = defaultdict(list)
    sums: dict[str, int] = {}
    total = 0
    for section in assembly.sections:
        parts[section.parent or ""].append(section.id)
        if section.parent is None:
            total += section.tokens
            sums[section.id] = total
    lost = frozenset(lost_items(assembly))
    by_id = {section.id: section for section in assembly.sections}
    manifest = debugger.opened.workspace.manifest
    return Picture(
        assembly=assembly,
        knobs=debugger.opened.knobs,
        sections=by_id,
        names={item: _name(section.name, item) for item, section in by_id.items()},
        parts={parent: tuple(ids) for parent, ids in parts.items()},
        sums=sums,
        total=total,
        widest=max([total, *(section.tokens_original for section in assembly.sections)]),
        decisions=assembly.decisions_by_item(),
        rules={rule.id: rule for rule in assembly.rules},
        counts=Counter(section.status for section in assembly.sections),
        lost=lost,
        messages_lost=sum(1 for item in lost if item not in by_id),
        question=_question(manifest),
        engine_reason=debugger.opened.detection.reason,
        watched=debugger.opened.watched,
        scenarios=tuple(manifest.scenarios) if manifest else (),
        recorded=debugger.opened.recorded,
        has_priorities=any(section.priority is not None for section in assembly.sections),
        tried=debugger.settings != replace(debugger.base, turn=debugger.settings.turn),
        undo=debugger.undo_label,
        redo=debugger.redo_label,
    )


@lru_cache(maxsize=65_536)
def _name(name: str, item: str) -> str:
    return one_line(name) or one_line(item)


def _question(manifest: Manifest | None) -> str:
    """What a bundled example asks; empty elsewhere."""
    demo = manifest.data.get("demo") if manifest else None
    question = demo.get("question") if isinstance(demo, dict) else None
    return question if isinstance(question, str) else ""


def messages_of(assembly: Assembly) -> Sequence[Message]:
    """Every message there ever is, once, in the order of the lists."""
    seen: dict[str, Message] = {}
    for stage in assembly.stages:
        for message in (*stage.messages, *stage.dropped):
            seen.setdefault(message.id, message)
    return tuple(seen.values())


def differs(before: Section, after: Section) -> bool:
    """Whether a person would call a section changed."""
    return (before.name, before.status, before.tokens, before.priority, before.output, before.text) != (
        after.name,
        after.status,
        after.tokens,
        after.priority,
        after.output,
        after.text,
    )


def changed_items(before: Picture, after: Picture) -> frozenset[str]:
    """Sections that are new or differ, and messages of the final list that do."""
    changed = {
        item
        for item, section in after.sections.items()
        if item not in before.sections or differs(before.sections[item], section)
    }
    if final_messages(before.assembly) is final_messages(after.assembly):
        return frozenset(changed)
    old = {message.id: message for message in final_messages(before.assembly)}
    for message in final_messages(after.assembly):
        was = old.get(message.id)
        if was is not message and was != message:  # most are the same object
            changed.add(message.id)
    return frozenset(changed)


def final_messages(assembly: Assembly) -> tuple[Message, ...]:
    """What the model is sent; one and the same tuple where an engine knows that nothing changed."""
    stage = assembly.stage(StageKind.FINAL)
    return stage.messages if stage else ()
