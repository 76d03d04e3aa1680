"""The line-drawing base of every list and text in the UI.

Only the visible lines are ever drawn, so a list of fifty thousand rows costs what forty rows cost.
Two layers: ``VirtualLines`` draws lines under an optional fixed head and lets them be selected
with the mouse; ``VirtualList`` adds rows (of any height), a cursor, and moving it.

Every segment and every blank has a style: one without crashes Textual under NO_COLOR.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.worker import Worker

from promptdbg.text import width as cell_width
from promptdbg.tui.keys import bindings
from promptdbg.tui.widgets.drawing import Drawing


class VirtualLines(Drawing, ScrollView, can_focus=True):
    """Lines drawn on demand. A subclass says how many there are and draws one.

    Styles are looks by their names: ``self.style("virtual--muted")``.
    """

    DEFAULT_CSS = """
    VirtualLines {
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        overflow-x: hidden;
        background: $background;
    }
    """

    ALLOW_SELECT = True

    _titled: tuple[str, str] = ("", "")
    _drawn_width = 0
    _drawn_selection: Selection | None = None

    margin_cells: int = 0
    """Cells left of each line that are no part of its text: drawn, but never selected."""

    head_height: int = 0
    """Lines at the top that stay when the rest scrolls."""

    # -- what a subclass gives

    def line_count(self) -> int:
        """How many lines there are below the head."""
        raise NotImplementedError

    def draw_line(self, line: int, width: int) -> Strip:
        """One line, every segment with a style."""
        raise NotImplementedError

    def draw_margin(self, line: int) -> tuple[str, Style]:
        """What stands in the margin of a line, ``margin_cells`` wide."""
        return " " * self.margin_cells, self.plain

    def draw_head(self, y: int, width: int) -> Strip:
        """One line of the head."""
        return self.blank(width)

    # -- what it can use

    @property
    def text_width(self) -> int:
        """Cells a line has."""
        return max(self.scrollable_content_region.width - self.margin_cells, 0)

    @property
    def page_height(self) -> int:
        """Lines that are visible below the head."""
        return max(self.scrollable_content_region.height - self.head_height, 1)

    def lines_changed(self) -> None:
        """Call when the lines are others than before: sets the scroll range and repaints."""
        before, size = self.virtual_size, Size(self.text_width, self.line_count() + self.head_height)
        page = self.container_size.height
        if before.width == size.width and (before.height > page) == (size.height > page):
            # The scrollbar stays or stays away: no widget of the screen has to be laid out again.
            self.set_reactive(VirtualLines.virtual_size, size)
            self._scroll_update(size)
        else:
            self.virtual_size = size
        self.refresh()

    def refresh_content(self, line: int, count: int = 1) -> None:
        """Repaint some lines only."""
        self.refresh_lines(line + self.head_height, count)

    def show_line(self, line: int, count: int = 1) -> None:
        """Scroll as little as needed to make lines visible."""
        top, page = self.scroll_offset.y, self.page_height
        if line < top or count >= page:
            self.scroll_to(y=line, animate=False, force=True)
        elif line + count > top + page:
            self.scroll_to(y=line + count - page, animate=False, force=True)

    def entitle(self, title: str, subtitle: str = "") -> None:
        """Titles in the border, of safe text. Only where they differ: setting one repaints it all."""
        titles = (title, subtitle)
        if titles != self._titled:
            self._titled = titles
            self.border_title = self.title(title)
            self.border_subtitle = self.title(subtitle)

    # -- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        # The same for all lines, and not to be looked up in all of them.
        self._drawn_width, self._drawn_selection = self.text_width, self.text_selection
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width = self._drawn_width
        if y < self.head_height:
            return self.draw_head(y, width + self.margin_cells)
        line = self.scroll_offset.y + y - self.head_height
        if not 0 <= line < self.line_count():
            return self.blank(width + self.margin_cells)
        strip = self.draw_line(line, width).crop_extend(0, width, self.plain)
        strip = self._with_selection(strip, line).apply_offsets(0, line)
        if not self.margin_cells:
            return strip
        text, style = self.draw_margin(line)
        return Strip.join([Strip([Segment(text, style)], self.margin_cells), strip])

    def _with_selection(self, strip: Strip, line: int) -> Strip:
        selection = self._drawn_selection
        span = selection.get_span(line) if selection is not None else None
        if span is None:
            return strip
        text = strip.text
        start, end = span[0], len(text) if span[1] == -1 else span[1]
        cells = [0, cell_width(text[:start]), cell_width(text[:end]), strip.cell_length]
        before, inside, after = (strip.crop(a, b) for a, b in pairwise(cells))
        marked = self.screen.get_component_rich_style("screen--selection")
        inside = Strip(Segment.apply_style(inside, post_style=marked), inside.cell_length)
        return Strip.join([before, inside, after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text: only the lines under the selection are drawn for it."""
        last = self.line_count() - 1
        start = selection.start.y if selection.start else 0
        end = min(selection.end.y if selection.end else last, last)
        lines = []
        for line in range(max(start, 0), end + 1):
            span = selection.get_span(line)
            text = self.draw_line(line, self.text_width).text
            if span is not None:
                text = text[span[0] : None if span[1] == -1 else span[1]]
            lines.append(text.rstrip())
        return "\n".join(lines), "\n"

    def on_resize(self, event: events.Resize) -> None:
        self.lines_changed()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        # The screen tells what went wrong, also in a worker of a widget.
        self.screen.post_message(Worker.StateChanged(event.worker, event.state))

    # -- scrolling without a cursor

    def action_cursor(self, delta: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + delta, animate=False)

    def action_page(self, direction: int) -> None:
        self.action_cursor(direction * max(self.page_height - 1, 1))

    def action_edge(self, direction: int) -> None:
        self.scroll_to(y=0 if direction < 0 else self.line_count(), animate=False)

    BINDINGS = bindings("list")


