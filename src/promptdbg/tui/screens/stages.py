"""The box that lists every stage of an assembly, and what each did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from promptdbg.model import MessageStatus, Stage, StageKind
from promptdbg.text import clip, pad, plural, safe
from promptdbg.text import width as cell_width
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.screens.boxes import Box
from promptdbg.tui.widgets.virtual import VirtualList

_TITLE_MAX = 40
"""Cells that a title may take."""
_GAPS = 12
"""Cells of cursor, number and gaps."""


def did(stage: Stage) -> str:
    """What a stage did to the list before it (the final one: all steps together), counted; empty
    where it did nothing."""
    counts = Counter(stage.statuses.values())
    counts[MessageStatus.DROPPED] += len(stage.dropped)
    all_steps = "all: " if stage.kind is StageKind.FINAL and stage.changed else ""
    return all_steps + ", ".join(f"{counts[status]:,} {status}" for status in MessageStatus if counts[status])


class StageList(VirtualList):
    """The stages in order, the one that is shown under the cursor."""

    places: ClassVar[tuple[Place, ...]] = ("list",)
    BINDINGS = bindings("choose")

    def __init__(self, stages: Sequence[Stage], shown: int) -> None:
        super().__init__()
        self.stages = stages
        self.shown = shown

    def on_mount(self) -> None:
        self.set_rows(len(self.stages), cursor=self.shown)
        self.call_after_refresh(self.show_cursor)

    def draw_row(self, row: int, line: int, width: int) -> Strip:
        stage = self.stages[row]
        here = row == self.cursor
        base = self.style("virtual--cursor") if here else self.plain
        muted = base if here else self.style("virtual--muted")
        titles = [safe(stage.title, lines=False) for stage in self.stages]
        room = min(max(map(cell_width, titles)), _TITLE_MAX)
        counts = [plural(len(stage.messages), "message") for stage in self.stages]
        tokens = [f"{stage.tokens:,} tokens" for stage in self.stages]
        longest = max(len(did(stage)) for stage in self.stages)
        wide = width >= room + max(map(len, counts)) + max(map(len, tokens)) + longest + _GAPS
        if not wide:  # what a step did is worth more than how many messages there were
            counts = ["" for _ in self.stages]
            tokens = [f"{stage.tokens:,}" for stage in self.stages]
        pieces = [
            (self.glyphs.cursor if here else " ", base),
            (f"{'*' if row == self.shown else ' '}{row + 1:>3}  ", base),
            (pad(titles[row], room) + "  ", base),
            (pad(counts[row], max(map(len, counts)), right=True) + ("  " if wide else ""), base),
            (pad(tokens[row], max(map(len, tokens)), right=True) + "  ", muted),
        ]
        left = max(width - sum(cell_width(text) for text, _ in pieces), 0)
        what = clip(did(stage) or "nothing", left, ellipsis=self.glyphs.ellipsis)
        pieces.append((what, base if stage.changed else muted))
        return self.strip(pieces, width, base)


class StagesBox(Box):
    """Choose a stage."""

    places: ClassVar[tuple[Place, ...]] = ("choose", "modal")

    def __init__(self, stages: Sequence[Stage], shown: int, chosen: Callable[[int], None]) -> None:
        super().__init__("Stages")
        self._stages = stages
        self._shown = shown
        self._chosen = chosen

    def compose_body(self) -> Iterable[Widget]:
        yield StageList(self._stages, self._shown)

    def lines_in(self, cells: int) -> int:
        return len(self._stages)

    def on_virtual_list_chosen(self, message: VirtualList.Chosen) -> None:
        self.dismiss()
        self._chosen(message.row)
