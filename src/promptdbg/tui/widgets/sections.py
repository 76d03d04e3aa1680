"""The list of sections: state, name, rank, tokens, running sum, reason. One row, one line."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual.message import Message
from textual.strip import Strip

from promptdbg.marks import mark_of_section
from promptdbg.model import Section
from promptdbg.text import clip, clip_middle, pad
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.rows import Columns, Row, Sort, View, columns, in_prompt, place_of, section_rows, why_short
from promptdbg.tui.rows import shown_tokens as tokens_of
from promptdbg.tui.status import CHANGED, glyph_of, style_of
from promptdbg.tui.widgets.virtual import VirtualList

_STATE_CELLS = 3
"""A click on the mark switches the item: cursor bar, mark, blank."""


class SectionList(VirtualList):
    """Draws the rows of a picture under a view."""

    DEFAULT_CSS = "SectionList { }"

    places: ClassVar[tuple[Place, ...]] = ("sections", "list")
    BINDINGS = bindings("sections")
    head_height = 1

    class Toggled(Message):
        """The item's mark was clicked."""

        def __init__(self, item: str) -> None:
            super().__init__()
            self.item = item

    class SortClicked(Message):
        """The head of a column was clicked."""

        def __init__(self, sort: Sort) -> None:
            super().__init__()
            self.sort = sort

    class FoldClicked(Message):
        """The fold mark before a name was clicked."""

        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.picture: Picture | None = None
        self.view = View()
        self.rows: list[Row] = []
        self._item: str | None = None
        self.empty_word = ""
        self._names = 0

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    @property
    def section(self) -> Section | None:
        """The section under the cursor."""
        row = self.row
        return self.picture.sections[row.id] if row and self.picture else None

    def show(self, picture: Picture, view: View) -> None:
        """Draw a picture; the cursor stays on its item, the scroll where it was."""
        self.picture, self.view = picture, view
        here = self.row
        wanted = here.id if here else self._item
        near = self.cursor
        self.rows = section_rows(picture, view)
        self._names = max((_name_cells(picture.names[row.id], row) for row in self.rows), default=0)
        if wanted is not None:
            self._item = wanted
        self.set_rows(len(self.rows), cursor=place_of(self.rows, self._item, near))
        self.show_cursor()

    def go_to(self, item: str) -> bool:
        """Put the cursor on an item; false when it is not shown."""
        for number, row in enumerate(self.rows):
            if row.id == item:
                self.cursor = number
                return True
        return False

    def watch_cursor(self, before: int, after: int) -> None:
        super().watch_cursor(before, after)
        if self.rows:
            self._item = self.rows[after].id

    # -- drawing

    def line_count(self) -> int:
        return len(self.rows) or 1

    def _columns(self, width: int) -> Columns:
        widest = 0
        if self.picture is not None:
            widest = len(f"{self.picture.widest:,}") + (2 if self.picture.assembly.tokenizer.exact else 3)
        return columns(width, numbers=widest, names=self._names)

    def draw_head(self, y: int, width: int) -> Strip:
        head = self.style("virtual--head")
        if self.picture is None:
            return self.blank(width)
        c = self._columns(width)
        mark = {self.view.sort: "↑" if self.view.reverse else "↓"}
        arrow = "^" if self.view.reverse else "v"
        if self.ascii_only:
            mark = {self.view.sort: arrow}

        def word(text: str, sort: Sort) -> str:
            return text + mark.get(sort, "") if sort is not Sort.ORDER or self.view.reverse else text

        rank = word("PRIO", Sort.PRIORITY) if self.picture.has_priorities else "ORDER"
        cells = [
            pad("   " + word("STATE", Sort.STATE), c.state + 1),
            pad(word("SECTION", Sort.NAME), c.name - 1),
            pad(rank, c.rank - 1, right=True) + " " if c.rank else "",
            pad(word("TOKENS", Sort.TOKENS), c.tokens, right=True),
            pad("SHARE", c.share, right=True) if c.share else "",
            pad("SUM", c.sum, right=True) if c.sum else "",
            "  " + pad("WHY", c.why - 2) if c.why > 2 else "",
            "  " + pad("SOURCE", c.source - 2) if c.source else "",
        ]
        return self.strip([("".join(cells), head)], width, head)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        if not self.rows or self.picture is None:
            return self.strip([("  " + self.empty_word, self.style("virtual--muted"))], width)
        shown = self.rows[row]
        section = self.picture.sections[shown.id]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        look = base if here else self.style(style_of(section.status))
        muted = base if here else self.style("virtual--muted")
        pieces = self._pieces(shown, section, self._columns(width), here, base, look, muted)
        return self.strip(pieces, width, base)

    def _pieces(
        self, row: Row, section: Section, c: Columns, here: bool, base: Style, look: Style, muted: Style
    ) -> list[tuple[str, Style]]:
        picture = self.picture
        assert picture is not None
        mark = mark_of_section(section)
        g = self.glyphs
        fold = "" if not row.parts else (g.folded if row.folded else g.open) + " "
        changed = " " + CHANGED if section.id in picture.changed else ""
        indent = "  " * row.depth
        room = c.name - 1 - len(indent) - len(fold) - len(changed)
        name = clip_middle(picture.names[section.id], max(room, 4), ellipsis=g.ellipsis)
        inside = in_prompt(section)
        about = "" if picture.assembly.tokenizer.exact else g.about
        rank = f"{section.order + 1:,}"
        if picture.has_priorities:
            rank = f"{section.priority:g}" if section.priority is not None else ""
        amount = base if inside or here else muted
        source = picture.where(section.source) if section.source else ""

        def tail(text: str, cells: int) -> str:
            return "  " + pad(text, cells - 2) if cells > 2 else ""

        def right(text: str, cells: int) -> str:
            return pad(text, cells, right=True) if cells else ""

        return [
            (g.cursor if here else " ", base),
            (glyph_of(mark, self.ascii_only) + " ", look),
            (mark.word, look),
            (" " * (c.state - 2 - len(mark.word)), base),
            (pad(indent + fold + name + changed, c.name - 1), base if inside or here else look),
            (right(rank, c.rank - 1) + " " if c.rank else "", muted),
            (right("?" if section.unknown else f"{about}{tokens_of(section):,}", c.tokens), amount),
            (right(self._share(row, section), c.share), muted),
            (right(self._sum_text(row, section), c.sum), muted),
            (tail(clip(why_short(picture, section), max(c.why - 2, 0), ellipsis=g.ellipsis), c.why), muted),
            (tail(clip_middle(source, max(c.source - 2, 0), ellipsis=g.ellipsis), c.source), muted),
        ]

    def _share(self, row: Row, section: Section) -> str:
        """The part of the prompt that a section is; parts of sections have none of their own."""
        picture = self.picture
        if picture is None or row.depth or not in_prompt(section) or not picture.total:
            return ""
        return f"{100 * section.tokens / picture.total:.0f}%"

    def _sum_text(self, row: Row, section: Section) -> str:
        """Tokens up to here, in the engine's order."""
        running = self.picture.sums.get(section.id) if self.picture else None
        if row.depth or running is None:
            return ""
        return f"{running:,}" if in_prompt(section) else self.glyphs.dash

    def head_clicked(self, x: int) -> None:
        """The head of a column sorts by it."""
        if self.picture is None:
            return
        c = self._columns(self.text_width)
        rank = Sort.PRIORITY if self.picture.has_priorities else Sort.ORDER
        heads = (
            (c.state + 1, Sort.STATE),
            (c.name - 1, Sort.NAME),
            (c.rank, rank),
            (c.tokens, Sort.TOKENS),
            (c.share, Sort.TOKENS),
            (c.sum, Sort.ORDER),
        )
        edge = 0
        for cells, sort in heads:
            edge += cells
            if x < edge:
                self.post_message(self.SortClicked(sort))
                return

    def clicked(self, row: int, line: int, x: int) -> bool:
        if not self.rows:
            return True
        shown = self.rows[row]
        if x < _STATE_CELLS:
            self.post_message(self.Toggled(shown.id))
            return True
        name = self._columns(self.text_width).state + 1 + 2 * shown.depth
        if shown.parts and name <= x < name + 2:
            self.post_message(self.FoldClicked(shown))
            return True
        return False


def _name_cells(name: str, row: Row) -> int:
    """About how many cells a name would like: indent, fold mark, the name, change mark."""
    return 2 * row.depth + (2 if row.parts else 0) + min(len(name), 60) + 2
