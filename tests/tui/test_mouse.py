"""The mouse, by pilot: budget, knobs, heads of columns, key line, wheel, double clicks."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from promptdbg.tui.keys import KEYS
from promptdbg.tui.rows import Sort
from promptdbg.tui.screens.boxes import ProseBox
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.widgets.budget import BudgetLine, TokenBar
from promptdbg.tui.widgets.chrome import KeyLine
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.sections import SectionList
from tests.tui.conftest import Run, drawn, home_status, idle, on, press, settled, the_app


def limit(pilot: Pilot[Any]) -> int:
    found = drawn(the_app(pilot)).assembly.budget.limit
    assert found is not None
    return found


async def wheel(pilot: Pilot[Any], widget: BudgetLine) -> None:
    """One notch up over a widget, as the terminal sends it."""
    x, y = widget.region.x + 10, widget.region.y
    event = events.MouseScrollUp(widget, 10, 0, 0, 0, 0, False, False, False, screen_x=x, screen_y=y)
    widget.post_message(event)
    await pilot.pause()


async def test_the_limit_follows_the_mouse_and_is_one_step_to_undo(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        line = app.screen.query_one(BudgetLine)
        before = drawn(app)
        first = limit(pilot)
        start, room = line._bar_start + 1, line._bar_room()  # its padding is one cell
        at = start + line._at(first, room)
        await pilot.mouse_down(line, offset=(at, 0))
        for cell in range(at, at + 12, 3):
            await pilot.hover(line, offset=(cell, 0))
        await settled(pilot, before)
        assert limit(pilot) > first + 20
        there = drawn(app)
        await pilot.hover(line, offset=(start - 4, 0))  # beyond the left end
        await settled(pilot, there)
        await pilot.mouse_up(line, offset=(start - 4, 0))
        await idle(pilot)
        assert drawn(app).assembly.settings.values == {"budget": 0}  # as low as it goes
        assert not line._held
        await press(pilot, "u")
        assert limit(pilot) == first


async def test_a_click_on_the_figures_asks_for_a_number(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        line = app.screen.query_one(BudgetLine)
        await pilot.click(line, offset=(line.size.width - 5, 0))
        assert isinstance(app.focused, Input)
        assert not drawn(app).assembly.settings.changed


async def test_a_wheel_that_passes_by_changes_nothing(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        line = app.screen.query_one(BudgetLine)
        before = drawn(app)
        await wheel(pilot, line)
        assert drawn(app) is before
        await pilot.press("b")
        await wheel(pilot, line)
        await settled(pilot, before)
        assert drawn(app).assembly.settings.values == {"budget": 210}


async def test_the_head_of_a_column_orders_by_it(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        sections = app.screen.query_one(SectionList)
        home = app.screen
        assert isinstance(home, HomeScreen)
        columns = sections._columns(sections.text_width)
        at = 1 + columns.state + columns.name + columns.rank + columns.tokens - 2
        await pilot.click(sections, offset=(at, 1))
        assert (home.view.sort, home.view.reverse) == (Sort.TOKENS, False)
        assert home_status(pilot) == "ordered by tokens"
        await pilot.click(sections, offset=(at, 1))
        assert (home.view.sort, home.view.reverse) == (Sort.TOKENS, True)
        sorts = []
        for at in (5, 15):
            await pilot.click(sections, offset=(at, 1))
            sorts.append(home.view.sort)
        assert sorts == [Sort.STATE, Sort.NAME]


async def test_the_key_line_presses_its_keys(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        places = {key.id: place for place, key in app.screen.query_one(KeyLine).fitted()}
        await pilot.click(KeyLine, offset=(places["app.messages"] + 1, 0))
        await idle(pilot)
        assert on(app, MessagesScreen)
        await pilot.press("escape")
        await pilot.click(KeyLine, offset=(places["item.text"] + 1, 0))
        await idle(pilot)
        assert on(app, TextScreen)
        assert len(places) < len(KEYS)


async def test_the_bar_opens_the_ledger(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.click(TokenBar, offset=(10, 0))
        assert on(app, ProseBox)
        text = app.screen.query_one(Prose).text
        assert "used" in text
        assert "limit" in text
        await pilot.press("escape")
        assert on(app, HomeScreen)
