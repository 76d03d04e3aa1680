"""The turns of the session: a strip and a list of them, the boundaries between, and the life of an item."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.widget import Widget
from textual.worker import get_current_worker

from promptdbg.analysis.turns import Preview, Timeline
from promptdbg.bulk import out_of_sight
from promptdbg.debug import Debugger, Opened
from promptdbg.model import Settings
from promptdbg.text import one_line, plural
from promptdbg.tui.changes import turn_chosen
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.turns import MEASURES, Known, Measure, known, report, stops
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.turn_list import TurnList
from promptdbg.tui.widgets.turn_strip import TurnStrip
from promptdbg.tui.widgets.virtual import VirtualList

_BATCH_SECONDS = 0.05
"""How long turns are looked at before what was found is drawn; one that takes longer is drawn by itself."""


_MANY = 2_000
"""States held from which on the collector is kept away from them."""


@dataclass(frozen=True, slots=True)
class KeptTurns:
    """What was found out of the turns of what is open, with these settings: it outlives the screen."""

    made_from: tuple[Opened, Settings]
    timeline: Timeline
    lock: threading.Lock = field(default_factory=threading.Lock, compare=False)
    """For who looks at turns: one thread at a time."""


class TurnsScreen(ItemScreen):
    """Turns are looked at in a thread, those around the cursor first. What was found stays, also when the
    screen is left, until the files or the settings are others.

    Args:
        item: whose life is shown, if any.
    """

    places: ClassVar[tuple[Place, ...]] = ("turns", "item")
    BINDINGS: ClassVar[list[BindingType]] = bindings("turns", "item")

    DEFAULT_CSS = """
    TurnsScreen {
        & #turns { height: 1fr; }
        & #report { height: 30%; }
        &.-h-24 #report { height: 7; }
        &.-h-24 TurnStrip { height: 6; }
        &.-h-16 #report { height: 5; }
        &.-h-16 #turns { border: none; }
        &.-h-16 TurnStrip { height: 4; }
        &.-h-10 #report { display: none; }
        &.-h-10 #turns { border: none; }
        &.-h-10 TurnStrip { height: 3; }
    }
    """

    def __init__(self, item: str | None = None) -> None:
        super().__init__()
        self.item = item
        self.about = f"turns {item}" if item else "turns"
        self.measure = Measure.USED
        self.with_life = item is not None
        self._what: Known | None = None
        self._kept: KeptTurns | None = None
        self._keep_scroll = True
        """Whether the report is still about the same row."""
        self._near = 0
        """The turn under the cursor, for the thread to read."""

    def compose_body(self) -> Iterable[Widget]:
        yield TurnStrip()
        yield TurnList()
        yield Prose(id="report", classes="pane")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Turns", "virtual--strong"), *super().header_cells(picture))

    # -- what is known

    def show_picture(self, picture: Picture) -> None:
        debugger = self.promptdbg.driver.debugger
        if debugger is None:
            return
        made_from = debugger.opened, picture.assembly.settings.with_turn(None)
        kept = self.promptdbg.turns_kept
        if kept is None or kept.made_from != made_from:
            timeline = Timeline(picture.assembly.turns, made_from[1], _preview(debugger))
            kept = self.promptdbg.turns_kept = KeptTurns(made_from, timeline)
        new = kept is not self._kept
        self._kept = kept
        current = kept.timeline.place_of(picture.assembly.turn)
        turn, before = picture.assembly.turn, self._what
        # A session that grows moves the turn to come: the cursor goes with it only where it stood on it.
        moved = before is None or turn != before.turn_at(before.current) or self.place == before.current
        # While the thread is at it, the timeline is the thread's.
        made = self._known(kept, current) if new or self._what is None else self._what
        self._draw(replace(made, current=current), to=current if moved else None)
        if new:
            self._look_on()

    def _known(self, kept: KeptTurns, current: int) -> Known:
        """What is known now; without the life while the thread of a screen that was left is still at it."""
        free = kept.lock.acquire(blocking=False)
        try:
            return known(kept.timeline, current, self.item if free else None)
        finally:
            if free:
                kept.lock.release()

    def _look_on(self) -> None:
        """Go on looking once the screen is drawn, which would take twice as long beside it."""
        self.call_after_refresh(self.call_after_refresh, self._look)

    @work(exclusive=True, group="turns", exit_on_error=False, description="turns")
    async def _look(self) -> None:
        kept, worker = self._kept, get_current_worker()
        while kept is not None and self._what is not None and self._is_short(self._what, kept):
            made, fault = await asyncio.to_thread(self._batch, kept, lambda: worker.is_cancelled)
            if kept is not self._kept:  # the files or the settings are others by now
                return
            self._draw(replace(made, current=self._what.current))
            if fault:
                self.refuse(fault)
                return

    def _is_short(self, what: Known, kept: KeptTurns) -> bool:
        """Whether there is more to know than what is drawn."""
        return what.count < len(kept.timeline) or (self.item is not None and what.life is None)

    def _batch(self, kept: KeptTurns, cancelled: Callable[[], bool]) -> tuple[Known, str]:
        """Look at some more turns; what is known then, and why it cannot go on. In the thread."""
        fault, timeline = "", kept.timeline
        with kept.lock, out_of_sight(lambda: timeline.held > _MANY):
            until = time.perf_counter() + _BATCH_SECONDS
            while (place := timeline.nearest(self._near)) is not None and not cancelled():
                try:
                    timeline.look(place)
                except Exception as error:  # a fault of an engine must not take the screen away
                    fault = f"turn {place + 1:,} could not be assembled: {error}"
                if fault or time.perf_counter() > until:
                    break
            return known(timeline, 0, self.item), fault

    def on_screen_suspend(self) -> None:
        self.workers.cancel_group(self, "turns")

    def on_screen_resume(self) -> None:
        self._look_on()

    # -- drawing

    @property
    def place(self) -> int:
        """The turn under the cursor."""
        row = self.query_one(TurnList).row
        return row.place if row is not None else 0

    @property
    def shown(self) -> Known | None:
        """What is known, as it is shown: without the life of the item where that is hidden."""
        return self.query_one(TurnList).what

    def _draw(self, what: Known, *, to: int | None = None) -> None:
        self._what = what
        listing, shown = self.query_one(TurnList), what if self.with_life else replace(what, life=None)
        listing.show(shown, self.measure, place=to)
        self.query_one("#report", Prose).entitle("What happened")
        listing.entitle("Turns", plural(len(shown.facts), "turn"))
        self._draw_row(keep_scroll=to is None)

    def _draw_row(self, *, keep_scroll: bool = False) -> None:
        """What follows the cursor: the mark in the strip, and then the report."""
        row, shown = self.query_one(TurnList).row, self.shown
        if row is None or shown is None:
            return
        self._near = row.place
        self.query_one(TurnStrip).show(shown, row.place, self.measure)
        self._keep_scroll = keep_scroll and self._keep_scroll
        # The list is drawn first: a key is answered in less than a frame, whatever there is to tell.
        self.call_after_refresh(self._tell)

    def _tell(self) -> None:
        row, shown = self.query_one(TurnList).row, self.shown
        if row is not None and shown is not None:
            lines = report(shown, row, self.promptdbg.ascii_only)
            self.query_one("#report", Prose).show(lines, keep_scroll=self._keep_scroll)
            self._keep_scroll = True

    def on_virtual_list_moved(self, message: VirtualList.Moved) -> None:
        self._draw_row()

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        self.action_choose()

    def on_turn_strip_picked(self, message: TurnStrip.Picked) -> None:
        self.query_one(TurnList).go_to(message.place)
        if message.again:
            self.action_choose()

    # -- the item

    @property
    def item_here(self) -> str | None:
        return self.item

    def no_item(self) -> str:
        if self.item is None:
            return "no item is in charge here: T on an item shows its life"
        return f"{one_line(self.item)} is not in this prompt"

    def copied(self) -> str:
        return self.query_one("#report", Prose).text

    def idle_keys(self) -> frozenset[str]:
        idle = super().idle_keys()
        return idle if self.item is not None else idle | {"turns.life"}

    # -- actions

    def action_choose(self) -> None:
        """The prompt of the turn under the cursor, on the screen below."""
        if self._kept is not None:
            self.promptdbg.driver.change(turn_chosen(self._kept.timeline.turn_at(self.place)))
            self.leave()

    def action_stop(self, step: int) -> None:
        """To the next row at which something happens."""
        listing, shown = self.query_one(TurnList), self.shown
        if shown is None:
            return
        found = stops(shown)
        there = [row for row in found if (row > listing.cursor if step > 0 else row < listing.cursor)]
        if there:
            listing.cursor = there[0] if step > 0 else there[-1]
        else:
            known_all = shown.count == len(shown.facts)
            side = "after" if step > 0 else "before"
            self.refuse(f"nothing happens {side} this turn" + ("" if known_all else ", as far as is known"))

    def action_step(self, step: int) -> None:
        """Some turns on, past the boundaries between."""
        listing = self.query_one(TurnList)
        listing.go_to(max(self.place + step, 0))

    def action_measure(self) -> None:
        """What the bars and figures show: what is used of the limit, or what is sent."""
        self.measure = Measure.SENT if self.measure is Measure.USED else Measure.USED
        if self._what is not None:
            self._draw(self._what)
        self.say(MEASURES[self.measure])

    def action_life(self) -> None:
        if self.item is None:
            self.refuse(self.no_item())
        elif self._what is not None:
            self.with_life = not self.with_life
            self._draw(self._what)

    def action_back(self) -> None:
        self.leave()


def _preview(debugger: Debugger) -> Preview:
    """Assembles what is open now, whatever is opened after it."""
    opened, counter = debugger.opened, debugger.counter
    return lambda settings: opened.assemble(settings, counter)
