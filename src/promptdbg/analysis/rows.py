"""Which row each message of each list stands in.

Rows grow list by list. A message stays in the row of its id; one with a new id that was merged
from others takes the first row its sources left free; everything else opens a row of its own,
placed where it stands. Rows never change order, so reading one column from top to bottom always
gives exactly that list; a message that changed places opens a new row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Sequence

from promptdbg.analysis.matching import longest_increasing
from promptdbg.model import Message


class RowPlan:
    """Rows so far. Each has a number that never changes; ``order`` is how they stand."""

    def __init__(self, own_rows: Collection[str] = ()) -> None:
        """``own_rows`` are the ids that open a row although they name sources: insertions."""
        self.order: list[int] = []
        self.moved: list[dict[int, int]] = []
        """For each list: the new row of a message that changed places, and its old row."""
        self._own = own_rows
        self._row_of: dict[str, int] = {}
        self._last: tuple[Sequence[str], list[int]] | None = None

    def ranks(self) -> list[int]:
        """Where each row stands, by its number."""
        ranks = [0] * len(self.order)
        for place, row in enumerate(self.order):
            ranks[row] = place
        return ranks

    def add(self, messages: Sequence[Message], ids: Sequence[str]) -> list[int]:
        """Place one more list; the row of each of its messages.

        Args:
            ids: what each message is matched by, usually its own id; no id comes twice.
        """
        if self._last is not None and ids == self._last[0]:  # the same messages, each in its row
            self.moved.append({})
            return self._last[1]
        rows = self._add(messages, ids)
        self._last = (ids, rows)
        return rows

    def _add(self, messages: Sequence[Message], ids: Sequence[str]) -> list[int]:
        if not self.order:
            rows = list(range(len(ids)))
            self.order = list(rows)
            self.moved.append({})
            self._row_of.update(zip(ids, rows, strict=True))
            return rows
        ranks = self.ranks()
        wanted = self._wanted(messages, ids)
        known = [index for index, row in enumerate(wanted) if row is not None]
        places = [ranks[row] for row in wanted if row is not None]
        stays: list[int | None] = [None] * len(ids)
        for i in longest_increasing(places):
            stays[known[i]] = places[i]
        opened = self._places(messages, ranks, stays)
        rows = [-1 if place is None else self.order[place] for place in stays]
        for row, index in enumerate(opened, len(self.order)):
            rows[index] = row
        self.moved.append({rows[i]: old for i in opened if (old := wanted[i]) is not None})
        self._insert([(place, rows[index]) for index, place in opened.items()])
        self._row_of.update(zip(ids, rows, strict=True))
        return rows

    def _wanted(self, messages: Sequence[Message], ids: Sequence[str]) -> list[int | None]:
        """The row each message belongs in: that of its id, else a free one of its sources."""
        wanted = [self._row_of.get(name) for name in ids]
        used = set(wanted)
        if None not in used:
            return wanted
        here = set(ids)
        for index, row in enumerate(wanted):
            if row is None and ids[index] not in self._own:
                wanted[index] = home = self._home(messages[index], here, used)
                used.add(home)
        return wanted

    def _home(self, message: Message, here: set[str], used: set[int | None]) -> int | None:
        for source in message.sources:
            row = self._row_of.get(source)
            if row not in used and source not in here:
                return row
        return None

    def _places(
        self, messages: Sequence[Message], ranks: list[int], stays: Sequence[int | None]
    ) -> dict[int, int]:
        """For each message that opens a row: the place it comes after, -1 for the top. ``stays`` are
        the places of the others."""
        kept = [(index, place) for index, place in enumerate(stays) if place is not None]
        opened: dict[int, int] = {}
        floor = -1  # the last place given out
        for index, place in enumerate(stays):
            if place is None:
                near = bisect_left(kept, (index, -1))
                last = kept[near - 1][1] if near else -1
                end = kept[near][1] if near < len(kept) else len(self.order)
                floor = max(floor, last, self._after(messages[index], ranks, last, end))
                opened[index] = floor
        return opened

    def _after(self, message: Message, ranks: list[int], last: int, end: int) -> int:
        """Where a new row goes between the places ``last`` and ``end``: behind what it was made
        from; the system message on top; anything else behind the rows that are gone here."""
        made_from = [ranks[row] for name in message.sources if (row := self._row_of.get(name, -1)) >= 0]
        within = [place for place in made_from if last <= place < end]
        if within:
            return max(within)
        if any(place < last for place in made_from) or (last < 0 and message.role == "system"):
            return last
        return end - 1

    def _insert(self, opened: list[tuple[int, int]]) -> None:
        """Put new rows after their places."""
        if not opened:
            return
        at: dict[int, list[int]] = defaultdict(list)
        for place, row in opened:
            at[place].append(row)
        order: list[int] = []
        start = 0
        for place in sorted(at):
            order += self.order[start : place + 1]
            order += at[place]
            start = place + 1
        self.order = order + self.order[start:]
