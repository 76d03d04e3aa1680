"""The sections in which two prompts differ: state and tokens on both sides, and why it is so now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual.strip import Strip

from promptdbg.marks import mark_of
from promptdbg.text import clip, clip_middle, one_line, pad
from promptdbg.tui.difference import Difference, Status
from promptdbg.tui.keys import Place
from promptdbg.tui.sentences import signed
from promptdbg.tui.status import WORD_WIDTH, glyph_of, style_of
from promptdbg.tui.widgets.virtual import VirtualList

_STATE = WORD_WIDTH + 3


class DifferenceList(VirtualList):
    """One differing item a row: state and tokens on both sides."""

    places: ClassVar[tuple[Place, ...]] = ("list",)
    head_height = 1

    def __init__(self) -> None:
        super().__init__(id="differences", classes="pane")
        self.differences: Sequence[Difference] = ()
        self.empty_word = ""

    @property
    def difference(self) -> Difference | None:
        """The one under the cursor."""
        return self.differences[self.cursor] if self.differences else None

    def show(self, found: Sequence[Difference], empty_word: str) -> None:
        """Other differences; the cursor stays on its item where that still differs."""
        here = self.difference
        same = (row for row, entry in enumerate(found) if here is not None and entry.item == here.item)
        self.differences, self.empty_word = found, empty_word
        self.set_rows(len(found), cursor=next(same, None))
        self.show_cursor()

    def line_count(self) -> int:
        return len(self.differences) or 1

    def _cells(self, width: int) -> tuple[int, int]:
        """Cells of the name, and of the reason where there is room for one."""
        rest = max(width - 2 * _STATE - 4 - 3 * 9 - 1, 12)
        longest = max((len(entry.name) for entry in self.differences), default=0)
        name = rest if rest < 40 else min(max(longest + 2, 16), rest * 2 // 3)
        return name, rest - name

    def draw_head(self, y: int, width: int) -> Strip:
        head = self.style("virtual--head")
        name, why = self._cells(width)
        line = (
            " "
            + pad("THEN", _STATE)
            + "  "
            + pad("NOW", _STATE)
            + "  "
            + pad("ITEM", name)
            + "".join(pad(word, 9, right=True) for word in ("THEN", "NOW", "CHANGE"))
            + (pad("  WHY NOW", why) if why > 8 else "")
        )
        return self.strip([(line, head)], width, head)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        if not self.differences:
            return self.strip([("  " + self.empty_word, self.style("virtual--muted"))], width)
        entry = self.differences[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        cells, room = self._cells(width)
        name = clip_middle(one_line(entry.name), cells - 1, ellipsis=self.glyphs.ellipsis)
        why = "  " + clip(entry.why, room - 2, ellipsis=self.glyphs.ellipsis) if room > 8 else ""
        return self.strip(
            [
                (self.glyphs.cursor if here else " ", base),
                self._state(entry.before, base if here else None),
                ("  ", base),
                self._state(entry.after, base if here else None),
                ("  ", base),
                (pad(name, cells), base),
                (pad(f"{entry.tokens_before:,}", 9, right=True), muted),
                (pad(f"{entry.tokens_after:,}", 9, right=True), base),
                (pad(signed(entry.change), 9, right=True), muted),
                (why, muted),
            ],
            width,
            base,
        )

    def _state(self, status: Status | None, base: Style | None) -> tuple[str, Style]:
        if status is None:
            return pad(f"  {self.glyphs.dash}", _STATE), base or self.style("virtual--muted")
        mark = mark_of(status)
        text = pad(f"{glyph_of(mark, self.ascii_only)} {mark.word}", _STATE)
        return text, base or self.style(style_of(status))
