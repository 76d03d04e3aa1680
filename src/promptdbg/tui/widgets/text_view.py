"""A text of any size: wrapped, its lost stretches and hits marked, hidden characters visible.

Only offsets of line starts are kept, and only visible lines are drawn: a megabyte on one line
costs no more than a page. Large texts are made safe and wrapped in a thread.
"""

from __future__ import annotations

import asyncio
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, TypeAlias

from rich.style import Style
from textual import events, work
from textual.strip import Strip

from promptdbg.model import Span
from promptdbg.text import safe
from promptdbg.tui.keys import Place
from promptdbg.tui.widgets.virtual import VirtualLines
from promptdbg.tui.wrapping import line_text, wrap

_INLINE_CHARS = 60_000
"""Larger texts are laid out in a thread; this many take some 5 ms."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as it is shown: safe, with the stretches that were lost as offsets into it."""

    text: str
    lost: tuple[tuple[int, int], ...] = ()


def shown(text: str, spans: Sequence[Span] = ()) -> Shown:
    """The safe form of a text; making it safe moves offsets, so it is done span by span."""
    if not spans:
        return Shown(_safe(text))
    pieces: list[str] = []
    lost: list[tuple[int, int]] = []
    length = 0
    for span in spans:
        piece = _safe(text[span.start : span.end])
        pieces.append(piece)
        if not span.kept and piece:
            lost.append((length, length + len(piece)))
        length += len(piece)
    return Shown("".join(pieces), tuple(lost))


_SAFE_CHARS = 20_000
"""Made safe at a time: one call on megabytes would keep the event loop waiting, thread or not."""


def _safe(text: str) -> str:
    if len(text) <= _SAFE_CHARS:
        return safe(text)
    return "".join(safe(text[at : at + _SAFE_CHARS]) for at in range(0, len(text), _SAFE_CHARS))


_FIND_CHARS = 100_000
"""Searched at a time, for the same reason."""

Found: TypeAlias = Callable[[int], None]
"""Is told how many places were found."""


