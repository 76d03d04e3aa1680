"""Print the assembly of a workspace and session: every section with its status, cost and reason,
the budget, and the stages of the message list. --json prints the document promptdbg/assembly/1.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from promptdbg.analysis.ledger import Entry, Kind, ledger
from promptdbg.commands import options
from promptdbg.marks import MESSAGE_MARKS, SECTION_MARKS, UNKNOWN, mark_of_section
from promptdbg.model import (
    LOSSES,
    Action,
    Assembly,
    Budget,
    Decision,
    Evidence,
    MessageStatus,
    Section,
    Settings,
    Stage,
    StageKind,
    settling,
)
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

if TYPE_CHECKING:
    from promptdbg.debug import Debugger, Opened

_WHY_COLUMN_FROM = 120
"""Columns from which the reason stands beside the numbers; below, it stands under its row."""

_BAR = 30


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    options.add_json(parser)
    parser.add_argument("--no-text", action="store_true", help="with --json: leave out all texts")


def run(arguments: argparse.Namespace) -> int:
    debugger = options.debugger(arguments)
    if arguments.json:
        from promptdbg.export.document import document

        write_json(document(debugger.assembly, text=not arguments.no_text))
    else:
        print_table(debugger)
    return 0


def print_table(debugger: Debugger) -> None:
    write(lines(debugger.opened, debugger.assembly, columns()))


def lines(opened: Opened, assembly: Assembly, cells: int) -> Iterator[Line]:
    """The whole picture, line by line."""
    yield from _head(opened, assembly, cells)
    if assembly.sections:
        yield BLANK
        yield from _sections(assembly, cells)
    yield BLANK
    yield from _ledger(assembly.budget, cells)
    if assembly.stages:
        yield BLANK
        yield from _stages(assembly, cells)
    yield from _warnings(assembly, cells)
    if assembly.failure is not None:
        failure = assembly.failure
        yield BLANK
        yield line(Piece(f"The real framework fails here: {failure.error} in {failure.where}", "error"))
        yield from wrapped(failure.message, cells, indent="  ")


def _head(opened: Opened, assembly: Assembly, cells: int) -> Iterator[Line]:
    engine, tokenizer = assembly.engine, assembly.tokenizer
    yield line(Piece(f"{engine.title} {engine.version}".strip(), "title"))
    facts = [
        ("fidelity", engine.fidelity),
        ("workspace", assembly.workspace),
        ("engine", f"{engine.name}: {opened.detection.reason}"),
    ]
    if (found := opened.inputs.found_version) is not None and found.knob not in assembly.settings.values:
        facts.append(("version", f"{found.name}: {found.reason} (--set {found.knob}=… for another)"))
    if assembly.session is not None:
        facts.append(("session", assembly.session))
    if assembly.turns:
        facts.append(("turn", _turn(assembly)))
    mark = "" if tokenizer.exact else "≈ "
    facts.append(("tokens", f"{mark}{tokenizer.name}" + (f" · {tokenizer.note}" if tokenizer.note else "")))
    if assembly.settings.changed:
        facts.append(("settings", _settings(assembly.settings)))
    for name, value in facts:
        first, *rest = wrapped(value, cells, indent=" " * 11) or [line("")]
        yield line(Piece(f"{name:<11}", "muted"), *first[1:])
        yield from rest


def _turn(assembly: Assembly) -> str:
    count = len(assembly.turns)
    if assembly.turn is None:
        return f"the next one, after {count:,}"
    return f"{assembly.turn:,} of {count:,}: {assembly.turns[assembly.turn - 1].title}"


def _settings(settings: Settings) -> str:
    said = [f"{name}={value}" for name, value in sorted(settings.values.items())]
    said += [f"{item} off" for item in sorted(settings.off)]
    said += [f"{item} priority {number:g}" for item, number in sorted(settings.priorities.items())]
    said += [f"{item} edited" for item in sorted(settings.texts)]
    return ", ".join(said)


# ---- sections -----------------------------------------------------------------------------------


def _sections(assembly: Assembly, cells: int) -> Iterator[Line]:
    wide = cells >= _WHY_COLUMN_FROM
    ranked = any(section.priority is not None for section in assembly.sections)
    tokens = "TOKENS" if assembly.tokenizer.exact else "≈TOKENS"
    titles = [Column("STATE"), Column("SECTION", least=16, middle=True)]
    titles += [Column("PRIO", right=True)] if ranked else []
    titles += [Column(tokens, right=True), Column("OF", right=True), Column("SUM", right=True)]
    titles += [Column("WHY", least=20)] if wide else []
    depths = _depths(assembly)
    decisions = assembly.decisions_by_item()
    total = 0
    rows: list[Row] = []
    for section in assembly.sections:
        total += 0 if section.parent else section.tokens
        rows.append(
            [
                state(mark_of_section(section)),
                Piece(
                    "  " * depths[section.id] + section.name + _evidence(section),
                    "muted" if section.lost else "plain",
                ),
                *([_priority(section.priority)] if ranked else []),
                "?" if section.unknown else f"{section.tokens:,}",
                "" if section.tokens_original == section.tokens else f"{section.tokens_original:,}",
                "" if section.parent else f"{total:,}",
                *([_reason(decisions, section)] if wide else []),
            ]
        )
    head, *body = table(titles, rows, cells)
    yield head
    for section, row in zip(assembly.sections, body, strict=True):
        yield row
        if not wide and section.lost and (why := _reason(decisions, section)):
            yield from wrapped(why, cells, indent=" " * 11 + "  " * depths[section.id], tone="muted")
    counts = Counter(mark_of_section(section) for section in assembly.sections)
    marks = (mark for mark in (*SECTION_MARKS.values(), UNKNOWN) if counts[mark])
    yield line(Piece("  ".join(f"{m.mark} {counts[m]:,} {m.word}" for m in marks), "muted"))


def _depths(assembly: Assembly) -> dict[str, int]:
    depths: dict[str, int] = {}
    for section in assembly.sections:  # a section comes before its parts
        depths[section.id] = depths.get(section.parent, -1) + 1 if section.parent else 0
    return depths


def _evidence(section: Section) -> str:
    """How it is known, where the mark does not say it."""
    return "" if section.evidence is Evidence.COMPUTED or section.unknown else f" ({section.evidence})"


def _priority(priority: float | None) -> str:
    return "" if priority is None else f"{priority:g}"


def _reason(decisions: Mapping[str, tuple[Decision, ...]], section: Section) -> str:
    settled = settling(decisions.get(section.id, ()))
    return settled.because if settled else ""


# ---- budget and stages --------------------------------------------------------------------------


def _ledger(budget: Budget, cells: int) -> Iterator[Line]:
    yield line(Piece("BUDGET", "muted"), Piece(f" in {budget.unit}, by the framework's own measure", "muted"))
    scale = max([budget.used, *(part.tokens for part in budget.parts)])
    rows: list[Row] = [_entry(entry, scale, limited=budget.limit is not None) for entry in ledger(budget)]
    layout = [Column("", least=16, middle=True), Column("", right=True), Column("", least=10)]
    yield from table(layout, rows, cells, indent="  ")


_TONES = {
    Kind.USED: "title",
    Kind.OVER: "error",
    Kind.LIMIT: "title",
    Kind.WINDOW: "muted",
    Kind.RESERVED: "muted",
}


def _entry(entry: Entry, scale: int, *, limited: bool) -> Row:
    """A line of the ledger: name, amount, and for parts a bar."""
    tone = _TONES.get(entry.kind, "plain")
    about = entry.about
    if entry.kind is Kind.PART:
        return [entry.name, f"{entry.amount:,}", Piece(_bar(entry.amount, scale), "accent")]
    if entry.kind is Kind.USED and not limited:
        about = "no limit"
    amount = f"{entry.amount:+,}" if entry.kind is Kind.GAP else f"{entry.amount:,}"
    return [Piece(entry.name, tone), Piece(amount, tone), about]


def _bar(part: int, scale: int) -> str:
    return "█" * round(_BAR * part / scale) if part > 0 and scale > 0 else ""


def _stages(assembly: Assembly, cells: int) -> Iterator[Line]:
    only = len(assembly.stages) == 1
    rows: list[Row] = [
        [stage.name, f"{len(stage.messages):,}", f"{stage.tokens:,}", _happened(stage, only=only)]
        for stage in assembly.stages
    ]
    tokens = "TOKENS" if assembly.tokenizer.exact else "≈TOKENS"
    layout = [
        Column("STAGE", least=16, middle=True),
        Column("MESSAGES", right=True),
        Column(tokens, right=True),
        Column("WHAT HAPPENED", least=20),
    ]
    head, *body = table(layout, rows, cells)
    yield head
    sections = {section.id for section in assembly.sections}
    for stage, row in zip(assembly.stages, body, strict=True):
        yield row
        lost = [d for d in assembly.decisions if d.stage == stage.name and d.item not in sections]
        for decision, count in _by_rule(lost):
            times = f"{count:,} × " if count > 1 else ""
            why = f"{times}{decision.item}: {decision.because} [{decision.rule}]"
            yield from wrapped(why, cells, indent="    ", tone="muted")


def _by_rule(decisions: Iterable[Decision]) -> Iterator[tuple[Decision, int]]:
    """The first loss by each rule, and how many there are."""
    first: dict[str, Decision] = {}
    counts: Counter[str] = Counter()
    for decision in decisions:
        if decision.action in LOSSES or decision.action is Action.REWRITE:
            first.setdefault(decision.rule, decision)
            counts[decision.rule] += 1
    for rule, decision in first.items():
        yield decision, counts[rule]


def _happened(stage: Stage, *, only: bool) -> str:
    counts = Counter(stage.statuses.values())
    counts[MessageStatus.DROPPED] = len(stage.dropped)
    words = [
        f"{n:,} {status}"
        for status in MESSAGE_MARKS
        if status is not MessageStatus.KEPT and (n := counts[status])
    ]
    if stage.kind is StageKind.SESSION:
        return ", ".join(["as stored", *words])
    return ", ".join(words) or ("as recorded" if only else "no change")


def _warnings(assembly: Assembly, cells: int) -> Iterator[Line]:
    if assembly.warnings:
        yield BLANK
    for notice in assembly.warnings:
        where = f"{notice.source.below(assembly.workspace)}: " if notice.source else ""
        first, *rest = wrapped(f"{where}{notice.message} [{notice.code}]", cells, indent="  ")
        yield line(Piece("! ", "warning"), *first[1:])
        yield from rest
