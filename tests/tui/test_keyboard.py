"""What is typed faster than the screen follows: every key is done, in its order, at its place."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from promptdbg.debug import Debugger
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.config import Config
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.screens.search import SearchScreen
from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.widgets.chrome import Status
from tests.tui import sample
from tests.tui.conftest import Run, drawn, home_status, on, settled, the_app

NAMED = {"/": "slash", "\r": "enter", " ": "space", "\x1b": "escape", "[": "left_square_bracket"}


async def type_at_once(pilot: Pilot[Any], text: str) -> None:
    """Type faster than anything can follow, as a script does, and wait until all of it is done."""
    for character in text:
        pilot.app.post_message(events.Key(NAMED.get(character, character), character))
    await all_done(pilot)


async def all_done(pilot: Pilot[Any]) -> None:
    await pilot.pause()  # the app has them all
    await the_app(pilot).keyboard.done()
    await pilot.pause()


def home(pilot: Pilot[Any]) -> HomeScreen:
    assert isinstance(pilot.app.screen, HomeScreen)
    return pilot.app.screen


async def test_what_follows_the_slash_is_the_filter(run: Run) -> None:
    async with run() as pilot:
        await type_at_once(pilot, "/auth")
        assert home(pilot).view.filter == "auth"
        assert isinstance(pilot.app.focused, Input), "it is still open"


async def test_enter_and_what_follows_it(run: Run) -> None:
    async with run() as pilot:
        await type_at_once(pilot, "/auth\ro")
        view = home(pilot).view
        assert (view.filter, str(view.sort)) == ("auth", "tokens")
        assert not isinstance(pilot.app.focused, Input)


async def test_escape_takes_back_and_gives_the_keys_back(run: Run) -> None:
    async with run() as pilot:
        await type_at_once(pilot, "/auth\x1bo")
        view = home(pilot).view
        assert (view.filter, str(view.sort)) == ("", "tokens")


async def test_escape_and_a_letter_that_the_terminal_tells_as_alt(run: Run) -> None:
    async with run() as pilot:
        for key, character in (("slash", "/"), ("a", "a"), ("alt+m", "m")):
            pilot.app.post_message(events.Key(key, character))
        await all_done(pilot)
        assert on(the_app(pilot), MessagesScreen)


async def test_a_key_of_a_persons_own_with_alt_stays_one(run: Run) -> None:
    async with run(config=Config(keys={"app.messages": "alt+m"})) as pilot:
        await type_at_once(pilot, "/auth\r")
        pilot.app.post_message(events.Key("alt+m", "m"))
        await all_done(pilot)
        assert on(the_app(pilot), MessagesScreen)
        await pilot.press("escape")
        assert home(pilot).view.filter == "auth", "no escape was read before it"


async def test_what_follows_f_is_searched_for(run: Run) -> None:
    async with run() as pilot:
        await type_at_once(pilot, "Ftoken")
        screen = pilot.app.screen
        assert isinstance(screen, SearchScreen)
        assert screen.needle == "token"


async def test_keys_after_a_screen_was_asked_for_go_to_it(run: Run) -> None:
    async with run() as pilot:
        await type_at_once(pilot, "m/second")
        screen = pilot.app.screen
        assert isinstance(screen, MessagesScreen)
        assert pilot.app.screen.query_one(Input).value == "second"


async def test_screens_through_which_a_person_only_passes(run: Run) -> None:
    async with run() as pilot:
        await type_at_once(pilot, "\rt")
        assert on(the_app(pilot), TextScreen)
        await type_at_once(pilot, "\x1b\x1bo")
        assert str(home(pilot).view.sort) == "tokens"


async def test_a_pasted_filter_has_its_turn(run: Run) -> None:
    async with run() as pilot:
        pilot.app.post_message(events.Key("slash", "/"))
        pilot.app.post_message(events.Paste("auth"))
        pilot.app.post_message(events.Key("enter", "\r"))
        await all_done(pilot)
        assert home(pilot).view.filter == "auth"


async def test_a_budget_typed_at_once(run: Run) -> None:
    async with run() as pilot:
        before = drawn(the_app(pilot))
        await type_at_once(pilot, "b420\r")
        await settled(pilot, before)
        assert drawn(the_app(pilot)).undo == "System budget: 420"


# ---- while it opens -----------------------------------------------------------------------------


@asynccontextmanager
async def opening(folder: Path, **options: Any) -> AsyncIterator[tuple[Pilot[Any], threading.Event]]:
    """The app, with a workspace that opens when the event is set."""
    go = threading.Event()

    def opener() -> Debugger:
        go.wait(100)
        return sample.opener(folder)()

    app = PromptdbgApp(opener, show_times=False, watch=False, **options)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            yield pilot, go
    finally:
        go.set()


async def test_keys_wait_for_the_workspace(workspace: Path) -> None:
    async with opening(workspace) as (pilot, go):
        await pilot.press("m", "slash", "s", "e", "c")
        assert "what you type is done when it is open" in pilot.app.screen.query_one(Status).line
        go.set()
        await settled(pilot)
        await all_done(pilot)
        assert on(the_app(pilot), MessagesScreen)
        assert pilot.app.screen.query_one(Input).value == "sec"


async def test_a_key_that_means_nothing_then_says_so(workspace: Path) -> None:
    (workspace / "promptdbg.toml").write_text('engine = "sample"\n[[sections]]\nname = "a"\ntext = "b"\n')
    async with opening(workspace) as (pilot, go):
        await pilot.press("T")
        go.set()
        await settled(pilot)
        await all_done(pilot)
        assert "there are no turns" in home_status(pilot)


async def test_leaving_does_not_wait(workspace: Path) -> None:
    async with opening(workspace) as (pilot, _):
        await pilot.press("m", "q")
        assert pilot.app.return_code == 0
        assert not pilot.app.is_running


async def test_a_persons_own_key_to_leave_does_not_wait(workspace: Path) -> None:
    async with opening(workspace, config=Config(keys={"app.quit": "Q"})) as (pilot, _):
        await pilot.press("q")
        assert pilot.app.is_running, "q is another key here"
        await pilot.press("Q")
        assert not pilot.app.is_running


async def test_a_key_that_comes_when_all_is_closed_does_nothing(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
    last = events.Key("j", "j")
    app.keyboard._passing = last  # it had its turn just before
    assert not app.screen_stack
    await app.on_event(last)
