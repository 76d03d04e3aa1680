"""The UI on long sessions: keys, knobs and the event loop, without a terminal, at 120 by 40."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from textual.pilot import Pilot

from promptdbg.debug import Debugger, open_workspace
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.changes import Change
from promptdbg.tui.screens.messages import MessagesScreen
from tests.bench.measuring import Result, bound, clock
from tests.bench.workspaces import grown
from tests.tui import sample
from tests.tui.stalls import Watchdog

_FRAME = 0.016
_KEYS = 20


def using() -> Iterator[Result]:
    """Every figure of the UI."""
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(_sections(Path(folder) / "sections", 10_000))
        for count, most in ((3_000, 0.05), (50_000, 0.15)):
            yield from asyncio.run(_session(grown("nanobot", count, Path(folder)), count, most))
        yield asyncio.run(_save(grown("nanobot", 100, Path(folder))))


async def _session(path: Path, count: int, most: float) -> list[Result]:
    """A knob turned on the home screen, then the Messages screen opened and walked through."""
    results = []
    app = PromptdbgApp(lambda: Debugger(open_workspace(path)), watch=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(pilot, lambda: app.picture is not None)
        # Every tenth message is a tool result that is cut, so that there is much to look at.
        app.driver.change(Change("cap", "cap", lambda s: s.with_value("tool_result_cap", 300)))
        windows = iter(range(100_000_000, 200_000_000, 1_000_000))

        async def turn() -> None:
            before = app.picture
            window = next(windows)
            change = lambda s: s.with_value("context_window", window)  # noqa: E731
            app.driver.change(Change("window", "window", change, turning=True))
            await _until(pilot, lambda: app.picture is not before)

        spent = await _best(pilot, turn)
        results.append(bound(f"knob to repaint, {count:,} messages (CPU)", spent, most, told=True))
        async with Watchdog() as dog:
            app.simulate_key("m")
            await _until(pilot, lambda: _aligned(app))
            await pilot.pause(0.3)
        results.append(bound(f"longest stall while Messages opens, {count:,}", dog.worst, 0.05))
        for key in ("down", "pagedown"):
            spent = await _keys(app, pilot, key)
            what = f"{key} to repaint in Messages, {count:,} (CPU)"
            results.append(bound(what, spent, _FRAME, told=count > 3_000 and key == "down"))
    return results


async def _sections(folder: Path, count: int) -> list[Result]:
    sample.install()
    document = ['engine = "sample"', "budget = 100000000"]
    document += [f'[[sections]]\nname = "section {n}"\ntext = "some words here"' for n in range(count)]
    path = sample.write_workspace(folder, "\n".join(document), {})
    app = PromptdbgApp(sample.opener(path), watch=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(pilot, lambda: app.picture is not None)
        return [
            bound(
                f"{key} to repaint, {count:,} sections (CPU)",
                await _keys(app, pilot, key),
                _FRAME,
            )
            for key in ("down", "pagedown")
        ]


async def _save(path: Path) -> Result:
    """A file saved by an editor, on the wall clock: most of it is waiting for more of the same."""
    app = PromptdbgApp(lambda: Debugger(open_workspace(path)))
    source = path / "AGENTS.md"
    spent = []
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(pilot, lambda: app.picture is not None)
        await pilot.pause(1)  # the watch has begun
        for number in range(5):
            before = app.picture
            started = time.perf_counter()
            source.write_text(f"rule {number}\n", encoding="utf-8")
            while app.picture is before:
                await asyncio.sleep(0.002)
            await pilot.pause()
            spent.append(time.perf_counter() - started)
            await pilot.pause(0.5)
    return bound("save to repaint, 100 messages (wall clock)", min(spent), 0.15, told=True)


def _aligned(app: PromptdbgApp) -> bool:
    return isinstance(app.screen, MessagesScreen) and app.screen.lists.plan is not None


async def _until(pilot: Pilot[Any], done: Callable[[], bool]) -> None:
    while not done():
        await asyncio.sleep(0.005)
    await pilot.pause()


async def _best(pilot: Pilot[Any], act: Callable[[], Awaitable[None]], runs: int = 6) -> float:
    spent = []
    for _ in range(runs):
        await pilot.pause(0.1)
        started = clock()
        await act()
        spent.append(clock() - started)
    return min(spent)


async def _keys(app: PromptdbgApp, pilot: Pilot[Any], key: str) -> float:
    """Seconds of a press of a key; the middle of many, since one at the end of a list costs nothing."""
    spent = []
    for _ in range(_KEYS):
        await pilot.pause(0.05)
        started = clock()
        app.simulate_key(key)
        await pilot.pause()
        spent.append(clock() - started)
    return median(spent)
