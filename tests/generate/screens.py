"""The pictures in ``screenshots/``: the real UI on a bundled example, driven by key presses."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.examples import FLAGSHIP, find
from promptdbg.tui.app import PromptdbgApp

FOLDER = Path(__file__).parents[2] / "screenshots"
_SIZE = (120, 36)


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: the keys that lead to it, from the first screen of an example."""

    name: str
    keys: tuple[str, ...] = ()
    example: str = FLAGSHIP
    size: tuple[int, int] = _SIZE


PICTURES = (
    Picture("home", (*["down"] * 6,), example="bee-nearest-rule"),
    Picture("messages", ("m", "down")),
    Picture("why", ("m", "down", "i")),
    Picture("fixed", ("m", "down", "i", "1", "escape")),
)

# Textual's picture asks for a font over the network; a picture of ours asks for nothing.
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_FAMILY = re.compile(r"font-family: [^;]*;")
_MONOSPACE = "font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace;"
_LASTING = ("driver", "keyboard", "watch")
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>")


def drawn(picture: Picture) -> str:
    """The picture as SVG."""
    return asyncio.run(_drawn(picture))


async def _drawn(picture: Picture) -> str:
    folder = find(picture.example).path
    app = PromptdbgApp(lambda: Debugger(open_workspace(folder, OpenRequest())), show_times=False)
    async with app.run_test(size=picture.size) as pilot:
        while app.picture is None:
            await pilot.pause(0.01)
        for key in picture.keys:
            await _idle(pilot)
            await pilot.press(key)
        await _idle(pilot)
        drawing = app.export_screenshot(title=f"promptdbg demo {picture.example}")
    return _FAMILY.sub(_MONOSPACE, _FONT_FACE.sub("", drawing)) + "\n"


async def _idle(pilot: Pilot[int]) -> None:
    """Wait until nothing is being worked out and the screen is drawn."""
    await pilot.pause(0.05)
    while not all(worker.is_finished for worker in pilot.app.workers if worker.group not in _LASTING):
        await pilot.pause(0.02)
    await pilot.pause(0.1)


def words(drawing: str) -> list[str]:
    """The text on a picture, run by run: what must not go stale. How exactly it is drawn is Textual's
    matter, and differs between its releases."""
    return [html.unescape(run).replace("\xa0", " ") for run in _TEXT.findall(drawing)]
