"""Matching two sequences in order, in n log n: the longest increasing run and keyed passes over it.

Both the alignment of message lists and the word difference stand on these two functions. Neither
ever compares every item with every other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
Pair: TypeAlias = tuple[int, int]
"""An index on the left and the index on the right it is matched with."""

Key: TypeAlias = Callable[[Item], Hashable | None]
"""What makes two items the same in one pass; ``None`` takes the item out of that pass."""


def longest_increasing(values: Sequence[int]) -> list[int]:
    """The indices of a longest strictly increasing subsequence, in order."""
    if all(a < b for a, b in pairwise(values)):
        return list(range(len(values)))
    tails: list[int] = []  # the smallest last value of an increasing run of each length
    ends: list[int] = []  # where that value stands
    before: list[int] = []  # the index that precedes each value in its run
    for index, value in enumerate(values):
        length = bisect_left(tails, value)
        if length == len(tails):
            tails.append(value)
            ends.append(index)
        else:
            tails[length] = value
            ends[length] = index
        before.append(ends[length - 1] if length else -1)
    chosen: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chosen.append(index)
        index = before[index]
    return chosen[::-1]


def match(left: Sequence[Item], right: Sequence[Item], keys: Sequence[Key[Item]]) -> list[Pair]:
    """Pairs of items that are the same, increasing on both sides.

    Each key makes one pass over what the passes before left unmatched, and matches only between
    the pairs they found: strict keys come first, loose ones last. Equal keys pair up in order.
    """
    pairs: list[Pair] = []
    for key in keys:
        pairs = _pass(left, right, key, pairs)
    return pairs


def _pass(left: Sequence[Item], right: Sequence[Item], key: Key[Item], pairs: list[Pair]) -> list[Pair]:
    lefts = _numbered(left, key, [pair[0] for pair in pairs])
    rights = _numbered(right, key, [pair[1] for pair in pairs])
    found = [(index, rights[name]) for name, index in lefts.items() if name in rights]
    chosen = longest_increasing([pair[1] for pair in found])
    return sorted(pairs + [found[index] for index in chosen])


def _numbered(items: Sequence[Item], key: Key[Item], taken: list[int]) -> dict[Hashable, int]:
    """Each free item by (gap between taken ones, key, how often that key was seen there)."""
    names: dict[Hashable, int] = {}
    seen: dict[Hashable, int] = defaultdict(int)
    gap = 0
    for index, item in enumerate(items):
        if gap < len(taken) and taken[gap] == index:
            gap += 1
            continue
        if (value := key(item)) is not None:
            name = (gap, value)
            names[name, seen[name]] = index
            seen[name] += 1
    return names
