"""The list of turns, each with what it costs and what changed, and the boundaries between them."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual.strip import Strip

from promptdbg.analysis.snapshots import Drawn
from promptdbg.analysis.turn_words import drawn_line
from promptdbg.analysis.turns import Facts
from promptdbg.text import clip, one_line, pad, safe
from promptdbg.text import width as cell_width
from promptdbg.tui.keys import Place
from promptdbg.tui.turns import Known, Measure, Row, state_word, value_of
from promptdbg.tui.widgets.virtual import VirtualList

_NUMBER, _FIGURE, _COUNT, _BAR, _STATE, _STATE_NARROW, _TIME = 7, 9, 6, 10, 16, 12, 18


class TurnList(VirtualList):
    """A turn a row. The cursor stays on its turn when rows come in between."""

    places: ClassVar[tuple[Place, ...]] = ("list",)
    head_height = 1

    def __init__(self) -> None:
        super().__init__(id="turns", classes="pane")
        self.what: Known | None = None
        self.measure = Measure.USED

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.what.rows[self.cursor] if self.what is not None else None

    def show(self, what: Known, measure: Measure, *, place: int | None = None) -> None:
        """What is known now; ``place`` is the turn the cursor goes to, else it stays where it is."""
        before, line = self.row, self.cursor - self.scroll_offset.y
        scale, drawn = self._scale, self._visible()
        self.what, self.measure = what, measure
        if place is not None or before is None:
            self.set_rows(len(what.rows), cursor=what.row_of(place or 0))
            self.call_after_refresh(self.show_cursor)
            return
        cursor = what.row_of(before.place, before.drawn)
        if (cursor, len(what.rows), self._scale) != (self.cursor, self.row_count, scale):
            self.set_rows(len(what.rows), cursor=cursor)
            self.scroll_to(y=self.cursor - line, animate=False, force=True)  # rows may have come in above
            return
        for row, (now, then) in enumerate(zip(self._visible(), drawn, strict=True), self.scroll_offset.y):
            if now != then:
                self.refresh_row(row)

    @property
    def _scale(self) -> object:
        """What every row is drawn by."""
        what = self.what
        return what and (what.current, what.life is None, self.measure, what.peaks[self.measure])

    def _visible(self) -> list[object]:
        """What each row on the screen is made of."""
        what, top = self.what, self.scroll_offset.y
        rows = what.rows[top : top + self.page_height] if what is not None else ()
        return [
            (row, what.facts[row.place], what.life.run_at(row.place).word if what.life else "")
            for row in rows
            if what is not None
        ]

    def go_to(self, place: int) -> None:
        """To a turn."""
        if self.what is not None:
            self.cursor = self.what.row_of(min(place, len(self.what.facts) - 1))

    # -- drawing

    def draw_head(self, y: int, width: int) -> Strip:
        cells = [("  ", ""), (pad("TURN ", _NUMBER, right=True), "")]
        if self._life:
            cells.append((self._state(self._life_name, width), ""))
        cells.append((pad(self.measure.name, _FIGURE, right=True) + " ", ""))
        cells.append((pad("", self._bar_cells(width)), ""))
        cells += [(pad(word, _COUNT, right=True), "") for word in ("IN", "OUT", "CUT")]
        cells += [("  ", ""), (pad("TIME", _TIME) if self._timed(width) else "", ""), ("MESSAGE", "")]
        style = self.style("virtual--head")
        return self.strip([(text, style) for text, _ in cells], width)

    @property
    def _life(self) -> bool:
        return self.what is not None and self.what.life is not None

    @property
    def _life_name(self) -> str:
        return one_line(self.what.life.name) if self.what is not None and self.what.life is not None else ""

    def _state(self, text: str, width: int) -> str:
        """A cell of the column of the item's life, which leaves the message something to stand in."""
        cells = _STATE if width >= 66 else _STATE_NARROW
        return pad(clip(text, cells - 1, ellipsis=self.glyphs.ellipsis), cells)

    def _bar_cells(self, width: int) -> int:
        return _BAR + 1 if width >= (86 if self._life else 70) else 0

    def _timed(self, width: int) -> bool:
        return self.what is not None and self.what.timed and width >= (116 if self._life else 100)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        what = self.what
        assert what is not None
        entry = what.rows[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        bar = (self.glyphs.cursor if here else " ", base)
        if entry.drawn is not None:
            style = base if here else self.style("virtual--warning")
            return self.strip([bar, *self._boundary(entry.drawn, width, style)], width, base)
        now = "*" if entry.place == what.current else " "
        turn = what.turn_at(entry.place)
        number = "next" if turn is None else f"{turn:,}"
        pieces = [bar, (f"{now}{number:>{_NUMBER - 1}} ", base)]
        if what.life is not None:
            word, tone = state_word(what.life.run_at(entry.place), self.ascii_only)
            pieces.append((self._state(word, width), base if here else self.style(tone)))
        pieces += self._figures(what.facts[entry.place], base, width, here=here)
        room = width - sum(cell_width(text) for text, _ in pieces)
        return self.strip(
            [*pieces, *self._message(what, entry.place, base, room, width, here=here)], width, base
        )

    def _boundary(self, drawn: Drawn, width: int, style: Style) -> list[tuple[str, Style]]:
        rule = self.glyphs.rest
        text = clip(safe(drawn_line(drawn), lines=False), max(width - 8, 8), ellipsis=self.glyphs.ellipsis)
        return [(f"{rule * 3} {text} ", style), (rule * width, style)]

    def _figures(
        self, facts: Facts | None, base: Style, width: int, *, here: bool
    ) -> list[tuple[str, Style]]:
        room = self._bar_cells(width)
        if facts is None or facts.failure:
            word = self.glyphs.ellipsis if facts is None else "fails"
            style = base if here or facts is None else self.style("virtual--error")
            return [(pad(word, _FIGURE, right=True) + " " * (room + 3 * _COUNT + 3), style)]
        value = value_of(facts, self.measure)
        over = self.measure is Measure.USED and facts.limit is not None and value > facts.limit
        figure = self.style("virtual--error") if over and not here else base
        peak = self.what.peaks[self.measure] if self.what is not None else value
        bar = pad(self.glyphs.full * (_BAR * value // max(peak, 1)), max(room - 1, 0))
        came = left = cut = 0
        for change in facts.changes or ():
            came += change.kind in ("came", "returned")
            left += change.kind in ("left", "unsent")
            cut += change.kind == "cut"
        counts = (f"+{came:,}" if came else "", f"−{left:,}" if left else "", f"{cut:,}" if cut else "")
        styles = ("", "status--cut", "status--cut")
        return [
            (pad(f"{value:,}", _FIGURE, right=True) + " ", figure),
            (bar + " " if room else "", base if here else self.style("bar--0")),
            *(
                (pad(text, _COUNT, right=True), base if here else self.style(style))
                for text, style in zip(counts, styles, strict=True)
            ),
            ("  ", base),
        ]

    def _message(
        self, what: Known, place: int, base: Style, room: int, width: int, *, here: bool
    ) -> list[tuple[str, Style]]:
        muted = base if here else self.style("virtual--muted")
        turn = None if place == len(what.turns) else what.turns[place]
        when = pad(one_line(turn.time)[:16] if turn else "", _TIME) if self._timed(width) else ""
        title = "the turn to come" if turn is None else one_line(turn.title)
        title = clip(title, max(room - cell_width(when), 4), ellipsis=self.glyphs.ellipsis)
        return [(when, muted), (title, muted if turn is None else base)]
