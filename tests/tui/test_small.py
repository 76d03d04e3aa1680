"""Small windows: what there is no room for is a key or a line away, and what is there can be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from promptdbg.model import Knob
from promptdbg.tui.inspector import knob_range
from promptdbg.tui.screens.findings import FindingList
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.widgets.chrome import Status
from promptdbg.tui.widgets.knobs import KnobPanel
from tests.tui import sample
from tests.tui.conftest import Run, found, home_status, idle, on, screen_text, the_app, until

LONG = "what was done here took a sentence that is longer than the line of a narrow window, and ends here"


async def test_a_long_sentence_has_a_second_line_where_there_are_lines_enough(run: Run) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        app.say(LONG)
        await idle(pilot)
        assert app.screen.query_one(Status).size.height == 2
        assert [line.strip() for line in screen_text(app).splitlines()[-3:-1]] == [
            "what was done here took a sentence that is longer than the line of a narrow",
            "window, and ends here",
        ]
        app.say("short")
        await idle(pilot)
        # The second line stays: what is above it would jump with every other sentence.
        assert screen_text(app).splitlines()[-3:-1] == [" short", ""]
        await pilot.resize_terminal(60, 10)
        app.say(LONG)
        await idle(pilot)
        assert screen_text(app).splitlines()[-2].endswith("longer than th…")
        await pilot.resize_terminal(120, 40)
        await idle(pilot)
        assert screen_text(app).splitlines()[-2] == f" {LONG}"
        app.say(f"{LONG}; {LONG}; {LONG}")
        await idle(pilot)
        assert screen_text(app).splitlines()[-2].endswith("…")


async def test_knobs_have_the_lines_of_the_list_where_there_are_few(run: Run) -> None:
    async with run(size=(60, 10)) as pilot:
        await pilot.press("K", "down")
        await idle(pilot)
        text = screen_text(the_app(pilot))
        assert "System budget" in text
        assert "Cap of a section" in text
        assert the_app(pilot).screen.query_one(KnobPanel).size.height >= 3
        await pilot.press("escape")
        assert "identity" in screen_text(the_app(pilot))


async def test_what_a_knob_takes_and_does_fits(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("K")
        await idle(pilot)
        assert home_status(pilot) == "System budget: Words that the sections may have · default 200"
        assert "‹ 200 › tokens" in screen_text(the_app(pilot))


def test_a_frame_has_room_for_what_a_knob_takes() -> None:
    few = Knob("style", "Style", "choice", "plain", group="", choices=("plain", "loud"))
    many = replace(few, choices=tuple(f"choice number {n}" for n in range(1_200)))
    assert knob_range(few) == "one of plain, loud"
    assert knob_range(many) == "one of 1,200: enter shows them"


async def test_no_value_has_no_unit(run: Run, tmp_path: Path) -> None:
    document = sample.DOCUMENT.replace("budget = 200", "", 1)
    async with run(folder=sample.write_workspace(tmp_path / "n", document)) as pilot:
        await pilot.press("K")
        panel = the_app(pilot).screen.query_one(KnobPanel)
        row = next(row for row in panel.rows if row.knob and row.knob.unit_word)
        assert panel._value(replace(row, value=None), 40) == ("‹ ", "not set", " ›")


@pytest.mark.parametrize(("budget", "said"), [(200, ""), (1, " · over the budget by 24 tokens")])
async def test_the_first_sentence_says_what_stands_nowhere_else(
    run: Run, tmp_path: Path, budget: int, said: str
) -> None:
    document = sample.DOCUMENT.replace("budget = 200", f"budget = {budget}", 1)
    async with run(size=(80, 24), folder=sample.write_workspace(tmp_path / "b", document)) as pilot:
        first, _, rest = home_status(pilot).partition(", ")
        assert first == "14 sections"
        assert rest.partition(" not whole")[2] == said


async def test_the_palette_shows_actions_in_a_window_of_few_lines(run: Run) -> None:
    async with run(size=(60, 10)) as pilot:
        await found(pilot, "turn", "Turn before ([)", "Turn after (])", "Turns (T)")


async def test_ctrl_c_says_in_the_status_line_what_leaves(run: Run) -> None:
    async with run(size=(60, 10)) as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert home_status(pilot) == "ctrl+c copies what the mouse selected; q leaves promptdbg"
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert home_status(pilot) == "u takes the last change back"


BACK = {
    "m": "esc Back",
    "T": "esc Back",
    "p": "esc Back",
    "x": "esc Back",
    "c": "esc Back",
    "F a enter": "esc Back",
    "i": "esc Back",
    "t": "esc Back",
    "K": "esc Close",
    "b": "esc Done",
    "slash": "esc Cancel",
}


@pytest.mark.parametrize("keys", BACK)
async def test_the_way_back_is_told_however_narrow_the_window(run: Run, keys: str) -> None:
    async with run(size=(60, 10)) as pilot:
        await pilot.press(*keys.split())
        await idle(pilot)
        line = screen_text(the_app(pilot)).splitlines()[-1]
        assert BACK[keys] in line
        assert "q Quit" in line or keys == "slash"


async def test_a_tour_can_be_followed_in_a_window_of_few_lines(run: Run) -> None:
    async with run(size=(60, 10)) as pilot:
        await pilot.press("ctrl+t")
        app = the_app(pilot)
        await until(pilot, lambda: "goes to the next" in " ".join(screen_text(app).split()), "a step")
        assert "▌● KEEP    identity" in screen_text(app)
        await pilot.press("m")
        await until(pilot, lambda: on(app, MessagesScreen), "at the messages")
        await idle(pilot)
        assert "TOUR" in screen_text(app)


async def test_what_an_export_hides_can_be_read_in_a_window_of_few_lines(run: Run) -> None:
    async with run(size=(60, 10)) as pilot:
        await pilot.press("x")
        await idle(pilot)
        assert "Written  14 sections" in screen_text(the_app(pilot))
        await pilot.press("tab", "G")
        await idle(pilot)
        assert "AGENTS.md" in screen_text(the_app(pilot))


async def test_findings_have_the_room_that_their_places_leave(run: Run) -> None:
    async with run(size=(60, 10)) as pilot:
        await pilot.press("p")
        await idle(pilot)
        listing = the_app(pilot).screen.query_one(FindingList)
        widest = max(len(row.where) for row in listing.rows if not row.head)
        assert listing._where == min(widest + 2, 24)


@pytest.mark.parametrize(("keys", "lines"), [("exclamation_mark", 7), ("K down down down down enter", 6)])
async def test_a_box_is_as_high_as_what_is_in_it(run: Run, keys: str, lines: int) -> None:
    async with run() as pilot:
        await pilot.press(*keys.split())
        await idle(pilot)
        box = the_app(pilot).screen.query_one("#box")
        assert box.size.height + 2 == lines  # with its border
        await pilot.resize_terminal(60, 10)
        await idle(pilot)
        assert box.region.width <= 60
        assert box.region.height <= 10
        assert "esc Close" in screen_text(the_app(pilot))
        await pilot.resize_terminal(120, 40)
        await idle(pilot)
        assert box.size.height + 2 == lines


async def test_a_box_of_much_has_all_lines_of_a_low_window(run: Run) -> None:
    async with run(size=(60, 10)) as pilot:
        await pilot.press("question_mark")
        await idle(pilot)
        assert the_app(pilot).screen.query_one("#box").region.height == 10


async def test_a_long_name_does_not_push_the_header_out(run: Run, tmp_path: Path) -> None:
    folder = sample.write_workspace(tmp_path / ("a-long-name-" * 9))
    async with run(size=(60, 10), folder=folder) as pilot:
        app = the_app(pilot)
        first = screen_text(app).splitlines()[0]
        assert "…" in first
        assert first.endswith("●8 ◐3 ∅1 ◇1 ≡1   PAUSED")
        await pilot.press("c", "s", "G", "enter", *str(folder), "enter")
        await idle(pilot)
        assert screen_text(app).splitlines()[0].startswith(" Compare   now against ")
