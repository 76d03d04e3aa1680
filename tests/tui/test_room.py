"""A window too small to work in, and back."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from promptdbg.tui.widgets.budget import BudgetLine
from promptdbg.tui.widgets.message_columns import MessageColumns
from promptdbg.tui.widgets.sections import SectionList
from promptdbg.tui.widgets.text_view import TextView
from tests.tui.conftest import Run, drawn, idle, screen_text, the_app

SMALL = [(50, 20), (60, 8), (59, 30), (30, 5)]


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize(
    ("key", "widget"),
    [("1", SectionList), ("b", BudgetLine), ("m", MessageColumns), ("t", TextView), ("E", TextArea)],
)
async def test_what_had_the_focus_has_it_again(
    run: Run, small: tuple[int, int], key: str, widget: type
) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press(key)
        await idle(pilot)
        focused = app.focused
        assert isinstance(focused, widget)
        await pilot.resize_terminal(*small)
        await idle(pilot)
        text = screen_text(app)
        assert [line.strip() for line in text.splitlines() if line.strip()] == [
            f"Needs 60 × 10, this is {small[0]} × {small[1]}"
        ]
        await pilot.resize_terminal(120, 40)
        await idle(pilot)
        assert app.focused is focused


async def test_nothing_is_changed_that_cannot_be_seen(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.resize_terminal(40, 20)
        await idle(pilot)
        before = drawn(app)
        await pilot.press("space", "b", "right", "m", "x")
        await idle(pilot)
        await pilot.resize_terminal(120, 40)
        await idle(pilot)
        assert drawn(app) is before
        assert isinstance(app.focused, SectionList)
        await pilot.resize_terminal(40, 20)
        await pilot.press("q")
        assert not app.is_running
