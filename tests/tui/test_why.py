"""Why: the cut, a message's life, and the changes that would keep an item."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from promptdbg import examples
from promptdbg.analysis import fixes as analysis
from promptdbg.debug import Debugger, open_workspace, opened_assembly
from promptdbg.model import Assembly, SectionStatus, Settings
from promptdbg.tui import fixes
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.changes import RECORDED, Change
from promptdbg.tui.picture import picture_of
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.why import report, surroundings
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.wrapping import plain_text
from tests.tui import sample
from tests.tui.conftest import Run, drawn, home_status, idle, on, press, screen_text, settled, the_app, until

CUT = "retrieved: auth.md"


def told(app: PromptdbgApp) -> str:
    return app.screen.query_one("#report", Prose).text


async def test_where_it_was_cut_and_what_went_with_it(run: Run, tmp_path: Path) -> None:
    text = (
        "# Rules\n\nRead first.\n\n```sh\nmake "
        + "check " * 80
        + "\n```\n\n## Release\n\nNever on a Friday.\n"
    )
    document = 'engine = "sample"\n[[sections]]\nname = "rules"\nfile = "rules.md"\n'
    folder = sample.write_workspace(tmp_path / "cut", document, {"rules.md": text})
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        await pilot.press("enter")
        await idle(pilot)
        line, column = text.count("\n", 0, 400) + 1, 400 - text.rfind("\n", 0, 400)
        lost = len(text) - 400
        assert f"Cut at  line {line}, column {column}, byte 400, inside a word, a line, a code fence" in told(
            app
        )
        assert f"Lost    6 of 11 lines, {lost} characters, {lost} bytes" in told(app)
        assert "Headings  ## Release" in told(app)


async def test_the_life_of_a_message_and_a_change_that_keeps_it(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await press(pilot, "[")
        app.driver.change(Change("keep", "keep 2", lambda settings: settings.with_value("keep", 2)))
        await settled(pilot, drawn(app))
        await pilot.press("m")
        await idle(pilot)
        await pilot.press("down", "i")
        await idle(pilot)
        assert on(app, WhyScreen)
        text = told(app)
        assert "SESSION  ● KEEP" in text
        assert "TRIM     ○ DROP" in text
        assert "FINAL    ○ DROP" in text
        assert "Around it, where it was last whole" in text
        assert "It would be whole if you" in text
        wanted = next(line for line in text.splitlines() if "raise the message limit to" in line)
        await press(pilot, wanted.split()[0])
        await idle(pilot)
        assert "The model gets it as message 1; " in told(app)
        assert "Around it, in what is sent" in told(app)
        assert home_status(pilot).startswith("tried: raise the message limit to 5 messages (3 more)")
        assert "in: m0 (user)" in home_status(pilot)
        await pilot.press("escape")
        await idle(pilot)
        assert on(app, MessagesScreen)
        assert home_status(pilot).startswith("tried: raise the message limit to 5 messages (3 more)")
        await press(pilot, "u")
        assert home_status(pilot).startswith("undid: raise the message limit")
        assert drawn(app).assembly.settings.values == {"keep": 2}


async def test_the_pane_says_it_when_the_cursor_rests(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("G", "up")
        await idle(pilot)
        text = app.screen.query_one("#why", Prose).text
        assert "Cut at  line 6, column 26, byte 400, inside a word, a line" in text
        assert "It would be whole if you" in text
        assert "enter, then a number, tries one" in text
        await pilot.press("g")
        await idle(pilot)
        assert "It would be whole" not in app.screen.query_one("#why", Prose).text


async def test_the_strip_says_it_where_there_is_no_room_for_panes(run: Run) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("G", "up")
        await idle(pilot)
        strip = app.screen.query_one("#strip", Prose)
        assert strip.text.splitlines()[0].startswith("◐ CUT retrieved: auth.md: It has 1,050 characters")
        assert strip.text.splitlines()[1].startswith("Whole if you ")
        assert len(strip.text.splitlines()) == 2
        assert all(len(line) <= 79 for line in strip.text.splitlines())
        await pilot.press("g")
        assert strip.text.strip() == "● KEEP identity: no rule touched it"


async def test_what_settled_it_stands_first() -> None:
    folder = Path(examples.__file__).parent / "bee-nearest-rule"
    picture = picture_of(Debugger(open_workspace(folder), counter=sample.WordCounter()))
    lost = next(item for item, section in picture.sections.items() if section.name == "test database")
    text = plain_text(report(picture, lost, ascii_only=False))
    assert text.index("over the budget of 380") < text.index("Also decided on it") < text.index("are chosen")


async def test_a_section_of_a_message_has_no_life_of_its_own() -> None:
    folder = Path(examples.__file__).parent / "nanobot-lost-rule"
    picture = picture_of(Debugger(open_workspace(folder), counter=sample.WordCounter()))
    assert picture.sections["current/text"].kind == "message"
    assert surroundings(picture, "current/text", ascii_only=False) == []


async def test_digits_that_try_nothing_say_why(run: Run, workspace: Path) -> None:
    async with run() as pilot:
        await pilot.press("enter", "1")
        assert home_status(pilot) == "! it is not lost: there is nothing to try"
        await pilot.press("escape", "G", "up", "enter")
        await idle(pilot)
        await pilot.press("9")
        assert home_status(pilot).startswith("! only ")
    made = sample.opener(workspace)().assembly
    app = PromptdbgApp(lambda: Debugger(opened_assembly(made)), watch=False, show_times=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("G", "up", "enter")
        await idle(pilot)
        assert "This is a recording: no change can be tried in it." in told(app)
        await pilot.press("1")
        assert home_status(pilot) == f"! {RECORDED}"


async def test_a_recording_says_so_wherever_something_would_be_tried(workspace: Path) -> None:
    made = sample.opener(workspace)().assembly
    app = PromptdbgApp(lambda: Debugger(opened_assembly(made)), watch=False, show_times=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert " RECORDING " in screen_text(app).splitlines()[0]
        for key in ("space", "b", "plus", "minus", "right_curly_bracket", "E"):
            app.say("")
            await pilot.press(key)
            assert home_status(pilot) == f"! {RECORDED}", key
        assert app.on_top is not None
        assert {"item.toggle", "home.budget", "home.knobs"} <= app.on_top.idle_keys()
        await pilot.press("K")
        assert "A recording has no knobs." in screen_text(app)


async def test_a_change_never_takes_a_newer_one_back(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("G", "up", "enter")
        await idle(pilot)
        assert on(app, WhyScreen)
        app.driver.change(Change("memory", "memory off", lambda settings: settings.toggled("MEMORY.md")))
        await press(pilot, "1")
        await idle(pilot)
        assert drawn(app).sections["MEMORY.md"].status is SectionStatus.DISABLED


async def test_a_search_stops_when_it_is_not_wanted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving the screen ends the thread at its next assembly."""
    started, stopped = threading.Event(), threading.Event()

    def endless(*arguments: Any, stop: Any, **options: Any) -> tuple[analysis.Fix, ...]:
        started.set()
        while not stop():
            stopped.wait(0.01)
        stopped.set()
        raise analysis.Cancelled

    monkeypatch.setattr(fixes, "fixes", endless)
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("G", "up", "enter")
        await until(pilot, started.is_set, "started")
        assert "Looking for what would keep it …" in told(app)
        await pilot.press("1")
        assert home_status(pilot) == "! still looking for changes to try"
        await pilot.press("escape")
        await until(pilot, stopped.is_set, "stopped")


