"""Every screen under NO_COLOR, in plain ASCII, and in every theme: nothing crashes, nothing is lost.

A segment without a style crashes Textual under NO_COLOR, so this opens every screen of the app.
"""

from __future__ import annotations

import pytest

from promptdbg.marks import SECTION_MARKS
from promptdbg.model import SectionStatus
from tests.tui.conftest import Run, idle, press, screen_text, the_app

SCREENS: dict[str, tuple[str, ...]] = {
    "home": ("space", "G", "up", "2", "3", "1"),
    "filter": ("slash", "z", "z"),
    "budget": ("b", "left", "9", "escape"),
    "knobs": ("K", "down", "right", "enter"),
    "help": ("question_mark", "G"),
    "turns": ("T", "up"),
    "warnings": ("exclamation_mark",),
    "edit": ("E",),
    "why": ("G", "up", "enter"),
    "text": ("G", "up", "t", "slash", *"every", "enter", "n"),
    "search": ("F", *"token", "enter", "down"),
    "compare": ("space", "c", "greater_than_sign"),
    "messages": ("m", "n", "enter", "d"),
    "findings": ("p", "down", "down"),
    "export": ("x", "right", "down"),
    "palette": ("ctrl+p", *"the"),
}


@pytest.mark.parametrize("screen", SCREENS)
async def test_no_color(run: Run, monkeypatch: pytest.MonkeyPatch, screen: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with run(size=(100, 30)) as pilot:
        assert the_app(pilot).no_color
        await pilot.press(*SCREENS[screen])
        await idle(pilot)
        assert screen_text(the_app(pilot)).strip()


async def test_states_are_told_without_colour(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with run() as pilot:
        await press(pilot, "space")
        text = screen_text(the_app(pilot))
        for status in (SectionStatus.TRUNCATED, SectionStatus.DISABLED, SectionStatus.SHADOWED):
            assert f"{SECTION_MARKS[status].mark} {SECTION_MARKS[status].word}" in text
        bar = text.splitlines()[1]
        assert set("█▓▒░▚") <= set(bar)  # parts are told by their fill


@pytest.mark.parametrize(
    "keys",
    [
        (),
        ("b",),
        ("K",),
        ("G", "up", "t"),
        ("c",),
        ("F", "a", "enter"),
        ("p",),
        ("x", "right"),
        ("T", "up", "v"),
        ("G", "up", "enter"),
        ("question_mark",),
        ("exclamation_mark",),
        ("m", "n", "enter"),
        ("ctrl+p", *"budget"),
        ("K", "G", "up", "up", "up", "enter"),
        ("ctrl+t",),
        ("E",),
    ],
)
async def test_ascii_draws_with_ascii_only(run: Run, keys: tuple[str, ...]) -> None:
    async with run(size=(80, 24), ascii_only=True) as pilot:
        await press(pilot, "space")
        await pilot.press(*keys)
        await idle(pilot)
        drawn = set(screen_text(the_app(pilot)))
        assert all(char.isascii() for char in drawn), sorted(char for char in drawn if not char.isascii())


async def test_themes(run: Run) -> None:
    async with run(size=(80, 24)) as pilot:
        for theme in the_app(pilot).available_themes:
            the_app(pilot).theme = theme
            await pilot.pause()
            assert "identity" in screen_text(the_app(pilot))


async def test_sizes(run: Run) -> None:
    async with run() as pilot:
        for size in ((60, 10), (60, 16), (72, 20), (99, 29), (140, 24), (300, 100)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            text = screen_text(the_app(pilot))
            assert "identity" in text, size
            assert "q Quit" in text, size
            await pilot.press("K")
            assert "System budget" in screen_text(the_app(pilot)), size
            await pilot.press("escape")


async def test_resize_at_any_time_and_too_small(run: Run) -> None:
    async with run() as pilot:
        await pilot.resize_terminal(48, 12)
        await pilot.pause()
        assert "Needs 60 × 10, this is 48 × 12" in screen_text(the_app(pilot))
        for size in ((80, 24), (200, 60), (59, 30), (120, 9), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "identity" in screen_text(the_app(pilot))
