"""The application: what is open, what is on screen, and the ways between screens."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from time import strftime
from typing import Any, ClassVar

from textual import work
from textual.app import App, SuspendNotSupported, SystemCommand
from textual.binding import BindingType
from textual.command import Provider
from textual.screen import Screen

from promptdbg.debug import Debugger
from promptdbg.errors import PromptdbgError
from promptdbg.model import Assembly, Section, Source, Stage
from promptdbg.text import one_line, safe
from promptdbg.tui.config import Config, config_path, read_config
from promptdbg.tui.driver import Driver, Opener
from promptdbg.tui.editor import editor_command
from promptdbg.tui.keys import bindings
from promptdbg.tui.messages import Pictured, Refused, Said, Stale
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.status import counts_text
from promptdbg.tui.theme import DEFAULT, HIGH_CONTRAST
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.wrapping import Piece

COPY_MAX = 1_000_000
"""Characters handed to the terminal's clipboard at the most; longer ones are for a file."""

EDIT_MAX = 100_000
"""Characters a text to try may have; the editor widget is slow beyond."""


SWITCH_SECONDS = 0.001
"""How long a thread that computes keeps the interpreter when the event loop wants it."""


TERMINAL_SECONDS = 2.0
"""How often to look whether the terminal is still there."""


def _leave_without_terminal() -> None:
    """End at once where the terminal was taken away without a hang-up signal (a closed pipe of a
    remote shell): Textual would read its end for ever, and there is nothing to restore."""
    if not sys.stdin.isatty():
        os._exit(129)


