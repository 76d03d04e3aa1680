"""Search over everything loaded, kept or lost; each hit says whether the model saw it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.strip import Strip
from textual.widget import Widget

from promptdbg.analysis.trace import Hit, TraceResult, trace
from promptdbg.files.scan import text_files
from promptdbg.model import Assembly
from promptdbg.text import clip, clip_middle, one_line, pad, safe
from promptdbg.text import width as cell_width
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.sentences import plural
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.virtual import VirtualList

_DELAY = 0.12
"""Seconds after the last letter before the search runs."""

_MATCHES = {"exact": "", "folded": " · whatever the case and blanks", "words": " · all the words on a line"}

_VERDICT = 10
_PLACE = 30


class HitList(VirtualList):
    """One hit, two lines: verdict, place and the text around it; then why."""

    places: ClassVar[tuple[Place, ...]] = ("list",)

    def __init__(self) -> None:
        super().__init__(id="hits")
        self.hits: Sequence[Hit] = ()
        self.empty_word = "Type a text: / or F."

    def show(self, hits: Sequence[Hit], empty_word: str) -> None:
        self.hits, self.empty_word = hits, empty_word
        self.set_rows(len(hits), [2] * len(hits))
        self.show_cursor()

    def line_count(self) -> int:
        return 2 * len(self.hits) or 1

    def draw_line(self, line: int, width: int) -> Strip:
        if not self.hits:
            text = self.empty_word if line == 0 else ""
            return self.strip([("  " + text, self.style("virtual--muted"))], width)
        return super().draw_line(line, width)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        hit = self.hits[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        bar = (self.glyphs.cursor if here else " ", base)
        if line:
            text = clip(one_line(hit.because), max(width - _VERDICT - 3, 8), ellipsis=self.glyphs.ellipsis)
            return self.strip([bar, (" " * (_VERDICT + 1) + text, muted)], width, base)
        seen = hit.verdict == "seen"
        verdict = base if here else self.style("status--add" if seen else "status--cut")
        place = clip_middle(f"{one_line(hit.item)}:{hit.line:,}", _PLACE - 2, ellipsis=self.glyphs.ellipsis)
        found = self.style("virtual--match")
        before, text, after = (safe(part, lines=False) for part in (hit.before, hit.text, hit.after))
        room = max(width - _VERDICT - _PLACE - 3 - cell_width(text), 0)
        before = before[-(room // 2) :] if room // 2 else ""
        return self.strip(
            [
                bar,
                (pad(("SEEN" if seen else hit.verdict.upper()), _VERDICT), verdict),
                (" " + pad(place, _PLACE), muted),
                (before, base),
                (text, found),
                (after, base),
            ],
            width,
            base,
        )


class SearchScreen(PictureScreen):
    """Asks for a text and lists its hits."""

    places: ClassVar[tuple[Place, ...]] = ("search",)
    BINDINGS: ClassVar[list[BindingType]] = bindings("search")

    DEFAULT_CSS = "SearchScreen #hits { border: round $border; height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.needle = ""
        self.only_lost = False
        self._result: TraceResult | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield HitList()

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Search", "virtual--strong"), *super().header_cells(picture))

    def on_mount(self) -> None:
        self.call_after_refresh(self.action_edit)

    def show_picture(self, picture: Picture) -> None:
        if self.needle:
            self._search(self.needle, 0.0)

    def action_edit(self) -> None:
        def changed(text: str) -> None:
            self.needle = text
            self._search(text, _DELAY)

        def answered(text: str) -> None:
            changed(text)
            self.query_one(HitList).focus()

        self.ask(Ask.Question("Search everything:", answered, self.needle, changed))

    @work(exclusive=True, group="search", exit_on_error=False, description="search")
    async def _search(self, needle: str, delay: float) -> None:
        await asyncio.sleep(delay)
        picture = self.picture
        if picture is None or not needle.strip():
            self._result = None
            self._show()
            return
        self._result = await asyncio.to_thread(_trace, picture.assembly, needle)
        self._show()

    def _show(self) -> None:
        result = self._result
        listing = self.query_one(HitList)
        if result is None:
            listing.show((), "Type a text: / or F.")
            return
        hits = [hit for hit in result.hits if not (self.only_lost and hit.verdict == "seen")]
        listing.show(
            hits, f'Nothing holds "{one_line(result.query)}".' if not result.hits else "No lost hits."
        )
        listing.border_title = listing.title(
            f'"{one_line(result.query)}"' + (" · only lost" if self.only_lost else "")
        )
        if not result.hits:
            self.say("no hit in anything that was loaded, kept or lost")
            return
        seen = sum(1 for hit in result.hits if hit.verdict == "seen")
        more = " at least" if result.more else ""
        self.say(
            f"{plural(len(result.hits), 'hit')}{more}: the model saw {seen:,}, "
            f"not {len(result.hits) - seen:,}{_MATCHES[result.match]}"
        )

    def action_lost(self) -> None:
        self.only_lost = not self.only_lost
        self._show()

    def action_choose(self) -> None:
        self.query_one(HitList).action_choose()

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        hit = self.query_one(HitList).hits[message.row]
        picture = self.picture
        if picture is not None and hit.verdict == "not read":
            self.promptdbg.open_editor(hit.source)
        else:
            self.promptdbg.open_text(hit.item, needle=hit.text)

    def action_back(self) -> None:
        self.leave()


def _trace(assembly: Assembly, needle: str) -> TraceResult:
    return trace(assembly, needle, text_files(Path(assembly.workspace)))
