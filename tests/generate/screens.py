"""The pictures in ``screenshots/``: the real UI on a bundled example, driven by key presses."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.examples import FLAGSHIP, find
from promptdbg.tui.app import PromptdbgApp

FOLDER = Path(__file__).parents[2] / "screenshots"
_SIZE = (120, 36)


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: the keys that lead to it, from the first screen of an example, and what it shows.

    ``options`` are those of the app.
    """

    name: str
    shows: str
    keys: tuple[str, ...] = ()
    example: str = FLAGSHIP
    size: tuple[int, int] = _SIZE
    options: Mapping[str, Any] = field(default_factory=dict)
    colour: bool = True


_LOST = ("m", "down")

PICTURES = (
    Picture("home", "What the prompt is made of, and what did not get in", ("down",) * 6, "bee-nearest-rule"),
    Picture("budget", "The budget moved by a key", (*["down"] * 6, "b", *["right"] * 3), "bee-nearest-rule"),
    Picture("knobs", "Every parameter of the engine, changed live", ("K", *["down"] * 5), "bee-nearest-rule"),
    Picture("ledger", "What the prompt costs, part by part, up to the window", ("B",)),
    Picture("text", "A text with what was lost of it", ("m", "f", "G", "up", "right", "right", "t", "n")),
    Picture(
        "edit",
        "Another text tried for a section; no file is changed",
        (*["down"] * 4, "E", *"Never"),
        "bee-nearest-rule",
    ),
    Picture("messages", "The stored session, the first list and what was sent", _LOST),
    Picture(
        "words",
        "What a step changed of a message, word by word",
        ("m", "n", "n", "n", "enter", "d"),
        "nanobot-nasty",
    ),
    Picture("why", "Why a message was dropped, and what would keep it", (*_LOST, "i")),
    Picture("fixed", "The same lists with that change", (*_LOST, "i", "1", "escape")),
    Picture("compare", "With the change, against the files", (*_LOST, "i", "1", "escape", "escape", "c")),
    Picture("turns", "Every turn, and the life of one message", (*_LOST, "T"), "nanobot-archived"),
    Picture("search", "A text wherever it is, seen by the model or not", ("F", *"km", "enter")),
    Picture(
        "findings",
        "What a provider would refuse, the cached prefix, what is there twice",
        ("p", "down"),
        "agentos-nasty",
    ),
    Picture("warnings", "Every warning, with its file and line", ("exclamation_mark",), "nanobot-nasty"),
    Picture("export", "A file to share, and what is hidden in it", ("x",)),
    Picture("help", "The keys that work here", ("question_mark",)),
    Picture("palette", "Every action, section, message and knob by its name", ("ctrl+p", *"cap")),
    Picture("tour", "The tour says the next step, and waits for it", ("ctrl+t",)),
    Picture("over", "A prompt that is over its budget", (), "agentos-nasty"),
    Picture(
        "hostile", "Escape codes and hidden characters, made visible", ("m", "n", "enter"), "nanobot-nasty"
    ),
    Picture("small", "In 80 by 24 cells", (*["down"] * 6,), "bee-nearest-rule", (80, 24)),
    Picture(
        "plain",
        "Without colour, in ASCII",
        (*["down"] * 6,),
        "bee-nearest-rule",
        options={"ascii_only": True},
        colour=False,
    ),
)

# Textual's picture asks for a font over the network; a picture of ours asks for nothing.
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_FAMILY = re.compile(r"font-family: [^;]*;")
_MONOSPACE = "font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace;"
_LASTING = ("driver", "keyboard", "watch")
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>")


def drawn(picture: Picture) -> str:
    """The picture as SVG."""
    with pytest.MonkeyPatch.context() as patch:
        if not picture.colour:
            patch.setenv("NO_COLOR", "1")
        return asyncio.run(_drawn(picture))


async def _drawn(picture: Picture) -> str:
    folder = find(picture.example).path
    app = PromptdbgApp(
        lambda: Debugger(open_workspace(folder, OpenRequest())), show_times=False, **picture.options
    )
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
