"""The inspect table as an SVG picture, drawn by rich: what the terminal would show."""

from __future__ import annotations

import io

from promptdbg.commands import inspect
from promptdbg.debug import opened_assembly
from promptdbg.model import Assembly
from promptdbg.render import STYLES

_COLUMNS = 120


def svg(assembly: Assembly) -> str:
    """The picture; text in it is inert (rich escapes it, and it was made safe before)."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), color_system="truecolor")
    for entry in inspect.lines(opened_assembly(assembly), assembly, _COLUMNS):
        line = Text()
        for piece in entry:
            line.append(piece.text, STYLES[piece.tone])
        console.print(line, no_wrap=True, crop=True)
    title = f"{assembly.engine.title} {assembly.engine.version}".strip()
    return console.export_svg(title=title)
