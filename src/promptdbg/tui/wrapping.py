"""Breaking text into lines of so many cells, fast enough for megabytes, and styled paragraphs.

Pure. A line is kept as one offset, so a text of a million lines costs eight megabytes and no
strings. Texts must be safe (see ``promptdbg.text.safe``).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

Piece = tuple[str, str]
"""A safe text and the name of the style it is drawn in (empty: ordinary)."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Styled text without line feeds; lines after the first begin ``hang`` cells further in."""

    pieces: tuple[Piece, ...] = ()
    indent: int = 0
    hang: int = 0

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


BLANK = Paragraph()


def say(*pieces: str | Piece, indent: int = 0, hang: int = 0) -> Paragraph:
    """A paragraph; a bare text is an ordinary piece."""
    made = tuple((piece, "") if isinstance(piece, str) else piece for piece in pieces)
    return Paragraph(made, indent, hang)


@lru_cache(maxsize=8192)
def char_width(char: str) -> int:
    """Cells of one character."""
    from rich.cells import get_character_cell_size

    return get_character_cell_size(char)


def wrap(text: str, width: int, *, hang: int = 0) -> array[int]:
    """Where each visual line begins; a last entry is the end of the text.

    Breaks after a blank where there is one, else anywhere. ``hang`` cells fewer are used on all
    lines of a source line but the first.
    """
    starts = array("q")
    width = max(width, 1)
    size = len(text)
    ascii_only = text.isascii()
    position = 0
    while position <= size:
        end = text.find("\n", position)
        if end < 0:
            end = size
        if ascii_only or text[position:end].isascii():
            _wrap_ascii(text, position, end, width, hang, starts)
        else:
            _wrap_cells(text, position, end, width, hang, starts)
        position = end + 1
    starts.append(size + 1)
    return starts


def _wrap_ascii(text: str, position: int, end: int, width: int, hang: int, starts: array[int]) -> None:
    room = width
    append = starts.append
    while True:
        append(position)
        if end - position <= room:
            return
        cut = text.rfind(" ", position, position + room + 1)
        position = cut + 1 if cut > position else position + room
        room = max(width - hang, 1)


def _wrap_cells(text: str, position: int, end: int, width: int, hang: int, starts: array[int]) -> None:
    room = width
    while True:
        starts.append(position)
        cells, index, blank = 0, position, -1
        while index < end:
            char = text[index]
            cells += 1 if char < "\u0300" else char_width(char)
            if cells > room:
                break
            if char == " ":
                blank = index
            index += 1
        if index >= end:
            return
        if text[index] == " ":
            position = index + 1
        else:
            position = blank + 1 if blank > position else max(index, position + 1)
        room = max(width - hang, 1)


def line_text(text: str, starts: array[int], line: int) -> str:
    """One visual line, without its line feed."""
    return text[starts[line] : starts[line + 1]].removesuffix("\n")


def layout(paragraphs: Iterable[Paragraph], width: int) -> list[list[Piece]]:
    """Paragraphs as lines of pieces that fit ``width`` cells."""
    lines: list[list[Piece]] = []
    for paragraph in paragraphs:
        text = paragraph.text
        starts = wrap(text, width - paragraph.indent, hang=paragraph.hang)
        for number in range(len(starts) - 1):
            margin = paragraph.indent + (paragraph.hang if number else 0)
            line: list[Piece] = [(" " * margin, "")] if margin else []
            line += cut(paragraph.pieces, starts[number], min(starts[number + 1], len(text)))
            lines.append(line)
    return lines


def cut(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    """The pieces between two offsets of their joined text."""
    out: list[Piece] = []
    offset = 0
    for text, style in pieces:
        piece = text[max(start - offset, 0) : max(end - offset, 0)]
        if piece:
            out.append((piece, style))
        offset += len(text)
        if offset >= end:
            break
    return out


def plain_text(paragraphs: Iterable[Paragraph]) -> str:
    """Paragraphs as text for the clipboard or a file."""
    return "\n".join(" " * paragraph.indent + paragraph.text for paragraph in paragraphs) + "\n"
