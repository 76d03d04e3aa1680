"""The fuzzy file match behind bee's imports: sahilm/fuzzy v0.1.2, score for score.

Ties keep the order of the candidates; versions 0.1.0 and 0.1.1 reverse them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_FIRST = 10
_CAMEL = 20
_SEPARATOR = 20
_ADJACENT = 5
_LEADING = -5
_LEADING_MOST = -15
_SEPARATORS = frozenset("/-_ .\\")
# Characters beyond ASCII that Go folds onto an ASCII letter.
_FOLDS = str.maketrans({"\u212a": "k", "\u017f": "s"})


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate that holds every character of the needle in order; ``indexes`` are byte offsets."""

    path: str
    score: int
    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The files below one folder, in the order they were walked; remembers what was looked up."""

    paths: tuple[str, ...]
    _folded: tuple[str, ...] = field(default=(), repr=False)
    _known: dict[str, tuple[Match, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, paths: Sequence[str]) -> Candidates:
        return cls(tuple(paths), tuple(_folded(path) for path in paths))

    def rank(self, needle: str) -> tuple[Match, ...]:
        """Every match, best first (``fuzzy.Find``)."""
        known = self._known.get(needle)
        if known is None:
            wanted = _folded(needle)
            found = (
                score(needle, path)
                for path, folded in zip(self.paths, self._folded, strict=True)
                if _subsequence(wanted, folded)
            )
            hits = (match for match in found if match is not None)
            known = tuple(sorted(hits, key=lambda match: -match.score))
            self._known[needle] = known
        return known


def rank(needle: str, paths: Sequence[str]) -> tuple[Match, ...]:
    """Every path that matches, best first; the best one is the only one bee looks at."""
    return Candidates.of(paths).rank(needle)


def score(needle: str, path: str) -> Match | None:
    """One candidate's score, ``None`` when a character of the needle is missing.

    A character of the needle is settled only when the next one is about to appear (or the path
    ends), so that the best place for it is taken rather than the first. The bonus for characters
    in a row grows with each and is never reset.
    """
    if not needle:
        return None
    subject = path.partition("\0")[0]
    sizes = [_size(char) for char in subject]
    indexes: list[int] = []
    total, best, best_at, adjacent = 0, -1, -1, 0
    last, last_at, at = "", 0, 0
    for position, char in enumerate(subject):
        if _same(char, needle[len(indexes)]):
            points = _FIRST if at == 0 else 0
            if last.islower() and char.isupper():
                points += _CAMEL
            if at and last in _SEPARATORS:
                points += _SEPARATOR
            if indexes:
                bonus = adjacent * 2 + _ADJACENT if indexes[-1] == last_at else 0
                points += bonus
                adjacent += bonus
            if points > best:
                best, best_at = points, at
        following = subject[position + 1] if position + 1 < len(subject) else ""
        wanted = needle[len(indexes) + 1] if len(indexes) + 1 < len(needle) else ""
        if best_at >= 0 and best > -1 and (not following or (wanted and _same(following, wanted))):
            if not indexes:
                best += max(best_at * _LEADING, _LEADING_MOST)
            total += best
            indexes.append(best_at)
            best, best_at = -1, -1
            if len(indexes) == len(needle):
                break  # only ever at the last character of the path
        last, last_at = char, at
        at += sizes[position]
    if len(indexes) != len(needle):
        return None
    return Match(path, total + len(indexes) - sum(sizes), tuple(indexes))


def _size(char: str) -> int:
    code = ord(char)
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:  # the latter is one byte that is not UTF-8
        return 1
    return 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _same(left: str, right: str) -> bool:
    return left == right or _folded(left) == _folded(right)


def _folded(text: str) -> str:
    lowered = text.lower() if text.isascii() else "".join(_simple(char) for char in text)
    return lowered.translate(_FOLDS) if not lowered.isascii() else lowered


def _simple(char: str) -> str:
    """Simple case folding, one character to one."""
    lowered = char.upper().lower()
    return lowered if len(lowered) == 1 else char


def _subsequence(needle: str, text: str) -> bool:
    at = 0
    for char in needle:
        at = text.find(char, at) + 1
        if not at:
            return False
    return True
