"""Finding what must not leave a machine, in one text: secrets and personal data, by their shape.

The shapes stand in ``shapes.py``. A text is read in every way of ``views.py``, so a key in JSON
escapes, in a URL or broken over two lines is found where it stands; and a base64 run is looked into.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from promptdbg.export.views import View, views


class Pattern(Protocol):
    """What is used of a compiled regular expression."""

    @property
    def groups(self) -> int: ...

    def finditer(self, text: str, start: int, end: int, /) -> Iterator[re.Match[str]]: ...


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of secret and how it looks. Group 1 is the secret where there is one, else the match.

    ``needs`` are lower-case literals of which one must stand in (or right before) a match, and
    ``reach`` the most characters a match is long: only stretches around a literal are searched,
    so a shape costs nothing in a text that cannot hold it. Without ``needs`` all is searched.
    ``closed`` shapes end by themselves (a fixed length, a closing mark), so they can be trusted
    where line breaks were taken out. ``folded`` patterns are written in lower case and ignore case
    (much faster than the flag). ``running`` ones are of no fixed length: they go on for as long as their
    characters do, which those of the next line may be. ``accept`` has the last word on a match.
    """

    kind: str
    pattern: Pattern
    needs: tuple[str, ...] = ()
    reach: int = 600
    closed: bool = False
    folded: bool = False
    running: bool = False
    accept: Callable[[str], bool] = lambda value: True


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: where, of which kind, and its value as a reader would take it."""

    start: int
    end: int
    kind: str
    value: str


def find(text: str, shapes: Sequence[Shape]) -> list[Found]:
    """The secrets of a text, in order. Some may overlap: one may stand in another."""
    found = {entry: None for view in views(text) for entry in in_view(view, shapes)}
    for start, end, decoded in base64_runs(text):
        inside = next(iter(in_view(View(decoded), shapes)), None)
        if inside is not None:
            found[Found(start, end, inside.kind, text[start:end])] = None
    return sorted(found, key=lambda entry: (entry.start, -entry.end))


def in_view(view: View, shapes: Sequence[Shape]) -> Iterator[Found]:
    """The secrets of one reading of a text."""
    lower = _lower(view.text)
    places: dict[str, list[int]] = {}  # shapes have literals in common
    for shape in shapes:
        if view.unwrapped and not shape.closed:
            continue
        searched = lower if shape.folded else view.text
        for start, end in _stretches(lower, shape, places):
            for match in shape.pattern.finditer(searched, start, end):
                group = 1 if shape.pattern.groups and match.group(1) is not None else 0
                begin, stop = match.span(group)
                if shape.running:
                    stop = _own_end(view, shape, searched, begin, stop)
                value = view.text[begin:stop]
                if value and shape.accept(value):
                    first, last = view.span(begin, stop)
                    yield Found(first, last, shape.kind, value)


_MARKS_AFTER = frozenset("\"'`,;)]}>")


def _own_end(view: View, shape: Shape, searched: str, begin: int, stop: int) -> int:
    """Where a match that runs over line breaks ends: at the first break up to which it is a secret already,
    unless the next line goes on like one, with letters and digits, and holds nothing else."""
    breaks = view.breaks(begin, stop)
    whole = next((at for at in breaks if any(shape.pattern.finditer(searched, begin, at))), None)
    if whole is None:
        return stop
    for at, following in pairwise([*(at for at in breaks if at >= whole), stop]):
        piece = view.text[at:following]
        ends = following < stop or view.ends_line(stop) or view.text[stop] in _MARKS_AFTER
        if not (ends and any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))):
            return at
    return stop


def _lower(text: str) -> str:
    """The text in lower case, character by character where one would become two."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def _stretches(lower: str, shape: Shape, places: dict[str, list[int]]) -> list[tuple[int, int]]:
    """Where in a text a match can be: around each literal, neighbours joined.

    ``places`` are those of the literals that were looked for before, and grow.
    """
    if not shape.needs:
        return [(0, len(lower))]
    spots: list[int] = []
    for literal in shape.needs:
        if literal not in places:
            places[literal] = list(_places(lower, literal))
        spots += places[literal]
    joined: list[tuple[int, int]] = []
    for spot in sorted(spots):
        start, end = max(0, spot - shape.reach), min(len(lower), spot + shape.reach)
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _places(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,65536}={0,2}(?![A-Za-z0-9+/_=-])")


def base64_runs(text: str) -> Iterator[tuple[int, int, str]]:
    """The base64 runs of a text that decode to text: start, end, the decoded text."""
    for match in _BASE64.finditer(text):
        decoded = _decoded(match[0])
        if decoded is not None:
            yield match.start(), match.end(), decoded


def _decoded(run: str) -> str | None:
    """The text that a base64 run encodes; ``None`` where it encodes none (a picture, a hash)."""
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(bare + "=" * (-len(bare) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if all(char.isprintable() or char in "\r\n\t" for char in text) else None
