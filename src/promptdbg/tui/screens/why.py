"""Why one item is as it is, in full, and the smallest changes that would keep it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import events, work
from textual.binding import BindingType
from textual.widget import Widget
from textual.worker import get_current_worker

from promptdbg.analysis.fixes import Cancelled, Fix, fixes
from promptdbg.errors import PromptdbgError
from promptdbg.model import Source
from promptdbg.text import one_line, safe
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.sentences import names
from promptdbg.tui.why import report
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.wrapping import BLANK, Paragraph, say

FIXES_SHOWN = 9
"""As many as there are digits to try one with."""


class WhyScreen(PictureScreen):
    """The report on one item, redrawn with every picture."""

    places: ClassVar[tuple[Place, ...]] = ("why",)
    BINDINGS: ClassVar[list[BindingType]] = bindings("why")

    DEFAULT_CSS = "WhyScreen #report { border: round $border; height: 1fr; }"

    def __init__(self, item: str) -> None:
        super().__init__()
        self.item = item
        self._fixes: Sequence[Fix] = ()

    def compose_body(self) -> Iterable[Widget]:
        yield Prose(id="report")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Why", "virtual--strong"), *super().header_cells(picture))

    def show_picture(self, picture: Picture) -> None:
        lost = self.item in picture.lost
        self._draw([say(("Looking for what would keep it …", "virtual--muted"))] if lost else [])
        if lost:
            self._look_for_fixes(picture)

    def idle_keys(self) -> frozenset[str]:
        idle = super().idle_keys()
        return idle if self._fixes else idle | {"why.fix"}

    def _draw(self, tail: Sequence[Paragraph]) -> None:
        if self.picture is None:
            return
        paragraphs = report(self.picture, self.item, ascii_only=self.promptdbg.ascii_only, full=True)
        self.query_one(Prose).show([*paragraphs, *tail], keep_scroll=True)

    @work(exclusive=True, group="fixes", exit_on_error=False, description="fixes")
    async def _look_for_fixes(self, picture: Picture) -> None:
        """Every line is found by assembling again, in a thread that stops when it is not wanted."""
        debugger = self.promptdbg.driver.debugger
        if debugger is None:
            return
        worker = get_current_worker()
        look = partial(
            fixes,
            debugger.preview,
            picture.assembly.settings,
            picture.knobs,
            self.item,
            stop=lambda: worker.is_cancelled or worker.is_finished,
        )
        try:
            found = await asyncio.to_thread(look)
        except Cancelled:
            return
        except PromptdbgError as error:
            self._draw([say((safe(error.line()), "virtual--muted"))])
            return
        self._fixes = found[:FIXES_SHOWN]
        self._draw(_fix_lines(self._fixes))
        self.show_keys()

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
        if not self._fixes:
            self.refuse("there is nothing to try here")
        elif number > len(self._fixes):
            self.refuse(f"there are {len(self._fixes)} changes to try")
        else:
            fix = self._fixes[number - 1]
            self.promptdbg.driver.change("fix", fix.text, lambda settings: fix.settings)

    def action_switch(self) -> None:
        self.promptdbg.toggle(self.item)

    def action_text(self) -> None:
        self.promptdbg.open_text(self.item)

    def action_editor(self) -> None:
        self.promptdbg.open_editor(self._source())

    def _source(self) -> Source | None:
        picture = self.picture
        if picture is None:
            return None
        thing = picture.sections.get(self.item) or picture.message(self.item)
        return thing.source if thing else None

    def action_copy(self) -> None:
        self.promptdbg.copy(self.query_one(Prose).text)

    def action_back(self) -> None:
        self.leave()


def _fix_lines(found: Sequence[Fix]) -> list[Paragraph]:
    if not found:
        return [BLANK, say("No single change would keep it whole.")]
    lines = [BLANK, say(("It would be whole if", "virtual--strong"))]
    for number, fix in enumerate(found, 1):
        lines.append(say((f"{number}  ", "virtual--key"), one_line(fix.text), indent=2, hang=3))
        then = f"then out: {names(fix.pushes_out)}" if fix.pushes_out else "nothing else changes"
        lines.append(say((then, "virtual--muted"), indent=5))
    return [*lines, BLANK]
