"""Fixtures of the screen tests: a workspace, an app on it, and golden screens as plain text."""

from __future__ import annotations

import html
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.picture import Picture
from promptdbg.tui.widgets.chrome import Status
from tests.tui import sample

SCREENS = Path(__file__).parent / "screens"

_RUN = re.compile(
    r'x="([\d.]+)" y="[\d.]+" textLength="[\d.]+" clip-path="url\(#[\w-]+-line-(\d+)\)">(.*?)</text>'
)
_CELL = 12.2
"""Width of a cell in the pictures that Textual draws."""


def screen_text(app: PromptdbgApp) -> str:
    """The screen as text: every run at its column."""
    rows: dict[int, list[tuple[int, str]]] = {}
    for x, line, run in _RUN.findall(app.export_screenshot()):
        column = round(float(x) / _CELL)
        rows.setdefault(int(line), []).append((column, html.unescape(run).replace("\xa0", " ")))
    lines = []
    for number in range(app.size.height):
        line = ""
        for column, run in sorted(rows.get(number, [])):
            line = line.ljust(column) + run
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


@pytest.fixture
def golden() -> Callable[[PromptdbgApp, str], None]:
    """Compares a screen with the text kept under ``screens``; UPDATE_SNAPSHOTS=1 rewrites it."""

    def check(app: PromptdbgApp, name: str) -> None:
        text = screen_text(app)
        path = SCREENS / f"{name}.txt"
        if os.environ.get("UPDATE_SNAPSHOTS"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(autouse=True)
def _no_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine shows: colours are on, no editor, the sample engine is known. However slow it
    is, a key or a click that follows another at once counts as such."""
    for name in ("NO_COLOR", "VISUAL", "EDITOR", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("promptdbg.tui.driver.JOIN_SECONDS", 1000)
    monkeypatch.setattr(PromptdbgApp, "CLICK_CHAIN_TIME_THRESHOLD", 1000)
    sample.install()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return sample.write_workspace(tmp_path / "demo")


Run: TypeAlias = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]


@pytest.fixture
def run(workspace: Path) -> Run:
    """Runs the app on the workspace, until its first picture is drawn."""

    @asynccontextmanager
    async def start(
        size: tuple[int, int] = (120, 40), folder: Path = workspace, **options: Any
    ) -> AsyncIterator[Pilot[Any]]:
        options.setdefault("watch", False)
        app = PromptdbgApp(sample.opener(folder), show_times=False, **options)
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            yield pilot

    return start


def the_app(pilot: Pilot[Any]) -> PromptdbgApp:
    """The app that a pilot steers."""
    assert isinstance(pilot.app, PromptdbgApp)
    return pilot.app


def on(app: PromptdbgApp, screen: type[Screen[Any]]) -> bool:
    """Whether that screen is on top."""
    return isinstance(app.screen, screen)


def drawn(app: PromptdbgApp) -> Picture:
    """The picture that is drawn."""
    assert app.picture is not None
    return app.picture


PATIENCE = 6_000
"""Looks, a hundredth of a second apart at the least, until a wait is given up. It ends with what it waits
for; the runner's own limit is what ends a test that hangs."""


async def until(pilot: Pilot[Any], holds: Callable[[], object], what: str) -> None:
    """Wait until something holds, and what it came with is drawn."""
    for _ in range(PATIENCE):
        await pilot.pause(0.01)
        if holds():
            break
    else:
        raise AssertionError(f"never {what}")
    await pilot.pause()


async def settled(pilot: Pilot[Any], before: object = None) -> None:
    """Wait until the app has a picture other than ``before`` and has drawn it."""
    app = the_app(pilot)
    await until(pilot, lambda: app.picture is not None and app.picture is not before, "a new picture")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys that lead to a new picture, and wait for it."""
    app = the_app(pilot)
    before = app.picture
    await pilot.press(*keys)
    await settled(pilot, before)


async def paste(pilot: Pilot[Any], text: object) -> None:
    """Paste a text, as a person does with the path of a file."""
    pilot.app.post_message(events.Paste(str(text)))
    await pilot.pause()


def home_status(pilot: Pilot[Any]) -> str:
    """The sentence in the status line of the screen on top."""
    app = the_app(pilot)
    assert app.on_top is not None
    return app.on_top.query_one(Status).line


async def idle(pilot: Pilot[Any]) -> None:
    """Wait until nothing is being worked out for the screen on top, and it is drawn."""
    lasting = ("driver", "keyboard", "watch")

    def rests() -> bool:
        return all(worker.is_finished for worker in pilot.app.workers if worker.group not in lasting)

    await until(pilot, rests, "idle")


async def found(pilot: Pilot[Any], words: str, *names: str) -> None:
    """Type words into the palette and wait until it shows what they find."""
    await pilot.press("ctrl+p", *words)
    await until(pilot, lambda: all(name in screen_text(the_app(pilot)) for name in names), f"{names}")
    await idle(pilot)
