"""The guided tour, taken by pressing only the keys that it names."""

from __future__ import annotations

import inspect
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot

from promptdbg.debug import Debugger, open_workspace
from promptdbg.examples import Example, examples
from promptdbg.tui import tour as tours
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.config import Config
from promptdbg.tui.keys import KEYS
from promptdbg.tui.picture import final_messages, picture_of
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.tour import Seen, Tour, begin, key_ids, looked, pieces, skipped, tight
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import BANNER_LINES, Banner
from promptdbg.tui.wrapping import Paragraph, layout

from .conftest import Run, home_status, idle, on, settled, the_app

KEY_NAMES = {key.id: key.keys.split(",")[0] for key in KEYS}


def under_way(app: PromptdbgApp) -> Tour:
    assert app.guide.tour is not None
    return app.guide.tour


def said(app: PromptdbgApp) -> str:
    """What the tour says on the screen."""
    return "".join(text for text, _ in app.guide.words)


async def looked_at(pilot: Pilot[Any]) -> str:
    """The name of the step, once nothing is being worked out and the tour has looked again."""
    await idle(pilot)
    the_app(pilot).guide.look()
    return under_way(the_app(pilot)).step.name


async def follow(pilot: Pilot[Any]) -> None:
    """Do once what the step asks for, by the keys it names and nothing else."""
    app = the_app(pilot)
    seen = app.guide.seen()
    assert seen is not None
    names = key_ids(under_way(app).step.words(seen))
    assert names, f"{under_way(app).step.name} names no key: {said(app)}"
    for name in names:
        if name == "why.fix":
            await pilot.press("1")
        elif name == "ask.done":
            if under_way(app).step.name == "searching":
                await pilot.press(*"the", "enter")
        elif name == "budget.more":
            continue  # one of the two will do
        else:
            await pilot.press(KEY_NAMES[name])
        await idle(pilot)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
async def test_its_own_words_lead_through_it_on_every_example(example: Example) -> None:
    app = PromptdbgApp(
        lambda: Debugger(open_workspace(example.path)), show_times=False, watch=False, tour=True
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        presses = 0
        while not under_way(app).at_end:
            name = await looked_at(pilot)
            if name == "why of a section" and "Go to a row" in said(app):
                await pilot.press("down")
            elif not under_way(app).at_end:
                await follow(pilot)
            presses += 1
            assert presses < 60, f"stuck at {name}: {said(app)}"
            await looked_at(pilot)
        await pilot.press("ctrl+t")
        assert app.guide.tour is None


def test_the_budget_it_names_takes_something_out() -> None:
    debugger = Debugger(open_workspace(examples()[0].path))
    picture = picture_of(debugger)
    number, knob = tight(picture), picture.budget_knob
    assert number is not None
    assert knob is not None
    after = debugger.preview(debugger.settings.with_value(knob.name, number))
    assert after.failure is None
    assert final_messages(after) != final_messages(debugger.assembly)


async def test_every_step_can_be_skipped_and_the_tour_left_at_once(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("ctrl+n")
        assert home_status(pilot) == "! no tour is taken: ctrl+t begins one"
        await pilot.press("f1")
        place = 0
        while not under_way(app).at_end:
            await pilot.press("ctrl+n")
            assert under_way(app).place > place
            place = under_way(app).place
            assert said(app).startswith(f"TOUR {place + 1}/{len(under_way(app).steps)}  ")
        await pilot.press("ctrl+n")
        assert app.guide.tour is None
        await pilot.press("ctrl+t", "ctrl+t")
        assert app.guide.tour is None
        assert not app.screen.query_one("#tour", Banner).display
        assert home_status(pilot) == "the tour is closed; ctrl+t begins it again"


async def test_nothing_the_person_does_instead_is_in_the_way(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("ctrl+t", "m")
        assert await looked_at(pilot) not in ("sections", "messages")
        await pilot.press("escape", "slash")
        assert app.screen.query_one(Ask).is_open
        await pilot.press("ctrl+t")
        await pilot.press("escape", "question_mark")
        await pilot.press("escape")
        assert on(app, HomeScreen)


async def test_a_tour_while_nothing_is_open_yet_says_so() -> None:
    ready = Event()

    def opener() -> Debugger:
        ready.wait(100)
        return Debugger(open_workspace(examples()[0].path))

    app = PromptdbgApp(opener, watch=False)
    async with app.run_test() as pilot:
        app.guide.switch()
        await pilot.pause()
        assert app.guide.tour is None
        ready.set()
        await settled(pilot)


def test_every_key_it_names_is_a_key() -> None:
    known = {key.id for key in KEYS}
    assert set(key_ids(inspect.getsource(tours))) >= {"app.messages", "app.undo"}
    assert {name for name in key_ids(inspect.getsource(tours)) if "." in name} <= known


async def test_the_words_use_the_persons_own_keys(run: Run) -> None:
    config = Config(keys={"app.messages": "M"})
    async with run(config=config) as pilot:
        app = the_app(pilot)
        seen = app.guide.seen()
        assert isinstance(seen, Seen)
        tour = begin(seen)
        while tour.step.name != "messages":
            tour = skipped(tour, seen)
        assert looked(tour, seen) == tour
        assert ("M", "virtual--key") in pieces(tour, seen, config)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_screens(run: Run, golden: Any, size: tuple[int, int]) -> None:
    async with run(size) as pilot:
        await pilot.press("ctrl+t")
        await looked_at(pilot)
        await pilot.pause()
        golden(the_app(pilot), f"tour-{size[0]}x{size[1]}")


async def test_every_step_is_said_whole_in_a_narrow_window(run: Run) -> None:
    async with run((80, 24)) as pilot:
        seen = the_app(pilot).guide.seen()
        assert seen is not None
        tour = begin(seen)
        while True:
            for now in (
                seen,
                replace(seen, place="messages", offered=0),
                replace(seen, place="why", offered=9),
            ):
                words = pieces(tour, now, Config())
                lines = layout([Paragraph(tuple(words), hang=len(words[0][0]))], 78)
                assert len(lines) <= BANNER_LINES, tour.step.name
            if tour.at_end:
                break
            tour = skipped(tour, seen)
