"""The box in which one chooses what to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from promptdbg.text import clip, pad
from promptdbg.text import width as cell_width
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.others import Other, about
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.boxes import Box
from promptdbg.tui.widgets.virtual import VirtualList


class OtherList(VirtualList):
    """What a prompt can be compared with; the last row names a place."""

    places: ClassVar[tuple[Place, ...]] = ("list",)
    BINDINGS = bindings("choose")

    def __init__(self, others: Sequence[Other], current: Other, picture: Picture) -> None:
        super().__init__()
        self.others = others
        self.current = current
        self._words = [about(other, picture) for other in others]

    def on_mount(self) -> None:
        start = self.others.index(self.current) if self.current in self.others else 0
        self.set_rows(len(self.others) + 1, cursor=start)
        self.call_after_refresh(self.show_cursor)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        g = self.glyphs
        bar = (g.cursor if here else " ", base)
        if row == len(self.others):
            text = clip(
                f"  a file or a folder{g.ellipsis}   JSON that promptdbg wrote, a session, a workspace",
                width - 1,
                ellipsis=g.ellipsis,
            )
            return self.strip([bar, (text, base)], width, base)
        other = self.others[row]
        room = min(max(cell_width(entry.title) for entry in self.others), width // 2)
        title = pad(clip(other.title, room, ellipsis=g.ellipsis), room)
        words = clip(self._words[row], max(width - room - 6, 4), ellipsis=g.ellipsis)
        mark = "*" if other == self.current else " "
        return self.strip([bar, (f"{mark} {title}   ", base), (words, muted)], width, base)


class OthersBox(Box):
    """Choose what to compare with.

    Args:
        named: called when a place is to be named instead.
    """

    places: ClassVar[tuple[Place, ...]] = ("choose", "modal")

    def __init__(
        self,
        others: Sequence[Other],
        current: Other,
        picture: Picture,
        chosen: Callable[[Other], None],
        named: Callable[[], None],
    ) -> None:
        super().__init__("Compare the prompt as it is now with")
        self._others = others
        self._current = current
        self._picture = picture
        self._chosen = chosen
        self._named = named

    def compose_body(self) -> Iterable[Widget]:
        yield OtherList(self._others, self._current, self._picture)

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        if self.close():
            if message.row < len(self._others):
                self._chosen(self._others[message.row])
            else:
                self.call_later(self._named)  # the line that asks is on the screen below
