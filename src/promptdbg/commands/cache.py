"""The prefix that this request shares with the one a turn before: the first byte that differs, what
changed there, and the tokens behind it that a provider's prompt cache loses. --against compares
with a scenario, another turn, session or workspace, or saved JSON instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from promptdbg.analysis.cache import CacheReport, compare_prefix
from promptdbg.commands import options
from promptdbg.errors import UsageError
from promptdbg.model import Assembly
from promptdbg.render import Line, Piece, columns, line, wrapped, write, write_json
from promptdbg.text import plural
from promptdbg.workspace import MANIFEST_NAME

if TYPE_CHECKING:
    from promptdbg.debug import Debugger

SCHEMA = "promptdbg/cache/1"

_ELSEWHERE = "a folder or JSON of a prompt"


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument(
        "--against",
        metavar="SCENARIO|TURN|FILE",
        help="what to compare with, as in compare; default: the turn before",
    )
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    debugger = options.debugger(arguments)
    earlier, name = _earlier(debugger, arguments.against)
    report = compare_prefix(earlier, debugger.assembly, debugger.counter)
    if arguments.json:
        write_json(document(report, name))
    else:
        write(lines(report, name, columns()))
    return 0


def _earlier(debugger: Debugger, against: str | None) -> tuple[Assembly, str]:
    """The request to compare with, and its name."""
    turns = debugger.opened.turns
    if against is None:
        turn = (debugger.settings.turn or len(turns) + 1) - 1
        if turn < 1 or debugger.opened.recorded:
            raise _nothing_before(debugger)
        return debugger.preview(debugger.settings.with_turn(turn)), f"turn {turn}"
    from promptdbg.export.opening import prompt_named

    return prompt_named(against, debugger)


def _nothing_before(debugger: Debugger) -> UsageError:
    """That there is no turn before this one, and what there is to compare with instead. The option is
    named only where it was given."""
    opened = debugger.opened
    if opened.recorded:
        what = "a recording holds one request: there is none before it"
        return UsageError(what, hint=f"--against takes {_ELSEWHERE}")
    turns = len(opened.turns)
    manifest = opened.workspace.manifest
    scenarios = ", ".join(sorted(manifest.scenarios)) if manifest else ""
    there = [f"a scenario ({scenarios})"] if scenarios else []
    there += [f"a turn (1 to {turns:,})"] if turns > 1 else []
    there += ["a session file"] if opened.engine.session_format is not None else []
    more = "" if scenarios else f"; {MANIFEST_NAME} may hold scenarios"
    return UsageError(
        "there is no turn before this one",
        where="--turn" if debugger.settings.turn is not None else "",
        hint=f"--against takes {', '.join([*there, _ELSEWHERE])}{more}",
    )


def document(report: CacheReport, name: str) -> dict[str, Any]:
    """The report as JSON; the keys are the fields of ``CacheReport`` and ``Break``."""
    return {"schema": SCHEMA, "against": name, **asdict(report), "lost_tokens": report.lost_tokens}


def lines(report: CacheReport, name: str, cells: int) -> Iterator[Line]:
    """The report, line by line."""
    share = report.shared_tokens / report.total_tokens if report.total_tokens else 1
    yield line(
        Piece(f"{report.shared_tokens:,} of {plural(report.total_tokens, 'token')}", "title"),
        f" ({share:.0%}) are the same as in {name}; {report.lost_tokens:,} come after.",
    )
    broken = report.broken
    if broken is None:
        yield line("It begins with the whole of the earlier request: the cache holds all of it.")
        return
    yield from wrapped(
        f"The first byte that differs is {broken.byte:,}, in {broken.item} ({broken.title}), "
        f"byte {broken.inside:,} of it.",
        cells,
    )
    if broken.cause:
        yield from wrapped(f"Cause: {broken.cause}.", cells)
    yield line(Piece("  before  ", "muted"), Piece(broken.common, "muted"), Piece(broken.before, "warning"))
    yield line(Piece("  now     ", "muted"), Piece(broken.common, "muted"), Piece(broken.after, "accent"))
