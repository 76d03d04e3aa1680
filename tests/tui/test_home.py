"""The inspector, by the keys a person presses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from promptdbg.debug import Debugger, open_workspace
from promptdbg.examples import FLAGSHIP, find
from promptdbg.model import SectionStatus, Value
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.rows import why_short
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.widgets.budget import BudgetLine
from promptdbg.tui.widgets.knobs import KnobPanel
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.sections import SectionList
from promptdbg.tui.widgets.text_view import TextView
from tests import invariants
from tests.tui import sample
from tests.tui.conftest import (
    Run,
    drawn,
    found,
    home_status,
    idle,
    on,
    press,
    screen_text,
    settled,
    the_app,
    until,
)


def the_list(app: PromptdbgApp) -> SectionList:
    return app.screen.query_one(SectionList)


def home(app: PromptdbgApp) -> HomeScreen:
    assert isinstance(app.screen, HomeScreen)
    return app.screen


def here(app: PromptdbgApp) -> str:
    """The item under the cursor."""
    section = the_list(app).section
    assert section is not None
    return section.id


def names(app: PromptdbgApp) -> list[str]:
    return [row.id for row in the_list(app).rows]


def status_of(app: PromptdbgApp, item: str) -> SectionStatus:
    return drawn(app).sections[item].status


async def test_the_sample_is_a_sound_assembly(workspace: Path) -> None:
    debugger = sample.opener(workspace)()
    invariants.check(debugger.assembly)
    assert len({section.status for section in debugger.assembly.sections}) == 5


async def test_space_switches_an_item_off_and_undo_brings_it_back(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("down")
        await press(pilot, "space")
        assert status_of(app, "safety rules") is SectionStatus.DISABLED
        assert "safety rules off · 213 → 201 tokens (−12)" in home_status(pilot)
        assert "out: safety rules" in home_status(pilot)
        await press(pilot, "u")
        assert status_of(app, "safety rules") is SectionStatus.KEPT
        assert home_status(pilot).startswith("undid: safety rules off")
        await press(pilot, "ctrl+r")
        assert status_of(app, "safety rules") is SectionStatus.DISABLED
        await press(pilot, "R")
        assert not drawn(app).assembly.settings.changed
        await pilot.press("R")
        await until(pilot, lambda: home_status(pilot) == "! nothing was changed", "refused")


async def test_cursor_and_scroll_stay_on_the_item_when_the_picture_changes(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("G", "up")
        assert here(the_app(pilot)) == "retrieved: auth.md"
        await press(pilot, "space")
        assert here(the_app(pilot)) == "retrieved: auth.md"


async def test_a_resize_keeps_the_cursor_in_sight(run: Run) -> None:
    async with run(size=(120, 40)) as pilot:
        await pilot.press("G")
        await pilot.resize_terminal(100, 16)
        await pilot.pause()
        listing = the_list(the_app(pilot))
        assert listing.scroll_offset.y > 0
        assert listing.scroll_offset.y <= listing.cursor < listing.scroll_offset.y + listing.page_height


async def test_budget_by_keys_and_by_typing(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("b")
        assert app.screen.query_one(BudgetLine).has_focus
        await press(pilot, "H")
        assert drawn(app).assembly.settings.values["budget"] == 120
        assert status_of(app, "retrieved: api.md") is SectionStatus.DROPPED
        await pilot.press("9")
        assert app.screen.query_one(Input).has_focus
        await press(pilot, "0", "enter")
        assert drawn(app).assembly.settings.values["budget"] == 90
        await press(pilot, "u")
        assert drawn(app).assembly.settings.values["budget"] == 120
        await pilot.press("escape")
        assert app.focused is the_list(app)


async def test_turning_a_knob_is_one_step_to_undo(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("b")
        await press(pilot, "left", "left", "left")
        await settled(pilot)
        assert drawn(app).assembly.settings.values["budget"] == 170
        await press(pilot, "u")
        assert "budget" not in drawn(app).assembly.settings.values


async def test_a_value_that_does_not_fit_keeps_the_input_open(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("b", "enter", *"-5", "enter")
        assert isinstance(the_app(pilot).focused, Input)
        assert drawn(the_app(pilot)).assembly.settings.values == {}
        await pilot.press("escape")
        assert isinstance(the_app(pilot).focused, BudgetLine)


async def test_knobs_of_every_kind(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)

        def values() -> Mapping[str, Value]:
            return drawn(app).assembly.settings.values

        await pilot.press("K")
        panel = app.screen.query_one(KnobPanel)
        assert panel.has_focus
        await press(pilot, "left")
        assert values()["budget"] == 190
        await press(pilot, "d")
        assert values() == {}
        panel.go_to("memory")
        await press(pilot, "space")
        assert values() == {"memory": False}
        panel.go_to("style")
        await press(pilot, "right")
        assert values()["style"] == "loud"
        panel.go_to("mark")
        await pilot.press("enter", "ctrl+u")
        await press(pilot, *"(cut)", "enter")
        assert values()["mark"] == "(cut)"
        await pilot.press("escape")
        assert isinstance(app.focused, SectionList)


async def test_knobs_by_mouse(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("K")
        panel = app.screen.query_one(KnobPanel)
        row = next(n for n, r in enumerate(panel.rows) if r.knob and r.knob.name == "keep")
        start = panel._value_start(panel.text_width)
        before = app.picture
        await pilot.click(panel, offset=(start + 1, row + 1))
        await settled(pilot, before)
        assert drawn(app).assembly.settings.values["keep"] == 99


async def test_priorities_drop_another_section(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("b")
        await press(pilot, "left", "left", "left")
        assert status_of(app, "retrieved: api.md") is SectionStatus.DROPPED
        await pilot.press("escape", "G")
        await press(pilot, "plus")
        assert status_of(app, "retrieved: api.md") is SectionStatus.KEPT
        assert status_of(app, "retrieved: auth.md") is SectionStatus.DROPPED
        await pilot.press("g", "down", "down", "down", "plus")
        assert home_status(pilot) == "! AGENTS.md has no priority"


async def test_filter_keeps_parents_and_escape_clears_it(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("slash", *"git")
        assert names(app) == ["skills", "skills/git"]
        await pilot.press("enter")
        assert the_list(app).has_focus
        await pilot.press("escape")
        assert len(names(app)) == 14
        await pilot.press("slash", *"zzz", "enter")
        assert names(app) == []
        assert 'No section matches "zzz"' in the_list(app).empty_word
        await pilot.press("slash", "escape")
        assert home(app).view.filter == "zzz"  # escape takes the edit back, not the filter


async def test_states_sort_and_fold(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("f")
        assert set(names(app)) == {
            "context",
            "context/CLAUDE.md",
            "context/docs/missing.md",
            "tool result: grep",
            "retrieved: auth.md",
        }
        await pilot.press("escape", "o")
        assert names(app)[0] == "retrieved: auth.md"
        await pilot.press("O")
        assert names(app)[-1] == "retrieved: auth.md"
        await pilot.press("O", "o", "o", "o", "o")
        assert names(app)[0] == "identity"
        await pilot.press("g", "down", "down", "left")
        assert "context/AGENTS.md" not in names(app)
        await pilot.press("right", "down", "left")
        assert here(app) == "context"
        await pilot.press("z")
        assert len(names(app)) == 9
        await pilot.press("z")
        assert len(names(app)) == 14


async def test_panes_follow_the_row_under_the_cursor(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("G", "up")
        why = app.screen.query_one("#why", Prose).text
        assert "It has 1,050 characters and the cap is 400: the rest is cut." in why
        assert "1,050 chars against a limit of 400 (650 over) · 154 → 60 tokens (−94)" in why
        assert "sample.cap · sample 1.2 · sample.py::cap" in why
        text = app.screen.query_one("#text", TextView)
        assert text.cuts == 1
        await pilot.press("2")
        assert app.focused is app.screen.query_one("#why")
        await pilot.press("3", "1")
        assert app.focused is the_list(app)


async def test_why_screen_finds_what_would_keep_it_and_tries_it(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("G", "up", "enter")
        assert on(app, WhyScreen)
        prose = app.screen.query_one(Prose)
        await idle(pilot)
        assert "It would be whole if" in prose.text
        assert "cap" in prose.text
        await press(pilot, "1")
        assert status_of(app, "retrieved: auth.md") is SectionStatus.KEPT
        await press(pilot, "u")
        assert status_of(app, "retrieved: auth.md") is SectionStatus.TRUNCATED
        await pilot.press("escape")
        assert on(app, HomeScreen)


async def test_text_screen_finds_and_goes_to_cuts(run: Run) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("G", "up", "t")
        assert on(app, TextScreen)
        view = app.screen.query_one(TextView)
        await pilot.press("slash", *"fifteen", "enter")
        assert home_status(pilot) == '14 hits of "fifteen" · n N'
        await pilot.press("n", "n", "N")
        assert view.hit == 1
        await pilot.press("escape", "n")
        assert home_status(pilot) == "lost stretch 1 of 1"
        await pilot.press("v")
        assert isinstance(app.screen, TextScreen)
        assert app.screen.as_sent
        await pilot.press("n")
        assert home_status(pilot) == "! v shows the original with its cuts"
        await pilot.press("escape")
        assert on(app, HomeScreen)


async def test_another_text_is_a_what_if(run: Run, workspace: Path) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        before = (workspace / "promptdbg.toml").read_bytes()
        await pilot.press("E")
        area = app.screen.query_one(TextArea)
        area.text = "short"
        await press(pilot, "ctrl+s")
        assert drawn(app).sections["identity"].output == "short"
        assert "identity with another text" in home_status(pilot)
        assert (workspace / "promptdbg.toml").read_bytes() == before
        await press(pilot, "u")
        assert drawn(app).sections["identity"].output != "short"
        await pilot.press("E", "escape")
        assert on(app, HomeScreen)


async def test_turns(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await press(pilot, "[")
        assert drawn(app).assembly.turn == 3
        await press(pilot, "[")
        assert drawn(app).assembly.turn == 2
        await press(pilot, "]", "]")
        assert drawn(app).assembly.turn is None


async def test_copy_and_editor(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("y")
        assert app.clipboard.startswith("You are a careful")
        assert "83 characters" in home_status(pilot)
        await pilot.press("e")
        assert home_status(pilot) == "! it has no file of its own"
        monkeypatch.setenv("EDITOR", "true")
        await pilot.press("down", "down", "down", "e")
        assert "cannot start an editor" in home_status(pilot)  # no terminal to lend here


async def test_help_names_the_keys_of_the_pane(run: Run) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("question_mark")
        text = app.screen.query_one(Prose).text
        assert "Switch the item off, or on again" in text
        assert "A step down, or the choice before" not in text
        await pilot.press("escape", "K", "question_mark")
        assert "A step down, or the choice before" in app.screen.query_one(Prose).text
        await pilot.press("escape")


async def test_warnings(run: Run, tmp_path: Path) -> None:
    document = sample.DOCUMENT.replace("budget = 200", 'budget = 200\nnotes = ["one [b]bold[/] word"]', 1)
    folder = sample.write_workspace(tmp_path / "w", document)
    (folder / "grep.txt").unlink()
    async with run(folder=folder) as pilot:
        assert "2 warnings (!)" in home_status(pilot)
        await pilot.press("exclamation_mark")
        text = the_app(pilot).screen.query_one(Prose).text
        assert "grep.txt does not exist" in text
        assert "one [b]bold[/] word" in text


async def test_the_palette_knows_actions_and_sections(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await found(pilot, "deploy", "Section deploy")
        await pilot.press("enter")
        await until(pilot, lambda: here(app) == "skills/deploy", "at the section")


@pytest.mark.parametrize("first", [(), ("K",), ("m",)])
async def test_the_palette_opens_the_knobs_on_one(run: Run, first: tuple[str, ...]) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press(*first)
        await found(pilot, "mark of", "Knob Mark of a cut")
        await pilot.press("enter")
        await until(pilot, lambda: on(app, HomeScreen), "at home")
        panel = app.screen.query_one(KnobPanel)
        await until(pilot, lambda: panel.has_focus, "in the panel")
        assert panel.display
        assert panel.knob is not None
        assert panel.knob.title == "Mark of a cut"


async def test_mouse_switches_folds_and_opens(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        sections = the_list(app)
        before = app.picture
        await pilot.click(sections, offset=(2, 3))
        await settled(pilot, before)
        assert status_of(app, "safety rules") is SectionStatus.DISABLED
        await pilot.click(sections, offset=(12, 4))
        assert "context/AGENTS.md" not in names(app)
        await pilot.click(sections, offset=(20, 5))
        assert here(app) == "skills"
        assert on(app, HomeScreen)
        await pilot.click(sections, offset=(20, 5), times=2)
        assert on(app, WhyScreen)


LOSING = """\
engine = "sample"
keep = 2

