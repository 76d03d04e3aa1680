"""Pairs of long texts that are hard to compare, for the tests and the benchmarks."""

from __future__ import annotations

import random
from collections.abc import Callable

Pair = tuple[str, str]


def _repeated(size: int) -> Pair:
    return "a b " * size, "b a " * size


def _random_words(size: int) -> Pair:
    chance = random.Random(5)
    left, right = (" ".join(chance.choices("abcdefgh", k=size * 3 // 2)) for _ in range(2))
    return left, right


def _random_lines(size: int) -> Pair:
    chance, lines = random.Random(5), [f"line {n}" for n in range(300)]
    left, right = ("\n".join(chance.choices(lines, k=size)) for _ in range(2))
    return left, right


def _reversed(size: int) -> Pair:
    words = [f"w{n}" for n in range(size)]
    return " ".join(words), " ".join(reversed(words))


def _nested(size: int) -> Pair:
    words = [f"t{n // 2}" for n in range(size)]
    return " ".join(words), " ".join(words[1:] + words[:1])


def _one_word_a_line(size: int) -> Pair:
    return "some words here 1\n" * (size // 3), "some words here 2\n" * (size // 3)


HARD: dict[str, Callable[[int], Pair]] = {
    "repeated words": _repeated,
    "random words": _random_words,
    "random lines": _random_lines,
    "reversed": _reversed,
    "nested": _nested,
    "one word changed in each line": _one_word_a_line,
}
"""Each makes texts of about so many words or lines. At 60,000 some are too long to be compared by word."""
