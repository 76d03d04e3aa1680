"""What the screens draw: one assembly with the indexes that make drawing it cheap.

Pure and free of Textual, made off the event loop. Nothing is decided here; figures are the
assembly's own, ordered, indexed and compared with the picture before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from promptdbg.debug import Debugger
from promptdbg.model import (
    Assembly,
    Decision,
    Knob,
    Message,
    Rule,
    Section,
    SectionStatus,
    StageKind,
)


@dataclass(frozen=True, slots=True)
class Picture:
    """An assembly, indexed. ``changed`` are the items that differ from the picture before;
    ``sentence`` says what led here and what it did."""

    assembly: Assembly
    knobs: tuple[Knob, ...]
    sections: Mapping[str, Section]
    parts: Mapping[str, tuple[str, ...]]
    sums: Mapping[str, int]
    decisions: Mapping[str, tuple[Decision, ...]]
    rules: Mapping[str, Rule]
    counts: Mapping[SectionStatus, int]
    reason: str = ""
    engine_reason: str = ""
    sentence: str = ""
    changed: frozenset[str] = frozenset()
    watched: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    undo: str | None = None
    redo: str | None = None
    milliseconds: float = 0.0
    stale: str = field(default="", compare=False)

    @property
    def roots(self) -> tuple[str, ...]:
        """The sections that are part of no other, in order."""
        return self.parts.get("", ())

    def knob_value(self, knob: Knob) -> object:
        """A knob's value in this assembly."""
        return self.assembly.settings.values.get(knob.name, knob.default)

    @property
    def has_priorities(self) -> bool:
        return any(section.priority is not None for section in self.assembly.sections)


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
    decisions: defaultdict[str, list[Decision]] = defaultdict(list)
    for decision in assembly.decisions:
        decisions[decision.item].append(decision)
    manifest = debugger.opened.workspace.manifest
    return Picture(
        assembly=assembly,
        knobs=debugger.opened.knobs,
        sections={section.id: section for section in assembly.sections},
        parts={parent: tuple(ids) for parent, ids in parts.items()},
        sums=sums,
        decisions={item: tuple(made) for item, made in decisions.items()},
        rules={rule.id: rule for rule in assembly.rules},
        counts=Counter(section.status for section in assembly.sections),
        engine_reason=debugger.opened.detection.reason,
        watched=debugger.opened.inputs.watched,
        scenarios=tuple(manifest.scenarios) if manifest else (),
        undo=debugger.undo_label,
        redo=debugger.redo_label,
    )


def messages_of(assembly: Assembly) -> Sequence[Message]:
    """Every message there ever is, once, in the order of the lists."""
    seen: dict[str, Message] = {}
    for stage in assembly.stages:
        for message in (*stage.messages, *stage.dropped):
            seen.setdefault(message.id, message)
    return tuple(seen.values())


def differs(before: Section, after: Section) -> bool:
    """Whether a person would call a section changed."""
    return (before.status, before.tokens, before.priority, before.output, before.text) != (
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
    old = _final(before.assembly)
    for item, message in _final(after.assembly).items():
        if item not in old or (old[item] is not message and old[item].to_json() != message.to_json()):
            changed.add(item)
    return frozenset(changed)


def _final(assembly: Assembly) -> Mapping[str, Message]:
    stage = assembly.stage(StageKind.FINAL)
    return {} if stage is None else {message.id: message for message in stage.messages}
