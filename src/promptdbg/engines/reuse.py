"""Answers kept from one assembly to the next, so that a change costs what depends on it.

Fifty thousand messages go through a dozen steps; a knob changes what one or two of them get.
``reuse(function, *arguments)`` calls the function only where it was not called with equal arguments
in this assembly or the one before.

Why the answer is the one a new call would give: the key is the function and *everything* it is
given. So it takes a function whose answer depends on its arguments alone, at module level or of an
object that never changes, and nobody changes arguments or answers afterwards. A lambda would not do.

Lists of messages are compared entry by entry, by identity: quick, and a step that changes nothing
hands on the list that it got, so that the next step was asked the same before.

What two assemblies did not ask for is forgotten, which bounds what is kept. Exceptions are not kept.
Threads may ask at the same time; at the worst something is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_MOST = 16
"""Answers of one function that are kept of one assembly."""

_Kept = dict[Callable[..., Any], tuple[tuple[tuple[Any, ...], Any], ...]]


class Reuse:
    """What the last two assemblies asked for; see the module's text."""

    __slots__ = ("_before", "_now")

    def __init__(self) -> None:
        self._before: _Kept = {}
        self._now: _Kept = {}

    def begin(self) -> None:
        """Another assembly begins: what only the one before the last asked for is forgotten."""
        self._before, self._now = self._now, {}

    def __call__(self, function: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """``function(*arguments)``, from memory where it was asked before."""
        now = self._now
        for kept in (now, self._before):
            for entry in kept.get(function, ()):
                if entry[0] == arguments:
                    if kept is not now:
                        now[function] = (*now.get(function, ()), entry)[-_MOST:]
                    known: T = entry[1]
                    return known
        answer = function(*arguments)
        now[function] = (*now.get(function, ()), (arguments, answer))[-_MOST:]
        return answer
