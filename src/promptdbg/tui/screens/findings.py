"""Findings: the final list against provider rules, the cached prefix, what is in the prompt twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.strip import Strip
from textual.widget import Widget

from promptdbg.analysis.cache import compare_prefix
from promptdbg.analysis.duplicates import duplicates
from promptdbg.analysis.lint import lint_assembly
from promptdbg.debug import Debugger
from promptdbg.errors import PromptdbgError
from promptdbg.model import Assembly, Source
from promptdbg.text import clip, clip_middle, pad
from promptdbg.text import width as cell_width
from promptdbg.tui.findings import (
    PROVIDERS,
    Comparison,
    FindingRow,
    Found,
    Group,
    rows_of,
    summary,
)
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.others import FILES, Other, assembly_of, others_of
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.against import others_box
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.virtual import VirtualList
from promptdbg.tui.wrapping import plain_text

_TAG = 10
_WHERE = 24  # at the most


class FindingList(VirtualList):
    """One finding a row, below the heading of its group."""

    places: ClassVar[tuple[Place, ...]] = ("list",)

    def __init__(self) -> None:
        super().__init__(id="findings", classes="pane")
        self.rows: Sequence[FindingRow] = ()
        self.empty_word = "looking …"
        self._where = 0

    @property
    def row(self) -> FindingRow | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, rows: Sequence[FindingRow]) -> None:
        """Other rows; the cursor stays on its finding, or goes to the first problem."""
        before = self.row
        self.rows = rows
        places = (cell_width(row.where) for row in rows if not row.head)
        self._where = min(max(places, default=0) + 2, _WHERE)
        same = (n for n, row in enumerate(rows) if before and _same(row, before))
        first = (n for n, row in enumerate(rows) if row.problem and not row.head)
        self.set_rows(len(rows), cursor=next(same, next(first, 0)))
        self.show_cursor()

    def line_count(self) -> int:
        return len(self.rows) or 1

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        if not self.rows:
            return self.strip([(f"  {self.empty_word}", self.style("virtual--muted"))], width)
        entry = self.rows[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        bar = (self.glyphs.cursor if here else " ", base)
        if entry.head:
            strong = base if here else self.style("virtual--strong")
            return self.strip(
                [bar, (pad(entry.group.value, _TAG + 8), strong), (entry.title, muted)], width, base
            )
        loud = base if here else self.style("status--cut" if entry.problem else "status--keep")
        where = clip_middle(entry.where, self._where - 2, ellipsis=self.glyphs.ellipsis)
        room = max(width - _TAG - self._where - 3, 8)
        return self.strip(
            [
                bar,
                (f"{'!' if entry.problem else ' '} ", loud),
                (pad(entry.tag, _TAG), muted),
                (pad(where, self._where), base),
                (clip(entry.title, room, ellipsis=self.glyphs.ellipsis), loud),
            ],
            width,
            base,
        )


def _same(row: FindingRow, other: FindingRow) -> bool:
    return (row.group, row.head, row.item, row.where, row.tag) == (
        other.group, other.head, other.item, other.where, other.tag,
    )  # fmt: skip


class FindingsScreen(ItemScreen):
    """The list, and below it what is under the cursor in full."""

    places: ClassVar[tuple[Place, ...]] = ("findings", "item")
    about = "findings"
    BINDINGS: ClassVar[list[BindingType]] = bindings("findings", "item")

    DEFAULT_CSS = """
    FindingsScreen {
        & #findings { height: 1fr; }
        & #report { height: 10; }
        &.-h-16 #report { height: 6; }
        &.-h-10 #report { display: none; }
        &.-h-24 #report { height: 9; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.other: Other | None = None
        """What the cache is compared with beside the turn before and the files, once it is chosen."""

    def compose_body(self) -> Iterable[Widget]:
        yield FindingList()
        yield Prose(id="report", classes="pane")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Findings", "virtual--strong"), *super().header_cells(picture))

    def on_mount(self) -> None:
        self.query_one(FindingList).border_title = "Findings"

    def show_picture(self, picture: Picture) -> None:
        debugger = self.promptdbg.driver.debugger
        if debugger is not None:
            self._look(picture, debugger, self.other)

    def gave_up(self, line: str) -> None:
        super().gave_up(line)
        self.query_one("#report", Prose).show(())
        listing = self.query_one(FindingList)
        listing.empty_word = "It could not be found out."
        listing.show(())

    @work(exclusive=True, group="findings", exit_on_error=False, description="looking for findings")
    async def _look(
        self, picture: Picture, debugger: Debugger, other: Other | None, asked: bool = False
    ) -> None:
        found = await asyncio.to_thread(_found, picture, debugger, other)
        rows = await asyncio.to_thread(rows_of, found, picture)
        listing = self.query_one(FindingList)
        listing.show(rows)
        if asked:  # to the comparison that was asked for, which is the last
            listing.cursor = max(n for n, row in enumerate(rows) if row.group is Group.CACHE)
            listing.show_cursor()
        self.say(summary(rows, found))
        self._show_row()
        self.show_keys()

    def _show_row(self) -> None:
        row, report = self.query_one(FindingList).row, self.query_one("#report", Prose)
        report.show(row.detail if row is not None else ())
        report.border_title = report.title(row.group.value if row is not None else "")

    def on_virtual_list_moved(self, message: VirtualList.Moved) -> None:
        self._show_row()
        self.show_keys()

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        self.action_choose()

    # -- the item under the cursor

    @property
    def row(self) -> FindingRow | None:
        """The row under the cursor."""
        return self.query_one(FindingList).row

    @property
    def item_here(self) -> str | None:
        return self.row.item or None if self.row is not None else None

    @property
    def source_here(self) -> Source | None:
        return self.row.source if self.row is not None else None

    def no_item(self) -> str:
        if self.row is not None and self.row.item:
            return f"{self.row.where} is not in this prompt"
        return "this row is about no single item"

    def copied(self) -> str:
        rows = self.query_one(FindingList).rows
        return "\n".join(plain_text(row.detail) for row in rows if not row.head)

    def idle_keys(self) -> frozenset[str]:
        idle = super().idle_keys()
        return idle if self.thing_here is not None else idle | {"findings.open"}

    # -- actions

    def action_choose(self) -> None:
        """To the section's text, or to the message in the lists."""
        row, picture = self.row, self.picture
        if row is None or picture is None or self.thing_here is None:
            self.refuse(self.no_item())
        elif row.item in picture.sections:
            self.promptdbg.open_text(row.item, needle=row.needle)
        else:
            self.promptdbg.open_message(row.item)

    def action_others(self) -> None:
        """Choose what the cache is compared with."""
        picture, debugger = self.picture, self.promptdbg.driver.debugger
        if picture is None or debugger is None:
            return
        others = _others(picture, debugger)
        if debugger.opened.recorded:
            self.refuse("a recording holds one request: there is none to compare it with")
        elif not others:
            self.refuse("there is nothing here to compare with: no scenario, no other turn")
        else:
            self.app.push_screen(others_box(others, self.other, picture, self._take))

    def _take(self, other: Other) -> None:
        self.other = other
        picture, debugger = self.picture, self.promptdbg.driver.debugger
        if picture is not None and debugger is not None:
            self._look(picture, debugger, other, asked=True)

    def action_back(self) -> None:
        self.leave()


# -- in the thread


def _found(picture: Picture, debugger: Debugger, other: Other | None) -> Found:
    assembly = picture.assembly
    final = assembly.stages[-1].messages if assembly.stages else ()
    return Found(
        tuple(finding for provider in PROVIDERS for finding in lint_assembly(assembly, provider)),
        tuple(_comparisons(assembly, debugger, other)),
        duplicates(assembly, debugger.counter),
        len(final),
        bool(_others(picture, debugger)),
    )


def _others(picture: Picture, debugger: Debugger) -> list[Other]:
    """What can be chosen to compare with: the files are compared by themselves once they differ."""
    return [] if debugger.opened.recorded else [one for one in others_of(picture, ()) if one != FILES]


def _comparisons(assembly: Assembly, debugger: Debugger, other: Other | None) -> Iterator[Comparison]:
    """The request against the one a turn before, the one without the changes, and the chosen one."""
    settings = assembly.settings
    if debugger.opened.recorded:
        yield Comparison("the turn before", note="a recording holds one request: there is none before it")
        return
    turn = (settings.turn or len(assembly.turns) + 1) - 1
    if turn < 1:
        yield Comparison("the turn before", note="there is no turn before this one")
    else:
        yield _compared(Other("turn", turn=turn), assembly, debugger)
    if settings != replace(debugger.base, turn=settings.turn):
        yield _compared(FILES, assembly, debugger)
    if other is not None:
        yield _compared(other, assembly, debugger)


def _compared(other: Other, assembly: Assembly, debugger: Debugger) -> Comparison:
    try:
        earlier = assembly_of(other, debugger, assembly)
    except PromptdbgError as error:
        return Comparison(other.title, note=error.line())
    return Comparison(other.title, compare_prefix(earlier, assembly, debugger.counter))
