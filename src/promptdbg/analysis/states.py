"""What became of every item of one assembly, each as one state that can be compared between turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from promptdbg.analysis.tried import whole_items
from promptdbg.bulk import quick
from promptdbg.model import (
    LOSSES,
    Action,
    Assembly,
    Decision,
    Evidence,
    Message,
    MessageStatus,
    Rule,
    Section,
    SectionStatus,
    StageKind,
    Unit,
)


class Presence(StrEnum):
    """How much of an item the model gets: ``absent`` is in no list, ``failed`` a request never made."""

    ABSENT = "absent"
    WHOLE = "whole"
    CUT = "cut"
    REWRITTEN = "rewritten"
    MERGED = "merged"
    SUMMARISED = "summarised"
    DROPPED = "dropped"
    OFF = "off"
    EMPTY = "empty"
    FAILED = "failed"


IN = frozenset({Presence.WHOLE, Presence.CUT, Presence.REWRITTEN, Presence.MERGED})
"""Of which the model gets the words, if not all of them."""

VERBATIM = frozenset({Presence.WHOLE, Presence.MERGED})
"""Of which the model gets every word."""


STATUSES: Mapping[Presence, SectionStatus | MessageStatus] = {
    Presence.WHOLE: MessageStatus.KEPT,
    Presence.CUT: SectionStatus.TRUNCATED,
    Presence.REWRITTEN: MessageStatus.REWRITTEN,
    Presence.MERGED: MessageStatus.MERGED,
    Presence.SUMMARISED: MessageStatus.DROPPED,
    Presence.DROPPED: MessageStatus.DROPPED,
    Presence.OFF: SectionStatus.DISABLED,
    Presence.EMPTY: SectionStatus.EMPTY,
    Presence.FAILED: MessageStatus.DROPPED,
}
"""The status whose mark and colour each has; what is in no list has none."""


@quick
@dataclass(frozen=True, slots=True)
class State:
    """What became of one item in one turn.

    ``word`` says it for a person: ``dropped``, or what the rule's boundary says (``archived``). ``tokens`` is
    what the model gets of ``original``, both by the assembly's tokenizer. ``into`` is the message that it is
    part of, or the summary that stands for it. ``rule`` to ``unit`` are those of the decision that made it
    so; none where nothing was done to it. ``evidence`` is ``recorded`` where the session itself says so.
    """

    presence: Presence
    word: str
    tokens: int = 0
    original: int = 0
    into: str = ""
    rule: str = ""
    because: str = ""
    measured: float | None = None
    limit: float | None = None
    unit: Unit | None = None
    evidence: Evidence = Evidence.COMPUTED

    def same(self, other: State) -> bool:
        """Whether a person would call both the same: figures that grow with each turn do not matter, what
        is left of a cut item does. Rules of one word take turns with each other from turn to turn."""
        if self.presence is not other.presence or self.word != other.word or self.into != other.into:
            return False
        if self.presence is Presence.CUT and self.tokens != other.tokens:
            return False
        if self.presence is Presence.FAILED and self.because != other.because:
            return False
        by_rule = self.word == self.presence.value
        return self.evidence is other.evidence and (not by_rule or self.rule == other.rule)


ABSENT = State(Presence.ABSENT, "in no list")

_SECTIONS = {
    SectionStatus.KEPT: Presence.WHOLE,
    SectionStatus.TRUNCATED: Presence.CUT,
    SectionStatus.DROPPED: Presence.DROPPED,
    SectionStatus.EMPTY: Presence.EMPTY,
    SectionStatus.DISABLED: Presence.OFF,
    SectionStatus.SHADOWED: Presence.DROPPED,
    SectionStatus.LITERAL: Presence.DROPPED,
}

_CHANGES = frozenset({Action.REWRITE, Action.REPAIR, Action.EMPTY})
_MADE = frozenset({MessageStatus.MERGED, MessageStatus.INSERTED})


def item_states(assembly: Assembly) -> dict[str, State]:
    """The state of every item by its id: sections in order, then messages as they first appear. A
    section goes before a message of the same id, as everywhere."""
    return _States(assembly).found()


class _States:
    """One pass over an assembly, with the indexes that make it linear."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.rules: Mapping[str, Rule] = {rule.id: rule for rule in assembly.rules}
        self.losses: dict[str, Decision] = {}
        self.changes: dict[str, Decision] = {}
        for decision in assembly.decisions:
            if decision.action in LOSSES:
                self.losses[decision.item] = decision
            elif decision.action in _CHANGES:
                self.changes[decision.item] = decision
            elif decision.action is Action.MERGE:
                self.changes.setdefault(decision.item, decision)
        final = assembly.stage(StageKind.FINAL)
        self.final = {message.id: message for message in final.messages} if final else {}
        self.whole = whole_items(assembly)

    def found(self) -> dict[str, State]:
        states = {section.id: self._section(section) for section in self.assembly.sections}
        first = self._first()
        holders = self._holders()
        for item, message in first.items():
            if item not in states:
                states[item] = self._message(message, holders)
        for message in self.final.values():
            for source in message.sources:  # one that arrived in the middle of another
                if source not in states:
                    states[source] = State(Presence.MERGED, Presence.MERGED, into=message.id)
        return states

    def _first(self) -> dict[str, Message]:
        """Every message as it first appears."""
        first: dict[str, Message] = {}
        last: object = None
        for stage in self.assembly.stages:
            if stage.messages is not last:  # most stages share the list of the one before
                last = stage.messages
                for message in stage.messages:
                    first.setdefault(message.id, message)
        return first

    def _holders(self) -> dict[str, tuple[str, bool]]:
        """The message that each source went into, and whether as it is: a message that was put in for
        others stands for them and does not hold their words."""
        holders: dict[str, tuple[str, bool]] = {}
        for stage in self.assembly.stages:
            made = {item for item, status in stage.statuses.items() if status in _MADE}
            for message in stage.messages if made else ():
                if message.id in made:
                    verbatim = stage.status_of(message.id) is MessageStatus.MERGED
                    holders |= {
                        name: (message.id, verbatim) for name in message.sources if name != message.id
                    }
        return holders

    def _holder(self, item: str, holders: Mapping[str, tuple[str, bool]]) -> tuple[str, bool] | None:
        """Where an item that is not in the final list by itself went in the end."""
        verbatim, seen = True, {item}
        while item not in self.final:
            step = holders.get(item)
            if step is None or step[0] in seen:
                return None
            item, verbatim = step[0], verbatim and step[1]
            seen.add(item)
        return item, verbatim

    def _section(self, section: Section) -> State:
        presence = _SECTIONS[section.status]
        decision = self.losses.get(section.id) if presence is not Presence.WHOLE else None
        return self._made(presence, section, section.tokens, section.tokens_original, decision)

    def _message(self, message: Message, holders: Mapping[str, tuple[str, bool]]) -> State:
        item, original = message.id, message.tokens
        loss, change = self.losses.get(item), self.changes.get(item)
        sent = self.final.get(item)
        if sent is not None:
            if item in self.whole:
                return self._made(Presence.WHOLE, sent, sent.tokens, original, None)
            presence = Presence.CUT if sent.tokens < original else Presence.REWRITTEN
            return self._made(presence, sent, sent.tokens, original, loss or change)
        held = self._holder(item, holders)
        if held is not None:
            into, verbatim = held
            decision = loss or change or self.changes.get(into)
            if verbatim:
                return self._made(Presence.MERGED, message, original, original, decision, into)
            return self._made(Presence.SUMMARISED, message, 0, original, decision, into)
        presence = Presence.OFF if loss and loss.action is Action.DISABLE else Presence.DROPPED
        return self._made(presence, message, 0, original, loss or change)

    def _made(
        self,
        presence: Presence,
        thing: Section | Message,
        tokens: int,
        original: int,
        decision: Decision | None,
        into: str = "",
    ) -> State:
        unknown = thing.evidence is Evidence.UNKNOWN
        evidence = Evidence.UNKNOWN if unknown else Evidence.COMPUTED
        if decision is None:
            return State(presence, presence.value, tokens, original, into, evidence=evidence)
        rule = self.rules.get(decision.rule)
        boundary = rule.boundary if rule is not None else None
        return State(
            presence,
            boundary.word if boundary is not None and presence is Presence.DROPPED else presence.value,
            tokens,
            original,
            into,
            decision.rule,
            decision.because,
            decision.measured,
            decision.limit,
            decision.unit,
            boundary.evidence if boundary is not None else evidence,
        )


def leaves(assembly: Assembly) -> frozenset[str]:
    """The items that stand for themselves: sections without parts, and messages not made of sections."""
    parents = {section.parent for section in assembly.sections if section.parent}
    sections = {section.id for section in assembly.sections}
    made = any(section.place == "system" and section.output for section in assembly.sections)
    session = assembly.stage(StageKind.SESSION)
    stored = {message.id for message in session.messages} if session else set()
    messages = {
        message.id
        for messages in {id(stage.messages): stage.messages for stage in assembly.stages}.values()
        for message in messages
        if not (made and message.role == "system" and message.id not in stored)
    }
    return frozenset((sections - parents) | (messages - sections))
