"""The walk over the messages, newest first, that generations 1 and 2 share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fit:
    """How far the walk came: the messages from ``start`` on are kept, and cost ``used``.

    ``blocked`` is the message that stopped it, ``None`` when all were taken.
    """

    start: int
    used: int
    blocked: int | None


def fit(costs: Sequence[int], remaining: int) -> Fit:
    """Take costs from the end while their sum stays within ``remaining``
    (``context/builder.rb::fit_messages_to_budget``). Equal is allowed; the first that does not fit ends
    the walk, even when an older one would fit."""
    used, start = 0, len(costs)
    for index in range(len(costs) - 1, -1, -1):
        if used + costs[index] > remaining:
            return Fit(start, used, index)
        used += costs[index]
        start = index
    return Fit(start, used, None)