async def test_a_fault_of_an_engine_leaves_the_report(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        debugger = app.driver.debugger
        assert debugger is not None

        def broken(settings: Settings) -> Assembly:
            raise KeyError("role\x1b[31m")

        monkeypatch.setattr(debugger, "preview", broken)
        await pilot.press("G", "up", "enter")
        await idle(pilot)
        assert "the cap is 400: the rest is cut." in told(app)
        assert "could not look for changes: KeyError: 'role\\x1b[31m'" in told(app)
        assert drawn(app).sections[CUT].status is SectionStatus.TRUNCATED


def test_a_file_cut_beside_its_imports_may_be_kept() -> None:
    """A section with parts is not in the list of what is lost; this one was cut by a rule of its own."""
    folder = Path(examples.__file__).parent / "bee-nasty"
    picture = picture_of(Debugger(open_workspace(folder), counter=sample.WordCounter()))
    cut = next(item for item, section in picture.sections.items() if section.name == "lib/kettle/CLAUDE.md")
    assert cut not in picture.lost
    assert fixes.may_be_kept(picture, cut)
    assert not fixes.may_be_kept(picture, picture.sections[cut].parent or "")  # only its parts were
    whole = next(item for item, section in picture.sections.items() if not section.lost)
    assert not fixes.may_be_kept(picture, whole)


async def test_trying_is_offered_only_where_something_can_be_tried(run: Run, workspace: Path) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("i")
        await idle(pilot)
        assert "1-9 Try" not in screen_text(app), "it is in, whole"
        await pilot.press("escape", "slash", *"auth", "enter", "i")
        await idle(pilot)
        assert "1-9 Try" in screen_text(app)
    made = sample.opener(workspace)().assembly
    app = PromptdbgApp(lambda: Debugger(opened_assembly(made)), watch=False, show_times=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"auth", "enter", "i")
        await idle(pilot)
        assert "1-9 Try" not in screen_text(app), "a recording"


async def test_what_was_done_to_a_message_has_one_word_everywhere() -> None:
    app = PromptdbgApp(lambda: Debugger(open_workspace(examples.find(examples.FLAGSHIP).path)), watch=False)
    async with app.run_test(size=(120, 60)) as pilot:
        await settled(pilot)
        app.push_screen(WhyScreen("m27"))
        await idle(pilot)
        shown = screen_text(app)
        assert "◐ CUT  tool m27" in shown
        assert "Long results stored in files  ◐ CUT" in shown
        assert "EDIT" not in shown
