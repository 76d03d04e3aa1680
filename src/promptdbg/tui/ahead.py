"""What a key press will want, imported in a thread behind the first picture.

None of it is needed for the first frame, and an import at a key press would hold the event loop for
longer than a frame.
"""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from importlib import import_module

MODULES = (
    "promptdbg.tui.screens.messages",
    "promptdbg.tui.screens.why",
    "promptdbg.tui.screens.text",
    "promptdbg.tui.screens.turns",
    "promptdbg.tui.screens.boxes",
    "promptdbg.tui.screens.search",
    "promptdbg.tui.screens.compare",
    "promptdbg.tui.screens.findings",
    "promptdbg.tui.screens.export",
    "promptdbg.tui.asking",
    "promptdbg.tui.telling",
    "promptdbg.tui.palette",
    "promptdbg.tui.tour",
    "promptdbg.export.formats",
)

WATCHING = ("promptdbg.watch", "watchfiles", "anyio._backends._asyncio")
"""What following files takes; anyio, which watchfiles uses, imports its last part at the first use."""


async def imported(*names: str) -> None:
    """Import modules in a thread."""
    await asyncio.to_thread(_import, names)


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        with suppress(ImportError):  # where it is wanted it fails again, with a word on the screen
            import_module(name)
    gc.freeze()
