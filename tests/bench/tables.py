"""Our sections beside a Textual DataTable of the same rows: opening, moving, and one change of them all."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import DataTable

from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.changes import Change
from tests.bench.measuring import Result, clock, ratio
from tests.tui import sample

_COUNT = 10_000
_SIZE = (120, 40)

Figures = dict[str, float]


def beside_a_table() -> Iterator[Result]:
    """Ours does more with a key (two more panes follow the cursor) and less with ten thousand rows."""
    sample.install()
    document = ['engine = "sample"', "budget = 100000000"]
    document += [f'[[sections]]\nname = "section {n}"\ntext = "some words here"' for n in range(_COUNT)]
    with tempfile.TemporaryDirectory() as folder:
        path = sample.write_workspace(Path(folder) / "sections", "\n".join(document), {})
        ours = asyncio.run(_ours(path))
    theirs = asyncio.run(_theirs())
    for what, spent in ours.items():
        said = f"{what}, {_COUNT:,} sections, against a DataTable of the same rows"
        yield ratio(said, spent, theirs[what], told=what.startswith("a knob"))


async def _ours(path: Path) -> Figures:
    app = PromptdbgApp(sample.opener(path), watch=False)
    async with app.run_test(size=_SIZE) as pilot:
        while app.picture is None:
            await asyncio.sleep(0.005)
        figures = await _moved(app, pilot)
        caps = iter(range(3, 100))

        async def turn() -> None:
            before, cap = app.picture, next(caps)
            app.driver.change(Change("cap", "cap", lambda s: s.with_value("cap", cap), turning=True))
            while app.picture is before:
                await asyncio.sleep(0.002)

        return figures | {"a knob that changes every row": await _middle(pilot, turn, 5)}


class _Table(App[None]):
    def compose(self) -> ComposeResult:
        yield DataTable(cursor_type="row")

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns("STATE", "SECTION", "ORDER", "TOKENS", "SUM", "WHY")
        self.fill(3)

    def fill(self, tokens: int) -> None:
        table = self.query_one(DataTable)
        table.clear()
        table.add_rows(
            ("● KEEP", f"section {n}", f"{n}", f"{tokens}", f"{n * tokens:,}", "fits") for n in range(_COUNT)
        )


async def _theirs() -> Figures:
    app = _Table()
    async with app.run_test(size=_SIZE) as pilot:
        figures = await _moved(app, pilot)
        numbers = iter(range(4, 100))

        async def turn() -> None:
            app.fill(next(numbers))

        return figures | {"a knob that changes every row": await _middle(pilot, turn, 5)}


async def _moved(app: App[Any], pilot: Pilot[Any]) -> Figures:
    figures = {}
    for key in ("down", "pagedown"):

        async def press(key: str = key) -> None:
            app.simulate_key(key)

        figures[f"{key} to repaint"] = await _middle(pilot, press, 20)
    return figures


async def _middle(pilot: Pilot[Any], act: Callable[[], Awaitable[None]], runs: int) -> float:
    """Seconds of processor time until what is done is drawn, the middle of some runs."""
    spent = []
    for _ in range(runs):
        await pilot.pause(0.05)
        started = clock()
        await act()
        await pilot.pause()
        spent.append(clock() - started)
    return median(spent)