class TextView(VirtualLines):
    """Shows one text."""

    DEFAULT_CSS = "TextView { padding: 0 1 0 0; }"

    margin_cells = 2
    """The mark of lines that were lost, and a blank."""

    places: ClassVar[tuple[Place, ...]] = ("list",)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._source: tuple[str, tuple[Span, ...]] | None = None
        self._shown = Shown("")
        self._shown_source: tuple[str, tuple[Span, ...]] | None = None
        self._starts = array("q", [0, 1])
        self._laid_out_for: tuple[int, bool] | None = None
        self._needle = ""
        self._then: Found | None = None
        self._hits: list[tuple[int, int]] = []
        self._lost_starts: list[int] = []
        self._hit_starts: list[int] = []
        self._busy = ""
        self.hit = -1
        self.wraps = True
        self.empty_word = "(empty)"

    # -- what is shown

    def show(self, text: str, spans: Sequence[Span] = (), *, keep_scroll: bool = False) -> None:
        """Another text, from its top unless it is the same thing in a new state."""
        source = (text, tuple(spans))
        if source == self._source:
            return
        self._source = source
        self._forget_hits()
        self._laid_out_for = None
        if not keep_scroll:
            self.scroll_to(y=0, animate=False)
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.text_width
        wanted = (width, self.wraps)
        if self._source is None or not width or wanted == self._laid_out_for:
            self.lines_changed()
            return
        self._laid_out_for = wanted
        wrapped = width if self.wraps else 0
        # The text itself may still be in the making, for another width.
        ready = self._shown if self._shown_source is self._source else None
        if len(self._source[0]) <= _INLINE_CHARS:
            self.workers.cancel_node(self)
            made = ready if ready is not None else shown(*self._source)
            self._take(self._source, made, _line_starts(made.text, wrapped))
        else:
            if ready is None:
                self._busy = f"laying out {len(self._source[0]):,} characters"
            self.lines_changed()
            self._lay_out_in_thread(self._source, ready, wrapped)

    @work(exclusive=True, group="layout", exit_on_error=False, description="laying out")
    async def _lay_out_in_thread(
        self, source: tuple[str, tuple[Span, ...]], ready: Shown | None, width: int
    ) -> None:
        made = ready if ready is not None else await asyncio.to_thread(shown, *source)
        self._take(source, made, await asyncio.to_thread(_line_starts, made.text, width))

    def _take(self, source: tuple[str, tuple[Span, ...]], made: Shown, starts: array[int]) -> None:
        """Draw a layout. Of the same text the line at the top stays the line at the top."""
        same = source is self._shown_source
        top = self._starts[min(self.scroll_offset.y, len(self._starts) - 1)]
        self._shown_source, self._shown, self._starts, self._busy = source, made, starts, ""
        self._lost_starts = [start for start, _ in made.lost]
        self.lines_changed()
        if same:
            self.scroll_to(y=self.line_of(top), animate=False, force=True)
        elif self._needle:
            self.find(self._needle, self._then)

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out()

    def set_wrap(self, wraps: bool) -> None:
        """Wrap long lines, or cut them at the edge."""
        self.wraps = wraps
        self._lay_out()

    # -- finding

    def find(self, needle: str, then: Found | None = None) -> None:
        """Mark every place of a text, whatever its case, and go to the first; ``then`` is told how many
        there are, at once or, of a large text, when they are found."""
        self._forget_hits()
        self._needle, self._then = needle, then
        self.workers.cancel_group(self, "find")
        text = self._shown.text
        if self._busy:
            return  # the layout goes on with it
        if not needle or len(text) <= _INLINE_CHARS:
            self._take_hits(hits_of(text, needle))
        else:
            self._find_in_thread(text, needle)

    @work(exclusive=True, group="find", exit_on_error=False, description="finding")
    async def _find_in_thread(self, text: str, needle: str) -> None:
        found = await asyncio.to_thread(hits_of, text, needle)
        if text is self._shown.text and needle == self._needle:
            self._take_hits(found)

    def _take_hits(self, hits: list[tuple[int, int]]) -> None:
        self._hits, self._hit_starts = hits, [start for start, _ in hits]
        then, self._needle, self._then = self._then, "", None
        if hits:
            self.go_to_hit(1)
        self.refresh()
        if then is not None:
            then(len(hits))

    def _forget_hits(self) -> None:
        self._hits, self._hit_starts, self.hit = [], [], -1

    @property
    def hits(self) -> int:
        return len(self._hits)

    def go_to_hit(self, step: int) -> None:
        """To the next or previous hit; after the last comes the first."""
        if self._hits:
            self.hit = (self.hit + step) % len(self._hits) if self.hit >= 0 else 0
            self._show_offset(self._hits[self.hit][0])
            self.refresh()

    @property
    def cuts(self) -> int:
        """How many stretches were lost."""
        return len(self._shown.lost)

    def go_to_cut(self, step: int) -> int | None:
        """To the next or previous lost stretch from the top of the window; its number from 1."""
        starts = self._lost_starts
        if not starts:
            return None
        lines = [self.line_of(start) for start in starts]
        here = self.scroll_offset.y + min(2, self.page_height // 2)
        number = bisect_right(lines, here) if step > 0 else bisect_left(lines, here) - 1
        number %= len(starts)
        self._show_offset(starts[number])
        return number + 1

    def line_of(self, offset: int) -> int:
        """The visual line that an offset of the shown text is in."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def _show_offset(self, offset: int) -> None:
        self.scroll_to(y=max(self.line_of(offset) - 2, 0), animate=False, force=True)

    # -- drawing

    def line_count(self) -> int:
        return len(self._starts) - 1

    def draw_line(self, line: int, width: int) -> Strip:
        if self._busy or not self._shown.text:
            word = (self._busy or self.empty_word) if line == 0 else ""
            return self.strip([(word, self.style("virtual--muted"))], width)
        start, end = self._starts[line], self._starts[line + 1]
        text = line_text(self._shown.text, self._starts, line)
        if not self.wraps:
            text = text[: width + 1]  # what does not fit is cut by the edge anyway
        end = min(end, start + len(text))
        edges = {start, end}
        lost = _inside(self._shown.lost, self._lost_starts, start, end)
        hits = _inside(self._hits, self._hit_starts, start, end)
        for a, b in (*lost, *hits):
            edges |= {max(a, start), min(b, end)}
        points = sorted(edges)
        pieces: list[tuple[str, Style]] = []
        for a, b in pairwise(points):
            pieces.append((text[a - start : b - start], self.style(self._style_at(a, lost, hits))))
        return self.strip(pieces, width, as_is=True)

    def draw_margin(self, line: int) -> tuple[str, Style]:
        lost = False
        if not self._busy and self._shown.lost:
            start, end = self._starts[line], self._starts[line + 1]
            lost = bool(_inside(self._shown.lost, self._lost_starts, start, max(end - 1, start + 1)))
        return ("- " if lost else "  "), self.style("status--cut")

    @staticmethod
    def _style_at(offset: int, lost: Sequence[tuple[int, int]], hits: Sequence[tuple[int, int]]) -> str:
        if any(a <= offset < b for a, b in hits):
            return "virtual--match"
        return "virtual--lost" if any(a <= offset < b for a, b in lost) else ""


def _inside(
    spans: Sequence[tuple[int, int]], starts: Sequence[int], start: int, end: int
) -> list[tuple[int, int]]:
    """The spans that touch a stretch; spans are in order and do not overlap."""
    first = max(bisect_right(starts, start) - 1, 0)
    found = []
    for span in spans[first : bisect_left(starts, end)]:
        if span[1] > start and span[0] < end:
            found.append(span)
    return found


def hits_of(text: str, needle: str) -> list[tuple[int, int]]:
    """Where a text stands in another, whatever its case. Looked for stretch by stretch: one search of
    megabytes would keep the event loop waiting, thread or not."""
    if not needle:
        return []
    pattern = re.compile(re.escape(needle), re.IGNORECASE)
    found: list[tuple[int, int]] = []
    for start in range(0, len(text), _FIND_CHARS):
        after = max(start, found[-1][1]) if found else start
        found += [
            match.span() for match in pattern.finditer(text, after, start + _FIND_CHARS + len(needle) - 1)
        ]
    return found


def _line_starts(text: str, width: int) -> array[int]:
    """Line starts for a width; 0 does not wrap."""
    return wrap(text, width or max(len(text), 1))
