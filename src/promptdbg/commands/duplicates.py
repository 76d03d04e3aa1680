"""What reaches the model more than once: the same text, one file by two paths, long passages that
stand in two places. Each with the tokens that the copies cost.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from promptdbg.analysis.duplicates import Duplicate, duplicates
from promptdbg.commands import options
from promptdbg.render import Line, Piece, columns, line, wrapped, write, write_json

SCHEMA = "promptdbg/duplicates/1"

_KINDS = {"text": "the same text", "file": "one file by two paths", "passage": "a passage in two places"}


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    debugger = options.debugger(arguments)
    found = duplicates(debugger.assembly, debugger.counter)
    if arguments.json:
        write_json(document(found))
    else:
        write(lines(found, columns()))
    return 0


def document(found: Sequence[Duplicate]) -> dict[str, Any]:
    """The duplicates as JSON; the keys are the fields of ``Duplicate``."""
    return {"schema": SCHEMA, "duplicates": [asdict(entry) for entry in found]}


def lines(found: Sequence[Duplicate], cells: int) -> Iterator[Line]:
    """The duplicates, the dearest first."""
    if not found:
        yield line("Nothing reaches the model twice.")
        return
    for entry in found:
        yield line(Piece(f"{entry.tokens:>7,} tokens  ", "warning"), Piece(_KINDS[entry.kind], "title"))
        places = (f"{item}:{at}" for item, at in zip(entry.items, entry.lines, strict=True))
        yield from wrapped("  ".join(places), cells, indent=" " * 16)
        yield from wrapped(entry.excerpt, cells, indent=" " * 16, tone="muted")
    total = sum(entry.tokens for entry in found)
    yield line(Piece(f"{total:>7,} tokens in copies", "title"))
