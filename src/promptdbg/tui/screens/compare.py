"""A against B: the prompt as it is now beside the files, a scenario, a turn, or a prompt elsewhere."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.widget import Widget

from promptdbg.analysis.alignment import Alignment
from promptdbg.debug import Debugger
from promptdbg.errors import PromptdbgError
from promptdbg.examples import is_bundled
from promptdbg.files.disk import expanded
from promptdbg.model import Assembly, Settings
from promptdbg.text import clip_middle, one_line, plural
from promptdbg.tui.changes import Change
from promptdbg.tui.difference import NO_LISTS, Difference, section_differences, side_by_side
from promptdbg.tui.frame import NAME_CELLS
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.message_view import row_sentence, summary
from promptdbg.tui.others import FILES, Other, assembly_of, others_of, settings_of
from promptdbg.tui.picture import Picture
from promptdbg.tui.save import save_scenario
from promptdbg.tui.screens.against import others_box
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.sentences import signed
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.column_totals import ColumnTotals
from promptdbg.tui.widgets.differences import DifferenceList
from promptdbg.tui.widgets.message_columns import MessageColumns
from promptdbg.tui.widgets.virtual import VirtualList

_FRAME = 3
"""Lines of the list of sections that are no rows: its border and its head."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of a comparison. ``problem`` says why the lists are not there."""

    before: Assembly
    sections: Sequence[Difference]
    lists: Alignment
    problem: str = ""


