"""Explain one item: its life through the stages, every decision with its rule and arithmetic, what
stood around it in the fill order, where exactly it was cut, and the smallest changes that would
keep it. Of a file that is not read it says why not. --json prints the same as promptdbg/why/1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from promptdbg.analysis.alignment import mark_of_message
from promptdbg.analysis.cut import Cut
from promptdbg.analysis.fixes import Fix, fixes
from promptdbg.analysis.items import find_item
from promptdbg.analysis.undecided import undecided
from promptdbg.analysis.why import Ruling, Why, final_place, measured_by, why
from promptdbg.commands import options
from promptdbg.errors import UsageError
from promptdbg.marks import UNKNOWN, mark_of
from promptdbg.model import Assembly, MessageStatus, SectionStatus
from promptdbg.render import (
    BLANK,
    Column,
    Line,
    Piece,
    Row,
    columns,
    line,
    on_disk,
    state,
    table,
    wrapped,
    write,
    write_json,
)
from promptdbg.text import one_line, part_of, plural

if TYPE_CHECKING:
    from promptdbg.analysis.tried import Tried
    from promptdbg.debug import Debugger

SCHEMA = "promptdbg/why/1"


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument(
        "item", metavar="ITEM", help="an item: its id, its name, the end of its path; or a file"
    )
    options.add_json(parser)
    parser.add_argument("--no-fixes", action="store_true", help="do not search for what would keep it")


def run(arguments: argparse.Namespace) -> int:
    debugger = options.debugger_for(arguments, arguments.item, "why FOLDER ITEM")
    answer = explained(debugger, arguments.item)
    wanted = answer.lost and not answer.because and not arguments.no_fixes
    offers = offered(debugger, answer.item) if wanted else ()
    if arguments.json:
        write_json(document(answer, offers))
    else:
        write(lines(debugger.assembly, answer, offers, columns()))
    return 0


def explained(debugger: Debugger, word: str) -> Why:
    """The answer about the item that a word means, else about the file of the workspace that it names.

    Raises:
        UsageError: it means nothing, or several items.
    """
    from promptdbg.analysis.unread import items_from, named_file, why_not_read

    assembly = debugger.assembly
    try:
        return why(assembly, find_item(assembly, word))
    except UsageError:
        path = named_file(debugger.opened, word)
        if path is None:
            raise
        items = items_from(debugger.opened, assembly, path)
        if len(items) > 1:
            some = ", ".join(items[:6]) + (f" and {len(items) - 6:,} more" if len(items) > 6 else "")
            raise UsageError(f"{len(items):,} items come from {word}", hint=f"name one: {some}") from None
        if items:
            return why(assembly, items[0])
    return why_not_read(debugger.opened, assembly, path, debugger.counter)


def offered(debugger: Debugger, item: str, tried: Tried | None = None) -> tuple[Fix, ...]:
    """The fixes for one item of what is open; none for a recording, which cannot be changed."""
    if debugger.opened.recorded:
        return ()
    return fixes(debugger.preview, debugger.settings, debugger.opened.knobs, item, tried=tried)


def document(answer: Why, offers: Sequence[Fix]) -> dict[str, Any]:
    """The answer as JSON; the keys are the fields of ``Why``, ``Ruling`` and ``Fix``."""
    entry = asdict(answer)
    entry["rulings"] = [{**asdict(ruling), "arithmetic": ruling.arithmetic} for ruling in answer.rulings]
    return {"schema": SCHEMA, **entry, "lost": answer.lost, "fixes": [fix_document(fix) for fix in offers]}


def fix_document(fix: Fix) -> dict[str, Any]:
    """A fix as JSON, its settings as the manifest writes them."""
    from promptdbg.export.document import settings_document

    return {
        "item": fix.item,
        "kind": fix.kind,
        "text": fix.text,
        "cost": fix.cost,
        "pushes_out": list(fix.pushes_out),
        "settings": settings_document(fix.settings),
    }


def lines(assembly: Assembly, answer: Why, offers: Sequence[Fix], cells: int) -> Iterator[Line]:
    """The answer, line by line."""
    yield _head(answer)
    where = f" · {on_disk(answer.source)}" if answer.source else ""
    yield line(Piece(f"{answer.kind} · {_tokens(answer)} · {answer.evidence}{where}", "muted"))
    if answer.stand_in:
        yield from wrapped(f"Shown here: {answer.stand_in}.", cells)
    if not answer.rulings:
        place = final_place(assembly, answer.item)
        seen = f" It is message {place[0]} of the final list." if place and not answer.lost else ""
        yield BLANK
        yield from wrapped(answer.because or undecided(assembly, answer) + seen, cells)
    for ruling in answer.rulings:
        yield BLANK
        yield from _ruling(answer, ruling, cells)
    if answer.cut is not None:
        yield BLANK
        yield from _cut(answer.cut, cells)
    if answer.life:
        yield BLANK
        yield from _life(answer, cells)
    if len(answer.around) > 1:
        yield BLANK
        yield from _around(answer, measured_by(assembly.engine), cells)
    if offers:
        yield BLANK
        yield line(Piece("It would be whole if you", "title"))
        for fix in offers:
            yield from fix_lines(fix, cells)


def _head(answer: Why) -> Line:
    known = {status.value: status for status in (*SectionStatus, *MessageStatus)}
    status = known.get(answer.status)
    mark = state(mark_of(status)) if status is not None else Piece(answer.status.upper())
    if answer.unknown:
        mark = state(UNKNOWN)
    elif isinstance(status, MessageStatus):
        mark = state(mark_of_message(status, {ruling.decision.action for ruling in answer.rulings}))
    name = "" if answer.name == answer.item else f"  {answer.name}"
    return line(mark, "  ", Piece(answer.item, "title"), Piece(name, "muted"))


def _tokens(answer: Why) -> str:
    if answer.unknown:
        return "? tokens"
    return part_of(answer.tokens, answer.tokens_original, "token")


def _ruling(answer: Why, ruling: Ruling, cells: int) -> Iterator[Line]:
    decision, rule = ruling.decision, ruling.rule
    about = "" if decision.item == answer.item else f"{decision.item}: "
    yield from wrapped(about + decision.because, cells)
    if ruling.arithmetic:
        yield from wrapped(ruling.arithmetic, cells, indent="  ")
    if rule is not None:
        named = f"{rule.title} [{rule.id}] · {rule.framework} {rule.version} · {rule.source}"
        yield from wrapped(f"rule: {named}", cells, indent="  ", tone="muted")
        if rule.note:
            yield from wrapped(f"note: {rule.note}", cells, indent="  ", tone="muted")
    else:
        yield line(Piece(f"  rule: {decision.rule}", "muted"))


def _cut(cut: Cut, cells: int) -> Iterator[Line]:
    at = f"Cut at line {cut.line:,}, column {cut.column:,} (byte {cut.byte:,})"
    inside = f", inside a {' and a '.join(cut.inside)}" if cut.inside else ", at the edge of a line"
    yield from wrapped(at + inside + ".", cells)
    lost = f"Lost: {cut.lost_lines:,} of {plural(cut.total_lines, 'line')}, {plural(cut.lost_bytes, 'byte')}."
    yield from wrapped(f"{lost} First lost line: {one_line(cut.first_lost_part) or '(blank)'}", cells)
    if cut.lost_headings:
        yield from wrapped("Lost headings: " + " · ".join(cut.lost_headings), cells)


def _life(answer: Why, cells: int) -> Iterator[Line]:
    rows: list[Row] = [
        [
            step.stage,
            f"{step.presence} into {step.into}" if step.into else step.presence,
            "" if step.tokens is None else f"{step.tokens:,}",
        ]
        for step in answer.life
    ]
    yield from table([Column("STAGE"), Column("IT IS", least=12), Column("TOKENS", right=True)], rows, cells)


def _around(answer: Why, by: str, cells: int) -> Iterator[Line]:
    rows: list[Row] = [
        [
            Piece("▶" if entry.this else " "),
            Piece(
                entry.name if entry.name == entry.item else f"{entry.item} {entry.name}",
                "title" if entry.this else "plain",
            ),
            entry.status,
            f"{entry.size:,}",
            f"{entry.running:,}",
        ]
        for entry in answer.around
    ]
    unit = f"{answer.unit} by {by}".upper() if by else answer.unit.upper()
    layout = [
        Column(""),
        Column("FILL ORDER", least=16, middle=True),
        Column("STATUS"),
        Column(unit, right=True),
        Column("KEPT SO FAR", right=True),
    ]
    yield from table(layout, rows, cells)


def fix_lines(fix: Fix, cells: int) -> Iterator[Line]:
    """One fix, with what it would push out."""
    yield from wrapped(f"· {fix.text}", cells, indent="  ")
    if fix.pushes_out:
        shown = ", ".join(fix.pushes_out[:6])
        more = f" and {len(fix.pushes_out) - 6} more" if len(fix.pushes_out) > 6 else ""
        yield from wrapped(f"then lost: {shown}{more}", cells, indent="    ", tone="muted")
