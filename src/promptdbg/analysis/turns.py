"""The turns of a session one after another: what each prompt costs, what came into it and what left,
and the boundaries from which on earlier messages no longer reach the model as they were.

A session may have thousands of turns and each takes an assembly, so a ``Timeline`` is filled in turn by
turn, in any order, and says how much of it is known. Between two turns that are both known everything
is compared; nothing is guessed from what lies further apart, for an item can come back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from promptdbg.analysis.blocks import title
from promptdbg.analysis.states import ABSENT, IN, VERBATIM, Presence, State, item_states, leaves
from promptdbg.bulk import collector_at_rest
from promptdbg.errors import PromptdbgError, UsageError
from promptdbg.model import Assembly, Evidence, Rule, Settings, StageKind, Turn, Unit

Preview: TypeAlias = Callable[[Settings], Assembly]

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
class Facts:
    """One turn. ``turn`` is ``None`` for the turn to come.

    ``used``, ``limit`` and ``unit`` are the framework's own; ``sent`` counts the request by the
    assembly's tokenizer. ``kept``, ``cut`` and ``lost`` count items. ``changes`` are against the turn
    before, ``None`` while that is not known or could not be assembled; the first turn is compared with
    nothing. ``failure`` says why there is no request.
    """

    turn: int | None
    title: str
    time: str
    used: int = 0
    limit: int | None = None
    unit: Unit = "tokens"
    sent: int = 0
    kept: int = 0
    cut: int = 0
    lost: int = 0
    failure: str = ""
    changes: tuple[Change, ...] | None = None
    drawn: tuple[Drawn, ...] = ()


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All that comparing a turn with its neighbours needs; much smaller than its assembly."""

    states: Mapping[str, State]
    leaves: frozenset[str]
    history: tuple[str, ...]
    """The stored messages of earlier turns."""
    taken: Mapping[str, tuple[str, ...]]
    """The messages that rules with a boundary take out, by rule."""
    rules: Mapping[str, Rule] = field(default_factory=lambda: MappingProxyType({}))


_NOTHING = _Snapshot({}, frozenset(), (), {})


class Timeline:
    """What is known of the turns so far. Places count from 0; the last one is the turn to come."""

    def __init__(self, turns: Sequence[Turn], settings: Settings, preview: Preview) -> None:
        self.turns = tuple(turns)
        self.settings = settings
        self._preview = preview
        self._facts: list[Facts | None] = [None] * (len(turns) + 1)
        self._unknown = list(range(len(turns) + 1))
        self._snapshots: dict[int, _Snapshot] = {}
        """Of the turns with a neighbour that is not compared with them yet, and the first of each run."""
        self._moved: dict[int, Mapping[str, State]] = {}
        """Of each turn that was compared with the one before: the new states of items that changed."""
        self._names: dict[str, str] = {}
        self._rows: dict[str, int] = {}
        """At which row of the session a message is stored."""

    def __len__(self) -> int:
        return len(self._facts)

    @property
    def known(self) -> int:
        """How many turns were looked at."""
        return len(self._facts) - len(self._unknown)

    @property
    def facts(self) -> tuple[Facts | None, ...]:
        """Every turn, ``None`` where it was not looked at yet."""
        return tuple(self._facts)

    def place_of(self, turn: int | None) -> int:
        return len(self.turns) if turn is None else turn - 1

    def turn_at(self, place: int) -> int | None:
        return self.turns[place].number if place < len(self.turns) else None

    def nearest(self, place: int, first: int = 0, last: int | None = None) -> int | None:
        """The turn nearest to a place that is not known yet, between two others; ``None`` when all are."""
        last = len(self._facts) - 1 if last is None else last
        at = bisect_left(self._unknown, place)
        near = [p for p in self._unknown[max(at - 1, 0) : at + 1] if first <= p <= last]
        if not near:  # the place lies outside of the stretch
            near = [p for p in self._unknown if first <= p <= last][:1]
        return min(near, key=lambda p: abs(p - place), default=None)

    @collector_at_rest
    def look(self, place: int) -> None:
        """Assemble a turn and compare it with the turns around it that are known."""
        if self._facts[place] is not None:
            return
        turn = self.turns[place] if place < len(self.turns) else None
        facts = Facts(turn.number, turn.title, turn.time) if turn else Facts(None, "", "")
        try:
            assembly = self._preview(self.settings.with_turn(facts.turn))
        except UsageError:
            raise  # the settings do not fit; no turn will
        except PromptdbgError as error:
            self._file(place, replace(facts, failure=error.line()))
            return
        if assembly.failure is not None:
            failure = f"{assembly.failure.error}: {assembly.failure.message}"
            self._file(place, replace(facts, failure=failure))
            return
        snapshot = _snapshot(assembly, turn)
        self._snapshots[place] = snapshot
        self._names |= _names(assembly)
        self._rows |= {item: row for row, item in enumerate(snapshot.history)}
        self._file(place, _counted(facts, assembly, snapshot))
        for later in (place, place + 1):
            self._join(later)
        for near in (place - 1, place, place + 1):
            self._release(near)

    def _file(self, place: int, facts: Facts) -> None:
        self._facts[place] = facts
        del self._unknown[bisect_left(self._unknown, place)]

    def _join(self, place: int) -> None:
        """Compare a turn with the one before, if both are there."""
        after, facts = self._snapshots.get(place), self._known(place)
        before = _NOTHING if place == 0 else self._snapshots.get(place - 1)
        if after is None or before is None or facts is None or facts.changes is not None:
            return
        moved = _moved(before, after)
        changes = _changes(before, after, moved, self._names)
        drawn = _drawn(before, after, self._names)
        self._facts[place] = replace(facts, changes=tuple(changes), drawn=tuple(drawn))
        if place:
            self._moved[place] = moved

    def _release(self, place: int) -> None:
        """Forget what a turn held, once it is compared with both neighbours."""
        last = len(self._facts) - 1
        after = place >= last or place + 1 in self._moved or self._known(place + 1) is not None
        if place in self._moved and after:
            self._snapshots.pop(place, None)

    def _known(self, place: int) -> Facts | None:
        return self._facts[place] if 0 <= place < len(self._facts) else None

    # -- one item

    def course(self, item: str) -> tuple[State | None, ...]:
        """The state of one item at every turn, ``None`` where it is not known. Turns in a row in which it
        is the same share one object, that of the first of them, whose figures decided."""
        found: list[State | None] = [None] * len(self._facts)
        state: State | None = None
        for place, facts in enumerate(self._facts):
            if facts is None:
                state = None
            elif facts.failure:
                found[place] = _failed(facts.failure)
                state = None
                continue
            elif place in self._moved and state is not None:
                state = self._moved[place].get(item, state)
            else:
                state = self._snapshots[place].states.get(item, ABSENT)
            found[place] = state
        self._before_it_was_stored(item, found)
        return tuple(found)

    def _before_it_was_stored(self, item: str, found: list[State | None]) -> None:
        """A stored message is in no list of a turn that was over before: that needs no assembly."""
        row = self._rows.get(item, 0)
        for place, following in enumerate(self.turns[1:]):
            if following.row > row:
                return
            if found[place] is None:
                found[place] = ABSENT

    def name_of(self, item: str) -> str:
        """What a person calls an item; its id where no turn that is known has it."""
        return self._names.get(item, item)


