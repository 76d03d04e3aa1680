"""The inspector: sections in charge; why, text, budget and knobs follow the row under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from promptdbg.analysis.fixes import Fix
from promptdbg.analysis.presets import KNOB as PRESET
from promptdbg.analysis.why import measured_by
from promptdbg.errors import UsageError
from promptdbg.model import Knob, Section, Value
from promptdbg.text import one_line, safe
from promptdbg.tui.changes import (
    Change,
    knob_moved,
    knob_set,
    knob_stepped,
    preset_chosen,
    preset_stepped,
)
from promptdbg.tui.inspector import (
    empty_word,
    knob_help,
    list_title,
    next_sort,
    rows_found,
    rows_shown,
    summary,
)
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.rows import Row, States, View
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.budget import BudgetLine, TokenBar
from promptdbg.tui.widgets.chrome import LOW, Status
from promptdbg.tui.widgets.knobs import KnobPanel
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.sections import SectionList
from promptdbg.tui.widgets.side import Side
from promptdbg.tui.widgets.virtual import VirtualList
from promptdbg.tui.wrapping import UNBROKEN, Piece

_NO_FOLDS = "nothing is folded while the list shows only some rows: esc shows all"


class HomeScreen(ItemScreen):
    """The first screen."""

    places: ClassVar[tuple[Place, ...]] = ("home", "item")
    BINDINGS: ClassVar[list[BindingType]] = bindings("home", "item")
    AUTO_FOCUS = "#sections"

    DEFAULT_CSS = """
    HomeScreen {
        & #panes { height: 1fr; }
        & #sections { width: 1fr; height: 1fr; }
        & #side { width: 42; }
        & #why, & #text, & #knobs { height: 1fr; }
        & #knobs { display: none; }
        & #strip { height: 3; display: none; border-top: solid $foreground 30%; }
        &.knobs #knobs { display: block; }
        &.knobs #why, &.knobs #text { display: none; }
        &.-w-140 #side { width: 30%; min-width: 52; max-width: 96; }

        &.-w-60, &.-w-80 {
            & #sections, & #why, & #text { border: none; }
            & #side { display: none; }
            & #strip { display: block; }
            &.knobs #panes { layout: vertical; }
            &.knobs #side { display: block; width: 1fr; height: 1fr; }
            &.knobs #strip { display: none; }
        }
        &.-h-24, &.-h-16 {
            & TokenBar { height: 1; }
            & #text { display: none; }
        }
        &.-h-16 #strip { display: none; }
        &.-h-16.-w-60.knobs #side, &.-h-16.-w-80.knobs #side { height: 2fr; }
        &.-h-10 {
            & TokenBar, & #strip, & #text { display: none; }
            &.-w-60.knobs #sections, &.-w-80.knobs #sections { display: none; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.view = View()
        self._hinted = ""

    def compose_body(self) -> Iterable[Widget]:
        yield TokenBar()
        yield BudgetLine()
        yield Horizontal(SectionList(id="sections", classes="pane"), Side(id="side"), id="panes")
        yield Prose(id="strip")

    def on_resize(self) -> None:
        if self.picture is not None:
            self.call_after_refresh(self._show_item)

    def on_mount(self) -> None:
        self.query_one("#strip").can_focus = False
        self.query_one(Side).entitle(None)
        self._entitle()

    # -- drawing

    @property
    def section(self) -> Section | None:
        """The section in charge."""
        return self.query_one(SectionList).section

    @property
    def item_here(self) -> str | None:
        return self.section.id if self.section is not None else None

    def copied(self) -> str:
        return (self.section.output or self.section.text) if self.section is not None else ""

    def show_picture(self, picture: Picture) -> None:
        self.query_one(TokenBar).show(picture.assembly.budget)
        self.query_one(BudgetLine).show(picture.assembly.budget, measured_by(picture.assembly.engine))
        self.query_one(KnobPanel).show(picture)
        self._show_sections()

    def banner(self) -> Sequence[Piece]:
        """Also the question of an example, and until something is changed that there is a tour."""
        wrong = super().banner()
        picture, guide = self.picture, self.promptdbg.guide
        if wrong or picture is None or not picture.question:
            return wrong
        question = [("QUESTION  ", "virtual--key"), (safe(picture.question, lines=False), "")]
        if guide.tour:
            return [] if self.app.size.height < LOW else question
        return [*question, (f"  {guide.key}", "virtual--key"), (f"{UNBROKEN}tour", "virtual--muted")]

    def idle_keys(self) -> frozenset[str]:
        idle = set(super().idle_keys())
        if self.picture is not None and self.picture.budget_knob is None:
            idle.add("home.budget")
        return frozenset(idle)

    def _show_sections(self) -> None:
        picture = self.picture
        if picture is None:
            return
        sections = self.query_one(SectionList)
        sections.empty_word = empty_word(picture, self.view)
        sections.show(picture, self.view)
        self._show_item()

    def _show_item(self) -> None:
        """Why and text of the section under the cursor."""
        picture, section, app = self.picture, self.section, self.promptdbg
        self.query_one(Side).show(picture, section, app.driver.debugger, ascii_only=app.ascii_only)
        self._show_strip(())
        self._entitle()

    def _show_strip(self, fixes: Sequence[Fix]) -> None:
        """The two lines that stand for the panes where there is no room for them."""
        picture, section, strip = self.picture, self.section, self.query_one("#strip", Prose)
        if picture is None or section is None:
            strip.show([])
        elif strip.display:
            ascii_only = self.promptdbg.ascii_only
            strip.show(summary(picture, section, fixes, strip.text_width - 1, ascii_only=ascii_only))

    def _entitle(self) -> None:
        rows = len(self.query_one(SectionList).rows)
        whole = len(self.picture.sections) if self.picture else rows
        self.query_one(SectionList).entitle(list_title(self.view), rows_shown(rows, whole))

    # -- what the widgets say

    def on_virtual_list_moved(self, message: VirtualList.Moved) -> None:
        if isinstance(message.list, SectionList):
            self._show_item()
            self.show_keys()
        else:
            self._knob_help()

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        if isinstance(message.list, SectionList) and self.section is not None:
            self.promptdbg.open_why(self.section.id)

    def on_side_sought(self, message: Side.Sought) -> None:
        if message.item == self.item_here:
            self._show_strip(message.fixes)

    def on_section_list_toggled(self, message: SectionList.Toggled) -> None:
        self.promptdbg.toggle(message.item)

    def on_section_list_sort_clicked(self, message: SectionList.SortClicked) -> None:
        """By that column; the other way round where that is so already."""
        view = self.view
        self._look(replace(view, sort=message.sort, reverse=view.sort is message.sort and not view.reverse))
        self._say_order()

    def on_section_list_fold_clicked(self, message: SectionList.FoldClicked) -> None:
        self._fold(message.row, not message.row.folded)

    def on_budget_line_stepped(self, message: BudgetLine.Stepped) -> None:
        if knob := self._budget_knob():
            self._step(knob, message.steps)

    def on_budget_line_dragged(self, message: BudgetLine.Dragged) -> None:
        knob, picture = self._budget_knob(), self.picture
        if knob is None or picture is None:
            return
        limit = picture.assembly.budget.limit
        self._change(knob_moved(knob, picture.knob_value(knob), limit, message.change))

    def on_budget_line_typing(self, message: BudgetLine.Typing) -> None:
        if knob := self._budget_knob():
            self._type(knob, message.begun)

    def on_knob_panel_stepped(self, message: KnobPanel.Stepped) -> None:
        self._step(message.knob, message.steps)

    def on_knob_panel_set(self, message: KnobPanel.Set) -> None:
        self._set(message.knob, message.value)

    def on_knob_panel_choosing(self, message: KnobPanel.Choosing) -> None:
        from promptdbg.tui.screens.choices import knob_box

        knob = message.knob
        self.app.push_screen(knob_box(knob, message.value, lambda value: self._set(knob, value)))

    def on_knob_panel_typing(self, message: KnobPanel.Typing) -> None:
        self._type(message.knob, message.value)

    # -- knobs

    def _budget_knob(self) -> Knob | None:
        picture = self.picture
        if picture is None:
            return None
        knob = picture.budget_knob
        if self._is_recorded():
            return None
        if knob is None:
            self.refuse(f"{picture.assembly.engine.title} has no budget to change")
        return knob

    def _step(self, knob: Knob, steps: int) -> None:
        if knob is PRESET and self.picture is not None:
            self._change(preset_stepped(self.picture.knobs, steps))
            return
        limit = self.picture.assembly.budget.limit if self.picture else None
        self._change(knob_stepped(knob, steps, limit))

    def _set(self, knob: Knob, value: Value) -> None:
        if knob is PRESET and self.picture is not None:
            self._change(preset_chosen(self.picture.knobs, value if isinstance(value, str) else None))
        else:
            self._change(knob_set(knob, value))

    def _change(self, change: Change) -> None:
        self.promptdbg.driver.change(change)

    def _type(self, knob: Knob, begun: str) -> None:
        def answered(text: str) -> str | None:
            try:
                value = knob.parse(text)
            except UsageError as error:
                return f"{error.hint or error.what}:"
            self._set(knob, value)
            return None

        unit = f" ({knob.unit})" if knob.unit else ""
        self.ask(Ask.Question(f"{one_line(knob.title)}{unit}:", answered, begun))

    def _knob_help(self) -> None:
        side = self.query_one(Side)
        side.entitle(self.section)
        if side.knobs.knob is not None:
            self._hint(knob_help(side.knobs.knob))

    def _hint(self, line: str) -> None:
        """Say how something is used; when it is left that goes, unless something else was said."""
        self._hinted = one_line(line)
        self.say(line)

    def _to_sections(self) -> None:
        self.query_one(SectionList).focus()
        if self._hinted and self.query_one(Status).line == self._hinted:
            self.say("")
        self._hinted = ""

    # -- actions

    def action_fold(self, folded: bool) -> None:
        row = self.query_one(SectionList).row
        if row is None or self.picture is None:
            self.refuse(self.no_item())
            return
        if self.view.narrowed:
            self.refuse(_NO_FOLDS)
            return
        parent = self.picture.sections[row.id].parent
        if folded and (row.folded or not row.parts) and parent is not None:
            self.query_one(SectionList).go_to(parent)
        elif row.parts:
            self._fold(row, folded)

    def _fold(self, row: Row, folded: bool) -> None:
        if row.parts:
            items = self.view.folded | {row.id} if folded else self.view.folded - {row.id}
            self._look(replace(self.view, folded=items))

    def action_fold_all(self) -> None:
        picture = self.picture
        if picture is None:
            return
        parents = frozenset(item for item in picture.parts if item)
        if self.view.narrowed or not parents:
            self.refuse(_NO_FOLDS if self.view.narrowed else "no section has parts")
            return
        self._look(replace(self.view, folded=frozenset() if self.view.folded else parents))

    def action_sort(self, step: int) -> None:
        priorities = self.picture is not None and self.picture.has_priorities
        self._look(replace(self.view, sort=next_sort(self.view.sort, step, priorities=priorities)))
        self._say_order()

    def action_sort_reverse(self) -> None:
        self._look(replace(self.view, reverse=not self.view.reverse))
        self._say_order()

    def _say_order(self) -> None:
        self.say(f"ordered by {self.view.sort}" + (", reversed" if self.view.reverse else ""))

    def action_states(self) -> None:
        states = list(States)
        following = states[(states.index(self.view.states) + 1) % len(states)]
        self._look(replace(self.view, states=following))
        self._say_rows()

    def _look(self, view: View) -> None:
        self.view = view
        self._show_sections()

    def _say_rows(self) -> None:
        rows = len(self.query_one(SectionList).rows)
        self.say(rows_found(self.view, rows))

    def action_filter(self) -> None:
        before = self.view

        def changed(text: str) -> None:
            self._look(replace(self.view, filter=text))

        def answered(text: str) -> None:
            self._look(replace(self.view, filter=text))
            self._say_rows()

        self.ask(Ask.Question("Filter:", answered, before.filter, changed, lambda: self._look(before)))

    def action_budget(self) -> None:
        line = self.query_one(BudgetLine)
        knob = self._budget_knob()
        if knob is not None:
            line.focus()
            self._hint(f"{one_line(knob.title)}: ← → a step, H L eight, or type a number; esc when done")

    def action_knobs(self) -> None:
        if self.has_class("knobs"):
            self._close_knobs()
            return
        self.add_class("knobs")
        self.query_one(KnobPanel).focus()
        self._knob_help()

    def _close_knobs(self) -> None:
        self.remove_class("knobs")
        self._to_sections()

    def action_pane(self, number: int) -> None:
        widget = self.query_one(("#sections", "#why", "#text")[number - 1])
        if self.has_class("knobs") and number > 1:
            self.remove_class("knobs")
        if widget.display and widget.parent is not None and widget.region:
            widget.focus()
        elif self.section is not None and number == 2:
            self.promptdbg.open_why(self.section.id)
        elif self.section is not None:
            self.promptdbg.open_text(self.section.id)

    def action_back(self) -> None:
        sections = self.query_one(SectionList)
        if self.has_class("knobs"):
            self._close_knobs()
        elif self.focused is not sections:
            self._to_sections()
        elif self.view.narrowed:
            self._look(replace(self.view, filter="", states=States.ALL))
            self.say("all sections")
        else:
            self.say("q leaves promptdbg")

    def go_to(self, item: str) -> None:
        """Put the cursor on a section, unfolding and clearing the filter if need be."""
        sections = self.query_one(SectionList)
        if not sections.go_to(item):
            self._look(replace(self.view, filter="", states=States.ALL, folded=frozenset()))
            sections.go_to(item)
        sections.focus()
