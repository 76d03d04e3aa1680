"""Open a bundled example workspace: each holds a real question that the picture answers. Without
NAME the first one opens; --list tells what there is.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from promptdbg.commands import open as opening
from promptdbg.commands import options
from promptdbg.examples import FLAGSHIP, Example, examples, find, folder_of

if TYPE_CHECKING:
    from promptdbg.render import Line


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", default=FLAGSHIP, metavar="NAME", help=f"default: {FLAGSHIP}")
    parser.add_argument("--list", action="store_true", help="list the examples instead")
    parser.add_argument("--path", action="store_true", help="print the folder of the example instead")
    options.add_json(parser)
    options.add_opening(parser)
    opening.add_screen(parser)


def run(arguments: argparse.Namespace) -> int:
    if not (arguments.list or arguments.json or arguments.path) and opening.is_on_screen(arguments):
        folder = folder_of(arguments.name)
        arguments.workspace = str(folder)
        code = opening.show(arguments)
        _ask(find(folder.name))  # seen when the UI is left; before, it would keep the UI waiting
        return code
    return _print(arguments)


def _print(arguments: argparse.Namespace) -> int:
    from promptdbg.render import columns, write, write_json

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
    _ask(example)
    return opening.show(arguments)


def _ask(example: Example) -> None:
    from promptdbg.render import columns, line, wrapped, write

    write([*wrapped(example.question, columns(), tone="title"), line()])


def _lines(example: Example, cells: int) -> list[Line]:
    from promptdbg.render import Piece, line, wrapped

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
