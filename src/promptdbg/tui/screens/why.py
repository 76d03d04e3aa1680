"""Why one item is as it is, in full, and the smallest changes that would keep it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events, work
from textual.binding import BindingType
from textual.widget import Widget

from promptdbg.analysis.fixes import Fix
from promptdbg.text import plural
from promptdbg.tui.changes import RECORDED, Change
from promptdbg.tui.fixes import LOOKING, RECORDING, fix_lines, may_be_kept, sought
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.why import report, surroundings
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.wrapping import BLANK, Paragraph


class WhyScreen(ItemScreen):
    """The report on one item, redrawn with every picture."""

    places: ClassVar[tuple[Place, ...]] = ("why", "item")
    BINDINGS: ClassVar[list[BindingType]] = bindings("why", "item")

    DEFAULT_CSS = "WhyScreen #report { height: 1fr; }"

    def __init__(self, item: str) -> None:
        super().__init__()
        self.item = item
        self.about = f"why {item}"
        self._fixes: Sequence[Fix] = ()

    @property
    def item_here(self) -> str | None:
        return self.item

    def copied(self) -> str:
        return self.query_one(Prose).text

    def no_item(self) -> str:
        return "it is not in this prompt any more"

    @property
    def offered(self) -> int | None:
        """How many changes there are to try; ``None`` while they are looked for."""
        return None if self.picture is None or self._looking else len(self._fixes)

    def compose_body(self) -> Iterable[Widget]:
        yield Prose(id="report", classes="pane")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Why", "virtual--strong"), *super().header_cells(picture))

    def show_picture(self, picture: Picture) -> None:
        self._fixes = ()  # those of the picture before would take its settings back
        self._look(picture)

    @property
    def _may_try(self) -> bool:
        """Whether a change could keep the item: it is lost, and it is no recording."""
        picture, debugger = self.picture, self.promptdbg.driver.debugger
        if picture is None or debugger is None or debugger.opened.recorded:
            return False
        return may_be_kept(picture, self.item)

    def hidden_keys(self) -> frozenset[str]:
        return frozenset() if self._may_try else frozenset({"why.fix"})

    def idle_keys(self) -> frozenset[str]:
        idle = super().idle_keys()
        return idle if self._fixes else idle | {"why.fix"}

    @work(exclusive=True, group="fixes", exit_on_error=False, description="telling why")
    async def _look(self, picture: Picture) -> None:
        """The report, then what would keep the item: both worked out in a thread."""
        ascii_only = self.promptdbg.ascii_only
        told = await asyncio.to_thread(report, picture, self.item, ascii_only=ascii_only, full=True)
        around = await asyncio.to_thread(surroundings, picture, self.item, ascii_only=ascii_only)
        debugger = self.promptdbg.driver.debugger
        if debugger is None or not may_be_kept(picture, self.item):
            self._draw(told, around)
        elif debugger.opened.recorded:
            self._draw(told, RECORDING, around)
        else:
            self._draw(told, LOOKING, around)
            self._fixes, problem = await sought(debugger, picture, self.item)
            self._draw(told, fix_lines(self._fixes, problem), around)
        self.show_keys()

    def _draw(self, *parts: Sequence[Paragraph]) -> None:
        """Parts of the report, a blank line between."""
        lines = [line for part in parts if part for line in (*part, BLANK)]
        while lines and lines[-1] == BLANK:
            lines.pop()
        self.query_one(Prose).show(lines, keep_scroll=True)

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    # -- actions

    def on_key(self, event: events.Key) -> None:
        if event.character is not None and event.character in "123456789":
            event.stop()
            self.try_fix(int(event.character))

    def action_fix(self) -> None:
        """The digits are handled with their number in ``on_key``; this names them in the help."""

    def try_fix(self, number: int) -> None:
        picture = self.picture
        if not self._fixes or picture is None:
            self.refuse(self._nothing())
        elif number > len(self._fixes):
            self.refuse(f"only {plural(len(self._fixes), 'change')} to try")
        else:
            fix = self._fixes[number - 1]
            found_with = picture.assembly.settings  # a change that is still waiting must not be undone by it
            self.promptdbg.driver.change(
                Change(
                    "fix",
                    fix.text,
                    lambda settings: fix.settings if settings == found_with else settings,
                    said="tried: ",
                )
            )

    def _nothing(self) -> str:
        """Why there is no change to try."""
        picture, debugger = self.picture, self.promptdbg.driver.debugger
        if debugger is not None and debugger.opened.recorded:
            return RECORDED
        if picture is not None and may_be_kept(picture, self.item):
            return "still looking for changes to try" if self._looking else "no single change keeps it whole"
        return "it is not lost: there is nothing to try"

    @property
    def _looking(self) -> bool:
        return any(worker.node is self and worker.is_running for worker in self.workers)

    def action_back(self) -> None:
        self.leave()
