"""Windows too small to work in: nothing can be done unseen, and what had the focus has it again after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from promptdbg.tui.widgets.chrome import MIN_HEIGHT, MIN_WIDTH

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp


class Room:
    """The room that the window has."""

    def __init__(self, app: PromptdbgApp) -> None:
        self._app = app
        self._focused: tuple[Screen[Any], Widget | None] | None = None

    @property
    def too_small(self) -> bool:
        return _too_small(self._app.size)

    def resized(self, size: Size) -> None:
        """Call before the screens hear of it: what they hide loses the focus."""
        app = self._app
        if _too_small(size):
            if self._focused is None and app.screen_stack:
                self._focused = app.screen, app.focused
        elif self._focused is not None:
            focused, self._focused = self._focused, None
            app.call_after_refresh(_give_back, *focused)


def _too_small(size: Size) -> bool:
    return size.width < MIN_WIDTH or size.height < MIN_HEIGHT


def _give_back(screen: Screen[Any], widget: Widget | None) -> None:
    if screen.is_current and screen.focused is None and widget is not None and widget.is_attached:
        screen.set_focus(widget)
