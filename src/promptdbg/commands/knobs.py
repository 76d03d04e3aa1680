"""List the parameters of an engine (of all engines without ENGINE), with their defaults and ranges.

Set one with --set KNOB=VALUE. A workspace may have other defaults: --workspace shows those.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from promptdbg.commands import options
from promptdbg.model import Knob, Value
from promptdbg.render import BLANK, Column, Line, Piece, Row, columns, line, table, write, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", nargs="?", metavar="ENGINE", help="default: every engine")
    parser.add_argument("--workspace", metavar="FOLDER", help="show the defaults of this workspace")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    found = _knobs(arguments.engine, arguments.workspace)
    if arguments.json:
        write_json({name: [_document(knob) for knob in knobs] for name, knobs in found.items()})
    else:
        write(_lines(found, columns()))
    return 0


def _knobs(name: str | None, workspace: str | None) -> dict[str, tuple[Knob, ...]]:
    if workspace is not None:
        from promptdbg.debug import OpenRequest, open_workspace

        opened = open_workspace(workspace, OpenRequest(engine=name or "auto"))
        return {opened.engine.name: opened.knobs}
    from promptdbg.engines import ENGINE_NAMES, engine

    return {entry: engine(entry).knobs(None) for entry in ([name] if name else ENGINE_NAMES)}


def _lines(found: dict[str, tuple[Knob, ...]], cells: int) -> Iterator[Line]:
    layout = [
        Column("KNOB"),
        Column("DEFAULT", least=12),
        Column("TAKES", least=16),
        Column("WHAT IT IS", least=24),
    ]
    for number, (engine, knobs) in enumerate(found.items()):
        if number:
            yield BLANK
        yield line(Piece(engine, "title"))
        rows: list[Row] = [[knob.name, shown(knob.default), takes(knob), knob.title] for knob in knobs]
        yield from table(layout, rows, cells, indent="  ")


def takes(knob: Knob) -> str:
    """What values a knob takes, in words."""
    zero = f"; 0: {knob.zero}" if knob.zero else ""
    return knob.range_text() + (", or none" if knob.optional else "") + zero


def shown(value: Value) -> str:
    """A knob's value as people write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:,}" if isinstance(value, (int, float)) else value


def _document(knob: Knob) -> dict[str, object]:
    return {
        "name": knob.name,
        "title": knob.title,
        "kind": knob.kind,
        "group": knob.group,
        "default": list(knob.default) if isinstance(knob.default, tuple) else knob.default,
        "optional": knob.optional,
        "unit": knob.unit,
        "minimum": knob.minimum,
        "maximum": knob.maximum,
        "choices": list(knob.choices),
        "zero": knob.zero,
        "caps": list(knob.caps),
        "role": knob.role,
        "help": knob.help,
    }
