"""The word difference of two texts.

Lines first, then the words of the lines that differ. Between anchors (words found once on either
side, in the same order) small stretches get their longest common subsequence; a stretch too big
for that, with no anchor in it, pairs equal words in their order. Whatever the texts hold, the work
is bounded by their length times a logarithm.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from promptdbg.analysis.matching import Pair, longest_increasing, match
from promptdbg.text import shared_start

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_TABLE_MAX = 10_000
"""Cells of one table of the longest common subsequence: 100 words against 100."""
_TABLES_MAX = 1_500_000
"""Cells of all tables of one difference."""
_PASSES = 24
"""How often the tokens may be walked through, on average, before the rest is replaced whole."""
_WORDS_MAX = 400_000
"""Code points of a changed stretch that is still compared by word; a longer one is replaced whole."""


@dataclass(frozen=True, slots=True)
class Change:
    """``a[a_start:a_end]`` became ``b[b_start:b_end]``; either may be empty. Code points."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int


PieceKind: TypeAlias = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of both texts read as one."""

    kind: PieceKind
    text: str


def word_diff(a: str, b: str) -> tuple[Change, ...]:
    """What changed from ``a`` to ``b``: increasing, disjoint, the text between them equal."""
    work = _Work(_TABLES_MAX)
    changes: list[Change] = []
    for lines in _changes(_split_lines(a), _split_lines(b), work):
        left, right = a[lines.a_start : lines.a_end], b[lines.b_start : lines.b_end]
        if not left or not right or len(left) + len(right) > _WORDS_MAX:
            changes.append(_trimmed(a, b, lines))
            continue
        for words in _changes(_WORDS.findall(left), _WORDS.findall(right), work):
            changes.append(
                Change(
                    lines.a_start + words.a_start,
                    lines.a_start + words.a_end,
                    lines.b_start + words.b_start,
                    lines.b_start + words.b_end,
                )
            )
    return tuple(_readable(changes))


def _readable(changes: Sequence[Change]) -> Iterator[Change]:
    """Changes that are longer than the equal text between them become one: a blank or a comma that
    two sentences happen to share is no reason to read them word by word."""
    last: Change | None = None
    for change in changes:
        if last is None:
            last = change
        elif change.b_start - last.b_end <= min(_length(last), _length(change)):
            last = Change(last.a_start, change.a_end, last.b_start, change.b_end)
        else:
            yield last
            last = change
    if last is not None:
        yield last


def _length(change: Change) -> int:
    return max(change.a_end - change.a_start, change.b_end - change.b_start)


def pieces(a: str, b: str, changes: Sequence[Change]) -> Iterator[Piece]:
    """Both texts as one, in reading order: what was removed stands before what was added."""
    end = 0
    for change in changes:
        if change.b_start > end:
            yield Piece("same", b[end : change.b_start])
        if change.a_end > change.a_start:
            yield Piece("removed", a[change.a_start : change.a_end])
        if change.b_end > change.b_start:
            yield Piece("added", b[change.b_start : change.b_end])
        end = change.b_end
    if end < len(b):
        yield Piece("same", b[end:])


def _split_lines(text: str) -> list[str]:
    """The text by line feeds alone, each line with its own."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _trimmed(a: str, b: str, change: Change) -> Change:
    """The change without the beginning and the end that both sides share."""
    left, right = a[change.a_start : change.a_end], b[change.b_start : change.b_end]
    head = shared_start(left, right)
    tail = shared_start(left[head:][::-1], right[head:][::-1])
    return Change(change.a_start + head, change.a_end - tail, change.b_start + head, change.b_end - tail)


class _Work:
    """What is left of the effort one difference may take."""

    def __init__(self, cells: int) -> None:
        self.cells = cells
        self.tokens = 0


def _changes(a: Sequence[str], b: Sequence[str], work: _Work) -> Iterator[Change]:
    """Changes between two token lists, in code points from the start of each."""
    work.tokens = _PASSES * (len(a) + len(b)) + 1000
    at_a = [0, *accumulate(map(len, a))]
    at_b = [0, *accumulate(map(len, b))]
    i = j = 0
    for x, y in [*_matches(a, b, work), (len(a), len(b))]:
        if x > i or y > j:
            yield Change(at_a[i], at_a[x], at_b[j], at_b[y])
        i, j = x + 1, y + 1


def _matches(a: Sequence[str], b: Sequence[str], work: _Work) -> list[Pair]:
    """Equal tokens, increasing on both sides."""
    found: list[Pair] = []
    todo = [(0, len(a), 0, len(b))]
    while todo:
        a_low, a_high, b_low, b_high = todo.pop()
        head = shared_start(a[a_low:a_high], b[b_low:b_high])
        found.extend((a_low + k, b_low + k) for k in range(head))
        a_low, b_low = a_low + head, b_low + head
        tail = shared_start(a[a_low:a_high][::-1], b[b_low:b_high][::-1])
        a_high, b_high = a_high - tail, b_high - tail
        found.extend((a_high + k, b_high + k) for k in range(tail))
        size_a, size_b = a_high - a_low, b_high - b_low
        work.tokens -= size_a + size_b
        if not size_a or not size_b or work.tokens < 0:
            continue
        if size_a * size_b <= min(_TABLE_MAX, work.cells):
            work.cells -= size_a * size_b
            pairs = _longest_common(a[a_low:a_high], b[b_low:b_high])
            found.extend((a_low + x, b_low + y) for x, y in pairs)
            continue
        anchors = _anchors(a, b, (a_low, a_high, b_low, b_high))
        if not anchors:  # nothing is found once: the first goes with the first, the second with the second
            pairs = match(a[a_low:a_high], b[b_low:b_high], [str])
            found.extend((a_low + x, b_low + y) for x, y in pairs)
            continue
        found.extend(anchors)
        for x, y in [*anchors, (a_high, b_high)]:
            todo.append((a_low, x, b_low, y))
            a_low, b_low = x + 1, y + 1
    found.sort()
    return found


def _anchors(a: Sequence[str], b: Sequence[str], part: tuple[int, int, int, int]) -> list[Pair]:
    """Tokens that are found once on either side, as many as stand in the same order."""
    a_low, a_high, b_low, b_high = part
    once_a = Counter(a[a_low:a_high])
    once_b = Counter(b[b_low:b_high])
    at_b = {b[y]: y for y in range(b_low, b_high) if once_b[b[y]] == 1}
    pairs = [(x, at_b[a[x]]) for x in range(a_low, a_high) if once_a[a[x]] == 1 and a[x] in at_b]
    return [pairs[index] for index in longest_increasing([y for _, y in pairs])]


def _longest_common(a: Sequence[str], b: Sequence[str]) -> list[Pair]:
    """A longest common subsequence, by the table."""
    width = len(b) + 1
    table = [[0] * width for _ in range(len(a) + 1)]
    for x in range(len(a) - 1, -1, -1):
        here, below, token = table[x], table[x + 1], a[x]
        for y in range(len(b) - 1, -1, -1):
            if token == b[y]:
                here[y] = below[y + 1] + 1
            else:
                here[y] = below[y] if below[y] >= here[y + 1] else here[y + 1]
    pairs: list[Pair] = []
    x = y = 0
    while x < len(a) and y < len(b):
        if a[x] == b[y]:
            pairs.append((x, y))
            x, y = x + 1, y + 1
        elif table[x + 1][y] >= table[x][y + 1]:
            x += 1
        else:
            y += 1
    return pairs