class CompareScreen(ItemScreen):
    """Above, the sections that differ; below, the final lists side by side, THEN and NOW."""

    places: ClassVar[tuple[Place, ...]] = ("compare", "item")
    about = "compare"
    BINDINGS: ClassVar[list[BindingType]] = bindings("compare", "item")

    DEFAULT_CSS = """
    CompareScreen {
        & #differences { max-height: 40%; }
        & MessageColumns { height: 1fr; }
        &.-h-10 #differences { max-height: 100%; }
        &.-h-10 #differences { display: none; }
        &.-h-10.sections {
            & #differences { display: block; }
            & MessageColumns, & ColumnTotals { display: none; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.other = FILES
        self._places: tuple[str, ...] = ()
        self._saved: Settings | None = None
        self._saved_as = ""  # where those are; what follows from writing the file must not talk it away

    def compose_body(self) -> Iterable[Widget]:
        yield DifferenceList()
        yield MessageColumns()
        yield ColumnTotals()

    @property
    def sections(self) -> DifferenceList:
        return self.query_one(DifferenceList)

    @property
    def lists(self) -> MessageColumns:
        return self.query_one(MessageColumns)

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        other = clip_middle(self.other.title, NAME_CELLS)
        against = Cell(f"now against {other}", "virtual--accent")
        return (Cell("Compare", "virtual--strong"), against, *super().header_cells(picture))

    # -- comparing

    def show_picture(self, picture: Picture) -> None:
        debugger = self.promptdbg.driver.debugger
        if debugger is not None:
            self._compare(picture, debugger, self.other)

    def gave_up(self, line: str) -> None:
        super().gave_up(line)
        if self.picture is not None:
            self._draw(self.picture, (), NO_LISTS, line, "There is nothing to compare with.")

    @work(exclusive=True, group="compare", exit_on_error=False, description="comparing")
    async def _compare(self, picture: Picture, debugger: Debugger, other: Other) -> None:
        found = await asyncio.to_thread(_compared, picture, debugger, other)
        empty = "The same prompt." if found.before == picture.assembly else "No section differs."
        if other == FILES and not picture.assembly.settings.changed:
            empty = "Nothing is changed. s compares with something else."
        self._draw(picture, found.sections, found.lists, empty, found.problem)
        sentence = _sentence(found, picture.assembly)
        saved_as = self._saved_as if picture.assembly.settings == self._saved else ""
        self.say(f"{saved_as} · {sentence}" if saved_as else sentence)

    def _draw(
        self,
        picture: Picture,
        sections: Sequence[Difference],
        lists: Alignment,
        empty: str,
        problem: str = "",
    ) -> None:
        listing = self.sections
        listing.styles.height = max(len(sections), 1) + _FRAME
        listing.show(sections, empty)
        title = f"Sections that differ: {len(sections):,}" if sections else "Sections"
        listing.entitle(f"1 {title}")
        self.lists.empty_word = problem or "No messages on either side."
        self.lists.show(lists, picture.rules)
        if not sections and lists.length and self.focused is listing:
            self.lists.focus()  # that is where there is something to see
        self.show_frame()

    def on_message_columns_drawn(self, message: MessageColumns.Drawn) -> None:
        picture, plan = self.picture, self.lists.plan
        if picture is not None and plan is not None:
            about = "" if picture.assembly.tokenizer.exact else "≈"
            self.query_one(ColumnTotals).show(plan, about)
            self.show_keys()

    # -- the item under the cursor

    @property
    def item_here(self) -> str | None:
        if self.focused is self.lists:
            return self.lists.message.id if self.lists.message is not None else None
        entry = self.sections.difference
        return entry.item if entry is not None else None

    def no_item(self) -> str:
        return "it is not in the prompt as it is now" if self.item_here else "nothing differs here"

    def hidden_keys(self) -> frozenset[str]:
        """Saving where there is nothing to save; where there is, what has no room beside it."""
        if self.picture is None or not self.picture.assembly.settings.changed:
            return frozenset({"compare.save"})
        return frozenset({"item.toggle"}) if self.app.size.width < 100 else frozenset()

    def copied(self) -> str:
        """The sections that differ, and the totals, one a line."""
        lines = [
            f"{entry.name}: {entry.before or '-'} > {entry.after or '-'}, {entry.tokens_before:,} > "
            f"{entry.tokens_after:,} tokens ({signed(entry.change)})"
            for entry in self.sections.differences
        ]
        return "\n".join([f"now against {self.other.title}", *lines])

    def on_virtual_list_moved(self, message: VirtualList.Moved) -> None:
        self.show_keys()
        plan, row = self.lists.plan, self.lists.row
        if message.list is self.lists and plan is not None and row is not None:
            self.say(row_sentence(plan.alignment, row, self.lists.focus_column))

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        self.action_why()

    # -- what it is compared with

    def action_other(self, step: int) -> None:
        picture = self.picture
        if picture is None:
            return
        others = others_of(picture, self._places)
        if len(others) == 1:
            self.refuse("there is nothing else here: no scenario, no other turn; s names a file or a folder")
            return
        place = others.index(self.other) if self.other in others else 0
        self._take(others[(place + step) % len(others)])

    def action_others(self) -> None:
        """Choose from everything there is, or name a prompt elsewhere."""
        if self.picture is not None:
            others = others_of(self.picture, self._places)
            self.app.push_screen(others_box(others, self.other, self.picture, self._take, self._name_place))

    def _take(self, other: Other) -> None:
        self.other = other
        if self.picture is not None:
            self.show_picture(self.picture)

    def _name_place(self) -> None:
        self.call_later(self._ask_for_place)  # the line that asks is below the box, which closes first

    def _ask_for_place(self) -> None:
        def answered(text: str) -> str | None:
            place = text.strip()
            if not place:
                return "JSON that promptdbg wrote, a session, or a folder:"
            if not os.path.lexists(expanded(place)):
                return "There is no such file or folder:"
            self._places = tuple(dict.fromkeys((*self._places, place)))
            self._take(Other("place", place))
            return None

        self.ask(Ask.Question("Compare with the file or folder:", answered))

    # -- actions

    def action_use(self) -> None:
        picture, debugger = self.picture, self.promptdbg.driver.debugger
        if picture is None or debugger is None:
            return
        settings = settings_of(self.other, debugger, picture.assembly.settings)
        if settings is None:
            self.refuse("a prompt elsewhere cannot be taken over: its files are others")
        else:
            self.promptdbg.driver.change(Change("scenario", f"as in {self.other.title}", lambda _: settings))

    def action_save(self) -> None:
        picture = self.picture
        if picture is None:
            return
        if not picture.assembly.settings.changed:
            self.refuse("nothing is changed, so there is nothing to save")
            return
        self._ask_for_name("Save as scenario:")

    def _ask_for_name(self, label: str, start: str = "") -> None:
        def answered(name: str) -> None:
            debugger, picture = self.promptdbg.driver.debugger, self.picture
            if debugger is not None and picture is not None:
                self._save(debugger.opened.workspace.path, name, picture.assembly.settings)

        self.ask(Ask.Question(label, answered, start))

    @work(group="save", exit_on_error=False, description="saving the scenario")
    async def _save(self, workspace: Path, name: str, settings: Settings) -> None:
        try:
            path = await asyncio.to_thread(save_scenario, workspace, name, settings)
        except PromptdbgError as error:
            self._ask_for_name(f"{one_line(error.line())}:", name)
            return
        whose = " of the bundled example" if is_bundled(workspace) else ""
        self._saved = settings
        self._saved_as = f"saved as scenario {one_line(name.strip())} in {one_line(path.name)}{whose}"
        self.say(self._saved_as)
        self.promptdbg.driver.reload()

    def action_pane(self, number: int) -> None:
        """To one of the two; a window of few lines shows that one alone."""
        self.set_class(number == 1, "sections")
        (self.sections if number == 1 else self.lists).focus()

    def action_choose(self) -> None:
        self.action_why()

    def action_back(self) -> None:
        self.leave()


def _compared(picture: Picture, debugger: Debugger, other: Other) -> Compared:
    """The comparison; called in a thread."""
    before = assembly_of(other, debugger, picture.assembly)
    sections = section_differences(before, picture)
    try:
        return Compared(before, sections, side_by_side(before, picture.assembly, other.title))
    except PromptdbgError as error:
        return Compared(before, sections, NO_LISTS, one_line(error.line()))


def _sentence(found: Compared, now: Assembly) -> str:
    """What differs, counted."""
    count = len(found.sections)
    differ = "differs" if count < 2 else "differ"
    parts = [f"{plural(count, 'section') if count else 'no section'} {differ}"]
    if found.lists.length:
        same = not found.lists.changes
        parts.append("the messages are the same" if same else f"messages: {summary(found.lists)}")
    used, unit = now.budget.used - found.before.budget.used, now.budget.unit
    parts.append(f"{found.before.budget.used:,} then, {now.budget.used:,} {unit} now ({signed(used)})")
    return " · ".join(parts)
