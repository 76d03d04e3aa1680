"""The picture as lines for a screen reader: one fact a line, in order, no columns, no marks."""

from __future__ import annotations

from collections.abc import Iterator

from promptdbg.analysis.align import align_assembly
from promptdbg.analysis.alignment import Alignment, CellKind
from promptdbg.analysis.blocks import title
from promptdbg.commands.compare import excerpt
from promptdbg.debug import Debugger
from promptdbg.marks import mark_of_section
from promptdbg.model import Assembly
from promptdbg.render import Line, line, write
from promptdbg.text import part_of, plural

_WORDS = {
    CellKind.LISTED: "stored",
    CellKind.SAME: "the same",
    CellKind.REWRITTEN: "rewritten",
    CellKind.MERGED: "merged",
    CellKind.INSERTED: "added",
    CellKind.MOVED: "moved here",
    CellKind.DROPPED: "dropped",
    CellKind.ELSEWHERE: "went into another message",
    CellKind.GONE: "gone",
    CellKind.ABSENT: "not there yet",
}


def print_plain(debugger: Debugger) -> None:
    write(lines(debugger.assembly))


def lines(assembly: Assembly) -> Iterator[Line]:
    """Everything the screens show, as sentences."""
    budget, tokenizer = assembly.budget, assembly.tokenizer
    yield line(f"Prompt of {assembly.engine.title} {assembly.engine.version}, {assembly.engine.fidelity}.")
    about = "" if tokenizer.exact else "estimated, "
    yield line(f"Tokens are {about}counted by {tokenizer.name}.")
    if assembly.turns:
        turn = "the next turn" if assembly.turn is None else f"turn {assembly.turn}"
        yield line(f"This is {turn}; the session has {len(assembly.turns):,}.")
    limit = "There is no limit" if budget.limit is None else f"The limit is {budget.limit:,}"
    yield line(f"{limit}; {budget.used:,} {budget.unit} are used.")
    for part in budget.parts:
        yield line(f"Of these, {part.name}: {part.tokens:,}.")
    if assembly.failure is not None:
        yield line(f"The real framework fails here: {assembly.failure.message}")
    for notice in assembly.warnings:
        yield line(f"Warning{f' at {notice.source}' if notice.source else ''}: {notice.message}.")
    yield from _sections(assembly)
    if assembly.stages:
        yield from _messages(align_assembly(assembly))


def _sections(assembly: Assembly) -> Iterator[Line]:
    yield line(f"{plural(len(assembly.sections), 'section')}.")
    decisions = assembly.decisions_by_item()
    for number, section in enumerate(assembly.sections, 1):
        inside = f", part of {section.parent}" if section.parent else ""
        tokens = part_of(section.tokens, section.tokens_original if section.lost else section.tokens, "token")
        means = mark_of_section(section).means
        if section.unknown:
            yield line(f"Section {number:,}, {section.name}{inside}: {means}.")
        else:
            yield line(f"Section {number:,}, {section.name}{inside}: {section.status}, {means}. {tokens}.")
        for decision in decisions.get(section.id, ()):
            yield line(f"Because: {decision.because}")


def _messages(alignment: Alignment) -> Iterator[Line]:
    names = [column.stage.title for column in alignment.columns]
    for name, column in zip(names, alignment.columns, strict=True):
        yield line(f"{name}: {plural(column.length, 'message')}, {plural(column.tokens, 'token')}.")
    for row in range(alignment.length):
        cells = alignment.cells(row)
        message = next(cell.message for cell in cells if cell.message is not None)
        tokens = plural(message.tokens, "token")
        yield line(f"Message {row + 1:,}, {title(message)}, {tokens}: {excerpt(message)}")
        for name, cell in zip(names, cells, strict=True):
            if cell.kind not in (CellKind.LISTED, CellKind.SAME, CellKind.ABSENT, CellKind.GONE):
                yield line(f"{name}: {_WORDS[cell.kind]}.")
            for decision in cell.decisions:
                yield line(f"Because: {decision.because}")