def _failed(failure: str) -> State:
    return State(Presence.FAILED, Presence.FAILED.value, because=failure)


# -- one turn


def _snapshot(assembly: Assembly, turn: Turn | None) -> _Snapshot:
    states = item_states(assembly)
    session = assembly.stage(StageKind.SESSION)
    stored = tuple(message.id for message in session.messages) if session else ()
    rules = {rule.id: rule for rule in assembly.rules if rule.boundary is not None}
    taken: dict[str, list[str]] = {}
    sections = {section.id for section in assembly.sections}
    for item, state in states.items():
        if state.rule in rules and item not in sections:
            taken.setdefault(state.rule, []).append(item)
    return _Snapshot(
        states=states,
        leaves=leaves(assembly),
        history=stored if turn is None else stored[: turn.row],
        taken={rule: tuple(items) for rule, items in taken.items()},
        rules=rules,
    )


def _names(assembly: Assembly) -> dict[str, str]:
    """What a person calls each item: a message with its id, a section by its name."""
    lists = {id(stage.messages): stage.messages for stage in assembly.stages}.values()
    found = {message.id: f"{title(message)} {message.id}" for messages in lists for message in messages}
    return found | {section.id: section.name for section in assembly.sections}


def _counted(facts: Facts, assembly: Assembly, snapshot: _Snapshot) -> Facts:
    kept = cut = lost = 0
    for item in snapshot.leaves:
        presence = snapshot.states[item].presence
        if presence is Presence.CUT:
            cut += 1
        elif presence in IN:
            kept += 1
        elif presence in (Presence.DROPPED, Presence.SUMMARISED):
            lost += 1
    final = assembly.stage(StageKind.FINAL)
    tools = sum(s.tokens for s in assembly.sections if s.place == "tools" and s.parent is None)
    budget = assembly.budget
    return replace(
        facts,
        used=budget.used,
        limit=budget.limit,
        unit=budget.unit,
        sent=tools + (final.tokens if final else 0),
        kept=kept,
        cut=cut,
        lost=lost,
    )


# -- two turns


def _moved(before: _Snapshot, after: _Snapshot) -> dict[str, State]:
    """The new states of the items that changed."""
    found = {
        item: state for item, state in after.states.items() if not state.same(before.states.get(item, ABSENT))
    }
    found.update((item, ABSENT) for item in before.states if item not in after.states)
    return found


def _changes(
    before: _Snapshot, after: _Snapshot, moved: Mapping[str, State], names: Mapping[str, str]
) -> Iterator[Change]:
    for item, state in moved.items():
        nothing = item not in before.states and state.presence is Presence.EMPTY
        if not nothing and (item in before.leaves or item in after.leaves):
            yield Change(item, names.get(item, item), before.states.get(item, ABSENT), state)


def _drawn(before: _Snapshot, after: _Snapshot, names: Mapping[str, str]) -> Iterator[Drawn]:
    """The boundaries at a turn: rules that took nothing in the turn before, those of one word together."""
    words: dict[str, list[Rule]] = {}
    for name in after.taken:
        rule = after.rules[name]
        if name not in before.taken and rule.boundary is not None:
            words.setdefault(rule.boundary.word, []).append(rule)
    for word, rules in words.items():
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


def _remains(
    before: _Snapshot,
    after: _Snapshot,
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
