"""What is kept of a turn to compare it with the next: what came in and left between the two, and the
boundaries from which on earlier messages no longer reach the model as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from promptdbg.analysis.blocks import title
from promptdbg.analysis.states import ABSENT, IN, VERBATIM, Presence, State, item_states, leaves
from promptdbg.model import Assembly, Evidence, Rule, StageKind, Turn, Unit
from promptdbg.text import named

ChangeKind: TypeAlias = Literal["came", "returned", "left", "cut", "whole", "unsent", "other"]
"""What a turn did to an item: it ``came`` in or ``returned``, ``left``, was ``cut`` or is ``whole`` again;
``unsent``: it is stored and was not sent. ``other``: it is in or out as before, by another rule."""


@dataclass(frozen=True, slots=True)
class Change:
    """An item whose state differs from the turn before."""

    item: str
    name: str
    before: State
    after: State

    @property
    def kind(self) -> ChangeKind:
        was, now = self.before.presence, self.after.presence
        if now in IN and was not in IN:
            return "came" if was in (Presence.ABSENT, Presence.EMPTY) else "returned"
        if was in IN and now not in IN:
            return "left"
        if now in IN:
            cut = now is Presence.CUT and (was is not now or self.after.tokens < self.before.tokens)
            return "cut" if cut else "whole" if was is Presence.CUT else "other"
        return "unsent" if was is Presence.ABSENT else "other"


@dataclass(frozen=True, slots=True)
class Remains:
    """What stands for messages that were taken out."""

    item: str
    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A boundary: the turn at which rules begin to take earlier messages out.

    ``items`` are the messages they take there, of ``tokens`` in all, ``left`` of which remain (of messages
    that are only shortened); ``seen`` of them the model still got in the turn before. ``into`` is what
    stands for them. ``survived`` messages of earlier turns reach the model word for word. The numbers
    are those of the decision on the last of the items.
    """

    word: str
    rules: tuple[Rule, ...]
    items: tuple[str, ...]
    tokens: int
    left: int
    seen: int
    into: tuple[Remains, ...]
    survived: int
    survived_tokens: int
    evidence: Evidence
    because: str
    measured: float | None
    limit: float | None
    unit: Unit | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that comparing a turn with its neighbours needs; much smaller than its assembly."""

    states: Mapping[str, State]
    leaves: frozenset[str]
    history: tuple[str, ...]
    """The stored messages of earlier turns."""
    taken: Mapping[str, tuple[str, ...]]
    """The messages that rules with a boundary take out, by rule."""
    rules: Mapping[str, Rule]


NOTHING = Snapshot({}, frozenset(), (), {}, {})
"""What the first turn is compared with."""


def snapshot_of(assembly: Assembly, turn: Turn | None) -> Snapshot:
    """What is kept of an assembly; ``turn`` is the one it was made for, ``None`` the turn to come."""
    states = item_states(assembly)
    session = assembly.stage(StageKind.SESSION)
    stored = tuple(message.id for message in session.messages) if session else ()
    rules = {rule.id: rule for rule in assembly.rules if rule.boundary is not None}
    taken: dict[str, list[str]] = {}
    sections = {section.id for section in assembly.sections}
    for item, state in states.items():
        if state.rule in rules and item not in sections:
            taken.setdefault(state.rule, []).append(item)
    return Snapshot(
        states=states,
        leaves=leaves(assembly),
        history=stored if turn is None else stored[: turn.row],
        taken={rule: tuple(items) for rule, items in taken.items()},
        rules=rules,
    )


def add_names(names: dict[str, str], assembly: Assembly) -> None:
    """Put in what a person calls each item: a message with its id, a section by its name."""
    for messages in {id(stage.messages): stage.messages for stage in assembly.stages}.values():
        for message in messages:
            if message.id not in names:
                names[message.id] = named(title(message), message.id)
    for section in assembly.sections:
        names[section.id] = section.name


# -- two turns


def moved_between(before: Snapshot, after: Snapshot) -> dict[str, State]:
    """The new states of the items that changed."""
    was = before.states
    found = {item: state for item, state in after.states.items() if not state.same(was.get(item, ABSENT))}
    found.update((item, ABSENT) for item in before.states if item not in after.states)
    return found


def changes_between(
    before: Snapshot, after: Snapshot, moved: Mapping[str, State], names: Mapping[str, str]
) -> Iterator[Change]:
    """What a turn did to the items that stand for themselves; that nothing came of a new one is no change."""
    for item, state in moved.items():
        nothing = item not in before.states and state.presence is Presence.EMPTY
        if not nothing and (item in before.leaves or item in after.leaves):
            yield Change(item, names.get(item, item), before.states.get(item, ABSENT), state)


def drawn_between(before: Snapshot, after: Snapshot, names: Mapping[str, str]) -> Iterator[Drawn]:
    """The boundaries at a turn: rules of one word, of which none took anything in the turn before. Where one
    of them goes on from the other, it is the same boundary still."""
    going_on = {word for word, _ in _by_word(before)}
    for word, rules in _by_word(after):
        if word in going_on:
            continue
        items = tuple(item for rule in rules for item in after.taken[rule.id])
        states = [after.states[item] for item in items]
        survived = [
            after.states[item]
            for item in after.history
            if item in after.states and after.states[item].presence in VERBATIM
        ]
        recorded = all(state.evidence is Evidence.RECORDED for state in states)
        last = states[-1]
        yield Drawn(
            word=word,
            rules=tuple(rules),
            items=items,
            tokens=sum(state.original for state in states),
            left=sum(state.tokens for state in states),
            seen=sum(1 for item in items if before.states.get(item, ABSENT).presence in IN),
            into=tuple(_remains(before, after, rules, states, names)),
            survived=len(survived),
            survived_tokens=sum(state.tokens for state in survived),
            evidence=Evidence.RECORDED if recorded else Evidence.COMPUTED,
            because=last.because,
            measured=last.measured,
            limit=last.limit,
            unit=last.unit,
        )


def _by_word(snapshot: Snapshot) -> Iterator[tuple[str, list[Rule]]]:
    """The rules that take something out, by the word for it."""
    words: dict[str, list[Rule]] = {}
    for name in snapshot.taken:
        rule = snapshot.rules[name]
        if rule.boundary is not None:
            words.setdefault(rule.boundary.word, []).append(rule)
    yield from words.items()


def _remains(
    before: Snapshot,
    after: Snapshot,
    rules: Sequence[Rule],
    states: Sequence[State],
    names: Mapping[str, str],
) -> Iterator[Remains]:
    """Summaries that stand for the messages, and the sections that hold what is left of them."""
    summaries = (state.into for state in states if state.presence is Presence.SUMMARISED)
    sections = (item for rule in rules if rule.boundary for item in rule.boundary.into)
    for item in dict.fromkeys((*summaries, *sections)):
        was, now = before.states.get(item, ABSENT), after.states.get(item, ABSENT)
        if now.presence in IN and (was.presence not in IN or was.tokens != now.tokens):
            yield Remains(item, names.get(item, item), now.tokens)
