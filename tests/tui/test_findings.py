"""Findings: provider rules, the cached prefix, what is in the prompt twice, and where a row leads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from promptdbg.debug import Debugger, opened_assembly
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.findings import FindingRow, Group
from promptdbg.tui.screens.choices import ChoiceList
from promptdbg.tui.screens.findings import FindingList, FindingsScreen
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.widgets.prose import Prose
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

_RULE = "Ask before you delete a file, and say which one it is and why it must go."

DOCUMENT = f"""\
engine = "sample"
budget = 200

[[sections]]
name = "identity"
text = "You are a careful coding agent who reads before writing."

[[sections]]
name = "policy"
text = "{_RULE}"

[[sections]]
name = "memory"
text = "{_RULE}"

[[messages]]
role = "user"
content = "Please look at why the tests fail."

[[messages]]
role = "user"
content = "They fail on the second run."

[[messages]]
role = "assistant"
content = "The cache is not cleared between runs."

[[messages]]
role = "system"
content = "Be brief."

[[messages]]
role = "user"
content = "Fix it."
"""


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    return sample.write_workspace(tmp_path / "faulty", DOCUMENT)


def rows(app: PromptdbgApp, group: Group) -> list[FindingRow]:
    listing = app.screen.query_one(FindingList)
    return [row for row in listing.rows if row.group is group and not row.head]


def go_to(app: PromptdbgApp, wanted: FindingRow) -> None:
    listing = app.screen.query_one(FindingList)
    listing.cursor = list(listing.rows).index(wanted)


def detail(app: PromptdbgApp) -> str:
    return app.screen.query_one("#report", Prose).text


async def test_a_breach_leads_to_its_message_and_back(run: Run, faulty: Path) -> None:
    async with run(folder=faulty) as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        found = rows(app, Group.LINT)
        assert [(row.tag, row.item, row.title.partition(":")[0]) for row in found] == [
            ("all", "m1", "roles-in-a-row"),
            ("all", "m3", "system-in-the-middle"),
        ]
        assert home_status(pilot).startswith("2 breaches of provider rules")
        text = detail(app)  # the cursor opens on the first problem
        assert "Rules of    OpenAI and Anthropic" in text
        assert "Repair      merge it into the message before" in text
        assert "Since       SESSION (session)" in text
        await pilot.press("down", "enter")
        await idle(pilot)
        lists = app.screen
        assert isinstance(lists, MessagesScreen)
        message = lists.message
        assert message is not None
        assert message.id == "m3"
        await pilot.press("escape")
        assert on(app, FindingsScreen)
        await pilot.press("i")
        why = app.screen
        assert isinstance(why, WhyScreen)
        assert why.item == "m3"


async def test_a_message_is_found_in_lists_that_lie_open_below(run: Run, faulty: Path) -> None:
    async with run(folder=faulty) as pilot:
        app = the_app(pilot)
        await pilot.press("m", "p")
        await idle(pilot)
        await pilot.press("enter")
        await idle(pilot)
        assert isinstance(app.screen, MessagesScreen)
        assert len(app.screen_stack) == 3, "opening, sections, messages"


async def test_what_is_in_it_twice_leads_to_the_copy(run: Run, faulty: Path) -> None:
    async with run(folder=faulty) as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        (twice,) = rows(app, Group.TWICE)
        words = len(_RULE.split())
        assert twice.title == f"the same text as policy, {words} tokens"
        go_to(app, twice)
        await pilot.press("enter")
        assert isinstance(app.screen, TextScreen)
        assert app.screen.item == "memory"


async def test_the_cache_breaks_where_a_change_was_made(run: Run, faulty: Path) -> None:
    async with run(folder=faulty) as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        (turn,) = rows(app, Group.CACHE)
        assert (turn.where, turn.problem) == ("turn 3", False)
        await pilot.press("escape")
        await press(pilot, "space")  # switches the identity off
        await pilot.press("p")
        await idle(pilot)
        turn, changed = rows(app, Group.CACHE)
        assert not turn.problem
        cause = "1 earlier entry was taken out here [promptdbg.off]"
        assert changed.title.startswith(f"against the files: {cause}, ")
        assert (changed.item, changed.where) == ("identity", "identity")
        go_to(app, changed)
        await pilot.pause()
        assert "First       byte 0 of the request, in identity: byte 0 of it" in detail(app)
        assert "Then        You are a careful coding agent" in detail(app)
        assert "Now         Ask before you delete a file" in detail(app)


async def test_first_turn_and_recording_have_nothing_to_compare_with(run: Run, faulty: Path) -> None:
    async with run(folder=faulty) as pilot:
        app = the_app(pilot)
        await press(pilot, "[", "[", "[")
        await settled(pilot)
        assert drawn(app).assembly.turn == 1
        await pilot.press("p")
        await idle(pilot)
        (row,) = rows(app, Group.CACHE)
        assert "no turn before this one" in row.title
    made = sample.opener(faulty)().assembly
    app = PromptdbgApp(lambda: Debugger(opened_assembly(made)), watch=False, show_times=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("p")
        await idle(pilot)
        (row,) = rows(app, Group.CACHE)
        assert "a recording holds one request" in row.title
        await pilot.press("s")
        assert home_status(pilot) == "! a recording holds one request: there is none to compare it with"
        assert len(rows(app, Group.LINT)) == 2


SCENARIO = """
[scenarios.louder]
texts = { identity = "You are careful and you shout at the user of this agent." }
"""


async def test_no_cache_is_claimed_that_was_not_compared(run: Run, tmp_path: Path) -> None:
    plain = DOCUMENT[: DOCUMENT.index("[[messages]]")].replace(_RULE, "Ask first.", 1)
    folder = sample.write_workspace(tmp_path / "plain", plain)
    async with run(folder=folder) as pilot:
        await pilot.press("p")
        await idle(pilot)
        assert (
            home_status(pilot) == "no provider rule is broken, no cache was compared, nothing is in it twice"
        )
        assert "not compared" in screen_text(the_app(pilot))
        await pilot.press("s")
        assert home_status(pilot) == "! there is nothing here to compare with: no scenario, no other turn"
    folder = sample.write_workspace(tmp_path / "scenario", plain + SCENARIO)
    async with run(folder=folder) as pilot:
        await pilot.press("p")
        await idle(pilot)
        assert "no cache was compared (s chooses with what)" in home_status(pilot)


async def test_the_cache_against_a_scenario_that_is_chosen(run: Run, tmp_path: Path) -> None:
    folder = sample.write_workspace(tmp_path / "scenario", DOCUMENT + SCENARIO)
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        await pilot.press("s")
        names = [choice.name for choice in app.screen.query_one(ChoiceList).choices]
        assert names == ["scenario louder", "turn 3", "turn 2", "turn 1"]
        await pilot.press("enter")
        await idle(pilot)
        _, chosen = rows(app, Group.CACHE)
        assert chosen.problem
        assert chosen.title.startswith("against scenario louder: ")
        assert chosen.item == "identity"
        assert "1 break of the cached prefix" in home_status(pilot)
        row = app.screen.query_one(FindingList).row
        assert row == chosen, "the cursor goes to what was asked for"
        await pilot.press("s")
        assert app.screen.query_one(ChoiceList).cursor == 0, "on the one in force"
        await pilot.press("escape", "r")  # it stays chosen
        await idle(pilot)
        assert len(rows(app, Group.CACHE)) == 2


async def test_nothing_found_and_rows_that_lead_nowhere(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        assert (
            home_status(pilot)
            == "no provider rule is broken, the cached prefix holds, nothing is in it twice"
        )
        await pilot.press("enter")
        assert home_status(pilot) == "! this row is about no single item"
        await pilot.press("e")
        assert home_status(pilot) == "! it has no file of its own"
        await pilot.press("y")
        assert "the cache holds all of it" in app.clipboard
        await pilot.press("p", "p", "escape")  # the screen is opened once
        assert on(app, HomeScreen)


async def test_an_item_that_is_gone_is_refused(run: Run, faulty: Path) -> None:
    async with run(folder=faulty) as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        listing = app.screen.query_one(FindingList)
        row = FindingRow(Group.LINT, "all", "m99", "x", (), item="m99")
        listing.show([row])
        await pilot.press("enter")
        assert home_status(pilot) == "! m99 is not in this prompt"


async def test_the_cursor_stays_on_its_finding(run: Run, faulty: Path) -> None:
    async with run(folder=faulty) as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        await pilot.press("down")
        await press(pilot, "r")
        await idle(pilot)
        row = app.screen.query_one(FindingList).row
        assert row is not None
        assert row.item == "m3"


async def test_the_palette_opens_it(run: Run) -> None:
    async with run() as pilot:
        await found(pilot, "findings", "Findings (p)")
        await pilot.press("enter")
        await until(pilot, lambda: on(the_app(pilot), FindingsScreen), "at the findings")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_golden(
    run: Run, faulty: Path, golden: Callable[[PromptdbgApp, str], None], size: tuple[int, int]
) -> None:
    async with run(folder=faulty, size=size) as pilot:
        await pilot.press("p")
        await idle(pilot)
        golden(the_app(pilot), f"findings-{size[0]}x{size[1]}")


async def test_hostile_text_is_inert(run: Run, tmp_path: Path) -> None:
    attack = "\\u001b]52;c;T1dORUQ=\\u0007\\u202e[red]x[/] " * 3
    document = DOCUMENT.replace(_RULE, attack).replace("They fail", attack)
    folder = sample.write_workspace(tmp_path / "hostile", document)
    async with run(folder=folder, size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("p")
        await idle(pilot)
        for row in app.screen.query_one(FindingList).rows:
            go_to(app, row)
            await pilot.pause()
            assert not {"\x1b", "\x07", "\u202e"} & set(screen_text(app))
        assert "[red]x[/]" in detail(app)