[demo]
question = "Where did the first message go?"

[[sections]]
name = "identity"
text = "You are careful."

[[messages]]
role = "user"
content = "Please look at why the tests fail."

[[messages]]
role = "assistant"
content = "The cache is not cleared between runs."

[[messages]]
role = "user"
content = "Fix it."

[settings]
keep = 1
"""


async def test_that_messages_are_lost_is_said_on_the_smallest_first_screen(run: Run, tmp_path: Path) -> None:
    folder = sample.write_workspace(tmp_path / "losing", LOSING)
    async with run(folder=folder, size=(60, 20)) as pilot:
        lost = drawn(the_app(pilot)).messages_lost
        assert f"{lost} messages not whole (m)" in screen_text(the_app(pilot))
    async with run(folder=folder, size=(120, 40)) as pilot:
        header = screen_text(the_app(pilot)).splitlines()[0]
        assert f"{lost} lost/cut (m)" in header, "some of them may only be cut"


async def test_the_question_of_an_example_stays_while_one_looks_for_the_answer(
    run: Run, tmp_path: Path
) -> None:
    folder = sample.write_workspace(tmp_path / "losing", LOSING)
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        assert "QUESTION  Where did the first message go?  ctrl+t tour" in screen_text(app)
        await press(pilot, "space")
        assert "QUESTION  Where did the first message go?" in screen_text(app)


async def test_what_passed_a_limit_says_by_how_much_first(run: Run) -> None:
    async with run() as pilot:
        await press(pilot, "b", *"90", "enter")
        picture = drawn(the_app(pilot))
        lost = [section for section in picture.sections.values() if section.status is SectionStatus.DROPPED]
        assert lost
        for section in lost:
            decision = picture.decisions[section.id][-1]
            assert decision.measured is not None
            assert decision.limit is not None
            over = f"{decision.measured - decision.limit:,} over"
            assert why_short(picture, section) == f"{over} · Lowest priority goes first"


async def test_the_text_of_a_message_shows_what_was_lost_of_it() -> None:
    app = PromptdbgApp(lambda: Debugger(open_workspace(find(FLAGSHIP).path)), watch=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        for item, lost, sent in (("m27", 1, True), ("m0", 1, False), ("m28", 0, True)):
            app.push_screen(TextScreen(item))
            await idle(pilot)
            view = app.screen.query_one(TextView)
            assert view.cuts == lost
            await pilot.press("v")
            assert isinstance(app.screen, TextScreen)
            assert bool(app.screen.copied()) == sent
            await pilot.press("escape")


async def test_keys_that_change_how_it_is_looked_at_say_so(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("o")
        assert home_status(pilot) == "ordered by tokens"
        await pilot.press("O")
        assert home_status(pilot) == "ordered by tokens, reversed"
        await pilot.press("O")
        assert home_status(pilot) == "ordered by tokens"
        await press(pilot, "W")
        assert home_status(pilot) == "reloaded · nothing changed"
        await pilot.press("W")
        assert home_status(pilot) == "the files are not followed: r reads them again, W follows them"
