"""Find a text in everything the agent loads (and in the files it does not), and say of each place
whether the model saw it, where, or which rule took it away. The exit code is 1 where the text is
found and the model saw none of it. --json prints promptdbg/trace-result/1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from promptdbg.analysis.excerpt import excerpt
from promptdbg.analysis.trace import Hit, TraceResult, trace
from promptdbg.commands import options
from promptdbg.model import Assembly
from promptdbg.render import BLANK, Line, Piece, columns, line, on_disk, wrapped, write, write_json
from promptdbg.text import plural, share

if TYPE_CHECKING:
    from promptdbg.debug import Debugger

SCHEMA = "promptdbg/trace-result/1"

_TONES = {"seen": "accent", "not read": "muted"}


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument("text", metavar="TEXT", help="the text to look for")
    options.add_json(parser)
    parser.add_argument(
        "--loaded-only", action="store_true", help="do not look into files that the engine does not read"
    )


def run(arguments: argparse.Namespace) -> int:
    debugger = options.debugger_for(arguments, arguments.text, "trace FOLDER TEXT")
    result = traced(debugger, arguments.text, loaded_only=arguments.loaded_only)
    if arguments.json:
        write_json(document(result))
    else:
        write(lines(debugger.assembly, result, columns()))
    return 0 if result.seen or not result.hits else 1


def traced(debugger: Debugger, text: str, *, loaded_only: bool = False) -> TraceResult:
    """The trace of a text in what is open, and in the other files of its workspace."""
    from promptdbg.analysis.unread import workspace_files

    others = () if loaded_only else workspace_files(debugger.opened)
    return trace(debugger.assembly, text, others)


def document(result: TraceResult) -> dict[str, Any]:
    """The result as JSON; the keys are the fields of ``TraceResult`` and ``Hit``."""
    return {"schema": SCHEMA, "seen": result.seen, **asdict(result)}


def lines(assembly: Assembly, result: TraceResult, cells: int) -> Iterator[Line]:
    """The result, line by line."""
    if not result.hits:
        yield line("Nothing that was loaded holds this text, and no other file of the workspace does.")
        return
    count = f"{len(result.hits)}{'+' if result.more else ''}"
    how = {"exact": "", "folded": " (case and white space aside)", "words": " (by its words)"}[result.match]
    places = "place" if len(result.hits) == 1 else "places"
    yield line(Piece(f"{count} {places}{how}. {_verdict(result)}", "title"))
    for hit in result.hits:
        yield BLANK
        yield from _hit(assembly, hit, cells)


def _verdict(result: TraceResult) -> str:
    """How many of the places the model saw."""
    seen = sum(1 for hit in result.hits if hit.verdict == "seen")
    if len(result.hits) == 1:
        return "The model saw it." if seen else "The model did not see it."
    return f"The model saw {f'{seen:,} of {len(result.hits):,}' if seen else 'none of them'}."


def _hit(assembly: Assembly, hit: Hit, cells: int) -> Iterator[Line]:
    where = f" · {on_disk(hit.source)}" if hit.source else ""
    place = f"{hit.item}, line {hit.line:,}, column {hit.column:,}{where}"
    tone = _TONES.get(hit.verdict, "warning")
    yield line(Piece(f"{hit.verdict.upper():<9}", tone), Piece(place, "plain"))
    before, shown, after = excerpt(hit, cells - 2)
    yield line("  ", Piece(before.lstrip(), "muted"), Piece(shown, "title"), Piece(after, "muted"))
    section = assembly.section(hit.item)
    if section is not None or hit.seen_at is None:  # of a message that is seen, the last line says it all
        yield from wrapped(hit.because, cells, indent="  ")
    if section is not None and section.stand_in:
        yield from wrapped(f"shown here: {section.stand_in}", cells, indent="  ", tone="muted")
    if hit.decision is not None and (rule := assembly.rule(hit.decision.rule)) is not None:
        named = f"{rule.title} [{rule.id}] · {rule.framework} {rule.version} · {rule.source}"
        yield from wrapped(f"stage {hit.stage}, rule: {named}", cells, indent="  ", tone="muted")
    if hit.seen_at is not None:
        at = hit.seen_at
        whole = "window" if assembly.budget.window else "request"
        text = (
            f"message {at.index} ({at.message}) of the final list, character {at.offset + 1:,}; "
            f"{plural(at.tokens_before, 'token')} before it, {share(at.share)} into the {whole}"
        )
        yield from wrapped(text, cells, indent="  ", tone="muted")
