"""What stands beside the sections: why and text of the one in charge, or the knobs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from promptdbg.analysis.fixes import Fix
from promptdbg.debug import Debugger
from promptdbg.model import Section
from promptdbg.text import plural
from promptdbg.tui.fixes import fix_lines, may_be_kept, sought
from promptdbg.tui.inspector import STAND_IN, knob_range
from promptdbg.tui.picture import Picture
from promptdbg.tui.why import section_report
from promptdbg.tui.widgets.knobs import KnobPanel
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.text_view import TextView
from promptdbg.tui.wrapping import BLANK, Paragraph

_RESTS = 0.25
"""Seconds the cursor stays on an item before changes are looked for."""

_GROUP = "fixes"


class Side(Vertical):
    """Three panes, of which a screen shows what there is room for."""

    class Sought(Message):
        """What would keep an item was looked for, because the cursor rests on it."""

        def __init__(self, item: str, fixes: Sequence[Fix]) -> None:
            super().__init__()
            self.item = item
            self.fixes = fixes

    def compose(self) -> ComposeResult:
        yield Prose(id="why", classes="pane")
        yield TextView(id="text", classes="pane")
        yield KnobPanel(id="knobs", classes="pane")

    @property
    def knobs(self) -> KnobPanel:
        return self.query_one(KnobPanel)

    def show(
        self, picture: Picture | None, section: Section | None, debugger: Debugger | None, *, ascii_only: bool
    ) -> None:
        """Why and text of a section; what would keep it follows when the cursor rests on it."""
        why, text = self.query_one("#why", Prose), self.query_one(TextView)
        if picture is None or section is None:
            self.workers.cancel_group(self, _GROUP)
            why.show([])
            text.show("")
        else:
            told = section_report(picture, section, ascii_only=ascii_only)
            why.show(told)
            self._seek_fixes(debugger, picture, section.id, told)
            text.empty_word = "(no text)"
            text.show(section.text, section.spans)
        self.entitle(section)

    def entitle(self, section: Section | None) -> None:
        """The titles of the panes."""
        chars = f" · {plural(len(section.text), 'char')}" if section else ""
        chars += STAND_IN if section and section.stand_in else ""
        self.query_one("#why", Prose).entitle("2 Why", "enter: more")
        self.query_one(TextView).entitle(f"3 Text{chars}", "t: full")
        knob = self.knobs.knob
        self.knobs.entitle("Knobs", knob_range(knob) if knob else "")

    @work(exclusive=True, group=_GROUP, exit_on_error=False, description="fixes")
    async def _seek_fixes(
        self, debugger: Debugger | None, picture: Picture, item: str, told: Sequence[Paragraph]
    ) -> None:
        why = self.query_one("#why", Prose)
        if debugger is None or debugger.opened.recorded or not may_be_kept(picture, item):
            return
        await asyncio.sleep(_RESTS)
        found, problem = await sought(debugger, picture, item)
        why.show([*told, BLANK, *fix_lines(found, problem, keys=False)], keep_scroll=True)
        self.post_message(self.Sought(item, found))
