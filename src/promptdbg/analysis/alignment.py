"""The form of an alignment: message lists as columns over common rows.

Row *i* of a column is one cell: the message that stands there, or how it is missing. Cells are made
when asked for, so that lists of any length align fast.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from promptdbg.marks import MESSAGE_MARKS, Mark
from promptdbg.model import Action, Decision, Message, MessageStatus, Stage


class CellKind(StrEnum):
    """What a cell says about its row, compared with the column to the left."""

    LISTED = "listed"  # stands in the first column
    SAME = "same"
    REWRITTEN = "rewritten"
    MERGED = "merged"  # holds the text of several messages
    INSERTED = "inserted"
    MOVED = "moved"  # stood in another row of the column to the left
    DROPPED = "dropped"
    ELSEWHERE = "elsewhere"  # its text stands in another row: merged into it, or moved there
    GONE = "gone"  # left in a column further left
    ABSENT = "absent"  # comes only in a column further right


SIGNS: Mapping[CellKind, str] = {
    CellKind.LISTED: " ",
    CellKind.SAME: "=",
    CellKind.REWRITTEN: "~",
    CellKind.MERGED: "&",
    CellKind.INSERTED: "+",
    CellKind.MOVED: "+",
    CellKind.DROPPED: "−",
    CellKind.ELSEWHERE: "−",
    CellKind.GONE: "−",
    CellKind.ABSENT: " ",
}
"""One mark of one terminal cell for every kind."""

PRESENT = frozenset(
    {
        CellKind.LISTED,
        CellKind.SAME,
        CellKind.REWRITTEN,
        CellKind.MERGED,
        CellKind.INSERTED,
        CellKind.MOVED,
    }
)
"""Kinds of a cell that holds a message."""

CHANGES = frozenset(CellKind) - {CellKind.LISTED, CellKind.SAME, CellKind.GONE, CellKind.ABSENT}
"""Kinds of a cell in which something happened."""

LEFT = frozenset({CellKind.DROPPED, CellKind.ELSEWHERE, CellKind.GONE})
"""Kinds of a cell whose message is not in the list any more."""


def edit_word(actions: Collection[Action]) -> str:
    """What was done to a message that is another now, by the actions of its decisions."""
    return "CUT" if Action.TRUNCATE in actions else "REPAIR" if Action.REPAIR in actions else "EDIT"


def mark_of_message(status: MessageStatus, actions: Collection[Action]) -> Mark:
    """The mark of a message's status, with the word for what was done to it by its decisions' actions."""
    mark = MESSAGE_MARKS[status]
    return replace(mark, word=edit_word(actions)) if status is MessageStatus.REWRITTEN else mark


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of one column.

    ``before`` is the message as the column to the left has it. ``other`` is the row its text went
    to (``ELSEWHERE``) or came from (``MOVED``). ``decisions`` were made on it since that column.
    """

    kind: CellKind
    message: Message | None
    before: Message | None = None
    other: int | None = None
    decisions: tuple[Decision, ...] = ()

    @property
    def sign(self) -> str:
        return SIGNS[self.kind]

    @property
    def word(self) -> str:
        """What happened, in one word; empty where nothing did."""
        actions = {decision.action for decision in self.decisions}
        match self.kind:
            case CellKind.DROPPED:
                return "OFF" if Action.DISABLE in actions else "DROP"
            case CellKind.REWRITTEN:
                return edit_word(actions)
            case CellKind.INSERTED:
                return "ADD"
            case CellKind.MERGED:
                return "MERGE"
            case CellKind.MOVED:
                return "MOVE"
            case CellKind.ELSEWHERE:
                return "MERGE" if Action.MERGE in actions else "MOVE"
            case _:
                return ""


@dataclass(frozen=True, slots=True)
class Column:
    """One list over all rows. ``delta`` is its tokens less those of the column to the left.

    Decisions made behind stage number ``after`` and up to ``upto`` explain it; ``index`` finds
    them by item.
    """

    stage: Stage
    messages: tuple[Message | None, ...]
    kinds: tuple[CellKind, ...]
    others: Mapping[int, int]
    counts: Mapping[CellKind, int]
    tokens: int
    delta: int
    after: int = -1
    upto: int = 0
    index: Mapping[str, Sequence[tuple[int, Decision]]] = field(default_factory=dict, repr=False)

    @property
    def length(self) -> int:
        """How many messages the list has."""
        return len(self.stage.messages)

    def decisions_on(self, item: str) -> tuple[Decision, ...]:
        """The decisions on a message since the column to the left."""
        return tuple(d for place, d in self.index.get(item, ()) if self.after < place <= self.upto)

    def first_rule(self, item: str) -> str:
        """The rule of the first of them; empty where there is none."""
        for place, decision in self.index.get(item, ()):
            if self.after < place <= self.upto:
                return decision.rule
        return ""


FOLD_LEAST = 3
"""Fewer equal rows are not worth folding into one."""

FOLD_ALIKE = 30
"""Fewer rows that changed alike are shown one by one: they are what a person looks for."""


@dataclass(frozen=True, slots=True)
class Run:
    """Rows ``start`` up to but not including ``end``, all unchanged or all changed alike."""

    start: int
    end: int
    changed: bool

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Alignment:
    """Lists side by side. ``runs`` cover all rows in order; neighbours that changed alike are one.

    ``changes`` are those of them that changed: what next and previous change step through.
    ``touched`` has one byte per row: 1 where any column has something else than its left.
    """

    columns: tuple[Column, ...]
    runs: tuple[Run, ...]
    changes: tuple[Run, ...]
    touched: bytes

    @property
    def length(self) -> int:
        """How many rows there are."""
        return len(self.touched)

    def cell(self, row: int, column: int) -> Cell:
        """One cell, with the decisions behind it."""
        here = self.columns[column]
        kind = here.kinds[row]
        message = here.messages[row]
        before = self.columns[column - 1].messages[row] if column else None
        decisions: tuple[Decision, ...] = ()
        if kind is CellKind.LISTED or kind in CHANGES:
            names = dict.fromkeys(entry.id for entry in (before, message) if entry is not None)
            decisions = tuple(d for name in names for d in here.decisions_on(name))
            if kind is CellKind.ELSEWHERE and not decisions:  # the decision is on what it went into
                there = here.messages[here.others[row]]
                decisions = here.decisions_on(there.id) if there is not None else ()
        return Cell(kind, message, before, here.others.get(row), decisions)

    def cells(self, row: int) -> tuple[Cell, ...]:
        return tuple(self.cell(row, column) for column in range(len(self.columns)))

    def changed(self, row: int) -> bool:
        """Whether any column has something else than the column to its left."""
        return bool(self.touched[row])

    def folds(
        self, *, context: int = 1, least: int = FOLD_LEAST, alike: int | None = None
    ) -> tuple[Run, ...]:
        """The runs to show as one line: rows that are the same, and long runs that changed alike.

        Args:
            context: rows that stay in sight at both ends of a run.
            least: shorter runs are not worth folding.
            alike: the same for rows that changed alike; ``None`` leaves these unfolded.
        """
        folds = []
        for run in self.runs:
            enough = alike if run.changed else least
            if enough is not None and len(run) - 2 * context >= enough:
                folds.append(Run(run.start + context, run.end - context, run.changed))
        return tuple(folds)

    def row_of(self, message_id: str) -> int | None:
        """The row a message stands in, in the column furthest right that has it."""
        for column in reversed(self.columns):
            for row, message in enumerate(column.messages):
                if message is not None and message.id == message_id:
                    return row
        return None
