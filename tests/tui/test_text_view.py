"""Texts that are too long to be laid out or searched at once: nothing is told or drawn of the one before."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.widgets import text_view
from promptdbg.tui.widgets.text_view import TextView, hits_of
from tests.tui import sample
from tests.tui.conftest import Run, home_status, idle, the_app

_LINES = "".join(f"line {number}: some words that fill it, {'and more ' * 20}\n" for number in range(2_000))


@pytest.fixture
def large(tmp_path: Path) -> Path:
    document = (
        'engine = "sample"\nbudget = 10000000\ncap = 10000000\n[[sections]]\nname = "log"\nfile = "log.txt"'
    )
    return sample.write_workspace(tmp_path / "large", document, {"log.txt": _LINES})


def view_of(pilot: Pilot[object]) -> TextView:
    return pilot.app.screen.query_one(TextView)


def top(view: TextView) -> int:
    """The offset of the line at the top."""
    return view._starts[view.scroll_offset.y]


@pytest.fixture(params=[False, True], ids=["long", "short"])
def _in_a_thread_or_not(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr(text_view, "_INLINE_CHARS", 10_000_000)


@pytest.mark.usefixtures("_in_a_thread_or_not")
async def test_a_text_that_one_comes_for_is_found(run: Run, large: Path) -> None:
    async with run(folder=large) as pilot:
        the_app(pilot).push_screen(TextScreen("log", needle="LINE 1999:"))
        await idle(pilot)
        assert home_status(pilot) == '1 hit of "LINE 1999:" · n N'
        assert view_of(pilot).hit == 0
        assert "line 1999:" in _LINES[top(view_of(pilot)) :]
        assert top(view_of(pilot)) > len(_LINES) * 0.9
        await pilot.press("slash", *"nowhere", "enter")
        await idle(pilot)
        assert home_status(pilot) == 'no hit of "nowhere"'
        await pilot.press("slash", *"line 7:", "enter", "n")
        await idle(pilot)
        assert view_of(pilot).hits == 1


@pytest.mark.usefixtures("_in_a_thread_or_not")
async def test_another_width_keeps_the_place(run: Run, large: Path) -> None:
    async with run(folder=large) as pilot:
        the_app(pilot).push_screen(TextScreen("log"))
        await idle(pilot)
        view = view_of(pilot)
        middle = _LINES.index("line 1000:")
        view.scroll_to(y=view.line_of(middle), animate=False)
        await idle(pilot)
        assert top(view) == middle
        await pilot.press("w")
        await idle(pilot)
        assert top(view) == middle
        await pilot.press("w")
        await pilot.resize_terminal(80, 24)
        await idle(pilot)
        assert top(view) == middle


async def test_another_size_while_it_is_laid_out_does_not_bring_back_the_text_before(
    run: Run, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run(folder=large) as pilot:
        the_app(pilot).push_screen(TextScreen("log"))
        await idle(pilot)
        view = view_of(pilot)
        view.show("other words " * 10_000)
        await asyncio.sleep(0)
        view.set_wrap(False)
        await idle(pilot)
        assert view._shown.text.startswith("other words")


@given(st.text("aAbß\n", max_size=40), st.text("abß", min_size=1, max_size=4), st.integers(1, 7))
def test_hits_are_those_of_one_search(text: str, needle: str, size: int) -> None:
    found = [match.span() for match in re.finditer(re.escape(needle), text, re.IGNORECASE)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_view, "_FIND_CHARS", size)
        assert hits_of(text, needle) == found
