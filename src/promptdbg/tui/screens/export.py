"""Export: choose what leaves the machine, see what is hidden, and only then write it."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, cast

from textual import work
from textual.binding import BindingType
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import get_current_worker

from promptdbg.debug import Debugger
from promptdbg.errors import PromptdbgError
from promptdbg.export import FORMATS
from promptdbg.export.levels import LEVELS, Export, Level, characters, export
from promptdbg.files.disk import expanded, is_folder
from promptdbg.model import Assembly
from promptdbg.text import clip, clip_middle, pad, safe
from promptdbg.tui.export_view import (
    FORM_WORDS,
    LEVEL_WORDS,
    Preview,
    preview_lines,
    preview_of,
    progress_lines,
    suggested_name,
    written_sentence,
)
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.outside import ask_to_replace
from promptdbg.tui.picture import Picture
from promptdbg.tui.places import outside_of, short_path
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.virtual import VirtualList

_TICK = 0.1
"""Seconds between two drawings of the progress bar."""

_PREVIEW_SALT = b"preview"
"""Hashes are not shown, and the machine's own salt is only made when something is written."""

LEVEL, FORM, FILE = range(3)


class _Stopped(Exception):
    """The search for secrets is not wanted any more."""


class OptionRows(VirtualList):
    """Three rows: level, format, file."""

    places: ClassVar[tuple[Place, ...]] = ("list",)

    def __init__(self) -> None:
        super().__init__(id="options", classes="pane")
        self.rows: Sequence[tuple[str, str, str]] = ()

    def show(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Rows of label, value, and a word about it; the values are safe."""
        self.rows = rows
        self.set_rows(len(rows))

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        label, value, word = self.rows[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        g = self.glyphs
        room = max(width - 14, 8)
        choice = f"{g.left} {value} {g.right}"
        text = clip_middle(value, room, ellipsis=g.ellipsis) if row == FILE else choice
        rest = clip(f"   {word}", max(room - len(text), 0), ellipsis=g.ellipsis) if word else ""
        bar = (g.cursor if here else " ", base)
        loud = base if here else self.style("virtual--error" if value == "full" else "virtual--accent")
        return self.strip([bar, (pad(label, 11), muted), (text, loud), (rest, muted)], width, base)


class ExportScreen(PictureScreen):
    """What to write, how and where; below, what of the prompt it hides."""

    places: ClassVar[tuple[Place, ...]] = ("export",)
    about = "export"
    BINDINGS: ClassVar[list[BindingType]] = bindings("export")

    DEFAULT_CSS = """
    ExportScreen {
        & #options { height: 5; }
        & #report { height: 1fr; }
        &.-h-10 #report { border: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.level: Level = "structure"
        self.form = "json"
        self.path: Path | None = None
        """Where the person said it should go; nothing is written before that."""
        self._tried: Path | None = None
        """Where it could not be written."""
        self.preview: Preview | None = None
        self._searched = (0, 0)  # characters done, and in all
        self._problem = ""  # why there is no preview

    def compose_body(self) -> Iterable[Widget]:
        yield OptionRows()
        yield Prose(id="report", classes="pane")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Export", "virtual--strong"), *super().header_cells(picture))

    def on_mount(self) -> None:
        self.query_one(OptionRows).border_title = "Export"
        self.set_interval(_TICK, self._show_progress)

    def gave_up(self, line: str) -> None:
        super().gave_up(line)
        self._problem = line

    # -- drawing

    def show_picture(self, picture: Picture) -> None:
        self._prepare()

    def _prepare(self) -> None:
        """Draw the choices, and work out what they hide."""
        self._show_options()
        picture, debugger = self.picture, self.promptdbg.driver.debugger
        if picture is not None and debugger is not None:
            self._look(picture.assembly, debugger, self.level)

    def _show_options(self) -> None:
        where = "not named yet: enter names it"
        if named := self.path or self._tried:
            where = safe(short_path(named), lines=False) + ("" if self.path else " (not written)")
        if self.app.is_web:
            where = "your browser keeps it"
        self.query_one(OptionRows).show(
            [
                ("Level", self.level, LEVEL_WORDS[self.level]),
                ("Format", self.form, FORM_WORDS[self.form]),
                ("File", where, ""),
            ]
        )

    @work(exclusive=True, group="preview", exit_on_error=False, description="looking for what must be hidden")
    async def _look(self, assembly: Assembly, debugger: Debugger, level: Level) -> None:
        self.preview, self._problem = None, ""
        worker = get_current_worker()

        def progress(done: int) -> None:
            if worker.is_cancelled:
                raise _Stopped
            self._searched = (done, self._searched[1])

        if level == "redacted":
            self._searched = (0, await asyncio.to_thread(characters, assembly))
        try:
            made = await asyncio.to_thread(_made, assembly, debugger, level, progress)
        finally:
            self._searched = (0, 0)
        self.preview = made
        report = self.query_one("#report", Prose)
        report.show(preview_lines(made, assembly))
        report.border_title = "What it holds and hides"
        report.border_subtitle = ""
        self.say(made.made.report())

    def _show_progress(self) -> None:
        done, total = self._searched
        if total and self.preview is None:
            report = self.query_one("#report", Prose)
            report.show(progress_lines(done, total, report.glyphs.full, report.glyphs.rest))

    # -- choosing

    def action_other(self, step: int) -> None:
        row = self.query_one(OptionRows).cursor
        if row == LEVEL:
            self._take_level(LEVELS[(LEVELS.index(self.level) + step) % len(LEVELS)])
            self._prepare()
        elif row == FORM:
            forms = self._forms()
            self._take_form(forms[(forms.index(self.form) + step) % len(forms)])
        else:
            self.refuse("enter names the file")

    def _take_level(self, level: Level) -> None:
        """Another level; a name that says the level, as it was suggested, says the new one."""
        if self.path is not None and self.path.name == suggested_name(self.level, self.form):
            self.path = self.path.with_name(suggested_name(level, self.form))
        self.level = level

    def _forms(self) -> Sequence[str]:
        """The formats there are: a picture only where something can draw one."""
        return [form for form in FORMATS if form != "svg" or self.promptdbg.svg is not None]

    def _take_form(self, form: str) -> None:
        self.form = form
        if self.path is not None and self.path.suffix.lstrip(".") in FORMATS:
            self.path = self.path.with_suffix(f".{form}")
        self._show_options()

    def hidden_keys(self) -> frozenset[str]:
        """Enter names the file; on the other rows it is one more key for the next choice."""
        named = self.query_one(OptionRows).cursor == FILE
        return frozenset({"export.other"} if named else {"export.choose"})

    def on_virtual_list_moved(self, message: VirtualList.Moved) -> None:
        self.show_keys()

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        if self.query_one(OptionRows).cursor == FILE:
            self._name_file(lambda: None)
        else:
            self.action_other(1)

    def _name_file(self, then: Callable[[], None]) -> None:
        """Ask where it goes; the answer is the only place that is ever written."""
        picture = self.picture
        if picture is None:
            return
        if self.app.is_web:
            self.refuse("in a browser the file goes where the browser keeps downloads")
            return
        workspace = picture.assembly.workspace
        named = outside_of(workspace) / suggested_name(self.level, self.form)
        start = self.path or self._tried or named

        def answered(text: str) -> str | None:
            if not text.strip():
                return "A file needs a name:"
            path = expanded(text.strip())
            if is_folder(path):
                return "That is a folder; a file in it:"
            self.path = path
            ending = path.suffix.lower().lstrip(".")
            if ending in self._forms():
                self.form = ending
            self._show_options()
            self.call_after_refresh(then)
            return None

        self.ask(Ask.Question("Write to:", answered, short_path(start)))

    # -- writing

    def action_write(self) -> None:
        if self.preview is None and self._problem:
            self.refuse(self._problem)
        elif self.preview is None:
            self.refuse("still looking for what must be hidden")
        elif self.app.is_web:
            self._deliver()
        elif self.path is None:
            self._name_file(self.action_write)
        elif os.path.lexists(self.path):
            ask_to_replace(self, self.path, self._write)
        else:
            self._write(self.path, force=False)

    @work(exclusive=True, group="write", exit_on_error=False, description="writing the file")
    async def _write(self, path: Path, force: bool) -> None:
        picture, preview = self.picture, self.preview
        if picture is None or preview is None:
            return
        text, doubt = await asyncio.to_thread(self._text, picture.assembly, preview.made)
        try:
            size = await asyncio.to_thread(_put, path, text, preview.made, force)
        except PromptdbgError:
            self._tried, self.path = path, None  # it is asked for again
            self._show_options()
            raise
        self.say(written_sentence(short_path(path), preview.made, size) + doubt)

    @work(exclusive=True, group="write", exit_on_error=False, description="writing the file")
    async def _deliver(self) -> None:
        """In a browser: hand it over as a download; nothing is written on this machine."""
        picture, preview = self.picture, self.preview
        if picture is None or preview is None:
            return
        text, doubt = await asyncio.to_thread(self._text, picture.assembly, preview.made)
        name = suggested_name(preview.made.level, self.form)
        self.app.deliver_text(io.StringIO(text), save_filename=name, open_method="download")
        self.say(written_sentence(name, preview.made, len(text.encode("utf-8", "replace"))) + doubt)

    def _text(self, assembly: Assembly, made: Export) -> tuple[str, str]:
        """The file's text, and what is to be added about it; called in a thread."""
        from promptdbg.export.formats import rendered
        from promptdbg.export.write import machine_salt

        doubt = ""
        if made.level == "structure":
            salt = machine_salt()
            made = export(assembly, "structure", salt.value)
            doubt = f" · {safe(salt.doubt, lines=False)}" if salt.doubt else ""
        svg = self.promptdbg.svg
        return rendered(made, self.form, cast("Callable[[Assembly], str]", svg)), doubt

    def action_back(self) -> None:
        self.leave()


def _made(assembly: Assembly, debugger: Debugger, level: Level, progress: Callable[[int], None]) -> Preview:
    from promptdbg.export.formats import rules_of  # the secrets' shapes are not wanted before

    return preview_of(export(assembly, level, _PREVIEW_SALT, rules_of(debugger.opened), progress))


def _put(path: Path, text: str, made: Export, force: bool) -> int:
    """Write the file; returns its size in bytes."""
    from promptdbg.export.write import write_atomically

    data = text.encode("utf-8", "replace")
    write_atomically(path, data, force=force, private=made.level != "structure")
    return len(data)
