"""Timing: processor time of this process and its children, the best of several runs.

Processor time, not the clock on the wall, so that the figures hold on a busy machine; the best,
because whatever disturbs a run makes it slower.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the report. ``goal`` is what it should be, empty where there is none; ``told`` where
    the README tells it too."""

    what: str
    figure: str
    goal: str = ""
    met: bool = True
    told: bool = False


def clock() -> float:
    """Seconds of processor time so far, those of children that have ended included."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def best(function: Callable[[], Any], *, runs: int = 5) -> float:
    """Seconds of the fastest of some runs."""
    times = []
    for _ in range(runs):
        started = clock()
        function()
        times.append(clock() - started)
    return min(times)


def in_turn(left: Callable[[], Any], right: Callable[[], Any], *, runs: int = 7) -> tuple[float, float]:
    """The best of each, run in turn so that a slow spell of the machine meets both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for function, found in zip((left, right), times, strict=True):
            started = clock()
            function()
            found.append(clock() - started)
    return min(times[0]), min(times[1])


def ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def ratio(what: str, ours: float, theirs: float, most: float | None = None, *, told: bool = False) -> Result:
    """Ours as a multiple of what it is compared with, and the most it may be."""
    found = ours / theirs
    figure = f"{found:.2f}x ({ms(ours)} to {ms(theirs)})"
    if most is None:
        return Result(what, figure, told=told)
    return Result(what, figure, f"at most {most:g}x", found <= most, told)


def growth(what: str, made: Callable[[int], Callable[[], Any]], size: int) -> Result:
    """What ten times the size takes, as a multiple of what the size takes, both in turn; each is done once
    before, for what is kept from then on. A quadratic walk takes a hundred times as long, and larger data
    is slower to reach."""
    small, large = made(size), made(10 * size)
    small()
    large()
    more, less = in_turn(large, small, runs=3)
    return ratio(what, more, less, 30)


def bound(what: str, seconds: float, most: float | None = None, *, told: bool = False) -> Result:
    """A time, and the longest it may be."""
    if most is None:
        return Result(what, ms(seconds), told=told)
    return Result(what, ms(seconds), f"under {ms(most)}", seconds < most, told)
