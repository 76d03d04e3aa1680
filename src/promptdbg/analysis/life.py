"""The life of one item over the turns: in at one, cut at another, gone at a third, each with the numbers
that decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from promptdbg.analysis.snapshots import Drawn
from promptdbg.analysis.states import ABSENT, Presence, State
from promptdbg.analysis.turns import Timeline


@dataclass(frozen=True, slots=True)
class Run:
    """Turns in a row in which the item is the same, by their places. ``state`` is that of the first of
    them, ``None`` where these turns are not known; ``word`` says it for a person. ``drawn`` are the
    boundaries that began it."""

    first: int
    last: int
    state: State | None
    word: str
    drawn: tuple[Drawn, ...] = ()


@dataclass(frozen=True, slots=True)
class Life:
    """The runs of an item: together they are all turns, once and in order."""

    item: str
    name: str
    runs: tuple[Run, ...]

    def run_at(self, place: int) -> Run:
        """The run that a turn is in."""
        return next(run for run in self.runs if run.first <= place <= run.last)


def life(timeline: Timeline, item: str) -> Life:
    """What is known of the life of an item."""
    course = timeline.course(item)
    facts = timeline.facts
    runs: list[Run] = []
    for first, last in _stretches(course):
        state, begun = course[first], facts[first]
        drawn = begun.drawn if begun is not None and state is not None else ()
        word = _word(state, runs)
        runs.append(Run(first, last, state, word, tuple(entry for entry in drawn if item in entry.items)))
    return Life(item, timeline.name_of(item), tuple(runs))


def _stretches(course: Sequence[State | None]) -> list[tuple[int, int]]:
    """Where the state is the same from turn to turn."""
    begun = [place for place, state in enumerate(course) if not place or not _same(course[place - 1], state)]
    return [(first, following - 1) for first, following in pairwise([*begun, len(course)])]


def _same(before: State | None, after: State | None) -> bool:
    return before is after or (before is not None and after is not None and before.same(after))


def _word(state: State | None, before: Sequence[Run]) -> str:
    """An item in no list is not there yet, or gone: which, only the turns before can tell."""
    if state is None:
        return "not known yet"
    if state.presence is not Presence.ABSENT:
        return state.word
    if any(run.state is not None and run.state.presence not in _NOWHERE for run in before):
        return "gone"
    return ABSENT.word if any(run.state is None for run in before) else "not there yet"


_NOWHERE = frozenset({Presence.ABSENT, Presence.FAILED})
