"""How much work a call is, in lines of Python: a figure that no busy machine and no other test changes.

What C does within one line, such as looking through a list or copying it, is one line whatever its
size; the benchmarks measure that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(call: Callable[[], object], package: str = "promptdbg") -> int:
    """How many lines of the package this thread executes in a call.

    By the module's name, not its file, so that the comparisons which a dataclass generates are counted.
    """
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        name = str(frame.f_globals.get("__name__"))
        return line if name == package or name.startswith(f"{package}.") else None

    before = sys.gettrace()  # that of a debugger or of coverage
    sys.settrace(entered)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


LINEAR = 15.0
"""The most that ten times the input may take where a sort is all that is more than linear. A quadratic
walk takes a hundred times as much."""


def growth(made: Callable[[int], Callable[[], object]], size: int, package: str = "promptdbg") -> float:
    """How many times as many lines the call made for ten times the size executes.

    Each call is made once before it is counted: what is kept from then on (imports, tables, the counts
    of texts) is not what grows.
    """
    few, many = (_warm(made(count), package) for count in (size, 10 * size))
    assert few > size, "too few lines to tell how they grow"
    return many / few


def _warm(call: Callable[[], object], package: str) -> int:
    call()
    return steps(call, package)
