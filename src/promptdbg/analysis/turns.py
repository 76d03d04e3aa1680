"""The turns of a session one after another: what each prompt costs, what came into it and what left,
and the boundaries from which on earlier messages no longer reach the model as they were.

A session may have thousands of turns and each takes an assembly, so a ``Timeline`` is filled in turn by
turn, in any order, and says how much of it is known. Between two turns that are both known everything
is compared; nothing is guessed from what lies further apart, for an item can come back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from promptdbg.analysis.snapshots import (
    NOTHING,
    Change,
    Drawn,
    Snapshot,
    add_names,
    changes_between,
    drawn_between,
    moved_between,
    snapshot_of,
)
from promptdbg.analysis.states import ABSENT, IN, Presence, State
from promptdbg.bulk import collector_at_rest
from promptdbg.errors import PromptdbgError, UsageError
from promptdbg.model import Assembly, Settings, StageKind, Turn, Unit

Preview: TypeAlias = Callable[[Settings], Assembly]


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


class Timeline:
    """What is known of the turns so far. Places count from 0; the last one is the turn to come."""

    def __init__(self, turns: Sequence[Turn], settings: Settings, preview: Preview) -> None:
        self.turns = tuple(turns)
        self.settings = settings
        self._preview = preview
        self._facts: list[Facts | None] = [None] * (len(turns) + 1)
        self._unknown = list(range(len(turns) + 1))
        self._snapshots: dict[int, Snapshot] = {}
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
    def held(self) -> int:
        """How many states are held to compare turns."""
        return sum(len(snapshot.states) for snapshot in self._snapshots.values())

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
        snapshot = snapshot_of(assembly, turn)
        self._snapshots[place] = snapshot
        add_names(self._names, assembly)
        if len(snapshot.history) > len(self._rows):
            self._rows = {item: row for row, item in enumerate(snapshot.history)}
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
        before = NOTHING if place == 0 else self._snapshots.get(place - 1)
        if after is None or before is None or facts is None or facts.changes is not None:
            return
        moved = moved_between(before, after)
        changes = changes_between(before, after, moved, self._names)
        drawn = drawn_between(before, after, self._names)
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


def _counted(facts: Facts, assembly: Assembly, snapshot: Snapshot) -> Facts:
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
