"""Paragraphs, wrapped to the width there is; scrolled, selected, copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.strip import Strip

from promptdbg.tui.keys import Place
from promptdbg.tui.widgets.virtual import VirtualLines
from promptdbg.tui.wrapping import Paragraph, Piece, layout, plain_text


class Prose(VirtualLines):
    """Shows paragraphs (see ``wrapping``)."""

    DEFAULT_CSS = "Prose { padding: 0 1 0 0; }"

    margin_cells = 1

    places: ClassVar[tuple[Place, ...]] = ("list",)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.paragraphs: Sequence[Paragraph] = ()
        self._lines: list[list[Piece]] = []
        self._width = 0

    def show(self, paragraphs: Sequence[Paragraph], *, keep_scroll: bool = False) -> None:
        """Other paragraphs, from the top unless they are the same thing in a new state."""
        if list(paragraphs) == list(self.paragraphs):
            return
        self.paragraphs = paragraphs
        self._width = 0
        self._lay_out()
        if not keep_scroll:
            self.scroll_to(y=0, animate=False)

    @property
    def text(self) -> str:
        """What is shown, as plain text."""
        return plain_text(self.paragraphs)

    def _lay_out(self) -> None:
        width = self.text_width
        if width and width != self._width:
            self._width = width
            self._lines = layout(self.paragraphs, width)
        self.lines_changed()

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out()

    def line_count(self) -> int:
        return len(self._lines)

    def draw_line(self, line: int, width: int) -> Strip:
        return self.strip([(text, self.style(style)) for text, style in self._lines[line]], width)