def _messages_screen() -> Screen[Any]:
    from promptdbg.tui.screens.messages import MessagesScreen  # not before the first frame

    screen: Screen[Any] = MessagesScreen()
    return screen


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
    """

    TITLE = "promptdbg"
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    CSS = """
    PromptdbgApp.-ascii {
        & #sections, & #why, & #text, & #knobs, & #report, & #differences, & #hits, & #findings, & #options,
        & #box {
            border: ascii $panel-lighten-2;
            &:focus { border: ascii $border; }
        }
        & #strip { border-top: ascii $panel-lighten-2; }
    }
    """
    COMMANDS = App.COMMANDS | {_action_provider, _item_provider}
    SCREENS: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {"messages": _messages_screen}
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 (Textual declares it)
        (0, "-w-none"),
        (60, "-w-60"),
        (80, "-w-80"),
        (100, "-w-100"),
        (140, "-w-140"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-h-none"),
        (10, "-h-10"),
        (16, "-h-16"),
        (24, "-h-24"),
        (30, "-h-30"),
    ]

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
    ) -> None:
        super().__init__()
        self.svg = svg
        self.config = config or Config()
        self.ascii_only = ascii_only or self.config.ascii
        self.recorded = recorded
        self.picture: Picture | None = None
        self.error: PromptdbgError | None = None
        self.driver = Driver(self.post_message)
        self.watch_state = "WATCHING" if watch else "PAUSED"
        self._opener = opener
        self._theme_name = theme or self.config.theme or DEFAULT
        self._show_times = show_times
        self._stale = ""
        self._complaints: list[str] = []
        self._watched: tuple[str, ...] = ()

    def get_default_screen(self) -> Screen[Any]:
        return HomeScreen()

    def on_mount(self) -> None:
        self.register_theme(HIGH_CONTRAST)
        self._complaints = list(self.config.problems)
        if self._theme_name not in self.available_themes:
            self._complaints.append(f"there is no theme {one_line(self._theme_name)}")
            self._theme_name = DEFAULT
        self.theme = self._theme_name
        self.set_keymap(dict(self.config.keys))
        self.animation_level = "none"
        self.set_class(self.ascii_only, "-ascii")
        self.call_after_refresh(self._drive)
        if sys.stdin is not None and sys.stdin.isatty():
            self.set_interval(TERMINAL_SECONDS, _leave_without_terminal)

    @work(group="driver")
    async def _drive(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            await self.driver.run(self._opener)
        except PromptdbgError as error:
            self.error = error
            self.exit(error.exit_code)

    # -- what comes from the driver

    def on_pictured(self, message: Pictured) -> None:
        first = self.picture is None
        self.picture = message.picture
        self._stale = ""
        if screen := self.on_top:
            screen.show(message.picture)
            screen.say(self._timed(message.picture, first))
            if first and self._complaints:
                screen.refuse(" · ".join(self._complaints))
        self._watch_these(message.picture.watched)

    def _timed(self, picture: Picture, first: bool) -> str:
        if not self._show_times or first:
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
        if screen := self.on_top:
            screen.say(message.line)

    def on_stale(self, message: Stale) -> None:
        folder = f"{self.picture.assembly.workspace}/" if self.picture else ""
        self._stale = message.line.removeprefix(folder)  # a long path would push the reason off the line
        self._reframe()
        if screen := self.on_top:
            screen.refuse("kept the last good picture")

    def refuse(self, line: str) -> None:
        """Say why something cannot be done now."""
        if screen := self.on_top:
            screen.refuse(line)

    def _reframe(self) -> None:
        if screen := self.on_top:
            screen.show_frame()

    # -- watching

    def _watch_these(self, paths: Sequence[str]) -> None:
        if self.watch_state == "WATCHING" and tuple(paths) != self._watched:
            self._watched = tuple(paths)
            self._follow(self._watched)

    @work(exclusive=True, group="watch", exit_on_error=False, description="watch")
    async def _follow(self, paths: Sequence[str]) -> None:
        from promptdbg.watch import changes  # 30 ms, not before the first frame

        try:
            async for _ in changes(paths):
                self.driver.reload()
        except OSError as error:
            self.watch_state = "NOT WATCHING"
            self._reframe()
            self.refuse(f"cannot watch the files: {error.strerror or error}; r reloads")

    def action_watch(self) -> None:
        if self.watch_state == "WATCHING":
            self.watch_state = "PAUSED"
            self._watched = ()
            self.workers.cancel_group(self, "watch")
        elif self.picture is not None:
            self.watch_state = "WATCHING"
            self._watch_these(self.picture.watched)
            self.driver.reload()
        self._reframe()

    def action_reload(self) -> None:
        self.driver.reload(asked=True)

    # -- what screens draw of the app

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        """Workspace, session, turn, engine, tokenizer, counts, watching; the last wanted go first."""
        assembly = picture.assembly
        tokenizer = assembly.tokenizer
        exact = "exact" if tokenizer.exact else "estimate"
        about = "" if tokenizer.exact else "≈ " if not self.ascii_only else "~ "
        session = Path(assembly.session).name if assembly.session else ""
        turns = len(assembly.turns)
        turn = turn_name(assembly.turn, turns) if turns else ""
        changed = "changed (c)" if picture.undo else ""
        state = "STALE" if self._stale else self.watch_state
        return (
            Cell(one_line(Path(assembly.workspace).name), "virtual--strong"),
            Cell(one_line(session), rank=5),
            Cell(turn, rank=2),
            Cell(one_line(f"{assembly.engine.title} {assembly.engine.version}"), rank=3),
            Cell(f"{about}{tokenizer.name} ({exact})", "virtual--muted", rank=6),
            Cell(counts_text(picture.counts, self.ascii_only), rank=1, right=True),
            Cell(f"{picture.messages_lost:,} lost in m" if picture.messages_lost else "", rank=3, right=True),
            Cell(changed, "virtual--accent", rank=4, right=True),
            Cell(state, "virtual--error" if self._stale else "virtual--muted", rank=2, right=True),
        )

    def banner(self) -> Sequence[Piece]:
        """What is wrong, if anything: stale files first, then a failure of the framework."""
        if self._stale:
            return [("STALE  ", "virtual--error"), (safe(self._stale, lines=False), "")]
        failure = self.picture.assembly.failure if self.picture else None
        if failure is None or self.picture is None:
            return []
        title = self.picture.assembly.engine.title
        line = f"{failure.error} in {failure.where}: {failure.message}"
        return [(f"{one_line(title)} FAILS HERE  ", "virtual--error"), (safe(line, lines=False), "")]

    # -- changing

    def toggle(self, item: str) -> None:
        """Switch an item off, or on again."""
        picture = self.picture
        section = picture.sections.get(item) if picture else None
        name = section.name if section else item
        self.driver.change(
            f"toggle:{item}",
            lambda settings: f"{name} {'off' if item in settings.off else 'on'}",
            lambda settings: settings.toggled(item),
        )

    def action_undo(self) -> None:
        self.driver.undo()

    def action_redo(self) -> None:
        self.driver.redo()

    def action_reset(self) -> None:
        self.driver.reset()

    def action_turn(self, step: int) -> None:
        picture = self.picture
        turns = len(picture.assembly.turns) if picture else 0
        if not turns:
            self.refuse("there are no turns: no session with user messages is open")
            return

        def change(turn: int | None) -> int | None:
            place = (turns + 1 if turn is None else turn) + step
            return None if place > turns else max(place, 1)

        self.driver.change(
            "turn",
            lambda settings: turn_name(settings.turn, turns),
            lambda settings: settings.with_turn(change(settings.turn)),
            turning=True,
        )

    def action_turns(self) -> None:
        from promptdbg.tui.screens.boxes import TurnsBox

        picture = self.picture
        if picture is None or not picture.assembly.turns:
            self.refuse("there are no turns: no session with user messages is open")
            return

        def chosen(turn: int | None) -> None:
            label = f"turn {turn}" if turn else "the turn to come"
            self.driver.change("turn", label, lambda settings: settings.with_turn(turn))

        settings = picture.assembly.settings

        def preview(turn: int | None) -> int:
            debugger = self.driver.debugger
            return debugger.preview(settings.with_turn(turn)).budget.used if debugger else 0

        self.push_screen(TurnsBox(picture.assembly.turns, picture.assembly.turn, chosen, preview))

    def edit_text(self, section: Section) -> None:
        """Try another text for a section."""
        from promptdbg.tui.screens.boxes import EditBox

        text = section.text
        if len(text) > EDIT_MAX:
            self.refuse(
                f"{len(text):,} characters are too many to edit here; e opens the file in your editor"
            )
            return
        if safe(text.replace("\t", " ")) != text.replace("\t", " "):
            self.refuse("it has hidden or control characters; e opens the file")
            return

        def done(new: str) -> None:
            if new == text:
                self.refuse("the text is as it was")
                return
            self.driver.change(
                f"text:{section.id}",
                f"{section.name} with another text",
                lambda settings: settings.with_text(section.id, new),
            )

        self.push_screen(EditBox(f"Try another text for {one_line(section.name)}", text, done))

    # -- going

    def action_messages(self) -> None:
        if "messages" not in [getattr(screen, "id", None) for screen in self.screen_stack]:
            self._leave_for("messages")

    def open_why(self, item: str) -> None:
        from promptdbg.tui.screens.why import WhyScreen

        self._leave_for(WhyScreen(item))

    def open_text(self, item: str, *, needle: str = "") -> None:
        from promptdbg.tui.screens.text import TextScreen

        self._leave_for(TextScreen(item, needle=needle))

    def action_search(self) -> None:
        from promptdbg.tui.screens.search import SearchScreen

        if not isinstance(self.screen, SearchScreen):
            self._leave_for(SearchScreen())

    def action_compare(self) -> None:
        from promptdbg.tui.screens.compare import CompareScreen

        if not isinstance(self.screen, CompareScreen):
            self._leave_for(CompareScreen())

    def action_findings(self) -> None:
        from promptdbg.tui.screens.findings import FindingsScreen

        if not isinstance(self.screen, FindingsScreen):
            self._leave_for(FindingsScreen())

    async def action_export(self) -> None:
        # The shapes of secrets take longer to import than a frame.
        await asyncio.to_thread(import_module, "promptdbg.export.levels")
        from promptdbg.tui.screens.export import ExportScreen

        if not isinstance(self.screen, ExportScreen):
            self._leave_for(ExportScreen())

    def open_message(self, item: str) -> None:
        """The message lists, with the cursor on a message."""
        from promptdbg.tui.screens.messages import MessagesScreen

        self.action_messages()
        while len(self.screen_stack) > 1 and not isinstance(self.screen, MessagesScreen):
            self.pop_screen()  # the lists lie open further down
        if isinstance(self.screen, MessagesScreen):
            self.screen.go_to(item)

    def _leave_for(self, screen: Screen[Any] | str) -> None:
        if self.picture is None:
            self.refuse("still opening")
        else:
            self.push_screen(screen)

    def go_to(self, item: str) -> None:
        """Back to the sections, with the cursor on one."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if isinstance(self.screen, HomeScreen):
            self.screen.go_to(item)

    def action_warnings(self) -> None:
        from promptdbg.tui.screens.boxes import ProseBox, warning_lines

        picture = self.picture
        count = len(picture.assembly.warnings) if picture else 0
        self.push_screen(ProseBox(f"Warnings: {count:,}", warning_lines(picture)))

    def action_help(self) -> None:
        from promptdbg.tui.screens.boxes import ProseBox, help_lines

        screen = self.screen
        if isinstance(screen, PictureScreen):
            lines = help_lines(screen.places_now(), self.config, ascii_only=self.ascii_only)
            self.push_screen(ProseBox("Keys", lines))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Screenshot"):
                yield command

    # -- outside

    def copy(self, text: str) -> None:
        """Copy selected text, else this one, to the clipboard of the terminal."""
        selected = self.screen.get_selected_text()
        text = selected or text
        if len(text) > COPY_MAX:
            self.refuse(
                f"{len(text):,} characters are too many for a clipboard; promptdbg export writes a file"
            )
            return
        self.copy_to_clipboard(text)
        if screen := self.on_top:
            screen.say(f"copied {len(text):,} characters to the clipboard, if the terminal allows it")

    def open_editor(self, source: Source | None) -> None:
        """The person's own editor on a file, at its line; then everything is read again."""
        picture = self.picture
        if source is None or picture is None:
            self.refuse("it has no file of its own")
            return
        path = Path(picture.assembly.workspace) / source.path
        if not path.is_file():
            self.refuse(f"{safe(str(path), lines=False)} is not a file")
            return
        command = editor_command(path, source.start_line)
        if command is None:
            self.refuse("no editor found: set EDITOR")
            return
        try:
            with self.suspend():
                code = subprocess.run(command, check=False).returncode
        except SuspendNotSupported:
            self.refuse(f"this terminal cannot start an editor; the file is {safe(str(path), lines=False)}")
        except OSError as error:
            self.refuse(f"{command[0]} cannot be started: {error.strerror or error}")
        else:
            if code:
                self.refuse(f"{command[0]} ended with code {code}")
            self.driver.reload()


def turn_name(turn: int | None, turns: int) -> str:
    """``turn 2 of 5``, or ``next turn (6)``: the one that is not stored yet."""
    return f"turn {turn} of {turns}" if turn else f"next turn ({turns + 1})"


def run(
    debugger: Debugger | Opener,
    *,
    ascii_only: bool = False,
    theme: str | None = None,
    watch: bool = True,
    recorded: Stage | None = None,
    svg: Callable[[Assembly], str] | None = None,
) -> int:
    """Open the UI and stay until it is left; returns the exit code.

    Args:
        debugger: what to show, or a function that opens it (called after the first frame).

    Raises:
        PromptdbgError: it cannot be opened.
    """

    def open_it() -> Debugger:
        return debugger if isinstance(debugger, Debugger) else debugger()

    app = PromptdbgApp(
        open_it,
        ascii_only=ascii_only,
        theme=theme,
        watch=watch,
        config=read_config(config_path()),
        recorded=recorded,
        svg=svg,
    )
    app.run()
    if app.error is not None:
        raise app.error
    return app.return_code or 0
