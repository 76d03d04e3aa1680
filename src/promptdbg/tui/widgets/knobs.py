"""Every knob of the engine in one panel: value, unit, what it takes; changed by keys, mouse, typing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.message import Message
from textual.strip import Strip

from promptdbg.analysis.presets import preset_knob, preset_value
from promptdbg.model import Knob, Value
from promptdbg.text import clip, one_line, pad
from promptdbg.text import width as cell_width
from promptdbg.tui.changes import value_text
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.widgets.virtual import VirtualList


@dataclass(frozen=True, slots=True)
class KnobRow:
    """A knob, or the heading of a group where ``knob`` is ``None``."""

    title: str
    knob: Knob | None = None
    value: Value = None
    changed: bool = False


class KnobPanel(VirtualList):
    """One knob a row, headings between groups."""

    DEFAULT_CSS = "KnobPanel { }"

    places: ClassVar[tuple[Place, ...]] = ("knobs", "list")
    BINDINGS = bindings("knobs")

    class Set(Message):
        """A knob is to have a value."""

        def __init__(self, knob: Knob, value: Value) -> None:
            super().__init__()
            self.knob = knob
            self.value = value

    class Stepped(Message):
        """A knob is to go some steps from wherever it is by then."""

        def __init__(self, knob: Knob, steps: int) -> None:
            super().__init__()
            self.knob = knob
            self.steps = steps

    class Choosing(Message):
        """One of its values is to be chosen from all of them."""

        def __init__(self, knob: Knob, value: Value) -> None:
            super().__init__()
            self.knob = knob
            self.value = value

    class Typing(Message):
        """A value is to be typed."""

        def __init__(self, knob: Knob, value: str) -> None:
            super().__init__()
            self.knob = knob
            self.value = value

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.rows: list[KnobRow] = []
        self._empty_word = ""

    def show(self, picture: Picture) -> None:
        """The knobs of a picture, by group in the engine's order."""
        self._empty_word = "A recording has no knobs." if picture.recorded else "This engine has no knobs."
        groups: dict[str, list[KnobRow]] = {}
        if (preset := preset_knob(picture.knobs)) is not None:
            value: Value = preset_value(picture.knobs, picture.assembly.settings)
            groups[""] = [KnobRow(preset.title, preset, value)]
        for knob in picture.knobs:
            value = picture.knob_value(knob)
            changed = knob.name in picture.assembly.settings.values
            groups.setdefault(knob.group, []).append(KnobRow(knob.title, knob, value, changed))
        rows: list[KnobRow] = []
        for group, members in groups.items():
            if group:
                rows.append(KnobRow(group))
            rows += members
        first = not self.rows
        self.rows = rows
        start = next((n for n, row in enumerate(rows) if row.knob), 0)
        self.set_rows(len(rows), cursor=start if first else None)

    @property
    def knob(self) -> Knob | None:
        """The knob under the cursor."""
        return self.rows[self.cursor].knob if self.rows else None

    def go_to(self, name: str) -> None:
        for number, row in enumerate(self.rows):
            if row.knob and row.knob.name == name:
                self.cursor = number

    # -- drawing

    def line_count(self) -> int:
        return len(self.rows) or 1

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        if not self.rows:
            return self.strip([(f"  {self._empty_word}", self.style("virtual--muted"))], width)
        shown = self.rows[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        if shown.knob is None:
            head = base if here else self.style("virtual--head")
            return self.strip(
                [((self.glyphs.cursor if here else " ") + _capital(one_line(shown.title)), head)], width, base
            )
        muted = base if here else self.style("virtual--muted")
        start = self._value_start(width)
        value = self._value(shown, width - start - 1)
        set_here = base if here else self.style("virtual--accent") if shown.changed else self.plain
        title = one_line(shown.title) + (" *" if shown.changed else "")
        return self.strip(
            [
                (self.glyphs.cursor if here else " ", base),
                (pad(" " + clip(title, start - 3, ellipsis=self.glyphs.ellipsis), start - 1), base),
                (value[0], muted),
                (value[1], set_here),
                (value[2], muted),
            ],
            width,
            base,
        )

    def _value_start(self, width: int) -> int:
        longest = max((cell_width(row.title) for row in self.rows if row.knob), default=0)
        return max(min(longest + 5, width * 11 // 20), 14)

    def _value(self, row: KnobRow, room: int) -> tuple[str, str, str]:
        """The value with its step marks, and its unit."""
        assert row.knob is not None
        g = self.glyphs
        steps = row.knob.kind in ("number", "choice", "toggle")
        left, right = (f"{g.left} ", f" {g.right}") if steps else ("  ", "")
        unit = f" {row.knob.unit_word}" if row.knob.unit_word and row.value is not None else ""
        value = value_text(row.value)
        if row.value == 0 and row.value is not False and row.knob.zero:
            unit = f", {row.knob.zero}"
        if cell_width(left + value + right + unit) > room:
            unit = ""  # the value is worth more than its unit
        text = clip(value, max(room - cell_width(left + right + unit), 4), ellipsis=g.ellipsis)
        return left, text, right + unit

    # -- moving

    def action_cursor(self, delta: int) -> None:
        """To the next knob: a heading cannot be turned."""
        row = self.cursor + delta
        while 0 <= row < len(self.rows) and self.rows[row].knob is None:
            row += delta
        if 0 <= row < len(self.rows):
            self.cursor = row

    # -- turning

    def action_step(self, steps: int) -> None:
        if self.knob is not None and self.knob.kind in ("text", "order"):
            self.action_choose()  # it has no steps: it is typed
        elif self.knob is not None:
            self.post_message(self.Stepped(self.knob, steps))

    def action_flip(self) -> None:
        if self.knob is None:
            return
        if self.knob.kind in ("toggle", "choice"):
            self.action_step(1)
        else:
            self.action_choose()

    def action_default(self) -> None:
        if self.knob is not None:
            self.post_message(self.Set(self.knob, self.knob.default))

    def action_choose(self) -> None:
        row = self.rows[self.cursor] if self.rows else None
        if row is None or row.knob is None:
            return
        if row.knob.kind == "toggle":
            self.action_step(1)
            return
        if row.knob.kind == "choice":
            self.post_message(self.Choosing(row.knob, row.value))
            return
        value = row.value
        text = "" if value is None else ", ".join(value) if isinstance(value, tuple) else str(value)
        self.post_message(self.Typing(row.knob, text))

    def clicked(self, row: int, line: int, x: int) -> bool:
        shown = self.rows[row] if self.rows else None
        if shown is None or shown.knob is None:
            return True
        start = self._value_start(self.text_width)
        if x < start:
            return False
        left, text, right = self._value(shown, self.text_width - start - 1)
        if x < start + cell_width(left):
            self.action_step(-1)
        elif x < start + cell_width(left + text):
            self.action_choose()
        elif x < start + cell_width(left + text + right):
            self.action_step(1)
        return True


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]
