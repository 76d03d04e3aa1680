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


def facts(*parts: str) -> str:
    """Facts in a row, ``bee.caps.tool · bee 0.3``; a line ends between two of them, not within one that
    fits on a line."""
    return " · ".join(part.replace(" ", UNBROKEN) for part in parts)


UNBROKEN = "\u00a0"
"""A blank at which no line is broken."""


@lru_cache(maxsize=8192)
def char_width(char: str) -> int:
    """Cells of one character."""
    from rich.cells import get_character_cell_size

    return get_character_cell_size(char)


def wrap(text: str, width: int, *, hang: int = 0, words: bool = False) -> array[int]:
    """Where each visual line begins; a last entry is the end of the text.

    Breaks after a blank where there is one, else anywhere. ``hang`` cells fewer are used on all
    lines of a source line but the first.

    Args:
        words: the text is a sentence of ours and not one that is inspected: a path or an id breaks at
            a seam if it must, and no line begins with a blank or with the dot between two facts.
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
            _wrap_ascii(text, position, end, width, hang, starts, words)
        else:
            _wrap_cells(text, position, end, width, hang, starts, words)
        position = end + 1
    starts.append(size + 1)
    return starts


def _wrap_ascii(
    text: str, position: int, end: int, width: int, hang: int, starts: array[int], words: bool
) -> None:
    room = width
    append = starts.append
    while True:
        append(position)
        if end - position <= room:
            return
        cut = text.rfind(" ", position, position + room + 1)
        if cut > position:
            position = _past_blanks(text, cut + 1, end) if words else cut + 1
            if words and position == end:
                return
        else:
            position = _seam(text, position, position + room) if words else position + room
        room = max(width - hang, 1)


def _wrap_cells(
    text: str, position: int, end: int, width: int, hang: int, starts: array[int], words: bool
) -> None:
    room = width
    while True:
        starts.append(position)
        cells, index, blank = 0, position, -1
        while index < end:
            char = text[index]
            cells += 1 if char < "\u0300" else char_width(char)
            if cells > room:
                break
            if char == " " and not (words and text.startswith("·", index + 1)):
                blank = index
            index += 1
        if index >= end:
            return
        if text[index] == " " and not (words and text.startswith("·", index + 1)):
            position = index + 1
        elif blank > position:
            position = blank + 1
        else:
            position = max(_seam(text, position, index) if words else index, position + 1)
        if words:
            position = _past_blanks(text, position, end)
            if position == end:
                return
        room = max(width - hang, 1)


_SEAMS = (UNBROKEN, "/:", "-_", ".")
"""Where a line ends if it must; a name is parted from its ending only where nothing else can be parted."""


def _seam(text: str, start: int, end: int) -> int:
    """Where a word too long for a line is cut: at a seam beyond the first quarter of the line, else where
    the line ends."""
    for seams in _SEAMS:
        for place in range(end, start + (end - start) // 4, -1):
            if text[place - 1] in seams and text[place] not in seams:
                return place
    return end


def _past_blanks(text: str, position: int, end: int) -> int:
    while position < end and text[position] == " ":
        position += 1
    return position


def line_text(text: str, starts: array[int], line: int) -> str:
    """One visual line, without its line feed."""
    return text[starts[line] : starts[line + 1]].removesuffix("\n")


def layout(paragraphs: Iterable[Paragraph], width: int, *, words: bool = True) -> list[list[Piece]]:
    """Paragraphs as lines of pieces that fit ``width`` cells; ``words`` as in ``wrap``."""
    lines: list[list[Piece]] = []
    for paragraph in paragraphs:
        text = paragraph.text
        starts = wrap(text, width - paragraph.indent, hang=paragraph.hang, words=words)
        for number in range(len(starts) - 1):
            margin = paragraph.indent + (paragraph.hang if number else 0)
            line: list[Piece] = [(" " * margin, "")] if margin else []
            for piece, style in cut(paragraph.pieces, starts[number], min(starts[number + 1], len(text))):
                # It has done its work: what is selected with the mouse has ordinary blanks.
                line.append((piece.replace(UNBROKEN, " ") if words else piece, style))
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
    lines = (" " * paragraph.indent + paragraph.text for paragraph in paragraphs)
    return "\n".join(lines).replace(UNBROKEN, " ") + "\n"
