"""What the Messages screen shows of an alignment: rows, folds, their heights, the lines of cells. Pure.

A closed row is one head line and at most two lines of text, found without wrapping anything, so
that lists of any length open at once. An open row wraps its full text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from promptdbg.analysis.alignment import CHANGES, FOLD_ALIKE, FOLD_LEAST, Alignment, CellKind, Run
from promptdbg.analysis.blocks import full_text, preview, title
from promptdbg.model import Message, Rule, Stage, StageKind
from promptdbg.text import plural, safe
from promptdbg.tui.message_cells import BODY_LINES, CellLines, Mode, because, body_chars, cell_lines, reason

Entry: TypeAlias = int | Run
"""What the list shows: a row of the alignment, or a fold of equal rows."""


@dataclass(frozen=True, slots=True)
class View:
    """How the lists are looked at; it outlives every picture. Rows are named by ``row_key``."""

    only_changes: bool = False
    wrap: bool = False
    opened: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    unfolded: frozenset[str] = frozenset()
    find: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Which columns are drawn, and the cells each has. ``digits`` is the width of row numbers."""

    shown: tuple[int, ...]
    widths: tuple[int, ...]
    digits: int


def grid(total: int, shown: Sequence[int], rows: int) -> Grid:
    """The columns side by side in ``total`` cells: cursor, number, and a line before each. None
    where there are no lists, as in a recording of sections alone."""
    digits = max(len(f"{rows:,}"), 3)
    if not shown:
        return Grid((), (), digits)
    room = max(total - digits - 2 - len(shown), len(shown))
    edges = [room * number // len(shown) for number in range(len(shown) + 1)]
    return Grid(tuple(shown), tuple(b - a for a, b in pairwise(edges)), digits)


def capacity(total: int) -> int:
    """How many columns can be read side by side in so many cells."""
    return 1 if total < 78 else 2 if total < 98 else 3 if total < 138 else 4


def window(columns: int, focus: int, room: int) -> tuple[int, ...]:
    """The columns to draw: as many as fit, the one in focus among them."""
    first = max(0, min(focus - room // 2, columns - room))
    return tuple(range(first, min(first + room, columns)))


def row_key(alignment: Alignment, row: int) -> str:
    """The name of a row that stays when others come and go: the id of its first message."""
    for column in alignment.columns:
        message = column.messages[row]
        if message is not None:
            return message.id
    return ""


def entries(alignment: Alignment, view: View, keep: str = "") -> list[Entry]:
    """The rows to show, equal runs folded unless something is looked for.

    Args:
        keep: a row that is not to vanish in a fold; open rows never do.
    """
    if view.find:
        wanted = view.find.casefold()
        return [
            row
            for row in range(alignment.length)
            if (alignment.changed(row) or not view.only_changes) and _holds(alignment, row, wanted)
        ]
    if view.only_changes:
        return [row for row, flag in enumerate(alignment.touched) if flag]
    found: list[Entry] = []
    row = 0
    for fold in _folds(alignment, view, keep):
        found.extend(range(row, fold.start))
        found.append(fold)
        row = fold.end
    found.extend(range(row, alignment.length))
    return found


def _folds(alignment: Alignment, view: View, keep: str) -> Iterator[Run]:
    """The runs to fold, split where a row in them stays in sight."""
    visible = view.opened | view.words | {keep} - {""}
    for fold in alignment.folds(alike=FOLD_ALIKE):
        if row_key(alignment, fold.start) in view.unfolded:
            continue
        start = fold.start
        if visible:
            for row in range(fold.start, fold.end):
                if row_key(alignment, row) in visible:
                    if row - start >= FOLD_LEAST:
                        yield Run(start, row, fold.changed)
                    start = row + 1
        if fold.end - start >= FOLD_LEAST:
            yield Run(start, fold.end, fold.changed)


def _holds(alignment: Alignment, row: int, wanted: str) -> bool:
    seen: Message | None = None
    for column in alignment.columns:
        message = column.messages[row]
        if message is None or message is seen:
            continue
        seen = message
        if wanted in title(message).casefold() or wanted in full_text(message).casefold():
            return True
    return False


def first_row(entry: Entry) -> int:
    """The row an entry begins with."""
    return entry if isinstance(entry, int) else entry.start


def entry_of(shown: Sequence[Entry], row: int) -> int:
    """The entry that shows a row, or the last one before it."""
    return max(bisect_right(shown, row, key=first_row) - 1, 0)


# -- how high rows are


def heights(
    alignment: Alignment, shown: Sequence[Entry], view: View, where: Grid, rules: Mapping[str, Rule]
) -> Iterator[int]:
    """The lines of each entry. Closed rows are only looked at, not wrapped."""
    special = view.opened | view.words
    for entry in shown:
        if not isinstance(entry, int):
            yield 1
        elif view.wrap or (special and row_key(alignment, entry) in special):
            yield max(lines_at(alignment, entry, column, view, where, rules).count for column in where.shown)
        else:
            yield 1 + max(
                _body_height(alignment, entry, column, width_ - 2, column == where.shown[0])
                for column, width_ in zip(where.shown, where.widths, strict=True)
            )


def _body_height(alignment: Alignment, row: int, number: int, room: int, first: bool) -> int:
    column = alignment.columns[number]
    kind = column.kinds[row]
    message = column.messages[row]
    if message is None:
        if kind not in CHANGES:
            return 0
        return _lines_at_most(because(alignment.cell(row, number).decisions), room)
    if kind is CellKind.SAME and not first:
        return 0
    content = message.content
    if isinstance(content, str) and message.tool_calls is None and not message.extra:
        return _lines_at_most(content[: body_chars(room)], room)
    return _lines_at_most(preview(message, body_chars(room)), room)


def _lines_at_most(text: str, room: int) -> int:
    text = text.strip()
    if not text:
        return 0
    return 1 if len(text) <= room and "\n" not in text else BODY_LINES


@dataclass(frozen=True, slots=True)
class Plan:
    """What is drawn: the lists, which entries of them, and how high each is. ``cursor`` is the entry
    of the row that was wanted, ``None`` where it is not there."""

    alignment: Alignment
    view: View
    grid: Grid
    entries: Sequence[Entry]
    heights: Sequence[int]
    cursor: int | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The row the cursor is to stand on, by its name; ``shown`` keeps it out of a fold."""

    key: str = ""
    shown: bool = False


def plan_of(
    alignment: Alignment,
    view: View,
    where: Grid,
    rules: Mapping[str, Rule],
    wanted: Wanted,
    stopped: Callable[[], bool] = lambda: False,
) -> Plan | None:
    """Lay the lists out; ``None`` when ``stopped`` says that nobody waits any more."""
    shown = entries(alignment, view, wanted.key if wanted.shown else "")
    high = []
    for number, height in enumerate(heights(alignment, shown, view, where, rules)):
        if number % 256 == 0 and stopped():
            return None
        high.append(height)
    cursor = None
    if wanted.key and shown:
        rows = (row for row in range(alignment.length) if row_key(alignment, row) == wanted.key)
        row = next(rows, None)
        cursor = None if row is None else entry_of(shown, row)
    return Plan(alignment, view, where, shown, high, cursor)


# -- the lines of a row


def mode_of(view: View, key: str) -> Mode:
    """How a row is shown."""
    if key in view.words:
        return "words"
    if key in view.opened:
        return "open"
    return "full" if view.wrap else "closed"


def lines_at(
    alignment: Alignment,
    row: int,
    number: int,
    view: View,
    where: Grid,
    rules: Mapping[str, Rule],
) -> CellLines:
    """One cell of the screen as lines."""
    return cell_lines(
        alignment.cell(row, number),
        where.widths[where.shown.index(number)],
        mode_of(view, row_key(alignment, row)),
        rules,
        first=number == where.shown[0],
        hint=_hint(alignment, row, number, where),
    )


def _hint(alignment: Alignment, row: int, number: int, where: Grid) -> str:
    """What happens to the row in a column out of sight, for the last one in sight."""
    if number != where.shown[-1]:
        return ""
    for later in range(number + 1, len(alignment.columns)):
        if alignment.columns[later].kinds[row] in CHANGES:
            word = alignment.cell(row, later).word
            return f"({word} in {column_title(alignment.columns[later].stage)}: →)"
    return ""


# -- titles and sentences


def column_title(stage: Stage) -> str:
    """What a column is called: SESSION, INITIAL, FINAL, or the name of a step."""
    return stage.title if stage.kind is StageKind.STEP else safe(stage.name.upper(), lines=False)


def fold_sentence(alignment: Alignment, fold: Run) -> str:
    """What the rows of a fold have in common."""
    columns = len(alignment.columns)
    if not fold.changed:
        where = "" if columns < 2 else " in both lists" if columns == 2 else f" in all {columns} lists"
        return f"{plural(len(fold), 'row')} the same{where}"
    for number, column in enumerate(alignment.columns):
        if column.kinds[fold.start] in CHANGES:
            cell = alignment.cell(fold.start, number)
            rule = decision.rule if (decision := reason(cell.decisions)) else ""
            return f"{len(fold):,} more {cell.word} in {column_title(column.stage)} {rule}".rstrip()
    return plural(len(fold), "row")


def row_sentence(alignment: Alignment, row: int, focus: int) -> str:
    """What happened in a row: in the column in focus, else in the first that changed it."""
    order = [focus, *(number for number in range(len(alignment.columns)) if number != focus)]
    for number in order:
        cell = alignment.cell(row, number)
        if cell.kind not in CHANGES:
            continue
        parts = [f"{row + 1:,}", column_title(alignment.columns[number].stage), cell.word]
        decision = reason(cell.decisions)
        if decision is not None:
            parts += [decision.because, decision.rule]
        return " · ".join(parts)
    return f"{row + 1:,} · the same in all lists"


def place_among(changes: Sequence[Run], row: int) -> int:
    """How many changes begin at or above a row."""
    return bisect_right(changes, row, key=first_row)


def summary(alignment: Alignment) -> str:
    """What the lists differ in, counted."""
    if len(alignment.columns) == 1:
        return "there is one list only"
    words: dict[str, int] = {}
    for row in range(alignment.length):
        if not alignment.touched[row]:
            continue
        for number, column in enumerate(alignment.columns):
            kind = column.kinds[row]
            if kind in CHANGES and kind is not CellKind.ELSEWHERE:  # that is the other half of a merge
                word = alignment.cell(row, number).word
                words[word] = words.get(word, 0) + 1
    if not words:
        return "the lists are the same"
    return ", ".join(f"{count:,} {word}" for word, count in words.items())
