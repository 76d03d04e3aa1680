"""List the stored sessions of a workspace, the one that promptdbg.toml names and then the newest first,
and say of each that the framework itself would not read why not.
"""

from __future__ import annotations

import argparse
from contextlib import suppress

from promptdbg.commands import options
from promptdbg.records import SessionRef
from promptdbg.render import Column, Line, Piece, Row, columns, line, table, wrapped, write, write_json
from promptdbg.times import file_time


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", nargs="?", default=".", metavar="WORKSPACE", help="default: .")
    parser.add_argument("--engine", metavar="NAME", default="auto", help="the framework; default: found out")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from promptdbg.debug import OpenRequest, find_sessions

    engine, found = find_sessions(arguments.workspace, OpenRequest(engine=arguments.engine))
    if arguments.json:
        write_json([_document(ref) for ref in found])
    elif engine.session_format is None:
        write([line(f"{engine.title} stores no sessions: its messages are part of the workspace")])
    elif not found:
        write([line(f"no {engine.title} session found for this workspace")])
    else:
        write(_lines(found, columns()))
    return 0


def _lines(found: tuple[SessionRef, ...], cells: int) -> list[Line]:
    layout = [
        Column("SESSION", least=16, middle=True),
        Column("BYTES", right=True),
        Column("CHANGED"),
        Column("FILE", least=20, middle=True),
    ]
    rows: list[Row] = [
        [
            Piece(ref.key, "plain" if ref.readable else "muted"),
            f"{ref.size:,}",
            _time(ref.modified),
            ref.path,
        ]
        for ref in found
    ]
    head, *body = table(layout, rows, cells)
    lines = [head]
    for ref, row in zip(found, body, strict=True):
        lines.append(row)
        if not ref.readable:
            lines += wrapped(f"not read by the framework: {ref.reason}", cells, indent="  ", tone="warning")
    return lines


def _time(modified: float) -> str:
    moment = file_time(modified)
    with suppress(OSError, OverflowError, ValueError):  # Windows has no zone for times before 1970
        moment = moment.astimezone()
    return moment.strftime("%Y-%m-%d %H:%M")


def _document(ref: SessionRef) -> dict[str, object]:
    return {
        "key": ref.key,
        "format": ref.format,
        "path": ref.path,
        "size": ref.size,
        "modified": ref.modified,
        "readable": ref.readable,
        "reason": ref.reason,
    }
