"""The Turns screen: what it shows, every key and click of it, and that nothing waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from promptdbg.debug import Debugger, OpenRequest, open_workspace, opened_assembly
from promptdbg.export.document import document
from promptdbg.export.load import assembly_from
from promptdbg.model import Assembly, Settings
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.screens.turns import TurnsScreen
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.turns import Measure
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.turn_list import TurnList
from promptdbg.tui.widgets.turn_strip import TurnStrip
from tests.tui import sample
from tests.tui.conftest import Run, drawn, home_status, idle, on, press, screen_text, settled, the_app, until

EXAMPLES = Path(__file__).parents[2] / "src/promptdbg/examples"

Golden = Callable[[PromptdbgApp, str], None]


def talk(turns: int, **settings: int) -> str:
    """A session of so many turns, each with an answer but the last."""
    lines = ['engine = "sample"', "budget = 200", "[settings]", *(f"{k} = {v}" for k, v in settings.items())]
    lines.append('[[sections]]\nname = "rules"\ntext = "be brief and kind"')
    for number in range(1, turns + 1):
        lines.append(f'[[messages]]\nrole = "user"\ncontent = "question {number}, in some words"')
        if number < turns:
            lines.append(f'[[messages]]\nrole = "assistant"\ncontent = "answer {number}"')
    return "\n".join(lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight turns; five messages fit with the system prompt, so that turn 3 is the first to lose one."""
    return sample.write_workspace(tmp_path / "talk", talk(8, keep=5), {})


def screen(pilot: Pilot[Any]) -> TurnsScreen:
    found = the_app(pilot).screen
    assert isinstance(found, TurnsScreen)
    return found


def listing(pilot: Pilot[Any]) -> TurnList:
    return screen(pilot).query_one(TurnList)


def reported(pilot: Pilot[Any]) -> str:
    return screen(pilot).query_one("#report", Prose).text


async def opened(pilot: Pilot[Any], *before: str) -> None:
    """The screen, with all turns known."""
    await pilot.press(*before, "T")
    await idle(pilot)
    assert on(the_app(pilot), TurnsScreen)


# ---- what it shows ---------------------------------------------------------------------------------


