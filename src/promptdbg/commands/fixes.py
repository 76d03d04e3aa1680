"""The smallest single changes that would keep what was lost: each was found by assembling again,
and says what else it would push out. Without ITEM, for everything that was lost.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from promptdbg.analysis.fixes import Fix
from promptdbg.analysis.items import find_item
from promptdbg.analysis.tried import Tried, lost_items
from promptdbg.commands import options
from promptdbg.commands.why import fix_document, fix_lines, offered
from promptdbg.errors import UsageError
from promptdbg.render import BLANK, Line, Piece, columns, line, progress, wrapped, write, write_json

SCHEMA = "promptdbg/fixes/1"


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument("item", nargs="?", metavar="ITEM", help="the lost item; default: all of them")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    options.place_item(arguments)
    debugger = options.debugger(arguments)
    if debugger.opened.recorded:
        raise UsageError(
            "this is a recording: no change can be tried in it", hint="open the workspace itself"
        )
    assembly = debugger.assembly
    lost = (find_item(assembly, arguments.item),) if arguments.item else lost_items(assembly)
    tried = Tried(debugger.preview, debugger.settings)
    found: dict[str, tuple[Fix, ...]] = {}
    for number, item in enumerate(lost, 1):
        progress(f"{number} of {len(lost)}: {item}" if len(lost) > 1 else "")
        found[item] = offered(debugger, item, tried)
    progress("")
    if arguments.json:
        write_json(document(found))
    else:
        write(lines(found, columns()))
    return 0


def document(found: dict[str, tuple[Fix, ...]]) -> dict[str, Any]:
    """The fixes as JSON, by item."""
    return {
        "schema": SCHEMA,
        "items": [
            {"item": item, "fixes": [fix_document(fix) for fix in offers]} for item, offers in found.items()
        ],
    }


def lines(found: dict[str, tuple[Fix, ...]], cells: int) -> Iterator[Line]:
    """The fixes, item by item."""
    if not found:
        yield line("Nothing was lost.")
    for number, (items, offers) in enumerate(_alike(found)):
        if number:
            yield BLANK
        more = f" and {len(items) - 6:,} more" if len(items) > 6 else ""
        yield from wrapped(", ".join(items[:6]) + more, cells, tone="title")
        for fix in offers:
            yield from fix_lines(fix, cells)
        if not offers:
            yield line(Piece("  no single change keeps it whole", "muted"))


def _alike(found: dict[str, tuple[Fix, ...]]) -> list[tuple[list[str], tuple[Fix, ...]]]:
    """The items whose fixes read the same, together, where the first of them stands."""
    groups: dict[tuple[tuple[str, tuple[str, ...]], ...], tuple[list[str], tuple[Fix, ...]]] = {}
    for item, offers in found.items():
        key = tuple((fix.text, fix.pushes_out) for fix in offers)
        groups.setdefault(key, ([], offers))[0].append(item)
    return list(groups.values())
