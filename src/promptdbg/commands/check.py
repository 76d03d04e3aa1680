"""Demand things of a prompt, as a gate for CI: texts that must reach the model, items that must not
be lost, sizes, providers' rules, nothing lost that a baseline had. The exit code is 1 where a demand
is broken. --format sarif is for code hosts.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptdbg.analysis.check import Demands, Outcome, check
from promptdbg.analysis.requests import PROVIDERS
from promptdbg.commands import options
from promptdbg.errors import UsageError
from promptdbg.model import Source
from promptdbg.render import Line, Piece, columns, current_folder, line, on_disk, wrapped, write, write_json

if TYPE_CHECKING:
    from promptdbg.debug import Debugger
    from promptdbg.files.scan import TextFile

SCHEMA = "promptdbg/check/1"


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    group = parser.add_argument_group("what must hold")
    group.add_argument(
        "--must-reach",
        action="append",
        default=[],
        metavar="TEXT",
        help="a text the model must see; repeatable",
    )
    group.add_argument(
        "--no-drop", action="append", default=[], metavar="GLOB", help="items that must be whole; repeatable"
    )
    group.add_argument(
        "--max-tokens", type=int, metavar="N", help="the most the prompt may cost, as the framework counts"
    )
    group.add_argument(
        "--max-section",
        action="append",
        default=[],
        metavar="NAME=N",
        help="the most one item may cost; repeatable",
    )
    group.add_argument(
        "--lint",
        action="append",
        default=[],
        choices=PROVIDERS,
        help="a provider whose rules must be kept; repeatable",
    )
    group.add_argument(
        "--baseline", metavar="FILE", help="a saved assembly (inspect --json): nothing new may be lost"
    )
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")


def run(arguments: argparse.Namespace) -> int:
    demands = _demands(arguments)
    debugger = options.debugger(arguments)
    outcomes = check(debugger.assembly, demands, partial(_unread, debugger))
    if arguments.format == "json":
        write_json(
            {"schema": SCHEMA, "ok": all(o.ok for o in outcomes), "outcomes": [asdict(o) for o in outcomes]}
        )
    elif arguments.format == "sarif":
        from promptdbg.export.sarif import sarif

        write_json(sarif(outcomes, debugger.assembly.workspace, current_folder(), _any_place(debugger)))
    else:
        write(lines(outcomes, columns()))
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def _unread(debugger: Debugger) -> Iterator[TextFile]:
    """The files that ``trace`` looks into as well."""
    from promptdbg.analysis.unread import workspace_files

    return workspace_files(debugger.opened)


def _any_place(debugger: Debugger) -> Source:
    """The place of what is about the prompt as a whole: the manifest, else the first file it is made of."""
    if debugger.opened.workspace.manifest is not None:
        return debugger.opened.workspace.source()
    sources = (section.source for section in debugger.assembly.sections if section.source is not None)
    return next(sources, Source(debugger.assembly.workspace))


def _demands(arguments: argparse.Namespace) -> Demands:
    demands = Demands(
        must_reach=tuple(arguments.must_reach),
        no_drop=tuple(arguments.no_drop),
        max_tokens=arguments.max_tokens,
        max_sections=dict(_size(text) for text in arguments.max_section),
        lint=tuple(arguments.lint),
        baseline=_baseline(arguments.baseline),
    )
    if demands == Demands(max_sections={}):
        raise UsageError("nothing is demanded", hint="see: promptdbg check --help")
    return demands


def _size(text: str) -> tuple[str, int]:
    name, found, number = text.rpartition("=")
    if not found or not (number.isascii() and number.isdecimal()) or len(number) > 18:
        raise UsageError(f"{text!r} is not NAME=N", where="--max-section")
    return name, int(number)


def _baseline(name: str | None) -> Any:
    if name is None:
        return None
    from promptdbg.export.load import read_json

    return read_json(Path(name))


def lines(outcomes: Sequence[Outcome], cells: int) -> Iterator[Line]:
    """The outcomes, the broken ones with their place."""
    for outcome in outcomes:
        where = f" ({on_disk(outcome.source)})" if outcome.source and not outcome.ok else ""
        first, *rest = wrapped(f"{outcome.message}{where}", cells, indent=" " * 6)
        yield line(
            Piece("ok    " if outcome.ok else "FAIL  ", "accent" if outcome.ok else "error"), *first[1:]
        )
        yield from rest
    broken = sum(not outcome.ok for outcome in outcomes)
    yield line(
        Piece(f"{broken} of {len(outcomes)} broken" if broken else f"all {len(outcomes)} hold", "title")
    )