async def test_turns_with_the_boundary_between(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        what = listing(pilot).what
        assert what is not None
        rows = what.rows
        assert [row.place for row in rows] == [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]
        assert rows[2].drawn is not None
        assert rows[2].drawn.word == "left out"
        assert listing(pilot).row == rows[-1]  # the turn that is open
        assert "9 turns" in screen_text(the_app(pilot))
        await pilot.press("g", "down", "down")
        assert reported(pilot).startswith("Before turn 3\nLeft out: 1 message (m0)")


async def test_the_life_of_the_item_one_came_from(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await pilot.press("m", "down")
        await opened(pilot)
        assert screen(pilot).item == "m0"
        told = reported(pilot)
        assert "The life of user m0" in told
        assert "Turns 1 to 2  ● whole" in told
        assert "From turn 3 on  ○ left out" in told
        strip = screen_text(the_app(pilot)).splitlines()
        assert any(line.split() == ["life", *"●●", *"○" * 7] for line in strip)


async def test_the_same_item_from_why_and_back(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        await pilot.press("m", "down", "i")
        assert on(app, WhyScreen)
        await opened(pilot)
        assert screen(pilot).item == "m0"
        await pilot.press("T")
        assert on(app, WhyScreen)
        await pilot.press("T", "i")  # Why lies below: there and back
        assert on(app, WhyScreen)
        await pilot.press("escape")
        assert on(app, MessagesScreen)


# ---- keys ------------------------------------------------------------------------------------------


async def test_enter_shows_a_turn(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        await opened(pilot)
        await pilot.press("up", "up")
        await press(pilot, "enter")
        assert drawn(app).assembly.turn == 7
        assert on(app, HomeScreen)
        await opened(pilot)
        assert screen(pilot).place == 6
        await pilot.press("N")  # onto the boundary: the turn after it
        await press(pilot, "enter")
        assert drawn(app).assembly.turn == 3
        await press(pilot, "u")
        assert drawn(app).assembly.turn == 7


async def test_moving(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        turns = listing(pilot)
        await pilot.press("g")
        assert turns.cursor == 0
        await pilot.press("right", "l", "right")
        assert turns.row is not None
        assert (turns.row.place, turns.row.drawn) == (3, None)  # past the boundary
        await pilot.press("left")
        assert screen(pilot).place == 2
        await pilot.press("G", "h")
        assert screen(pilot).place == 7
        await pilot.press("g", "left")
        assert screen(pilot).place == 0
        await pilot.press("G", "right")
        assert screen(pilot).place == 8


async def test_next_and_previous_stop(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await pilot.press("m", "down", "down", "down")
        await opened(pilot)
        assert screen(pilot).item == "m2"
        turns = listing(pilot)
        await pilot.press("g", "n")
        assert screen(pilot).place == 1  # it comes in
        await pilot.press("n")
        assert turns.row is not None
        assert turns.row.drawn is not None  # the boundary, at turn 3
        await pilot.press("n")
        assert screen(pilot).place == 3  # it goes
        await pilot.press("n")
        assert home_status(pilot) == "! nothing happens after this turn"
        await pilot.press("N", "N")
        assert screen(pilot).place == 1
        await pilot.press("N")
        assert home_status(pilot) == "! nothing happens before this turn"


async def test_measure(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        assert "USED" in screen_text(the_app(pilot))
        await pilot.press("v")
        assert screen(pilot).measure is Measure.SENT
        assert "SENT" in screen_text(the_app(pilot))
        assert home_status(pilot) == "the bars are the tokens of the whole request"
        sent = drawn(the_app(pilot)).assembly.stages[-1].tokens
        assert f"The next turn: {sent} tokens sent" in screen_text(the_app(pilot))
        await pilot.press("v")
        assert screen(pilot).measure is Measure.USED


async def test_the_life_can_be_hidden(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        assert "The life of rules" in reported(pilot)
        await pilot.press("z")
        assert "The life of" not in reported(pilot)
        assert "life" not in screen_text(the_app(pilot)).replace("Life", "")
        await pilot.press("z")
        assert "The life of rules" in reported(pilot)


async def test_without_an_item(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot, "x")
        assert screen(pilot).item is None
        await pilot.press("z")
        assert home_status(pilot) == "! no item is in charge here: T on an item shows its life"
        await pilot.press("i")
        assert home_status(pilot) == "! no item is in charge here: T on an item shows its life"


async def test_the_keys_of_the_item(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        await pilot.press("m", "down")
        await opened(pilot)
        await pilot.press("y")
        assert app.clipboard == reported(pilot)
        await pilot.press("i")
        assert on(app, WhyScreen)
        await pilot.press("escape")
        assert on(app, TurnsScreen)
        await press(pilot, "space")
        await idle(pilot)
        assert drawn(app).assembly.settings.off == {"m0"}
        assert "× off" in reported(pilot)  # every turn was made anew
        await press(pilot, "u")
        await idle(pilot)
        assert "○ left out" in reported(pilot)


@pytest.mark.parametrize("key", ["escape", "T"])
async def test_back(run: Run, folder: Path, key: str) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        await pilot.press(key)
        assert on(the_app(pilot), HomeScreen)


async def test_turning_while_it_is_open(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        asked = screen(pilot)._kept
        await press(pilot, "[")
        assert screen(pilot).place == 7
        assert "* " in "".join(
            line for line in screen_text(the_app(pilot)).splitlines() if "question 8" in line
        )
        assert screen(pilot)._kept is asked  # nothing is assembled anew
        await press(pilot, "]")
        assert screen(pilot).place == 8


# ---- the mouse -------------------------------------------------------------------------------------


async def test_a_click_on_the_strip_goes_to_the_turn(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        await pilot.click(TurnStrip, offset=(10 + 4 * 2, 3))
        assert screen(pilot).place == 2
        await pilot.click(TurnStrip, offset=(2, 3))  # the axis means nothing
        assert screen(pilot).place == 2
        before = the_app(pilot).picture
        await pilot.click(TurnStrip, offset=(10 + 4 * 2, 3), times=2)
        await settled(pilot, before)
        assert drawn(the_app(pilot)).assembly.turn == 3


async def test_a_double_click_on_a_row_shows_the_turn(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        before = the_app(pilot).picture
        await pilot.click(TurnList, offset=(10, 3), times=2)
        await settled(pilot, before)
        assert drawn(the_app(pilot)).assembly.turn == 2


# ---- while turns are being looked at ---------------------------------------------------------------


class Gate:
    """Lets one assembly of another turn through at a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[int | None] = []
        self.open = threading.Semaphore(0)
        self.shut = False
        made = sample.ENGINE.assemble

        def assemble(inputs: sample.SampleInputs, settings: Settings, counter: Any) -> Assembly:
            if self.shut:
                self.asked.append(settings.turn)
                assert self.open.acquire(timeout=100)
            return made(inputs, settings, counter)

        monkeypatch.setattr(sample.ENGINE, "assemble", assemble, raising=False)


async def known(pilot: Pilot[Any], count: int) -> None:
    """Wait until so many turns are drawn."""

    def drawn() -> bool:
        what = screen(pilot).shown
        return what is not None and what.count >= count

    await until(pilot, drawn, f"{count} turns")


async def test_the_nearest_turns_come_first_and_keys_work_meanwhile(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    monkeypatch.setattr("promptdbg.tui.screens.turns._BATCH_SECONDS", 0.0)
    async with run(folder=folder) as pilot:
        gate.shut = True
        await pilot.press("T")
        await known(pilot, 1)  # the one that is shown, which is assembled already
        text = screen_text(the_app(pilot))
        assert "1 of 9 turns known" in text
        assert "question 3" in text  # what the session says needs no assembly
        await pilot.press("g", "down")  # keys work; the next turn looked at is the one before the first seen
        assert screen(pilot).place == 1
        gate.open.release()
        await known(pilot, 2)
        gate.open.release()
        await known(pilot, 3)
        assert gate.asked[:2] == [8, 2]
        gate.open.release(20)
        await idle(pilot)
        assert sorted(gate.asked, key=str) == [1, 2, 3, 4, 5, 6, 7, 8]
        assert "9 turns" in screen_text(the_app(pilot))
        assert screen(pilot).place == 1  # the cursor stayed


async def test_it_rests_while_another_screen_is_open(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    monkeypatch.setattr("promptdbg.tui.screens.turns._BATCH_SECONDS", 0.0)
    async with run(folder=folder) as pilot:
        gate.shut = True
        await pilot.press("T")
        await known(pilot, 1)
        await pilot.press("question_mark")
        gate.open.release(1)  # the one that had begun
        await idle(pilot)
        seen = len(gate.asked)
        assert seen <= 3
        gate.open.release(20)
        await pilot.press("escape")
        await known(pilot, 9)
        assert len(gate.asked) == len(set(gate.asked)) == 8


async def test_a_fault_of_an_engine_is_a_line(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sample.ENGINE.assemble

    def assemble(inputs: sample.SampleInputs, settings: Settings, counter: Any) -> Assembly:
        if settings.turn == 3:
            raise ZeroDivisionError("by nothing")
        return made(inputs, settings, counter)

    monkeypatch.setattr(sample.ENGINE, "assemble", assemble, raising=False)
    async with run(folder=folder) as pilot:
        await pilot.press("T")
        await idle(pilot)
        assert home_status(pilot) == "! turn 3 could not be assembled: by nothing"
        assert "of 9 turns known" in screen_text(the_app(pilot))  # those before it stay
        what = screen(pilot).shown
        assert what is not None
        assert what.count == 6


async def test_a_reload_makes_the_turns_anew(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot, "m", "down")
        sample.write_workspace(folder, talk(9, keep=100), {})
        await press(pilot, "r")
        await idle(pilot)
        assert "10 turns" in screen_text(the_app(pilot))
        what = listing(pilot).what
        assert what is not None
        assert [row.drawn for row in what.rows if row.drawn is not None] == []
        assert "In every turn  ● whole" in reported(pilot)


async def test_a_session_that_grows_is_followed(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        await opened(pilot)
        sample.write_workspace(folder, talk(9, keep=5), {})
        await press(pilot, "r")
        await idle(pilot)
        assert screen(pilot).place == 9  # the turn to come is another one now
        await pilot.press("g", "right")
        sample.write_workspace(folder, talk(10, keep=5), {})
        await press(pilot, "r")
        await idle(pilot)
        assert screen(pilot).place == 1  # but a turn that is looked at stays


async def test_turns_that_fail(run: Run, tmp_path: Path) -> None:
    failing = sample.write_workspace(
        tmp_path / "fails", talk(3).replace("[settings]", 'fails = "no role"'), {}
    )
    async with run(folder=failing) as pilot:
        await opened(pilot)
        text = screen_text(the_app(pilot))
        assert text.count("fails") >= 4
        assert "no role" in reported(pilot)


async def test_no_turns_and_a_recording(run: Run, folder: Path, tmp_path: Path) -> None:
    empty = sample.write_workspace(tmp_path / "none", 'engine = "sample"\n', {})
    async with run(folder=empty) as pilot:
        await pilot.press("T")
        assert home_status(pilot) == "! there are no turns: no session with user messages is open"
    saved = json.loads(json.dumps(document(sample.opener(folder)().assembly)))
    recording = opened_assembly(assembly_from(saved, "saved.json"))
    app = PromptdbgApp(lambda: Debugger(recording), watch=False, show_times=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("T")
        assert home_status(pilot) == "! this is a recording: it holds one turn"


# ---- sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(60, 10), (60, 16), (72, 20), (99, 29), (140, 24), (300, 100)])
async def test_sizes(run: Run, folder: Path, size: tuple[int, int]) -> None:
    async with run(size=size, folder=folder) as pilot:
        await pilot.press("m", "down")
        await opened(pilot)
        text = screen_text(the_app(pilot))
        assert "The next turn: " in text
        assert "next ○ left out" in text
        assert "q Quit" in text
        await pilot.press("n", "N")


async def test_more_turns_than_cells(run: Run, tmp_path: Path) -> None:
    many = sample.write_workspace(tmp_path / "many", talk(120), {})
    async with run(size=(60, 16), folder=many) as pilot:
        await opened(pilot)
        assert "3 turns a bar" in screen_text(the_app(pilot))
        await pilot.click(TurnStrip, offset=(10, 1))
        assert screen(pilot).place == 2  # the last of the three
        await pilot.press("left")
        await pilot.click(TurnStrip, offset=(10, 1))
        assert screen(pilot).place == 1  # it is in that bar already


# ---- golden screens --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("turns-archived", ("m", *["down"] * 5, "T")),
        ("turns-boundary", ("m", *["down"] * 5, "T", "N")),
        ("turns-ascii", ("T", "v")),
    ],
)
async def test_golden(golden: Golden, size: tuple[int, int], name: str, keys: tuple[str, ...]) -> None:
    folder = EXAMPLES / "nanobot-archived"
    app = PromptdbgApp(
        lambda: Debugger(open_workspace(folder, OpenRequest())),
        watch=False,
        show_times=False,
        ascii_only=name.endswith("ascii"),
    )
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await idle(pilot)
        golden(app, f"{name}-{size[0]}x{size[1]}")
        if app.ascii_only:
            assert "".join(c for c in screen_text(app) if not c.isascii()).strip(" ▁▂▃▄▅▆▇█▊▎▔ü") == ""


async def test_what_was_found_is_there_when_one_comes_back(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    async with run(folder=folder) as pilot:
        await opened(pilot)
        await pilot.press("escape")
        gate.shut = True  # nothing could be assembled now
        await pilot.press("T")
        await known(pilot, 9)
        assert not gate.asked
        await pilot.press("escape", "m", "down", "T")  # the life of an item, of the same turns
        await idle(pilot)
        assert "The life of" in reported(pilot)
        assert not gate.asked


async def test_a_batch_of_the_turns_before_a_reload_is_not_drawn(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    monkeypatch.setattr("promptdbg.tui.screens.turns._BATCH_SECONDS", 0.0)
    async with run(folder=folder) as pilot:
        gate.shut = True
        await pilot.press("T")
        await until(pilot, lambda: gate.asked, "a turn that is looked at")
        sample.write_workspace(folder, talk(9, keep=5), {})
        before = the_app(pilot).picture
        await pilot.press("r")
        gate.open.release(100)
        await settled(pilot, before)
        await known(pilot, 10)
        await idle(pilot)
        assert screen(pilot).place == 9, "it stood on the turn to come, and does"
