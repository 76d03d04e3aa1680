"""Align the message lists of one prompt: as stored, as first assembled, as sent, with what happened
to every message and why. Or align what is sent with what another scenario, turn, session, workspace
or saved JSON sends (--against), or with a request that was really sent (--final); then the exit code is
1 where they differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from promptdbg.analysis.align import align_assemblies, align_assembly
from promptdbg.analysis.alignment import Alignment, Cell, CellKind, Run
from promptdbg.analysis.blocks import title
from promptdbg.analysis.items import message_texts
from promptdbg.commands import options
from promptdbg.errors import UsageError
from promptdbg.marks import mark_of_section
from promptdbg.model import Assembly, Message, Section
from promptdbg.render import (
    BLANK,
    Column,
    Line,
    Piece,
    Row,
    columns,
    line,
    state,
    table,
    wrapped,
    write,
    write_json,
)
from promptdbg.text import clip, one_line, pad, plural, width

SCHEMA = "promptdbg/compare/1"

_GUTTER = 5

_TONES = {
    CellKind.REWRITTEN: "warning",
    CellKind.MERGED: "accent",
    CellKind.INSERTED: "accent",
    CellKind.MOVED: "accent",
    CellKind.DROPPED: "muted",
    CellKind.ELSEWHERE: "muted",
}


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument(
        "--against",
        metavar="SCENARIO|TURN|FILE",
        help="a scenario, a user message's number, a session file, a folder, or JSON of a prompt",
    )
    parser.add_argument(
        "--final", metavar="FILE", help="a recorded request (JSON) to compare what is sent with"
    )
    parser.add_argument(
        "--stages", metavar="A,B,…", default="", help="the lists to show; default: session, initial, final"
    )
    parser.add_argument("--all", action="store_true", help="show rows that are the same in all lists, too")
    options.add_json(parser)
    parser.add_argument("--no-text", action="store_true", help="leave out the texts of the messages")


def run(arguments: argparse.Namespace) -> int:
    debugger = options.debugger(arguments)
    other = None
    if arguments.against is not None:
        from promptdbg.export.opening import prompt_named

        other, _ = prompt_named(arguments.against, debugger)
    aligned = _aligned(debugger.assembly, other, arguments)
    text = not arguments.no_text
    if arguments.json:
        write_json(document(aligned, debugger.assembly, other, text=text))
    else:
        names = [] if other is None else ["as it is", f"against {arguments.against}"]
        write(lines(aligned, columns(), names, everything=arguments.all, text=text))
        if other is not None:
            write(_section_lines(debugger.assembly, other, columns()))
    one_prompt = other is None and arguments.final is None
    return 0 if one_prompt or not _differ(aligned, debugger.assembly, other) else 1


def _aligned(assembly: Assembly, other: Assembly | None, arguments: argparse.Namespace) -> Alignment:
    if other is not None:
        return align_assemblies(assembly, other)
    stages = [name.strip() for name in arguments.stages.split(",") if name.strip()]
    known = [stage.name for stage in assembly.stages]
    for name in stages:
        if name not in known:
            raise UsageError(f"no list {name!r}", where="--stages", hint="one of " + ", ".join(known))
    if arguments.final is None:
        return align_assembly(assembly, stages)
    from promptdbg.commands.recorded import recorded_stage

    recorded = recorded_stage(Path(arguments.final), options.counter(arguments))
    return align_assembly(assembly, stages or [assembly.stages[-1].name], recorded=recorded)


def _differ(aligned: Alignment, left: Assembly, right: Assembly | None) -> bool:
    return any(aligned.touched) or (right is not None and bool(_changed_sections(left, right)))


# ---- as text ------------------------------------------------------------------------------------


def lines(
    aligned: Alignment, cells: int, names: Sequence[str] = (), *, everything: bool, text: bool
) -> Iterator[Line]:
    """The lists side by side, runs of equal rows folded into one line each.

    Args:
        names: what to call the columns; without them their stages' titles.
    """
    names = names or [column.stage.title for column in aligned.columns]
    room = (cells - _GUTTER) // max(len(aligned.columns), 1) - 3
    head: list[Piece] = [Piece(" " * _GUTTER)]
    for name, column in zip(names, aligned.columns, strict=True):
        title = one_line(f"{name} · {column.length:,}")
        head += [Piece("│ ", "muted"), Piece(pad(clip(title, room), room) + " ", "title")]
    yield tuple(head)
    folds = {fold.start: fold for fold in (() if everything else aligned.folds())}
    row = 0
    said: list[str] = []
    while row < aligned.length:
        if fold := folds.get(row):
            yield _folded(fold)
            row = fold.end
            continue
        cell_row = aligned.cells(row)
        yield from _row(row, cell_row, room, text)
        reasons = _reasons(cell_row)
        if reasons != said:  # a run of rows that one rule took out says why once
            for reason in reasons:
                yield from wrapped(reason, cells, indent=" " * (_GUTTER + 2), tone="muted")
        said = reasons
        row += 1
    yield BLANK
    rows: list[Row] = [
        [Piece(name, "title"), f"{column.tokens:,}", f"{column.delta:+,}" if number else ""]
        for number, (name, column) in enumerate(zip(names, aligned.columns, strict=True))
    ]
    layout = [Column("LIST", least=16), Column("TOKENS", right=True), Column("CHANGE", right=True)]
    yield from table(layout, rows, cells)


def _folded(fold: Run) -> Line:
    return line(Piece(f"{'··':>4}  {plural(len(fold), 'row')} the same in all lists", "muted"))


def _row(row: int, here: Sequence[Cell], room: int, text: bool) -> Iterator[Line]:
    first: list[Piece] = [Piece(f"{row + 1:>4} ", "muted")]
    second: list[Piece] = [Piece(" " * _GUTTER)]
    shows_text = False
    for cell in here:
        tone = _TONES.get(cell.kind, "plain")
        first += [Piece("│", "muted"), Piece(cell.sign + pad(_label(cell, room), room) + " ", tone)]
        excerpt = _excerpt(cell) if text else ""
        shows_text = shows_text or bool(excerpt)
        second += [Piece("│ ", "muted"), Piece(pad(clip(excerpt, room), room) + " ", "muted")]
    yield tuple(first)
    if shows_text:
        yield tuple(second)


def _reasons(here: Sequence[Cell]) -> list[str]:
    """Why the row is not the same everywhere, each reason once."""
    decisions = (decision for cell in here if cell.word for decision in cell.decisions)
    return list(dict.fromkeys(f"{decision.because} [{decision.rule}]" for decision in decisions))


def _label(cell: Cell, room: int) -> str:
    """Role, what happened, and tokens at the right end."""
    if cell.kind is CellKind.SAME:
        return ""
    if cell.message is None:
        return cell.word
    tokens = f"{cell.message.tokens:,}"
    name = title(cell.message) + (f" {cell.word}" if cell.word else "")
    left = max(room - width(tokens) - 1, 1)
    return pad(clip(one_line(name), left), left) + " " + tokens


def _excerpt(cell: Cell) -> str:
    if cell.message is None or cell.kind is CellKind.SAME:
        return ""
    return excerpt(cell.message)


def excerpt(message: Message) -> str:
    """The first line of what a message says, safe to show."""
    return next((found for text in message_texts(message) if (found := one_line(text))), "")


def _changed_sections(left: Assembly, right: Assembly) -> dict[str, tuple[Section | None, Section | None]]:
    """Sections that only one has, or that stand differently in the two."""
    before = {section.id: section for section in left.sections}
    after = {section.id: section for section in right.sections}
    pairs = {item: (before.get(item), after.get(item)) for item in [*before, *after]}
    return {
        item: (old, new)
        for item, (old, new) in pairs.items()
        if old is None or new is None or (old.status, old.output) != (new.status, new.output)
    }


def _section_lines(left: Assembly, right: Assembly, cells: int) -> Iterator[Line]:
    changed = _changed_sections(left, right)
    if not changed:
        return
    rows = [[item, *_side(old), *_side(new)] for item, (old, new) in changed.items()]
    layout = [Column("SECTIONS THAT DIFFER", least=20, middle=True)]
    layout += 2 * [Column("STATE"), Column("TOKENS", right=True)]
    yield BLANK
    yield from table(layout, rows, cells)


def _side(section: Section | None) -> list[Piece | str]:
    if section is None:
        return ["–", ""]
    return [state(mark_of_section(section)), "?" if section.unknown else f"{section.tokens:,}"]


# ---- as JSON ------------------------------------------------------------------------------------


def document(
    aligned: Alignment, assembly: Assembly, other: Assembly | None, *, text: bool = True
) -> dict[str, Any]:
    """The alignment as one JSON document."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "columns": [
            {
                "name": column.stage.name,
                "kind": column.stage.kind.value,
                "title": column.stage.title,
                "messages": column.length,
                "tokens": column.tokens,
                "delta": column.delta,
            }
            for column in aligned.columns
        ],
        "rows": [
            {
                "changed": aligned.changed(row),
                "cells": [_cell_document(cell, text) for cell in aligned.cells(row)],
            }
            for row in range(aligned.length)
        ],
    }
    if other is not None:
        found["sections"] = [
            {"id": item, "before": _side_document(old), "after": _side_document(new)}
            for item, (old, new) in _changed_sections(assembly, other).items()
        ]
    return found


def _side_document(section: Section | None) -> dict[str, Any] | None:
    return None if section is None else {"status": section.status.value, "tokens": section.tokens}


def _cell_document(cell: Cell, text: bool) -> dict[str, Any]:
    message = cell.message
    entry: dict[str, Any] = {
        "kind": cell.kind.value,
        "id": message.id if message else None,
        "role": message.role if message else None,
        "tokens": message.tokens if message else None,
        "row": cell.other,
        "decisions": [
            {
                "rule": decision.rule,
                "action": decision.action.value,
                "before": decision.before,
                "after": decision.after,
                "because": decision.because,
            }
            for decision in cell.decisions
        ],
    }
    if text:
        entry["content"] = message.content if message else None
    return entry
