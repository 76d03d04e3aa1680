"""Plain text for the commands: pieces of text that are safe by construction, tables, and printing.

Colour is added by rich, and only on a terminal that wants it; everything is readable without.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, TypeAlias

from promptdbg.marks import MESSAGE_MARKS, SECTION_MARKS, Mark
from promptdbg.model import Source
from promptdbg.text import clip, clip_middle, pad, safe, width

PIPED_WIDTH = 100
"""Columns where the output is not a terminal and ``COLUMNS`` does not say."""

_NARROWEST = 60
_PROGRESS = 72

STYLES = {
    "plain": "",
    "title": "bold",
    "muted": "dim",
    "warning": "yellow",
    "accent": "cyan",
    "error": "bold red",
}

# Where the output cannot show a mark (an old code page), its ASCII stand-in is written.
_ASCII = str.maketrans(
    {mark.mark: mark.ascii for mark in (*SECTION_MARKS.values(), *MESSAGE_MARKS.values())}
    | {
        "…": "~",
        "≈": "~",
        "·": "-",
        "│": "|",
        "─": "-",
        "├": "|",
        "└": "`",
        "█": "#",
        "░": ".",
        "→": ">",
        "−": "-",
        "‹": "<",
        "›": ">",
    }
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one line in one tone (a key of the styles). The text is made safe here, so
    whatever is laid out or printed is inert."""

    text: str
    tone: str = "plain"

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", safe(self.text, lines=False))


Line: TypeAlias = tuple[Piece, ...]

BLANK: Line = ()


def line(*pieces: Piece | str) -> Line:
    """A line of pieces; a plain string is a piece in the plain tone."""
    return tuple(piece if isinstance(piece, Piece) else Piece(piece) for piece in pieces)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. ``least`` is the width it may be clipped to, 0 where it must stay whole;
    ``middle`` clips the middle, so that names and paths keep both ends."""

    title: str
    right: bool = False
    least: int = 0
    middle: bool = False


Row: TypeAlias = Sequence[Piece | str]


def table(columns: Sequence[Column], rows: Sequence[Row], cells: int, *, indent: str = "") -> list[Line]:
    """The rows under their titles, at most ``cells`` wide: clippable columns give way, last first."""
    body = [line(*row) for row in rows]
    widths = [
        max([width(column.title), *(width(row[index].text) for row in body)])
        for index, column in enumerate(columns)
    ]
    over = sum(widths) + 2 * (len(columns) - 1) + width(indent) - cells
    for index in reversed(range(len(columns))):
        if over > 0 and columns[index].least:
            given = min(over, max(widths[index] - columns[index].least, 0))
            widths[index] -= given
            over -= given
    head = [Piece(column.title, "muted") for column in columns]
    has_titles = any(column.title for column in columns)
    return [
        _laid(columns, widths, row, indent) for row in ([head] if has_titles else []) + [*map(list, body)]
    ]


def _laid(columns: Sequence[Column], widths: Sequence[int], row: Sequence[Piece], indent: str) -> Line:
    laid: list[Piece] = [Piece(indent)] if indent else []
    for index, (column, piece) in enumerate(zip(columns, row, strict=True)):
        last = index == len(columns) - 1
        text = clip_middle(piece.text, widths[index]) if column.middle else piece.text
        text = (
            clip(text, widths[index])
            if last and not column.right
            else pad(text, widths[index], right=column.right)
        )
        laid.append(Piece(text if last else text + "  ", piece.tone))
    return tuple(laid)


def wrapped(text: str, cells: int, *, indent: str = "", tone: str = "plain") -> list[Line]:
    """A text broken at blanks into lines of at most ``cells``, each after ``indent``."""
    room = max(cells - width(indent), 20)
    lines: list[str] = []
    current = ""
    for word in safe(text, lines=False).split():
        joined = f"{current} {word}" if current else word
        if width(joined) <= room:
            current = joined
            continue
        if current:
            lines.append(current)
        current = clip(word, room)
    return [line(indent, Piece(entry, tone)) for entry in [*lines, current] if entry]


def state(mark: Mark) -> Piece:
    """A status as its mark and word."""
    return Piece(f"{mark.mark} {mark.word}", mark.tone)


def on_disk(source: Source) -> str:
    """A place on disk as people read it: relative to the current folder where it is inside."""
    return source.below(current_folder())


def current_folder() -> str:
    """The folder that the program runs in; empty where it is gone, and no place lies in it."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def columns() -> int:
    """How many columns there are to print in."""
    return max(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns, _NARROWEST)


def write(lines: Iterable[Line], stream: TextIO | None = None) -> None:
    """Print lines, in colour where the stream is a terminal that wants it."""
    out = stream or sys.stdout
    if _in_colour(out):
        _write_coloured(lines, out)
        return
    plain = not _can_show_marks(out)
    for entry in lines:
        text = "".join(piece.text for piece in entry).rstrip()
        out.write((text.translate(_ASCII) if plain else text) + "\n")


def _in_colour(out: TextIO) -> bool:
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _write_coloured(lines: Iterable[Line], out: TextIO) -> None:
    from rich.console import Console  # 40 ms, which a pipe need not pay
    from rich.text import Text

    console = Console(file=out, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for entry in lines:
        text = Text.assemble(*((piece.text, STYLES[piece.tone]) for piece in entry))
        text.rstrip()
        console.print(text)


def _can_show_marks(out: TextIO) -> bool:
    try:
        "●◐○∅≈…".encode(out.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def progress(text: str) -> None:
    """One line on a terminal's stderr, rewritten in place; an empty text clears it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{clip(safe(text, lines=False), _PROGRESS):<{_PROGRESS}}\r")
        sys.stderr.flush()


def write_json(document: Any, stream: TextIO | None = None) -> None:
    """Print one JSON document.

    ASCII only: it is inert on a terminal, valid under every locale, and a lone surrogate of a
    broken session file comes through as the escape it is.
    """
    json.dump(document, stream or sys.stdout, ensure_ascii=True, indent=2)
    (stream or sys.stdout).write("\n")
