"""The counting of lines finds what it is there to find."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from promptdbg.analysis.diff import word_diff
from promptdbg.model import Message
from tests.steps import LINEAR, growth, steps


def once(size: int) -> list[int]:
    found = []
    for number in range(size):
        found.append(number)
    return found


def pairs(size: int) -> int:
    return sum(left == right for left in range(size) for right in range(size))


def looked_up(size: int) -> int:
    """Each message looked for in a list of all: C walks it, and asks Python whether they are equal."""
    messages = [Message(f"m{number}", "user", "", 1) for number in range(size)]
    return sum(Message(f"m{number}", "user", "", 1) in messages for number in range(size))


@pytest.mark.parametrize(
    ("walk", "package", "linear"),
    [(once, __name__, True), (pairs, __name__, False), (looked_up, "promptdbg", False)],
    ids=["once", "pairs", "looked up"],
)
def test_a_quadratic_walk_is_found(walk: Callable[[int], object], package: str, linear: bool) -> None:
    assert (growth(lambda size: partial(walk, size), 30, package) < LINEAR) == linear


def test_the_same_call_is_the_same_count() -> None:
    call = partial(word_diff, "some words here\n" * 20, "other words there\n" * 20)
    call()
    assert len({steps(call) for _ in range(3)}) == 1


def test_only_the_package_counts() -> None:
    assert steps(partial(once, 10)) == 0
    assert steps(partial(once, 10), __name__) >= 20


def test_what_traced_before_traces_again() -> None:
    def trace(frame: FrameType, event: str, argument: Any) -> None:
        return None

    def fails() -> None:
        raise ValueError("for a test")

    before = sys.gettrace()
    try:
        sys.settrace(trace)
        steps(partial(once, 10))
        with pytest.raises(ValueError, match="for a test"):
            steps(fails)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
