"""List the rules of an engine (of all engines without ENGINE): what each does, and the framework,
version and place it was read from.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from promptdbg.commands import options
from promptdbg.model import Rule
from promptdbg.render import BLANK, Line, Piece, columns, line, wrapped, write, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", nargs="?", metavar="ENGINE", help="default: every engine")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from promptdbg.engines import ENGINE_NAMES, engine

    names = [arguments.engine] if arguments.engine else ENGINE_NAMES
    found = {name: engine(name).rules for name in names}
    if arguments.json:
        from promptdbg.export.document import rule_document

        write_json({name: [rule_document(rule) for rule in rules] for name, rules in found.items()})
    else:
        write(_lines(found, columns()))
    return 0


def _lines(found: dict[str, tuple[Rule, ...]], cells: int) -> Iterator[Line]:
    for number, (engine, rules) in enumerate(found.items()):
        if number:
            yield BLANK
        yield line(Piece(f"{engine}: {len(rules):,} rules, in the order they apply", "title"))
        for rule in rules:
            yield line("  ", Piece(rule.id, "accent"))
            yield from wrapped(rule.title, cells, indent="    ")
            yield from wrapped(
                f"{rule.framework} {rule.version} · {rule.source}", cells, indent="    ", tone="muted"
            )
            yield from wrapped(rule.note, cells, indent="    ", tone="muted")
