"""The application: what is open, what is on screen, and the ways between screens.

What is imported here is imported before the first frame, so it is little: whatever works on a picture
is imported where it is used. ``tests/tui/test_first_frame.py`` has the list.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from importlib import import_module
from time import strftime
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.screen import Screen

from promptdbg.errors import PromptdbgError
from promptdbg.paths import below
from promptdbg.text import one_line
from promptdbg.tui import outside, ways
from promptdbg.tui.ahead import MODULES, imported
from promptdbg.tui.config import Config, complaints_line
from promptdbg.tui.guide import Guide
from promptdbg.tui.keyboard import Keyboard, Typed
from promptdbg.tui.keys import bindings, keys_of
from promptdbg.tui.room import Room
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.screens.framed import FramedScreen
from promptdbg.tui.screens.opening import OpeningScreen
from promptdbg.tui.scrollbars import draw_scrollbars
from promptdbg.tui.theme import DEFAULT, HIGH_CONTRAST
from promptdbg.tui.watching import Watching

if TYPE_CHECKING:
    from promptdbg.debug import Debugger
    from promptdbg.model import Assembly, Section, Source, Stage
    from promptdbg.tui.driver import Driver, Opener
    from promptdbg.tui.messages import Pictured, Refused, Said, Stale
    from promptdbg.tui.picture import Picture
    from promptdbg.tui.screens.turns import KeptTurns

SWITCH_SECONDS = 0.001
"""How long a thread that computes keeps the interpreter when the event loop wants it."""

TERMINAL_SECONDS = 2.0
"""How often to look whether the terminal is still there."""


def _leave_without_terminal() -> None:
    """End at once where the terminal was taken away without a hang-up signal (a closed pipe of a
    remote shell): Textual would read its end for ever, and there is nothing to restore."""
    if not sys.stdin.isatty():
        os._exit(129)


def _action_provider() -> type[Provider]:
    from promptdbg.tui.palette import ActionProvider

    return ActionProvider


def _item_provider() -> type[Provider]:
    from promptdbg.tui.palette import ItemProvider

    return ItemProvider


class PromptdbgApp(App[int]):
    """Draws pictures of one debugger.

    Args:
        opener: makes the debugger; called in a thread after the first frame.
        ascii_only: marks and bars of plain ASCII.
        theme: the name of a theme.
        watch: follow the files on disk from the start.
        config: the person's own settings; what is given here goes before them.
        show_times: the clock and durations in the status line (off for golden screens).
        recorded: a request that was really sent, to see beside the final list.
        svg: draws an assembly as a picture, for the export; none where nothing can.
        tour: begin with the guided tour.
    """

    TITLE = "promptdbg"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app"), Binding("ctrl+z", "help_undo", show=False)]
    DEFAULT_CSS = """
    PromptdbgApp.-ascii {
        & .pane, & #box { border: ascii $foreground 30%; &:focus { border: ascii $border; } }
        & #strip { border-top: ascii $foreground 30%; }
        & CommandPalette #--input, & CommandList { border: none; }
        & SearchIcon { display: none; }
        & CommandInput { padding-left: 2; }
    }
    PromptdbgApp CommandPalette {
        & > Vertical { margin-top: 1; }
        & CommandInput, & CommandInput:focus { border: none; height: 1; }
        & SearchIcon { margin-top: 0; }
    }
    """
    COMMANDS = App.COMMANDS | {_action_provider, _item_provider}
    SCREENS: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {"messages": ways.messages}

    def __init__(
        self,
        opener: Opener,
        *,
        ascii_only: bool = False,
        theme: str | None = None,
        watch: bool = True,
        show_times: bool = True,
        config: Config | None = None,
        recorded: Stage | None = None,
        svg: Callable[[Assembly], str] | None = None,
        tour: bool = False,
    ) -> None:
        super().__init__()
        self.svg = svg
        self.config = config or Config()
        self.ascii_only = ascii_only or self.config.ascii
        self.recorded = recorded
        self.picture: Picture | None = None
        self.error: PromptdbgError | None = None
        self.keyboard = Keyboard(self)
        self.watching = Watching(self, on=watch)
        self.guide = Guide(self)
        self.room = Room(self)
        self._opener = opener
        self._theme_name = theme or self.config.theme or DEFAULT
        self._show_times = show_times
        self._tour = tour
        self.stale = ""
        self.complaints: list[str] = []
        self.turns_kept: KeptTurns | None = None

    @cached_property
    def driver(self) -> Driver:
        """What makes the debugger work; first used behind the first frame."""
        from promptdbg.tui.driver import Driver

        return Driver(self.post_message)

    def get_default_screen(self) -> Screen[Any]:
        return OpeningScreen()

    def on_mount(self) -> None:
        self.register_theme(HIGH_CONTRAST)
        self.complaints = list(self.config.problems)
        if self._theme_name not in self.available_themes:
            self.complaints.append(f"there is no theme {one_line(self._theme_name)}")
            self._theme_name = DEFAULT
        self.theme = self._theme_name
        self.set_keymap(dict(self.config.keys))
        self.animation_level = "none"
        self.set_class(self.ascii_only, "-ascii")
        draw_scrollbars(ascii_only=self.ascii_only)
        self.run_worker(self.keyboard.run(), group="keyboard", description="keyboard")
        self.call_after_refresh(self._drive)
        if sys.stdin is not None and sys.stdin.isatty():
            self.set_interval(TERMINAL_SECONDS, _leave_without_terminal)

    @work(group="driver")
    async def _drive(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        await asyncio.to_thread(import_module, "promptdbg.tui.driver")
        try:
            await self.driver.run(self._open)
        except PromptdbgError as error:
            self.error = error
            self.exit(error.exit_code)

    def _open(self) -> Debugger:
        """Open what is shown, and import what shows it; in a thread."""
        debugger = self._opener()
        import_module("promptdbg.tui.screens.home")
        return debugger

    def on_resize(self, event: events.Resize) -> None:
        self.room.resized(event.size)

    async def on_event(self, event: events.Event) -> None:
        if self.keyboard.keeps(event):
            if not self.keyboard.is_open:
                self.say("opening …: what you type is done when it is open")
        elif self.screen_stack or not isinstance(event, Typed):  # a last key may come when all is closed
            await super().on_event(event)

    # -- what comes from the driver

    async def on_pictured(self, message: Pictured) -> None:
        before, stale = self.picture, self.stale
        first = before is None
        self.picture = message.picture
        if message.reread:  # a change of settings is tried on the last good files, which stay what they were
            self.stale = ""
        if first:
            await self._begin()
        elif screen := self.on_top:
            screen.show(message.picture)
            if before is None or before.told != message.picture.told:
                screen.say(self._timed(message.picture))
            elif stale and not self.stale:  # the files are again what they were; what was done is told
                screen.say("reloaded · nothing changed")
        self.watching.follow(message.picture.watched, self.driver.read_at)

    async def _begin(self) -> None:
        """To the first screen, which draws the picture as it comes; the opening one stays below it."""
        from promptdbg.tui.screens.home import HomeScreen

        await self.push_screen(HomeScreen())
        if self.complaints:
            self.refuse(complaints_line(self.complaints, self.config.path))
        if self._tour:
            self.guide.switch()
        self.run_worker(imported(*MODULES), group="ahead", description="imports")
        self.keyboard.open()

    def _timed(self, picture: Picture) -> str:
        if not self._show_times:
            return picture.sentence
        clock = strftime(" %H:%M:%S") if picture.sentence.startswith("reloaded") else ""
        head, dot, rest = picture.sentence.partition(" · ")
        return f"{head}{clock}{dot}{rest} · {picture.milliseconds:.0f} ms"

    @property
    def on_top(self) -> PictureScreen | None:
        """The screen that draws pictures: the one on top, or under a box; none while the app closes."""
        if not self.is_running:
            return None
        return next((s for s in reversed(self.screen_stack) if isinstance(s, PictureScreen)), None)

    def on_refused(self, message: Refused) -> None:
        self.refuse(message.line)

    def on_said(self, message: Said) -> None:
        self.say(message.line)

    def on_stale(self, message: Stale) -> None:
        folder = self.picture.assembly.workspace if self.picture else ""
        self.stale = below(message.line, folder)  # a long path would push the reason off the line
        self.reframe()
        self.refuse("kept the last good picture")

    def say(self, line: str) -> None:
        """A sentence in the status line."""
        if screen := self._framed:
            screen.say(line)

    def refuse(self, line: str) -> None:
        """Say why something cannot be done now."""
        if screen := self._framed:
            screen.refuse(line)

    @property
    def _framed(self) -> FramedScreen | None:
        """The screen whose status line says things: as ``on_top``, or the opening one."""
        if not self.is_running:
            return None
        return next((s for s in reversed(self.screen_stack) if isinstance(s, FramedScreen)), None)

    def reframe(self) -> None:
        """Draw header and banner again, which also change without a new picture."""
        if screen := self.on_top:
            screen.show_frame()

    def action_watch(self) -> None:
        if self.picture is not None:
            self.watching.switch(self.picture.watched)
            self.reframe()

    def action_reload(self) -> None:
        self.watching.reload()

    # -- changing

    def toggle(self, item: str) -> None:
        """Switch an item off, or on again."""
        from promptdbg.tui.changes import switched

        self.driver.change(switched(self.picture, item))

    def action_undo(self) -> None:
        self.driver.undo()

    def action_redo(self) -> None:
        self.driver.redo()

    def action_reset(self) -> None:
        self.driver.reset()

    def action_turn(self, step: int) -> None:
        from promptdbg.tui.changes import NO_TURNS, turned

        picture = self.picture
        if picture is None or not picture.assembly.turns:
            self.refuse(NO_TURNS)
        else:
            self.driver.change(turned(len(picture.assembly.turns), step))

    def edit_text(self, section: Section) -> None:
        """Try another text for a section."""
        from promptdbg.tui.asking import ask_text

        ask_text(self, section)

    # -- going

    def action_budget(self) -> None:
        ways.to_budget(self)

    def action_knobs(self) -> None:
        ways.to_knobs(self)

    def action_messages(self) -> None:
        ways.go_or_back(self, "messages", lambda: "messages")

    def open_why(self, item: str) -> None:
        ways.go_to_item(self, f"why {item}", lambda: ways.why(item))

    def open_text(self, item: str, *, needle: str = "") -> None:
        if needle:
            self.push_screen(ways.text(item, needle))
        else:
            ways.go_to_item(self, f"text {item}", lambda: ways.text(item))

    def action_turns(self) -> None:
        ways.to_turns(self)

    def action_search(self) -> None:
        ways.go_or_back(self, "search", ways.search)

    def action_compare(self) -> None:
        ways.go_or_back(self, "compare", ways.compare)

    def action_findings(self) -> None:
        ways.go_or_back(self, "findings", ways.findings)

    async def action_export(self) -> None:
        # The shapes of secrets take longer to import than a frame.
        await asyncio.to_thread(import_module, "promptdbg.export.levels")
        ways.go_or_back(self, "export", ways.export)

    def open_message(self, item: str) -> None:
        """The message lists, with the cursor on a message."""
        ways.to_message(self, item)

    def go_to(self, item: str) -> None:
        """Back to the sections, with the cursor on one."""
        ways.to_section(self, item)

    def action_warnings(self) -> None:
        from promptdbg.tui.telling import tell_warnings

        tell_warnings(self)

    def action_ledger(self) -> None:
        from promptdbg.tui.telling import tell_ledger

        tell_ledger(self)

    def action_help_quit(self) -> None:
        """Textual's word for ctrl+c names another key, in a box over the status line."""
        self.say(f"ctrl+c copies what the mouse selected; {self._key('app.quit')} leaves promptdbg")

    def action_help_undo(self) -> None:
        """What ctrl+z does elsewhere has another key here."""
        self.say(f"{self._key('app.undo')} takes the last change back")

    def _key(self, name: str) -> str:
        """A key as this person has it."""
        (key,) = (self.config.named(key) for key in keys_of("app") if key.id == name)
        return key.shown

    def action_help(self) -> None:
        from promptdbg.tui.telling import tell_keys

        tell_keys(self)

    def action_tour(self) -> None:
        self.guide.switch()

    def action_tour_next(self) -> None:
        self.guide.skip()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Screenshot"):
                yield command

    # -- outside

    @property
    def selected(self) -> str:
        """The text selected with the mouse."""
        return self.screen.get_selected_text() or ""

    def copy(self, text: str) -> None:
        """Copy a text to the clipboard of the terminal."""
        outside.copy(self, text)

    def copy_to_file(self, text: str) -> None:
        """Write a text to a file that the person names."""
        if self.picture is not None and (screen := self.on_top):
            outside.copy_to_file(self, screen, self.picture.assembly.workspace, text)

    def open_editor(self, source: Source | None) -> None:
        """The person's own editor on a file, at its line; then everything is read again."""
        if self.picture is not None:
            outside.edit(self, self.picture.assembly.workspace, source)
