"""Message lists side by side in one widget: one scroll offset, so no column is ever out of step."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.message import Message
from textual.strip import Strip

from promptdbg.analysis.alignment import CHANGES, Alignment, Run
from promptdbg.analysis.blocks import full_text
from promptdbg.model import Message as Entry
from promptdbg.model import Rule
from promptdbg.text import clip, pad, width
from promptdbg.tui.glyphs import written
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.message_cells import CellLines
from promptdbg.tui.message_view import (
    Grid,
    Plan,
    View,
    Wanted,
    capacity,
    column_title,
    entry_of,
    first_row,
    fold_sentence,
    grid,
    lines_at,
    plan_of,
    row_key,
    window,
)
from promptdbg.tui.messages import Refused
from promptdbg.tui.widgets.virtual import VirtualList

AT_ONCE_ROWS = 3_000
"""Up to so many closed rows are laid out on the event loop; more in a thread."""

AT_ONCE_CHARS = 100_000
"""Up to so many code points of open text are wrapped on the event loop."""

_PROMPT_STYLES = frozenset({"", "virtual--lost", "status--add"})
"""How the text of a message is drawn below the head of its cell; what is drawn otherwise is words of ours."""


class MessageColumns(VirtualList):
    """Draws an alignment. Opening, folding, finding and the focus are its own; which lists are
    shown is the screen's."""

    BINDINGS = bindings("columns")
    places: ClassVar[tuple[Place, ...]] = ("columns", "list")
    head_height = 2

    class Drawn(Message):
        """Other rows are drawn, or another column has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.alignment: Alignment | None = None
        self.focus_column = 0
        self.view = View()
        self.plan: Plan | None = None
        self.empty_word = ""
        self._rules: Mapping[str, Rule] = {}
        self._lines: LRUCache[tuple[int, int], CellLines] = LRUCache(512)
        self._wanted = Wanted()
        self._asked = 0  # numbers the layouts, so that a late one is known

    # -- what the screen asks

    def show(self, alignment: Alignment, rules: Mapping[str, Rule], row: int | None = None) -> None:
        """Draw other lists. The cursor goes to ``row``, else stays on the row of the same messages."""
        self._stay()
        if row is not None:
            self._wanted = Wanted(row_key(alignment, row), shown=True)
        self.alignment, self._rules = alignment, rules
        self.focus_column = min(self.focus_column, max(len(alignment.columns) - 1, 0))
        self._lay_out()

    @property
    def row(self) -> int | None:
        """The row of the alignment under the cursor; the first of a fold."""
        plan = self.plan
        return first_row(plan.entries[self.cursor]) if plan and self.cursor < len(plan.entries) else None

    @property
    def message(self) -> Entry | None:
        """The message under the cursor, in the column in focus or the nearest that has it."""
        plan, row = self.plan, self.row
        if plan is None or row is None:
            return None
        cells = plan.alignment.cells(row)
        near = sorted(range(len(cells)), key=lambda number: abs(number - self.focus_column))
        return next((found for number in near if (found := cells[number].message) is not None), None)

    def go_to_row(self, row: int) -> None:
        """Put the cursor on a row, showing it where it is folded or not among what is looked for."""
        plan = self.plan
        if plan is None:
            return
        place = entry_of(plan.entries, row)
        entry = plan.entries[place] if plan.entries else None
        if entry == row:
            self.cursor = place
            return
        self._wanted = Wanted(row_key(plan.alignment, row), shown=True)
        folded = isinstance(entry, Run) and entry.start <= row < entry.end
        self._look(self.view if folded else replace(self.view, only_changes=False, find=""))

    def find(self, text: str) -> None:
        """Show only rows that hold a text; an empty one shows all again."""
        self._look(replace(self.view, find=text))

    # -- laying out

    def _look(self, view: View) -> None:
        """Look at the lists in another way."""
        self._stay()
        self.view = view
        self._lay_out()

    def _stay(self) -> None:
        """Let the cursor stand on the row it stands on, whatever is drawn next."""
        plan = self.plan
        if not self._wanted.key and plan is not None and self.cursor < len(plan.entries):
            entry = plan.entries[self.cursor]
            self._wanted = Wanted(row_key(plan.alignment, first_row(entry)), shown=not isinstance(entry, Run))

    def _grid_now(self, alignment: Alignment) -> Grid:
        shown = window(len(alignment.columns), self.focus_column, capacity(self.text_width))
        return grid(self.text_width, shown, alignment.length)

    def _lay_out(self) -> None:
        alignment = self.alignment
        if alignment is None or not self.text_width:
            return
        self._asked += 1
        if self._small(alignment):
            self._take(plan_of(alignment, self.view, self._grid_now(alignment), self._rules, self._wanted))
        else:
            self.run_worker(
                self._lay_out_later(alignment, self._asked),
                exclusive=True,
                group="layout",
                exit_on_error=False,
                description="laying out",
            )

    def _small(self, alignment: Alignment) -> bool:
        """Whether laying out takes no time worth a thread."""
        view = self.view
        if alignment.length > AT_ONCE_ROWS or view.find:
            return False
        special = view.opened | view.words
        chars = 0
        for row in range(alignment.length if view.wrap or special else 0):
            if view.wrap or row_key(alignment, row) in special:
                different = {id(m): m for c in alignment.columns if (m := c.messages[row]) is not None}
                chars += sum(len(full_text(message)) for message in different.values())
                if chars > AT_ONCE_CHARS:
                    return False
        return True

    async def _lay_out_later(self, alignment: Alignment, asked: int) -> None:
        job = (alignment, self.view, self._grid_now(alignment), self._rules, self._wanted)
        plan = await asyncio.to_thread(plan_of, *job, lambda: self._asked != asked)
        if self._asked == asked:
            self._take(plan)

    def on_unmount(self) -> None:
        self._asked += 1  # a thread that still lays out need not go on

    def _take(self, plan: Plan | None) -> None:
        """Draw a layout. The cursor goes to the row it is wanted on, at the height it stood."""
        if plan is None:
            return
        height = self.top_of(self.cursor) - self.scroll_offset.y if self.row_count else 0
        self.plan = plan
        self._lines.clear()
        self._wanted = Wanted()
        self.set_rows(len(plan.entries), plan.heights, cursor=plan.cursor)
        if self.row_count:
            top = self.top_of(self.cursor)
            self.scroll_to(
                y=max(top - min(max(height, 0), self.page_height - 1), 0), animate=False, force=True
            )
            self.show_cursor()
        self.post_message(self.Drawn())

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        alignment = self.alignment
        if alignment is not None and (self.plan is None or self.plan.grid != self._grid_now(alignment)):
            self._lay_out()

    # -- drawing

    def line_count(self) -> int:
        return super().line_count() or 1  # a line that says why there is none

    def draw_line(self, line: int, width: int) -> Strip:
        if not self.row_count:
            return self.strip([("  " + self.empty_word, self.style("virtual--muted"))], width)
        return super().draw_line(line, width)

    def draw_head(self, y: int, width: int) -> Strip:
        plan = self.plan
        if plan is None or not plan.grid.shown:
            return self.blank(width)
        head = self.style("virtual--head")
        rest = self.glyphs.rest
        if y:
            joint = "+" if self.ascii_only else "┼"
            line = rest * (plan.grid.digits + 2) + "".join(joint + rest * cells for cells in plan.grid.widths)
            return self.strip([(line, head)], width)
        shown, columns = plan.grid.shown, len(plan.alignment.columns)
        more_left = self.glyphs.left if shown[0] else " "
        more_right = self.glyphs.right if shown[-1] + 1 < columns else " "
        pieces = [(more_left + pad("#", plan.grid.digits, right=True) + " ", head)]
        for number, cells in zip(shown, plan.grid.widths, strict=True):
            column = plan.alignment.columns[number]
            focused = number == self.focus_column and columns > 1
            count = f" {column.length:,}" + (more_right if number == shown[-1] else " ")
            name = pad(column_title(column.stage), max(cells - len(count) - 1, 0))
            pieces.append((self.glyphs.sep, head))
            pieces.append((self.glyphs.folded if focused else " ", head))
            pieces.append((name, self.style("virtual--accent") if focused else head))
            pieces.append((count, head))
        return self.strip(pieces, width)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        plan = self.plan
        if plan is None or row >= len(plan.entries):
            return self.blank(width)
        entry = plan.entries[row]
        here = row == self.cursor
        pieces = [(self.glyphs.cursor if here else " ", self.style("virtual--accent"))]
        if isinstance(entry, Run):
            pieces += self._fold_line(entry, here, width - 1)
            return self.strip(pieces, width)
        muted = self.style("virtual--muted")
        number = f"{entry + 1:,}" if line == 0 else ""
        pieces.append((pad(number, plan.grid.digits, right=True) + " ", self.plain if here else muted))
        for column, cells in zip(plan.grid.shown, plan.grid.widths, strict=True):
            marked = here and line == 0 and column == self.focus_column
            pieces.append((self.glyphs.sep, muted))
            pieces += self._cell_line(entry, column, line, cells, marked)
        return self.strip(pieces, width, as_is=True)

    def _cell_line(
        self, row: int, column: int, line: int, cells: int, marked: bool
    ) -> list[tuple[str, Style]]:
        """One line of a cell in exactly ``cells``; ``marked`` is the one under the cursor."""
        cursor = self.style("virtual--cursor")
        pieces = []
        room = cells
        for text, style in self._lines_of(row, column).line(line):
            shown = clip(text, room)
            room -= width(shown)
            if line == 0 or style not in _PROMPT_STYLES:
                shown = written(shown, self.ascii_only)
            elif shown.endswith("…"):
                shown = shown[:-1] + self.glyphs.ellipsis
            pieces.append((shown, cursor if marked else self.style(style)))
        pieces.append((" " * room, cursor if marked else self.plain))
        return pieces

    def _lines_of(self, row: int, column: int) -> CellLines:
        found = self._lines.get((row, column))
        if found is None:
            plan = self.plan
            assert plan is not None
            found = lines_at(plan.alignment, row, column, plan.view, plan.grid, self._rules)
            self._lines[row, column] = found
        return found

    def _fold_line(self, fold: Run, here: bool, cells: int) -> list[tuple[str, Style]]:
        assert self.plan is not None
        style = self.style(
            "virtual--cursor" if here else "status--drop" if fold.changed else "virtual--muted"
        )
        dot, digits = self.glyphs.dot, self.plan.grid.digits
        left = f"{dot * 2:>{digits}} {self.glyphs.sep} {fold_sentence(self.plan.alignment, fold)} "
        right = f" enter shows them {dot * 2} {fold.start + 1:,}{self.glyphs.dash}{fold.end:,} "
        if width(left) + width(right) > cells:
            right = ""
        text = left + dot * (cells - width(left) - width(right)) + right
        return [(written(text, self.ascii_only), style)]

    # -- keys

    def action_choose(self) -> None:
        """Open what is folded; open a row, or close it."""
        plan = self.plan
        if plan is None or self.cursor >= len(plan.entries):
            return
        entry = plan.entries[self.cursor]
        key = row_key(plan.alignment, first_row(entry))
        if isinstance(entry, Run):
            self._look(replace(self.view, unfolded=self.view.unfolded | {key}))
        elif key in self.view.words:
            self._look(replace(self.view, words=self.view.words - {key}))
        else:
            self._look(replace(self.view, opened=self.view.opened ^ {key}))

    def action_fold(self) -> None:
        """Close every row and fold every run again."""
        self._stay()
        self._wanted = replace(self._wanted, shown=False)
        self._look(replace(self.view, opened=frozenset(), words=frozenset(), unfolded=frozenset()))

    def action_words(self) -> None:
        """The word difference of the row, or its text again."""
        row, plan = self.row, self.plan
        if row is None or plan is None:
            return
        sides = [cell for cell in plan.alignment.cells(row) if cell.kind in CHANGES]
        if not any(cell.message is not None and cell.before is not None for cell in sides):
            line = "there is no text beside it to compare with" if sides else "nothing differs in this row"
            self.post_message(Refused(line))
            return
        key = row_key(plan.alignment, row)
        self._look(replace(self.view, words=self.view.words ^ {key}))

    def action_wrap(self) -> None:
        self._look(replace(self.view, wrap=not self.view.wrap))

    def action_only_changes(self) -> None:
        self._look(replace(self.view, only_changes=not self.view.only_changes))

    def action_change(self, direction: int) -> None:
        """To the next or previous change; neighbours that changed alike are one."""
        row, plan = self.row, self.plan
        if plan is None or row is None:
            return
        changes = plan.alignment.changes
        if direction > 0:
            found = next((run for run in changes if run.start > row), None)
        else:
            found = next((run for run in reversed(changes) if run.end <= row), None)
        if found is None:
            where = "after" if direction > 0 else "before"
            line = f"no change {where} this row" if changes else "nothing differs in these lists"
            self.post_message(Refused(line))
            return
        self.go_to_row(found.start)
        kinds = [column.kinds[found.start] in CHANGES for column in plan.alignment.columns]
        self._focus(kinds.index(True))

    def action_move_column(self, direction: int) -> None:
        """The focus to the column beside."""
        plan = self.plan
        if plan is None:
            return
        wanted = self.focus_column + direction
        if not 0 <= wanted < len(plan.alignment.columns):
            self.post_message(Refused("there is no column further " + ("right" if direction > 0 else "left")))
            return
        self._focus(wanted)

    def _focus(self, column: int) -> None:
        self._stay()
        self.focus_column = column
        if self.alignment is not None and self.plan is not None:
            if self.plan.grid != self._grid_now(self.alignment):
                self._lay_out()
            else:
                self._wanted = Wanted()
                self.refresh()
                self.post_message(self.Drawn())

    def clicked(self, row: int, line: int, x: int) -> bool:
        """A click gives the focus to the column under it."""
        plan = self.plan
        if plan is None:
            return False
        edge = plan.grid.digits + 2
        for number, cells in zip(plan.grid.shown, plan.grid.widths, strict=True):
            edge += cells + 1
            if x < edge:
                if number != self.focus_column:
                    self._focus(number)
                    return True
                return False
        return False
