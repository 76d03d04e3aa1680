"""Every turn of the session: what its prompt costs, how many items came in and left, and the boundaries from
which on earlier messages no longer reach the model as they were. With ITEM, the life of that item: at
which turn it came in, was cut or went, and the numbers that decided. Every turn is assembled anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from promptdbg.analysis.life import Life, Run, life
from promptdbg.analysis.snapshots import Change, Drawn
from promptdbg.analysis.states import STATUSES, Presence, State
from promptdbg.analysis.turn_words import drawn_sentences, run_reason, span, turn_name
from promptdbg.analysis.turns import Facts, Timeline
from promptdbg.commands import options
from promptdbg.errors import UsageError
from promptdbg.marks import mark_of
from promptdbg.render import (
    BLANK,
    Column,
    Line,
    Piece,
    Row,
    columns,
    line,
    progress,
    table,
    wrapped,
    write,
    write_json,
)
from promptdbg.text import one_line

if TYPE_CHECKING:
    from promptdbg.debug import Debugger

SCHEMA = "promptdbg/turns/1"

_BAR = 12
_MARKS = 60
"""Marks of a life on one line."""


@dataclass(frozen=True, slots=True)
class Report:
    """The turns that were asked for, by their places ``first`` to ``last``, and the life of an item."""

    timeline: Timeline
    first: int
    last: int
    current: int
    life: Life | None = None

    @property
    def facts(self) -> tuple[Facts, ...]:
        shown = self.timeline.facts[self.first : self.last + 1]
        return tuple(facts for facts in shown if facts is not None)


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument("item", nargs="?", metavar="ITEM", help="an item, for its life over the turns")
    group = parser.add_argument_group("which turns")
    group.add_argument("--from", dest="start", type=int, metavar="N", help="from user message N on")
    group.add_argument("--to", dest="stop", type=int, metavar="N", help="up to user message N")
    group.add_argument("--last", type=int, metavar="N", help="the last N and the turn to come")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    options.place_item(arguments)
    report = _report(options.debugger(arguments), arguments)
    if arguments.json:
        write_json(document(report))
    else:
        write(lines(report, columns()))
    return 0


def _report(debugger: Debugger, arguments: argparse.Namespace) -> Report:
    """Assemble the turns that are asked for.

    Raises:
        UsageError: a recording, no turns, or none of that number or item.
    """
    from promptdbg.analysis.items import find_item

    if debugger.opened.recorded:
        raise UsageError("this is a recording: it holds one turn", hint="open the workspace itself")
    turns = debugger.opened.turns
    if not turns:
        raise UsageError("there are no turns: no session with user messages is open")
    item = find_item(debugger.assembly, arguments.item) if arguments.item else None
    timeline = Timeline(turns, debugger.settings, debugger.preview)
    first, last = _stretch(arguments, len(turns))
    # The turn before the first is what that one is compared with.
    for place in range(max(first - 1, 0), last + 1):
        progress(f"{turn_name(timeline.turn_at(place))} of {len(turns):,}")
        timeline.look(place)
    progress("")
    current = timeline.place_of(debugger.settings.turn)
    return Report(timeline, first, last, current, life(timeline, item) if item else None)


def _stretch(arguments: argparse.Namespace, turns: int) -> tuple[int, int]:
    """The places of the first and the last turn to show.

    Raises:
        UsageError: there are no such turns.
    """
    there = f"there are {turns:,}"
    for option, number in (("--from", arguments.start), ("--to", arguments.stop)):
        if number is not None and not 1 <= number <= turns:
            raise UsageError(f"no user message {number}, {there}", where=option)
    if arguments.last is not None:
        if arguments.start is not None or arguments.stop is not None:
            raise UsageError("either --last or --from and --to", where="--last")
        if arguments.last < 0:
            raise UsageError("a number of turns, 0 or more", where="--last")
        return max(turns - arguments.last, 0), turns
    first = (arguments.start or 1) - 1
    last = turns if arguments.stop is None else arguments.stop - 1
    if first > last:
        raise UsageError("--from is after --to", where="--from")
    return first, last


# -- as JSON


def document(report: Report) -> dict[str, Any]:
    """The turns as JSON; the keys are the fields of ``Facts``, ``Change``, ``Drawn``, ``State`` and ``Run``.
    The turn to come is ``null``."""
    return {
        "schema": SCHEMA,
        "turns": [_facts_document(facts) for facts in report.facts],
        "life": _life_document(report.timeline, report.life) if report.life else None,
    }


def _facts_document(facts: Facts) -> dict[str, Any]:
    entry = {name: value for name, value in asdict(facts).items() if name not in ("changes", "drawn")}
    known = facts.changes is not None
    return {
        **entry,
        "changes": [_change_document(change) for change in facts.changes or ()] if known else None,
        "boundaries": [_drawn_document(drawn) for drawn in facts.drawn],
    }


def _change_document(change: Change) -> dict[str, Any]:
    return {
        "item": change.item,
        "name": change.name,
        "kind": change.kind,
        "before": _state_document(change.before),
        "after": _state_document(change.after),
    }


def _state_document(entry: State) -> dict[str, Any]:
    return {**asdict(entry), "presence": entry.presence.value, "evidence": entry.evidence.value}


def _drawn_document(drawn: Drawn) -> dict[str, Any]:
    return {
        **asdict(drawn),
        "rules": [rule.id for rule in drawn.rules],
        "evidence": drawn.evidence.value,
    }


def _life_document(timeline: Timeline, told: Life) -> dict[str, Any]:
    return {
        "item": told.item,
        "name": told.name,
        "runs": [
            {
                "first": timeline.turn_at(run.first),
                "last": timeline.turn_at(run.last),
                "word": run.word,
                "state": None if run.state is None else _state_document(run.state),
                "boundaries": [drawn.word for drawn in run.drawn],
            }
            for run in told.runs
        ],
    }


# -- as lines


def lines(report: Report, cells: int) -> Iterator[Line]:
    """The table of turns, or the life of the item."""
    if report.life is not None:
        yield from _life(report, report.life, cells)
    else:
        yield from _turns(report, cells)


def _turns(report: Report, cells: int) -> Iterator[Line]:
    shown = report.facts
    yield from _head(shown, cells)
    layout = [
        Column(""),
        Column("TURN", right=True),
        Column("USED", right=True),
        Column(""),
        Column("SENT", right=True),
        Column("IN", right=True),
        Column("OUT", right=True),
        Column("CUT", right=True),
        Column("MESSAGE", least=20),
    ]
    peak = max((facts.used for facts in shown), default=0)
    rows = [_row(report, place, facts, peak) for place, facts in enumerate(shown, report.first)]
    head, *body = table(layout, rows, cells)
    yield head
    for facts, row in zip(shown, body, strict=True):
        for drawn in facts.drawn:
            yield from _boundary(drawn, facts, cells)
        yield row


def _head(shown: Sequence[Facts], cells: int) -> Iterator[Line]:
    limits = {facts.limit for facts in shown if not facts.failure}
    unit = shown[-1].unit
    limit = limits.pop() if len(limits) == 1 else None
    within = f"; the limit is {limit:,}" if limit is not None else ""
    text = f"USED is the framework's own measure in {unit}{within}. SENT is the request in tokens."
    yield from wrapped(text, cells, tone="muted")
    yield line(Piece("The session is as it was at each turn; files and settings are those of now.", "muted"))


def _row(report: Report, place: int, facts: Facts, peak: int) -> Row:
    mark = Piece("*" if place == report.current else "", "accent")
    number = "next" if facts.turn is None else f"{facts.turn:,}"
    if facts.failure:
        return [mark, number, "", "", "", "", "", "", Piece(facts.failure, "error")]
    bar = "█" * (_BAR * facts.used // max(peak, 1))
    came = left = cut = 0
    for change in facts.changes or ():
        came += change.kind in ("came", "returned")
        left += change.kind in ("left", "unsent")
        cut += change.kind == "cut"
    known = facts.changes is not None
    return [
        mark,
        number,
        f"{facts.used:,}",
        Piece(bar, "accent"),
        f"{facts.sent:,}",
        f"+{came:,}" if known else "",
        Piece(f"−{left:,}" if left else "", "warning"),
        Piece(f"{cut:,}" if cut else "", "warning"),
        one_line(facts.title) if facts.turn else Piece("the turn to come", "muted"),
    ]


def _boundary(drawn: Drawn, facts: Facts, cells: int) -> Iterator[Line]:
    first, *rest = drawn_sentences(drawn, facts.turn)
    yield line(Piece(("── " + first + " ").ljust(min(cells, 100), "─")[:cells], "warning"))
    yield from wrapped(" ".join(rest), cells, indent="   ", tone="muted")


def _life(report: Report, told: Life, cells: int) -> Iterator[Line]:
    name = told.name if told.item in told.name else f"{told.item}  {told.name}"
    yield line(Piece(name, "title"))
    yield from _marks(report, told)
    for run in told.runs:
        if run.state is not None:
            yield BLANK
            yield from _run(report, run, cells)


def _marks(report: Report, told: Life) -> Iterator[Line]:
    """One mark for each turn."""
    facts = report.timeline.facts
    states = [run.state for run in told.runs for _ in range(run.first, run.last + 1)]
    known = [place for place in range(report.first, report.last + 1) if facts[place] is not None]
    for start in range(0, len(known), _MARKS):
        part = known[start : start + _MARKS]
        yield line(
            Piece(f"{_short(report.timeline.turn_at(part[0])):>5} ", "muted"),
            *(_mark(states[place]) for place in part),
            Piece(f" {_short(report.timeline.turn_at(part[-1]))}", "muted"),
        )


def _mark(entry: State | None) -> Piece:
    status = STATUSES.get(entry.presence) if entry is not None else None
    if status is None:
        return Piece("·", "muted")
    return Piece(mark_of(status).mark, mark_of(status).tone)


def _short(turn: int | None) -> str:
    return "next" if turn is None else f"{turn:,}"


def _run(report: Report, run: Run, cells: int) -> Iterator[Line]:
    assert run.state is not None
    places = len(report.timeline)
    when = Piece(f"{span(run.first, run.last, places).capitalize()}: ", "title")
    out = run.state.presence in (Presence.DROPPED, Presence.SUMMARISED, Presence.CUT, Presence.FAILED)
    yield line(when, Piece(run.word, "warning" if out else "plain"))
    if reason := run_reason(run):
        yield from wrapped(reason, cells, indent="  ")
    for drawn in run.drawn:
        told = drawn_sentences(drawn, report.timeline.turn_at(run.first), reason=False)
        yield from wrapped(" ".join(told), cells, indent="  ", tone="muted")
