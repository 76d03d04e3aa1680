"""What is whole under which settings: assemblies made once each, for the search for fixes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from promptdbg.analysis.phrases import message_name
from promptdbg.model import LOSSES, Assembly, Decision, MessageStatus, SectionStatus, Settings, StageKind

Assemble: TypeAlias = Callable[[Settings], Assembly]
Named: TypeAlias = tuple[str, int, str]
"""An item: its id, its tokens, and what a person calls it."""


def lost_items(assembly: Assembly) -> tuple[str, ...]:
    """The items that do not reach the model whole and were not switched off here: what was cut or
    dropped, what another file took the place of, an import left as typed.

    Parts stand for their parents: a section with parts is not listed itself.
    """
    parents = {section.parent for section in assembly.sections if section.parent}
    found = [
        section.id
        for section in assembly.sections
        if section.lost and section.status is not SectionStatus.DISABLED and section.id not in parents
    ]
    whole = whole_items(assembly)
    session = assembly.stage(StageKind.SESSION)
    found += [m.id for m in (session.messages if session else ()) if m.id not in whole]
    return tuple(dict.fromkeys(found))


def whole_items(assembly: Assembly) -> frozenset[str]:
    """The items that reach the model whole: kept sections, and messages no step took anything from."""
    kept = frozenset(section.id for section in assembly.sections if not section.lost)
    final = assembly.stage(StageKind.FINAL)
    if final is None:
        return kept
    rewritten = {item for item, status in final.statuses.items() if status is MessageStatus.REWRITTEN}
    sent = [message for message in final.messages if message.id not in rewritten]
    reached = {message.id for message in sent}
    reached |= {source for message in sent for source in message.sources}
    return kept | (reached - {d.item for d in assembly.decisions if d.action in LOSSES})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of some settings: the items that are whole then, none where the framework fails,
    and what the prompt costs in the framework's own unit."""

    whole: frozenset[str]
    used: int
    failed: bool


class Tried:
    """Settings tried on the same inputs, each once. Shared between items, because what took one
    item mostly took others with it, and the same change brings them back."""

    def __init__(self, assemble: Assemble, settings: Settings) -> None:
        self.settings = settings
        self.assemble = assemble
        self.base = assemble(settings)
        self.now = _outcome(self.base)
        self.turned: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        """How far each knob was turned each way so far, in units of its grain."""
        self._outcomes: dict[Hashable, Outcome] = {}
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        self._decisions: defaultdict[str, list[Decision]] = defaultdict(list)
        for decision in self.base.decisions:
            self._decisions[decision.item].append(decision)
        session = self.base.stage(StageKind.SESSION)
        self._order = [section.id for section in self.base.sections]
        self._order += [message.id for message in (session.messages if session else ())]

    def decisions_on(self, item: str) -> Sequence[Decision]:
        """Every decision on an item under the settings as they are."""
        return self._decisions.get(item, ())

    def outcome(self, settings: Settings, stop: Callable[[], None]) -> Outcome:
        """What comes of settings. ``stop`` is called before each assembly, to raise if it wants."""
        key = (
            frozenset(settings.values.items()),
            settings.off,
            frozenset(settings.priorities.items()),
            frozenset(settings.texts.items()),
            settings.turn,
        )
        known = self._outcomes.get(key)
        if known is None:
            stop()
            found = _outcome(self.assemble(settings))
            # Most settings keep the same items; one set for all of them.
            whole = self._sets.setdefault(found.whole, found.whole)
            known = self._outcomes[key] = Outcome(whole, found.used, found.failed)
        return known

    @cached_property
    def named(self) -> dict[str, Named]:
        """Every item there is at any stage, by its id."""
        found = {
            message.id: (message.id, message.tokens, message_name(message.role, message.id, message.source))
            for stage in self.base.stages
            for message in stage.messages
        }
        return found | {s.id: (s.id, s.tokens, self.section_names[s.id]) for s in self.base.sections}

    @cached_property
    def section_names(self) -> dict[str, str]:
        """Sections by their names; those that several have are told apart by their ids."""
        times = Counter(section.name for section in self.base.sections)
        return {s.id: s.name if times[s.name] == 1 else f"{s.name} ({s.id})" for s in self.base.sections}

    @cached_property
    def removable(self) -> list[Named]:
        """Items that are in now and can be switched off, the smallest first."""
        base = self.base
        parents = {section.parent for section in base.sections if section.parent}
        pool = [
            (section.id, section.tokens, self.section_names[section.id])
            for section in base.sections
            if section.id not in parents and section.tokens > 0
        ]
        final, session = base.stage(StageKind.FINAL), base.stage(StageKind.SESSION)
        stored = {message.id for message in session.messages} if session else set()
        pool += [
            (message.id, message.tokens, message_name(message.role, message.id, message.source))
            for message in (final.messages if final else ())
            if message.id in stored and message.tokens > 0
        ]
        return sorted(pool, key=lambda entry: entry[1])

    def pushed_out(self, settings: Settings, whole: frozenset[str]) -> tuple[str, ...]:
        """What is whole now and would not be, in order; what was switched on or off aside."""
        gone = self.now.whole - whole - (settings.off ^ self.settings.off)
        return tuple(dict.fromkeys(item for item in self._order if item in gone)) if gone else ()


def _outcome(assembly: Assembly) -> Outcome:
    failed = assembly.failure is not None
    return Outcome(frozenset() if failed else whole_items(assembly), assembly.budget.used, failed)