class VirtualList(VirtualLines):
    """Rows with a cursor. A subclass draws one line of one row.

    Moving the cursor repaints the rows it leaves and enters, nothing else.
    """

    cursor: reactive[int] = reactive(0, repaint=False, init=False)
    """The row in charge."""

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, list_: VirtualList, row: int) -> None:
            super().__init__()
            self.list = list_
            self.row = row

        @property
        def control(self) -> VirtualList:
            return self.list

    class Chosen(Message):
        """A row was opened: enter, or a click on the row under the cursor."""

        def __init__(self, list_: VirtualList, row: int) -> None:
            super().__init__()
            self.list = list_
            self.row = row

        @property
        def control(self) -> VirtualList:
            return self.list

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._count = 0
        self._tops: Sequence[int] | None = None

    # -- what a subclass gives

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        """One line of a row; ``row == self.cursor`` is the one under the cursor."""
        raise NotImplementedError

    def clicked(self, row: int, line: int, x: int) -> bool:
        """A click on a row, at a cell of one of its lines; true when it meant something of its own."""
        return False

    def head_clicked(self, x: int) -> None:
        """A click on the head, at a cell of it."""

    # -- rows

    @property
    def row_count(self) -> int:
        return self._count

    def set_rows(
        self, count: int, heights: Iterable[int] | None = None, *, cursor: int | None = None
    ) -> None:
        """Other rows: how many, and the lines each takes (``None``: one each).

        ``cursor`` is where the cursor goes; else it stays on its number, as far as there are rows.
        The scroll position is kept.
        """
        self._count = count
        self._tops = None if heights is None else _tops(heights)
        wanted = self.cursor if cursor is None else cursor
        with self.prevent(VirtualList.Moved):
            self.cursor = max(0, min(wanted, count - 1))
        self.lines_changed()

    def top_of(self, row: int) -> int:
        """The first line of a row."""
        return row if self._tops is None else self._tops[row]

    def height_of(self, row: int) -> int:
        return 1 if self._tops is None else self._tops[row + 1] - self._tops[row]

    def row_at(self, line: int) -> tuple[int, int]:
        """The row that a line belongs to, and which of its lines it is."""
        if self._tops is None:
            return line, 0
        row = bisect_right(self._tops, line) - 1
        return row, line - self._tops[row]

    def refresh_row(self, row: int) -> None:
        if 0 <= row < self._count:
            self.refresh_content(self.top_of(row), self.height_of(row))

    def show_cursor(self) -> None:
        """Scroll until the row under the cursor is visible."""
        if self._count:
            self.show_line(self.top_of(self.cursor), self.height_of(self.cursor))

    def line_count(self) -> int:
        return self._count if self._tops is None else self._tops[-1]

    def draw_line(self, line: int, width: int) -> Strip:
        row, part = self.row_at(line)
        return self.draw_row(row, part, width)

    # -- the cursor

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.call_after_refresh(self.show_cursor)  # a smaller window must not lose it

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self._count - 1))

    def watch_cursor(self, before: int, after: int) -> None:
        self.refresh_row(before)
        self.refresh_row(after)
        self.show_cursor()
        self.post_message(self.Moved(self, after))

    def action_cursor(self, delta: int) -> None:
        self.cursor += delta

    def action_page(self, direction: int) -> None:
        """One page of lines up or down; at least one row."""
        if not self._count:
            return
        line = self.top_of(self.cursor) + direction * max(self.page_height - 1, 1)
        row, _ = self.row_at(max(0, min(line, self.line_count() - 1)))
        self.cursor = row if row != self.cursor else self.cursor + direction

    def action_edge(self, direction: int) -> None:
        self.cursor = 0 if direction < 0 else self._count - 1

    def action_choose(self) -> None:
        if self._count:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y < self.head_height:
            self.head_clicked(offset.x)
            return
        line = self.scroll_offset.y + offset.y - self.head_height
        if not 0 <= line < self.line_count():
            return
        row, part = self.row_at(line)
        again = row == self.cursor and event.chain > 1
        self.cursor = row
        if not self.clicked(row, part, offset.x) and again:
            self.action_choose()


def _tops(heights: Iterable[int]) -> array[int]:
    """Where each row starts, and at the end the number of lines."""
    tops = array("q", [0])
    line = 0
    for height in heights:
        line += height
        tops.append(line)
    return tops
