"""One text, read in the ways a secret may be written in it: as it is, with JSON escapes undone, with
URL escapes undone, with line breaks taken out. Each way maps back to the text as it is."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote_to_bytes


class View:
    """A reading of a text: some stretches replaced by others, the rest as it is.

    ``unwrapped`` readings have lost their line breaks: there, words that a break kept apart run
    into each other, so only a shape that ends by itself can be trusted.
    """

    def __init__(self, text: str, parent: View | None = None, *, unwrapped: bool = False) -> None:
        self.text = text
        self.unwrapped = unwrapped
        self._parent = parent
        # Replaced stretch i is [_starts[i], _ends[i]) here and [_from[i], _to[i]) in the parent.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._from: list[int] = []
        self._to: list[int] = []

    @classmethod
    def replacing(
        cls,
        parent: View,
        stretches: Iterable[tuple[int, int, str]],
        *,
        unwrapped: bool = False,
    ) -> View:
        """The reading in which each stretch (start, end; in order) is replaced by another text."""
        view = cls("", parent, unwrapped=unwrapped)
        pieces: list[str] = []
        length = end = 0
        for first, last, text in stretches:
            pieces += (parent.text[end:first], text)
            length += first - end
            view._starts.append(length)
            length += len(text)
            view._ends.append(length)
            view._from.append(first)
            view._to.append(last)
            end = last
        pieces.append(parent.text[end:])
        view.text = "".join(pieces)
        return view

    def breaks(self, start: int, end: int) -> list[int]:
        """Where line breaks were taken out inside of ``[start, end)``."""
        if not self.unwrapped:
            return []
        return self._starts[bisect_right(self._starts, start) : bisect_left(self._starts, end)]

    def ends_line(self, offset: int) -> bool:
        """Whether a line of the text ended there."""
        at = bisect_left(self._starts, offset)
        return offset == len(self.text) or (at < len(self._starts) and self._starts[at] == offset)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original text that ``[start, end)`` stands for; ``end > start``."""
        if self._parent is None:
            return start, end
        first, _ = self._place(start)
        _, last = self._place(end - 1)
        return self._parent.span(first, last)

    def _place(self, offset: int) -> tuple[int, int]:
        """The stretch of the parent that the one character at ``offset`` stands for."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return offset, offset + 1
        if offset < self._ends[index]:
            return self._from[index], self._to[index]
        there = self._to[index] + offset - self._ends[index]
        return there, there + 1


_JSON_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_URL_ESCAPE = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_INDENT = re.compile(r"\n[ \t]*")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def views(text: str) -> Iterator[View]:
    """Every reading of ``text`` that can differ from it, the plain one first."""
    plain = View(text)
    found = [plain]
    if "\\" in text:
        once = View.replacing(plain, _replaced(plain.text, _JSON_ESCAPE, _unescaped))
        found.append(once)
        if "\\" in once.text:  # JSON within JSON, as in the arguments of a tool call
            found.append(View.replacing(once, _replaced(once.text, _JSON_ESCAPE, _unescaped)))
    if "%" in text:
        found.append(View.replacing(plain, _replaced(plain.text, _URL_ESCAPE, _unquoted)))
    yield from found
    for view in found:
        if "\n" in view.text:
            yield View.replacing(view, _breaks(view.text), unwrapped=True)


def _replaced(
    text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]
) -> Iterator[tuple[int, int, str]]:
    return ((match.start(), match.end(), new(match)) for match in pattern.finditer(text))


def _breaks(text: str) -> Iterator[tuple[int, int, str]]:
    """Line breaks with the blanks around them and a backslash that carries the line on.

    Found by the line feed and looked at backwards: a pattern that begins with blanks would be tried
    at every blank of the text.
    """
    end = 0
    for match in _INDENT.finditer(text):
        start = match.start()
        for mark in ("\r", "\\"):
            if start > end and text[start - 1] == mark:
                start -= 1
        while start > end and text[start - 1] in " \t":
            start -= 1
        end = match.end()
        yield start, end, ""


def _unescaped(match: re.Match[str]) -> str:
    code = match[0][1]
    if code != "u":
        return _SHORT.get(code, code)
    char = chr(int(match[0][2:], 16))
    return match[0] if "\ud800" <= char <= "\udfff" else char


def _unquoted(match: re.Match[str]) -> str:
    return unquote_to_bytes(match[0]).decode("utf-8", "replace")
