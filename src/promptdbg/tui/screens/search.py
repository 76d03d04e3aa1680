"""Search over everything loaded, kept or lost; each hit says whether the model saw it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import get_current_worker

from promptdbg.analysis.excerpt import excerpt
from promptdbg.analysis.trace import Hit, TraceResult, trace
from promptdbg.analysis.unread import workspace_files
from promptdbg.debug import Opened
from promptdbg.errors import UsageError
from promptdbg.files.scan import TextFile
from promptdbg.model import Source
from promptdbg.text import clip, clip_middle, one_line, pad
from promptdbg.text import width as cell_width
from promptdbg.tui.hits import hit_lines, reason, summary, verdict_style, verdict_word
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.virtual import VirtualList

_DELAY = 0.12
"""Seconds after the last letter before the search runs."""

_KEPT_MAX = 32_000_000
"""Characters of files that are kept while the screen is open; more is read again for each search."""

_VERDICT = 10

NOTHING_ASKED = "Type a text (/): all that was loaded is searched."


class HitList(VirtualList):
    """One hit, two lines: verdict, place and the text around it; then why."""

    places: ClassVar[tuple[Place, ...]] = ("list",)

    def __init__(self) -> None:
        super().__init__(id="hits", classes="pane")
        self.hits: Sequence[Hit] = ()
        self.reasons: Sequence[str] = ()
        self.empty_word = NOTHING_ASKED
        self._place = 0  # cells of the widest place

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        return self.hits[self.cursor] if self.hits else None

    def show(self, hits: Sequence[Hit], reasons: Sequence[str], empty_word: str) -> None:
        """Other hits, each with its reason in one line."""
        self.hits, self.reasons, self.empty_word = hits, reasons, empty_word
        self._place = max((cell_width(_place_of(hit)) for hit in hits), default=0)
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
            text = clip(
                one_line(self.reasons[row]), max(width - _VERDICT - 3, 8), ellipsis=self.glyphs.ellipsis
            )
            return self.strip([bar, (" " * (_VERDICT + 1) + text, muted)], width, base)
        verdict = base if here else self.style(verdict_style(hit))
        cells = min(self._place, max((width - _VERDICT) // 3, 16))
        place = pad(clip_middle(_place_of(hit), cells, ellipsis=self.glyphs.ellipsis), cells)
        before, text, after = excerpt(hit, width - _VERDICT - cells - 4, ellipsis=self.glyphs.ellipsis)
        return self.strip(
            [
                bar,
                (pad(verdict_word(hit), _VERDICT), verdict),
                (f" {place}  ", muted),
                (before, base),
                (text, self.style("virtual--match")),
                (after, base),
            ],
            width,
            base,
        )


def _place_of(hit: Hit) -> str:
    return f"{one_line(hit.item)}:{hit.line:,}"


class SearchScreen(ItemScreen):
    """Asks for a text and lists its hits; below, the one under the cursor in full."""

    places: ClassVar[tuple[Place, ...]] = ("search", "item")
    about = "search"
    BINDINGS: ClassVar[list[BindingType]] = bindings("search", "item")

    DEFAULT_CSS = """
    SearchScreen {
        & #hits { height: 1fr; }
        & #report { height: 9; }
        &.-h-10 #report, &.-h-16 #report { display: none; }
        &.-h-24 #report { height: 7; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.needle = ""
        self.only_lost = False
        self._result: TraceResult | None = None
        self._files = _Files()

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        return self.query_one(HitList).hit

    @property
    def item_here(self) -> str | None:
        return self.hit.item if self.hit is not None else None

    @property
    def source_here(self) -> Source | None:
        return self.hit.source if self.hit is not None else None

    def copied(self) -> str:
        return self.query_one("#report", Prose).text

    def idle_keys(self) -> frozenset[str]:
        idle = super().idle_keys()
        return idle if self.hit is not None else idle | {"search.open"}

    def no_item(self) -> str:
        return "the file it stands in is not read; e opens it" if self.hit else "there is no hit"

    def compose_body(self) -> Iterable[Widget]:
        yield HitList()
        yield Prose(id="report", classes="pane")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Search", "virtual--strong"), *super().header_cells(picture))

    def on_mount(self) -> None:
        # At once: what is typed on after the key must not be taken for other keys.
        self.set_focus(self.query_one(HitList))
        self.action_edit()

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

    @work(exclusive=True, group="search", exit_on_error=False, description="searching")
    async def _search(self, needle: str, delay: float) -> None:
        await asyncio.sleep(delay)
        picture, debugger = self.picture, self.promptdbg.driver.debugger
        if picture is None or debugger is None or not needle.strip():
            self._result = None
            self._show()
            return
        worker = get_current_worker()

        def files() -> Iterator[TextFile]:
            for file in self._files.of(debugger.opened):
                if worker.is_cancelled:
                    return
                yield file

        try:
            self._result = await asyncio.to_thread(trace, picture.assembly, needle, files())
        except UsageError as error:  # its texts were left out
            self._result = None
            self._show(error.what)
            return
        self._show()

    def _show(self, nothing: str = NOTHING_ASKED) -> None:
        result, picture = self._result, self.picture
        listing = self.query_one(HitList)
        if result is None or picture is None:
            listing.show((), (), nothing)
            self._show_hit()
            return
        hits = [hit for hit in result.hits if not (self.only_lost and hit.verdict == "seen")]
        listing.show(
            hits,
            [reason(hit, picture) for hit in hits],
            f'Nothing holds "{one_line(result.query)}".' if not result.hits else "No lost hits.",
        )
        listing.border_title = listing.title(
            f'"{one_line(result.query)}"' + (" · only lost" if self.only_lost else "")
        )
        self._show_hit()
        self.say(summary(result))

    def _show_hit(self) -> None:
        hit, picture = self.hit, self.picture
        self.query_one("#report", Prose).show(hit_lines(hit, picture) if hit and picture else ())

    def on_virtual_list_moved(self, message: VirtualList.Moved) -> None:
        self._show_hit()
        self.show_keys()

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


class _Files:
    """The text files of the workspace, kept while the screen is open."""

    def __init__(self) -> None:
        self._opened: Opened | None = None
        self._kept: Sequence[TextFile] = ()

    def of(self, opened: Opened) -> Iterator[TextFile]:
        """Read once for each loading, unless they are too much to keep; called in a thread."""
        if self._opened is opened:
            yield from self._kept
            return
        read: list[TextFile] = []
        size = 0
        for file in workspace_files(opened):
            size += len(file.text)
            if size <= _KEPT_MAX:
                read.append(file)
            yield file
        if size <= _KEPT_MAX:
            self._opened, self._kept = opened, read
