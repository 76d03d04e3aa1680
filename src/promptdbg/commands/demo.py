"""Open a bundled example workspace: each holds a real question that the picture answers. Without
NAME the first one opens; --list tells what there is.
"""

from __future__ import annotations

import argparse

from promptdbg.commands import open as opening
from promptdbg.commands import options
from promptdbg.examples import FLAGSHIP, Example, examples, find
from promptdbg.render import Line, Piece, columns, line, wrapped, write, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", default=FLAGSHIP, metavar="NAME", help=f"default: {FLAGSHIP}")
    parser.add_argument("--list", action="store_true", help="list the examples instead")
    parser.add_argument("--path", action="store_true", help="print the folder of the example instead")
    options.add_json(parser)
    options.add_opening(parser)
    opening.add_screen(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.list or arguments.json:
        found = examples()
        if arguments.json:
            write_json([_document(example) for example in found])
        else:
            write([entry for example in found for entry in _lines(example, columns())])
        return 0
    example = find(arguments.name)
    if arguments.path:
        print(example.path)
        return 0
    arguments.workspace = str(example.path)
    write([*wrapped(example.question, columns(), tone="title"), line()])
    return opening.show(arguments)


def _lines(example: Example, cells: int) -> list[Line]:
    return [
        line(Piece(example.name, "title"), Piece(f"  {example.engine} · {example.title}", "muted")),
        *wrapped(example.question, cells, indent="  "),
    ]


def _document(example: Example) -> dict[str, str]:
    return {
        "name": example.name,
        "engine": example.engine,
        "title": example.title,
        "question": example.question,
        "path": str(example.path),
    }
