"""Run the real nanobot, where it is installed, on a copy of the workspace and the session, and show
every list and figure that differs from what promptdbg rebuilt. No other framework can be run. No
network, no keys, no model; the original is not touched. Exit code 1 when anything differs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from promptdbg.commands import options
from promptdbg.render import Line, Piece, line, write, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument(
        "--python",
        type=Path,
        metavar="PATH",
        help="the interpreter that has the framework; default: this one",
    )
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from promptdbg.verify import nanobot, report

    opened = options.opened(arguments)
    counter = options.counter(arguments)
    found = nanobot.verify(opened, options.settings(opened, arguments, counter), arguments.python, counter)
    if arguments.json:
        write_json(report.to_json(found))
    else:
        write(map(_coloured, report.lines(found)))
    return 0 if found.equal else 1


def _coloured(text: str) -> Line:
    return line(Piece(text, "warning" if text.startswith("DIFFERENT") else "plain"))
