"""The box in which one of several values is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from promptdbg.analysis.presets import KNOB as PRESET
from promptdbg.analysis.presets import PRESETS
from promptdbg.model import Knob, Value
from promptdbg.text import clip, one_line, pad
from promptdbg.text import width as cell_width
from promptdbg.tui.changes import value_text
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.screens.boxes import Box
from promptdbg.tui.widgets.virtual import VirtualList


@dataclass(frozen=True, slots=True)
class Choice:
    """One of them: a name and a word about it."""

    name: str
    about: str = ""


class ChoiceList(VirtualList):
    """The values, the one in force marked and under the cursor."""

    places: ClassVar[tuple[Place, ...]] = ("choose", "list")
    BINDINGS = bindings("choose")

    def __init__(self, choices: Sequence[Choice], current: int) -> None:
        super().__init__()
        self.choices = choices
        self.current = current
        self._longest = max((cell_width(one_line(entry.name)) for entry in choices), default=0)

    def on_mount(self) -> None:
        self.set_rows(len(self.choices), cursor=max(self.current, 0))
        self.call_after_refresh(self.show_cursor)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        choice = self.choices[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        g = self.glyphs
        room = min(self._longest, max(width - 6, 4))
        name = pad(clip(one_line(choice.name), room, ellipsis=g.ellipsis), room)
        about = clip(one_line(choice.about), max(width - room - 6, 0), ellipsis=g.ellipsis)
        mark = "*" if row == self.current else " "
        bar = (g.cursor if here else " ", base)
        return self.strip([bar, (f"{mark} {name}   ", base), (about, muted)], width, base)


class ChoiceBox(Box):
    """Choose a value.

    Args:
        current: the number of the one in force; -1 for none of them.
        chosen: is told the number of the one that was taken.
    """

    places: ClassVar[tuple[Place, ...]] = ("choose", "modal")

    def __init__(
        self, title: str, choices: Sequence[Choice], current: int, chosen: Callable[[int], None]
    ) -> None:
        super().__init__(title)
        self._choices = choices
        self._current = current
        self._chosen = chosen

    def compose_body(self) -> Iterable[Widget]:
        yield ChoiceList(self._choices, self._current)

    def lines_in(self, cells: int) -> int:
        return len(self._choices)

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        if self.close():
            self._chosen(message.row)


def knob_box(knob: Knob, current: Value, chosen: Callable[[Value], None]) -> ChoiceBox:
    """The values of a knob that has a few."""
    values: list[Value] = [*([None] if knob.optional else []), *knob.choices]
    figures = {preset.name: preset for preset in PRESETS} if knob is PRESET else {}

    def about(value: Value) -> str:
        if isinstance(value, str) and value in figures:
            return f"window {figures[value].window:,}, answer {figures[value].answer:,} tokens"
        return "the workspace's own" if value == knob.default else ""

    rows = [Choice(value_text(value), about(value)) for value in values]
    start = values.index(current) if current in values else -1
    return ChoiceBox(one_line(knob.title), rows, start, lambda row: chosen(values[row]))
