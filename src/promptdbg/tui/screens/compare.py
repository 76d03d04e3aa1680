"""What the changes did: the prompt as it is now against the files, or against a named scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.style import Style
from textual import work
from textual.binding import BindingType
from textual.strip import Strip
from textual.widget import Widget

from promptdbg.errors import PromptdbgError
from promptdbg.marks import mark_of
from promptdbg.model import Assembly, Settings
from promptdbg.text import clip_middle, one_line, pad
from promptdbg.tui.changes import Change
from promptdbg.tui.difference import Difference, Status, differences
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.save import save_scenario
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.sentences import plural, signed
from promptdbg.tui.status import WORD_WIDTH, glyph_of, style_of
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.virtual import VirtualList

FILES = "the files"
"""The scenario that is always there: the workspace as it is on disk."""

_STATE = WORD_WIDTH + 3


class DifferenceList(VirtualList):
    """One differing item a row: state and tokens on both sides."""

    places: ClassVar[tuple[Place, ...]] = ("list",)
    head_height = 1

    def __init__(self) -> None:
        super().__init__(id="differences")
        self.differences: Sequence[Difference] = ()
        self.empty_word = ""
        self.other = FILES

    def show(self, found: Sequence[Difference], other: str, empty_word: str) -> None:
        self.differences, self.other, self.empty_word = found, other, empty_word
        self.set_rows(len(found))

    def line_count(self) -> int:
        return len(self.differences) or 1

    def _name_cells(self, width: int) -> int:
        return max(width - 2 * _STATE - 4 - 3 * 9 - 1, 12)

    def draw_head(self, y: int, width: int) -> Strip:
        head = self.style("virtual--head")
        name = self._name_cells(width)
        line = (
            " "
            + pad("THEN", _STATE)
            + "  "
            + pad("NOW", _STATE)
            + "  "
            + pad("ITEM", name)
            + "".join(pad(word, 9, right=True) for word in ("THEN", "NOW", "CHANGE"))
        )
        return self.strip([(line, head)], width, head)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        if not self.differences:
            return self.strip([("  " + self.empty_word, self.style("virtual--muted"))], width)
        entry = self.differences[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        name = clip_middle(one_line(entry.name), self._name_cells(width) - 1, ellipsis=self.glyphs.ellipsis)
        return self.strip(
            [
                (self.glyphs.cursor if here else " ", base),
                self._state(entry.before, base if here else None),
                ("  ", base),
                self._state(entry.after, base if here else None),
                ("  ", base),
                (pad(name, self._name_cells(width)), base),
                (pad(f"{entry.tokens_before:,}", 9, right=True), muted),
                (pad(f"{entry.tokens_after:,}", 9, right=True), base),
                (pad(signed(entry.change), 9, right=True), muted),
            ],
            width,
            base,
        )

    def _state(self, status: Status | None, base: Style | None) -> tuple[str, Style]:
        if status is None:
            return pad(f"  {self.glyphs.dash}", _STATE), base or self.style("virtual--muted")
        mark = mark_of(status)
        text = pad(f"{glyph_of(mark, self.ascii_only)} {mark.word}", _STATE)
        return text, base or self.style(style_of(status))


class CompareScreen(PictureScreen):
    """Now against one of: the files, every scenario of the manifest."""

    places: ClassVar[tuple[Place, ...]] = ("compare",)
    about = "compare"
    BINDINGS: ClassVar[list[BindingType]] = bindings("compare")

    DEFAULT_CSS = "CompareScreen #differences { border: round $border; height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.other = FILES

    def compose_body(self) -> Iterable[Widget]:
        yield DifferenceList()

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Compare", "virtual--strong"), *super().header_cells(picture))

    def show_picture(self, picture: Picture) -> None:
        self._compare(picture, self.other)

    @work(exclusive=True, group="compare", exit_on_error=False, description="compare")
    async def _compare(self, picture: Picture, other: str) -> None:
        try:
            before = await asyncio.to_thread(self._assembly, picture, other)
        except PromptdbgError as error:
            self.query_one(DifferenceList).show((), other, one_line(error.line()))
            return
        found = await asyncio.to_thread(differences, before, picture.assembly)
        self._show(picture, before, found, other)

    def _settings(self, picture: Picture, other: str) -> Settings:
        debugger = self.promptdbg.driver.debugger
        assert debugger is not None
        settings = debugger.base if other == FILES else debugger.opened.scenario(other)
        return replace(settings, turn=picture.assembly.settings.turn)

    def _assembly(self, picture: Picture, other: str) -> Assembly:
        settings = self._settings(picture, other)
        if settings == picture.assembly.settings:
            return picture.assembly
        debugger = self.promptdbg.driver.debugger
        assert debugger is not None
        return debugger.preview(settings)

    def _show(self, picture: Picture, before: Assembly, found: list[Difference], other: str) -> None:
        empty = (
            "The same prompt." if other != FILES else "Nothing is changed: this is the prompt of the files."
        )
        listing = self.query_one(DifferenceList)
        listing.show(found, other, empty)
        listing.border_title = listing.title(f"now against {one_line(other)}")
        used = picture.assembly.budget.used - before.budget.used
        unit = picture.assembly.budget.unit
        self.say(
            f"{plural(len(found), 'item')} differ{'s' if len(found) == 1 else ''} · "
            f"{before.budget.used:,} then, {picture.assembly.budget.used:,} {unit} now ({signed(used)})"
        )

    # -- actions

    def action_other(self, step: int) -> None:
        picture = self.picture
        if picture is None:
            return
        names = [FILES, *picture.scenarios]
        if len(names) == 1:
            self.refuse("promptdbg.toml has no scenarios: ctrl+s saves the changes as one")
            return
        place = names.index(self.other) if self.other in names else 0
        self.other = names[(place + step) % len(names)]
        self._compare(picture, self.other)

    def action_use(self) -> None:
        picture = self.picture
        if picture is not None:
            settings = self._settings(picture, self.other)
            self.promptdbg.driver.change(Change("scenario", f"as in {self.other}", lambda _: settings))

    def action_save(self) -> None:
        picture = self.picture
        if picture is None:
            return
        if not picture.assembly.settings.changed:
            self.refuse("nothing is changed, so there is nothing to save")
            return
        self.ask(Ask.Question("Save as scenario:", self._save))

    def _save(self, name: str) -> str | None:
        debugger, picture = self.promptdbg.driver.debugger, self.picture
        if debugger is None or picture is None:
            return None
        try:
            path = save_scenario(debugger.opened.workspace.path, name, picture.assembly.settings)
        except PromptdbgError as error:
            return f"{one_line(error.line())}:"
        self.say(f"saved scenario {one_line(name)} in {one_line(str(path))}")
        self.promptdbg.driver.reload()
        return None

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        listing = self.query_one(DifferenceList)
        self.promptdbg.open_why(listing.differences[message.row].item)

    def action_choose(self) -> None:
        self.query_one(DifferenceList).action_choose()

    def action_back(self) -> None:
        self.leave()
