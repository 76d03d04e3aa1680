"""Golden text screens: what a person would read, as plain text, one file per screen.

``UPDATE_SNAPSHOTS=1`` writes them anew; look at the difference before committing it.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual.app import App

_FOLDER = Path(__file__).parent / "screens"
_TEXT = re.compile(r'<text [^>]*?x="([\d.]+)" y="[\d.]+"[^>]*?-line-(\d+)\)">(.*?)</text>', re.DOTALL)
_CELL = 12.2
"""Width of one terminal cell in an exported screenshot."""


def screen_text(app: App[Any]) -> str:
    """The screen as lines of text, without trailing blanks."""
    pieces: dict[int, list[tuple[float, str]]] = {}
    for x, line, text in _TEXT.findall(app.export_screenshot()):
        pieces.setdefault(int(line), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    lines = []
    for number in range(app.size.height):
        line = ""
        for x, text in sorted(pieces.get(number, [])):
            line += " " * (round(x / _CELL) - cell_len(line)) + text
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


def check_screen(app: App[Any], name: str) -> None:
    """Compare the screen with the golden one of that name."""
    path = _FOLDER / f"{name}.txt"
    text = screen_text(app)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no golden screen {name}: run with UPDATE_SNAPSHOTS=1"
    assert text == path.read_text(encoding="utf-8")
