"""The application: what is open, what is on screen, and the way between screens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual.app import App
from textual.screen import Screen

from promptdbg.debug import Debugger
from promptdbg.errors import PromptdbgError
from promptdbg.text import one_line
from promptdbg.tui.driver import Driver, Opener
from promptdbg.tui.keys import bindings
from promptdbg.tui.messages import Pictured, Refused, Said, Stale
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.status import counts_text
from promptdbg.tui.theme import DEFAULT, HIGH_CONTRAST
from promptdbg.tui.widgets.chrome import Cell


def _messages_screen() -> Screen[Any]:
    from promptdbg.tui.screens.messages import MessagesScreen  # not before the first frame

    return MessagesScreen()


class PromptdbgApp(App[int]):
    """Draws pictures of one debugger.

    Args:
        opener: makes the debugger; called in a thread after the first frame.
        ascii_only: marks and bars of plain ASCII.
    """

    TITLE = "promptdbg"
    BINDINGS = bindings("app")
    SCREENS: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {"messages": _messages_screen}

    def __init__(self, opener: Opener, *, ascii_only: bool = False, theme: str | None = None) -> None:
        super().__init__()
        self.ascii_only = ascii_only
        self.picture: Picture | None = None
        self.error: PromptdbgError | None = None
        self.driver = Driver(self.post_message)
        self._opener = opener
        self._theme_name = theme or DEFAULT
        self._stale = ""

    def get_default_screen(self) -> Screen[Any]:
        return HomeScreen()

    def on_mount(self) -> None:
        self.register_theme(HIGH_CONTRAST)
        self.theme = self._theme_name
        self.animation_level = "none"
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        self.run_worker(self._drive(), group="driver", exit_on_error=True)

    async def _drive(self) -> None:
        try:
            await self.driver.run(self._opener)
        except PromptdbgError as error:
            self.error = error
            self.exit(error.exit_code)

    # -- what comes from the driver

    def on_pictured(self, message: Pictured) -> None:
        self.picture = message.picture
        self._stale = ""
        for screen in self.screen_stack:
            if isinstance(screen, PictureScreen) and screen.is_current:
                screen.show(message.picture)
                screen.say(message.picture.sentence)

    def on_refused(self, message: Refused) -> None:
        if isinstance(self.screen, PictureScreen):
            self.screen.refuse(message.line)

    def on_said(self, message: Said) -> None:
        if isinstance(self.screen, PictureScreen):
            self.screen.say(message.line)

    def on_stale(self, message: Stale) -> None:
        self._stale = message.line
        if isinstance(self.screen, PictureScreen):
            self.screen.show_frame()

    # -- what screens ask

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        assembly = picture.assembly
        return (
            Cell(one_line(assembly.workspace.rpartition("/")[2]), "virtual--strong"),
            Cell(f"{assembly.engine.title} {assembly.engine.version}", rank=3),
            Cell(counts_text(picture.counts, self.ascii_only), rank=1, right=True),
        )

    def banner(self) -> Sequence[tuple[str, str]]:
        return [("STALE ", "virtual--error"), (one_line(self._stale), "")] if self._stale else []

    def action_messages(self) -> None:
        self.push_screen("messages")

    def action_undo(self) -> None:
        self.driver.undo()

    def action_redo(self) -> None:
        self.driver.redo()


def run(debugger: Debugger | Opener, *, ascii_only: bool = False, theme: str | None = None) -> int:
    """Open the UI and stay until it is left; returns the exit code.

    Args:
        debugger: what to show, or a function that opens it (called after the first frame).

    Raises:
        PromptdbgError: it cannot be opened.
    """
    opener = (lambda: debugger) if isinstance(debugger, Debugger) else debugger
    app = PromptdbgApp(opener, ascii_only=ascii_only, theme=theme)
    app.run()
    if app.error is not None:
        raise app.error
    return app.return_code or 0
