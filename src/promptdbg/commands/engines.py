"""List the frameworks whose prompts can be rebuilt."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from promptdbg.commands import options
from promptdbg.model import Rule
from promptdbg.render import Column, Piece, Row, columns, table, write, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from promptdbg.engines import ENGINE_NAMES, engine

    engines = [engine(name) for name in ENGINE_NAMES]
    if arguments.json:
        write_json(
            [
                {
                    "name": entry.name,
                    "title": entry.title,
                    "session_format": entry.session_format,
                    "versions": versions(entry.rules),
                    "rules": len(entry.rules),
                    "knobs": len(entry.knobs(None)),
                }
                for entry in engines
            ]
        )
        return 0
    layout = [
        Column("ENGINE"),
        Column("FRAMEWORK"),
        Column("SESSIONS"),
        Column("RULES", right=True),
        Column("KNOBS", right=True),
        Column("READ FROM VERSION", least=12),
    ]
    rows: list[Row] = [
        [
            Piece(entry.name, "title"),
            entry.title,
            entry.session_format or "in the workspace",
            f"{len(entry.rules):,}",
            f"{len(entry.knobs(None)):,}",
            ", ".join(versions(entry.rules)),
        ]
        for entry in engines
    ]
    write(table(layout, rows, columns()))
    return 0


def versions(rules: Iterable[Rule]) -> list[str]:
    """The framework versions that rules were read from, each once, in the order they come up. One
    rule may name several: with semicolons between, or with commas where no name holds more. A name that
    another one says more exactly (``main (3852956)``) is left out."""
    found = dict.fromkeys(
        part.strip()
        for rule in rules
        if rule.framework != "promptdbg"
        for part in rule.version.split("," if "(" not in rule.version and ";" not in rule.version else ";")
    )
    return [name for name in found if not any(other.startswith(f"{name} (") for other in found)]
