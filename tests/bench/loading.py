"""A session of a hundred megabytes: it is opened and looked at while a watchdog watches the event loop."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

from promptdbg.debug import Debugger, open_workspace
from promptdbg.tokens import load_encoding
from promptdbg.tui.app import PromptdbgApp
from tests.bench.measuring import Result, bound
from tests.bench.workspaces import grown, text
from tests.tui.stalls import Watchdog

_COUNT, _WORDS = 50_000, 400
_KEYS = ("m", "n", "pagedown", "end", "i", "escape", "escape", "T", "escape", "b", "escape")


def loading() -> Iterator[Result]:
    """The longest stall of the loop, opening and then with every key.

    The tokenizers are built before: that is one call of tiktoken's which no other thread can interrupt,
    once in a process, and a figure of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        building = asyncio.run(_stalled(partial(asyncio.to_thread, load_encoding, "o200k_base")))
        yield bound("longest stall while a tokenizer is built, once", building)
        load_encoding("cl100k_base")
        path = _large(Path(folder))
        size = f"{(path / 'session.jsonl').stat().st_size / 1e6:.0f} MB"
        opening, using = asyncio.run(_opened(path))
        yield bound(f"longest stall while {size} load", opening, 0.05, told=True)
        yield bound(f"longest stall with them open, at one of {len(_KEYS)} keys", using, 0.05)


def _large(folder: Path) -> Path:
    path = grown("nanobot", 10, folder)
    session = path / "session.jsonl"
    head = session.read_text(encoding="utf-8").split("\n", 1)[0]
    with session.open("w", encoding="utf-8") as file:
        file.write(head + "\n")
        for number in range(_COUNT):
            row = {"role": ("user", "assistant")[number % 2], "content": text(number, _WORDS)}
            file.write(json.dumps(row) + "\n")
    return path


async def _opened(path: Path) -> tuple[float, float]:
    app = PromptdbgApp(lambda: Debugger(open_workspace(path)), watch=False)
    async with app.run_test(size=(120, 40)) as pilot:
        async with Watchdog() as opening:
            while app.picture is None:
                await asyncio.sleep(0.01)
            await pilot.pause(0.5)
        async with Watchdog() as using:
            for key in _KEYS:
                app.simulate_key(key)
                await pilot.pause(0.5)
    return opening.worst, using.worst


async def _stalled(act: Callable[[], Awaitable[object]]) -> float:
    async with Watchdog() as dog:
        await asyncio.sleep(0.01)
        await act()
    return dog.worst
