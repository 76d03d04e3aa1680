"""The turns as a strip of bars: the tokens of each, where history was taken out, and the life of an item."""

from __future__ import annotations

from itertools import groupby

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from promptdbg.text import clip, pad
from promptdbg.text import width as cell_width
from promptdbg.tui.turns import Bars, Cell, Known, Measure, bars, caption, levels, progress, state_mark
from promptdbg.tui.widgets.chrome import DrawnLines

_AXIS = 9
"""Cells left of the bars."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_HALVES = " .:#"


class TurnStrip(DrawnLines):
    """A caption, the bars, their marks, and the item's marks where it has a life. A click goes to a turn."""

    DEFAULT_CSS = "TurnStrip { height: 8; padding: 0 1; }"

    class Picked(Message):
        """A turn was clicked; ``again`` where it was the one under the cursor already, twice."""

        def __init__(self, place: int, *, again: bool) -> None:
            super().__init__()
            self.place = place
            self.again = again

    def __init__(self) -> None:
        super().__init__()
        self.what: Known | None = None
        self.place = 0
        self.measure = Measure.USED
        self._bars: Bars | None = None

    def show(self, what: Known, place: int, measure: Measure) -> None:
        """What is known, the turn under the cursor, and what the bars measure."""
        drawn, known = self._bars, (self.what, self.measure)
        self.what, self.place, self.measure = what, place, measure
        if drawn is None or known[0] is not what or known[1] is not measure:
            self._bars = self._laid_out(what)
        if self._bars != drawn:
            self.refresh()
        else:  # the caption, and the marks below the bars
            width = self.size.width
            self.refresh(Region(0, 0, width, 1), Region(0, 1 + self._height(what), width, 1))

    def on_resize(self) -> None:
        if self.what is not None:
            self._bars = self._laid_out(self.what)
            self.refresh()

    def _laid_out(self, what: Known) -> Bars:
        return bars(what, self.measure, self.size.width - _AXIS - 1)

    # -- drawing

    def render_line(self, y: int) -> Strip:
        width, what = self.size.width, self.what
        laid = self._bars
        if what is None or laid is None:
            return self.blank(width)
        if y == 0:
            return self._caption(what, laid, width)
        height = self._height(what)
        if y <= height:
            return self._line(laid, y - 1, height, width)
        return self._marks(what, laid, width) if y == height + 1 else self._life(laid, width)

    def _height(self, what: Known) -> int:
        """Lines of the bars."""
        return max(self.size.height - 2 - self._shows_life(what), 1)

    def _shows_life(self, what: Known) -> bool:
        return what.life is not None and self.size.height > 3

    def _caption(self, what: Known, laid: Bars, width: int) -> Strip:
        text = caption(what, self.measure, self.place)
        per = laid.cells[0].last + 1
        notes = [f"{per:,} turns a bar"] if per > 1 else []
        if what.count < len(what.facts):
            notes.append(progress(what))
        note = "  ·  ".join(["", *notes]) if notes else ""
        room = max(width - cell_width(note), 8)
        text = clip(f"{text[:1].upper()}{text[1:]}", room, ellipsis=self.glyphs.ellipsis)
        pieces = [(text, self.style("virtual--strong")), (note, self.style("virtual--muted"))]
        return self.strip(pieces, width)

    def _line(self, laid: Bars, line: int, height: int, width: int) -> Strip:
        muted = self.style("virtual--muted")
        label = f"{laid.top:,}" if line == 0 else "0" if line == height - 1 and height > 1 else ""
        pieces = [(pad(label, _AXIS - 2, right=True) + " " + self.glyphs.sep, muted)]
        drawn = [self._bar(laid, cell, line, height) for cell in laid.cells]
        for name, those in groupby(drawn, key=lambda piece: piece[1]):
            pieces.append(("".join(text for text, _ in those), self.style(name)))
        return self.strip(pieces, width)

    def _bar(self, laid: Bars, cell: Cell, line: int, height: int) -> tuple[str, str]:
        """A line of a bar and the blank after it, with the name of its style."""
        full = max(laid.width - 1, 1)
        gap = " " * (laid.width - full)
        bottom = line == height - 1
        if cell.failed and bottom:
            return "x" * full + gap, "virtual--error"
        if cell.value is None:
            return (self.glyphs.free if bottom else " ") * full + gap, "virtual--muted"
        scale = _HALVES if self.ascii_only else _EIGHTHS
        filled = scale[levels(cell.value, laid.top, height, steps=len(scale) - 1)[line]]
        if filled == " " and laid.limit is not None and line == self._limit_line(laid, height):
            return self.glyphs.rest * laid.width, "virtual--muted"
        return filled * full + gap, "virtual--error" if cell.over else "bar--0"

    def _limit_line(self, laid: Bars, height: int) -> int:
        """The line that the limit runs through."""
        assert laid.limit is not None
        return max(min(height - round(laid.limit * height / laid.top), height - 1), 0)

    def _marks(self, what: Known, laid: Bars, width: int) -> Strip:
        """Below each bar: the cursor, else a boundary, else the turn that is shown elsewhere."""
        pieces = [(" " * _AXIS, self.plain)]
        at, now = laid.cell_of(self.place), laid.cell_of(what.current)
        for number, cell in enumerate(laid.cells):
            mark, style = " ", ""
            if number == at:
                mark, style = ("^" if self.ascii_only else "▲"), "virtual--key"
            elif cell.boundary:
                mark, style = self.glyphs.limit, "virtual--warning"
            elif number == now:
                mark, style = "*", "virtual--accent"
            pieces.append((pad(mark, laid.width), self.style(style)))
        return self.strip(pieces, width)

    def _life(self, laid: Bars, width: int) -> Strip:
        pieces = [(pad("life", _AXIS - 1, right=True) + " ", self.style("virtual--muted"))]
        for cell in laid.cells:
            mark, style = state_mark(cell.state, self.ascii_only)
            pieces.append((pad(mark, laid.width), self.style(style)))
        return self.strip(pieces, width)

    # -- the mouse

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        laid = self._bars
        if laid is None or offset is None or offset.x < _AXIS:
            return
        number = (offset.x - _AXIS) // max(laid.width, 1)
        if number < len(laid.cells):
            cell = laid.cells[number]
            inside = cell.first <= self.place <= cell.last
            place = self.place if inside else cell.last
            self.post_message(self.Picked(place, again=inside and event.chain > 1))
