"""Scroll bars of whole cells, for terminals that have no more than ASCII."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBar, ScrollBarRender


class WholeCells(ScrollBarRender):
    """Where a bar begins and ends is rounded to a cell: the parts of one have no character in ASCII."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


def draw_scrollbars(*, ascii_only: bool) -> None:
    """How the scroll bars of this program are drawn from now on, Textual's own widgets included."""
    ScrollBar.renderer = WholeCells if ascii_only else ScrollBarRender
