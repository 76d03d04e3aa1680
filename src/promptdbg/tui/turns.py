"""The Turns screen as values: what is known, the rows of its list, its strip, its report. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from promptdbg.analysis.life import Life, Run, life
from promptdbg.analysis.snapshots import Drawn
from promptdbg.analysis.states import STATUSES, Presence, State
from promptdbg.analysis.turn_words import (
    change_line,
    changes_line,
    drawn_sentences,
    run_reason,
    sentence,
    span,
    turn_name,
)
from promptdbg.analysis.turns import Facts, Timeline
from promptdbg.bulk import quick
from promptdbg.marks import mark_of
from promptdbg.model import Turn
from promptdbg.text import one_line, plural, safe, share
from promptdbg.tui.sentences import amount
from promptdbg.tui.status import glyph_of, style_of
from promptdbg.tui.wrapping import BLANK, Paragraph, Piece, say

_CHANGES_SHOWN = 50

_LIMIT_IN_SIGHT = 4
"""The bars are measured against the limit where it is at most so many times the tallest of them; else
none could be told from another."""


class Measure(Enum):
    """What the bars show."""

    USED = "used"
    SENT = "sent"


MEASURES = {
    Measure.USED: "the bars are what the framework counts, against its limit",
    Measure.SENT: "the bars are the tokens of the whole request",
}


@quick
@dataclass(frozen=True, slots=True)
class Row:
    """A row of the list: a turn by its place, or a boundary that stands above its turn."""

    place: int
    drawn: Drawn | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the turns at one moment, ``count`` of them, and all that is the same wherever the
    cursor stands. ``current`` is the turn that is shown elsewhere, ``peaks`` are the largest figures,
    ``timed`` whether any turn has a time."""

    turns: tuple[Turn, ...]
    facts: tuple[Facts | None, ...]
    rows: tuple[Row, ...]
    peaks: Mapping[Measure, int]
    count: int
    current: int
    timed: bool
    life: Life | None = None

    def turn_at(self, place: int) -> int | None:
        return self.turns[place].number if place < len(self.turns) else None

    def row_of(self, place: int, drawn: Drawn | None = None) -> int:
        """The row of a turn, or of a boundary before it while there is one."""
        first = bisect_left(self.rows, place, key=_place)
        last = bisect_right(self.rows, place, key=_place) - 1
        return next((row for row in range(first, last) if self.rows[row].drawn == drawn), last)


def _place(row: Row) -> int:
    return row.place


def known(timeline: Timeline, current: int, item: str | None) -> Known:
    """What a timeline knows now, and of the life of an item."""
    facts = timeline.facts
    good = [entry for entry in facts if entry is not None]
    return Known(
        turns=timeline.turns,
        facts=facts,
        rows=_rows_of(facts),
        peaks={measure: max([1, *(value_of(entry, measure) for entry in good)]) for measure in Measure},
        count=len(good),
        current=current,
        timed=any(turn.time for turn in timeline.turns),
        life=life(timeline, item) if item is not None else None,
    )


def _rows_of(facts: Sequence[Facts | None]) -> tuple[Row, ...]:
    """The rows of the list: every turn, with the boundaries that lie before it."""
    turns = _turn_rows(len(facts))
    found: list[Row] = []
    done = 0
    for place, entry in enumerate(facts):
        if entry is not None and entry.drawn:
            found += turns[done:place]
            found += [Row(place, drawn) for drawn in entry.drawn]
            done = place
    return (*found, *turns[done:]) if found else turns


@lru_cache(4)
def _turn_rows(count: int) -> tuple[Row, ...]:
    """The rows without any boundary: the same each time that some more is known."""
    return tuple(map(Row, range(count)))


def stops(what: Known) -> tuple[int, ...]:
    """The rows at which something happens: boundaries, and turns with another state of the item."""
    drawn = {row.place for row in what.rows if row.drawn is not None}
    runs = what.life.runs if what.life is not None else ()
    begun = {run.first for run in runs if run.first and run.state is not None} - drawn
    return tuple(
        number for number, row in enumerate(what.rows) if row.drawn is not None or row.place in begun
    )


def states_of(what: Known) -> tuple[State | None, ...]:
    """The item's state at every turn; none where it is not known, or there is no item."""
    if what.life is None:
        return (None,) * len(what.facts)
    return tuple(run.state for run in what.life.runs for _ in range(run.first, run.last + 1))


# ---- the strip -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cell:
    """One bar of the strip, for the turns ``first`` to ``last``. ``value`` is the largest of theirs, ``None``
    where none is known."""

    first: int
    last: int
    value: int | None
    over: bool
    failed: bool
    boundary: bool
    state: State | None


@dataclass(frozen=True, slots=True)
class Bars:
    """The strip: its cells, each ``width`` wide, and what a full bar stands for."""

    cells: tuple[Cell, ...]
    width: int
    top: int
    limit: int | None

    def cell_of(self, place: int) -> int:
        """The cell that a turn is in."""
        return place // (self.cells[0].last + 1)


_WIDEST = 4


def bars(what: Known, measure: Measure, room: int) -> Bars:
    """The strip in so many cells of the terminal: a bar for each turn, several turns together where there
    are more of them than cells."""
    count = len(what.facts)
    room = max(room, 1)
    per = -(-count // room)
    number = -(-count // per)
    states = states_of(what)
    cells = tuple(
        _cell(what, measure, states, first, min(first + per, count) - 1) for first in range(0, count, per)
    )
    peak = max((cell.value or 0 for cell in cells), default=0)
    limits = [facts.limit for facts in what.facts if facts is not None and facts.limit]
    limit = max(limits, default=None) if measure is Measure.USED else None
    if limit is not None and limit > peak * _LIMIT_IN_SIGHT:
        limit = None
    return Bars(cells, min(room // number, _WIDEST), max(peak, limit or 0, 1), limit)


def _cell(what: Known, measure: Measure, states: Sequence[State | None], first: int, last: int) -> Cell:
    those = [facts for facts in what.facts[first : last + 1] if facts is not None]
    good = [facts for facts in those if not facts.failure]
    over = any(facts.limit is not None and facts.used > facts.limit for facts in good)
    return Cell(
        first=first,
        last=last,
        value=max((value_of(facts, measure) for facts in good), default=None),
        over=over and measure is Measure.USED,
        failed=any(facts.failure for facts in those),
        boundary=any(facts.drawn for facts in those),
        state=next((state for state in reversed(states[first : last + 1]) if state is not None), None),
    )


def value_of(facts: Facts, measure: Measure) -> int:
    return facts.used if measure is Measure.USED else facts.sent


def levels(value: int, top: int, height: int, *, steps: int = 8) -> list[int]:
    """How full each line of a bar is, from the top, in so many steps; a bar of anything is seen."""
    full = round(value * height * steps / top) if top else 0
    if value > 0:
        full = max(full, 1)
    return [max(0, min(full - steps * (height - 1 - line), steps)) for line in range(height)]


def caption(what: Known, measure: Measure, place: int) -> str:
    """What the strip shows of a turn, in figures."""
    facts = what.facts[place]
    name = "the next turn" if what.turn_at(place) is None else f"turn {place + 1:,}"
    if facts is None:
        return f"{name}: not known yet"
    if facts.failure:
        return f"{name}: {safe(facts.failure, lines=False)}"
    if measure is Measure.SENT:
        return f"{name}: {amount(facts.sent, 'tokens')} sent"
    used = amount(facts.used, facts.unit)
    if not facts.limit:
        return f"{name}: {used} used"
    return f"{name}: {used} used of {facts.limit:,} ({share(facts.used / facts.limit)})"


# ---- states in a row -------------------------------------------------------------------------------


def state_word(run: Run, ascii_only: bool) -> Piece:
    """The mark and the word of an item's state, with its style."""
    mark, style = state_mark(run.state, ascii_only)
    word = run.word
    if run.state is not None and run.state.presence is Presence.CUT:
        word = f"cut to {run.state.tokens:,}"
    return f"{mark} {one_line(word)}", style


def state_mark(state: State | None, ascii_only: bool) -> Piece:
    """The mark of a state; a dot where the item is in no list, or nothing is known."""
    status = STATUSES.get(state.presence) if state is not None else None
    if status is None:
        return "." if ascii_only else "·", "virtual--muted"
    return glyph_of(mark_of(status), ascii_only), style_of(status)


# ---- the report ------------------------------------------------------------------------------------


def report(what: Known, row: Row, ascii_only: bool) -> list[Paragraph]:
    """A boundary in full where the row is one; the life of the item; what the turn changed."""
    lines: list[Paragraph] = []
    turn = what.turn_at(row.place)
    if row.drawn is not None:
        lines.append(say((f"Before {turn_name(turn)}", "virtual--strong")))
        lines += [say(safe(text, lines=False)) for text in drawn_sentences(row.drawn, turn)]
        lines.append(BLANK)
    if what.life is not None:
        lines += [*_life_lines(what, what.life, row.place, ascii_only), BLANK]
    if row.drawn is None:
        lines += _turn_lines(what, row.place)
    while lines and lines[-1] == BLANK:
        lines.pop()
    return lines


def _life_lines(what: Known, told: Life, place: int, ascii_only: bool) -> Iterator[Paragraph]:
    yield say((f"The life of {one_line(told.name)}", "virtual--strong"))
    for run in told.runs:
        word, style = state_word(run, ascii_only)
        here = run.first <= place <= run.last
        when = span(run.first, run.last, len(what.facts))
        reason = safe(run_reason(run), lines=False)
        yield say(
            (">" if here else " ", "virtual--key"),
            (f" {when[:1].upper()}{when[1:]}  ", "virtual--strong" if here else ""),
            (word, style),
            (f"  {reason}" if reason else "", ""),
            hang=2,
        )


def _turn_lines(what: Known, place: int) -> Iterator[Paragraph]:
    facts, turn = what.facts[place], what.turn_at(place)
    name = turn_name(turn)
    head = f"{name[:1].upper()}{name[1:]}"
    if facts is None:
        yield say((head, "virtual--strong"), ("  not known yet", "virtual--muted"))
        return
    if told := changes_line(facts):
        yield say((head, "virtual--strong"), f"  {sentence(safe(told, lines=False))}")
    else:
        yield say((head, "virtual--strong"), ("  the turn before is not known", "virtual--muted"))
    if not facts.failure:
        counts = f"{plural(facts.kept, 'item')} in it, {facts.cut:,} cut, {facts.lost:,} left out"
        yield say((f"{amount(facts.sent, 'tokens')} sent; {counts}.", "virtual--muted"), indent=2)
    changes = facts.changes or ()
    for change in changes[:_CHANGES_SHOWN]:
        yield say(safe(change_line(change), lines=False), indent=2, hang=2)
    if len(changes) > _CHANGES_SHOWN:
        yield say((f"and {len(changes) - _CHANGES_SHOWN:,} more", "virtual--muted"), indent=2)


def progress(what: Known) -> str:
    """How much is known, for the list's title."""
    count, places = what.count, len(what.facts)
    return plural(places, "turn") if count == places else f"{count:,} of {places:,} turns known"
