"""The Messages screen, key by key."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from promptdbg.model import Failure, StageKind
from promptdbg.tui import message_cells
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.screens.stages import StagesBox
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.widgets.column_totals import ColumnTotals
from promptdbg.tui.widgets.message_columns import MessageColumns
from promptdbg.tui.wrapping import wrap
from tests.tui.conftest import Run, home_status, idle, press, screen_text, settled, the_app
from tests.tui.lists import Lists, assembly, conversation, lists_of, message, stage

KINDS = (StageKind.SESSION, StageKind.INITIAL, StageKind.FINAL)
Golden = Callable[[PromptdbgApp, str], None]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_screen(golden: Golden, size: tuple[int, int]) -> None:
    async with lists_of(conversation(), size) as lists:
        golden(lists.app, f"messages-{size[0]}x{size[1]}")


async def test_every_kind_of_row_is_there() -> None:
    async with lists_of(conversation(equal=0)) as lists:
        text = "\n".join(lists.lines())
    for words in (
        "+system",
        "−DROP",
        "+tool ls                 ADD",
        "~tool grep               CUT",
        "&user                  MERGE",
        "assistant → grep, ls",
        "[image, image/png, 9.9 kB]",
        "[thinking] The second run finds no",
        "8 rows are over the cap.",
    ):
        assert words in text
    assert "iVBORw0KGgo" not in text


async def test_next_and_previous_change() -> None:
    async with lists_of(conversation()) as lists:
        assert lists.status.startswith("aligned: 2 ADD, 2 DROP, 1 CUT, 1 MERGE")
        assert "1 of 5 changes" in lists.header
        seen = []
        for _ in range(4):
            await lists.press("n")
            seen.append(lists.status.split(" · ")[1:3])
        assert seen == [["INITIAL", "DROP"], ["FINAL", "CUT"], ["FINAL", "ADD"], ["INITIAL", "MERGE"]]
        await lists.press("n")
        assert lists.status == "! no change after this row"
        await lists.press("N")
        assert lists.status.split(" · ")[2] == "ADD"


async def test_the_status_line_is_the_engines_sentence() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("n", "n")
        assert lists.status == "6 · FINAL · CUT · It is longer than 90 characters. · lists.results.cap"


async def test_enter_opens_a_row_with_its_reasons_in_all_columns() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("n", "n")
        assert len(lists.entry()) == 3
        await lists.press("enter")
        text = "\n".join(lists.entry())
        assert "src/app/cli.py:59" in text
        assert "[the rest is cut]" in text
        assert "It is longer than 90 characters." in text
        assert "lists.results.cap" in text
        assert "lists.py::cap" in text
        await lists.press("enter")
        assert len(lists.entry()) == 3


async def test_enter_shows_what_is_folded_and_z_folds_it_again() -> None:
    async with lists_of(conversation()) as lists:
        rows = lists.columns.row_count
        fold = next(n for n in range(rows) if not isinstance(lists.entries[n], int))
        await lists.press(*["down"] * (fold - lists.columns.cursor))
        where = lists.columns.row
        await lists.press("enter")
        assert lists.columns.row_count > rows
        assert lists.columns.row == where
        await lists.press("z")
        assert lists.columns.row_count == rows


async def test_only_changes() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("f")
        plan = lists.columns.plan
        assert plan is not None
        assert all(isinstance(entry, int) and plan.alignment.changed(entry) for entry in plan.entries)
        assert len(plan.entries) == 6
        await lists.press("escape")
        assert len(lists.entries) > 6


async def test_the_word_difference_needs_no_colour() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("G", "d")
        text = "\n".join(lists.entry())
        assert "Try it without the cache.{+" in text
        assert "And tell me what you see.+}" in text
        await lists.press("d")
        assert "{+" not in "\n".join(lists.entry())


async def test_the_word_difference_says_when_there_is_none() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("g", "d")
        assert lists.status == "! there is no text beside it to compare with"
        await lists.press("down", "down", "down", "d")
        assert lists.status == "! nothing differs in this row"


async def test_wrap_shows_all_of_every_message() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("w")
        text = "\n".join(lists.lines())
        assert "src/app/cli.py:59" in text
        assert "lists.py::cap" not in text
        await lists.press("w")
        assert "src/app/cli.py:59" not in "\n".join(lists.lines())


async def test_columns_are_hidden_and_shown() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("2")
        assert lists.names == ["session", "final"]
        await lists.press("1")
        await lists.press("3")
        assert lists.status == "! it is the only list in sight"
        await lists.press("4")
        assert lists.status.startswith("! no recorded request is loaded")
        await lists.press("1", "2")
        assert len(lists.names) == 3


async def test_every_step_can_be_reached() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("right")
        names = []
        for _ in range(3):
            await lists.press("greater_than_sign")
            names.append(lists.names[1])
        assert names == ["repair", "results", "results"]
        assert lists.status == "! FINAL stands to the right; move or hide that column first"
        await lists.press("left", "less_than_sign")
        assert lists.status == "! there is no list before this one"
        assert "Results" in lists.lines()[0]


async def test_a_stage_is_chosen_from_the_list_of_all(golden: Golden) -> None:
    async with lists_of(conversation(), (100, 24)) as lists:
        await lists.press("right", "s")
        assert isinstance(lists.app.screen, StagesBox)
        golden(lists.app, "messages-stages")
        await lists.press("down", "enter")
        assert lists.names == ["session", "repair", "final"]
        assert lists.status == "3 of 5: Repair, 1 inserted"
        await lists.press("2", "left", "s", "down", "down", "enter")
        assert lists.names == ["repair", "final"]
        await lists.press("2")
        assert lists.names == ["session", "initial", "final"]


async def test_m_goes_there_and_back() -> None:
    async with lists_of(conversation()) as lists:
        await lists.pilot.press("m")
        assert not isinstance(lists.app.screen, MessagesScreen)
        await lists.press("m")
        assert lists.columns.row_count


async def test_the_help_names_the_signs() -> None:
    async with lists_of(conversation()) as lists:
        await lists.pilot.press("question_mark", "G")
        await lists.pilot.pause()
        assert "holds the text of several messages" in screen_text(lists.app)


async def test_a_recorded_request_is_a_fourth_list() -> None:
    recorded = stage(
        "recorded",
        StageKind.FINAL,
        [message("r0", "system", "You are a careful coding agent.\nFollow the project notes. Be kind.")],
    )
    async with lists_of(conversation(), (150, 40), recorded=recorded) as lists:
        assert len(lists.names) == 4
        assert "RECORDED" in lists.lines()[0]
        await lists.press("g", "d")
        assert "{+" in lists.entry()[2].rpartition("│")[2]
        await lists.press("4")
        assert len(lists.names) == 3
        assert lists.status == "the recorded request is hidden: 4 shows it again"
        await lists.press("4", "1", "2", "3")
        assert lists.names == ["recorded"]
        await lists.press("s")
        assert lists.status == "! this column shows the recorded request"


async def test_narrow_windows_slide_over_the_columns() -> None:
    async with lists_of(conversation(), (80, 24)) as lists:
        assert max(lists.shown) == 1
        assert "(CUT in FINAL: →)" in "\n".join(lists.lines())
        await lists.press("right", "right")
        assert 2 in lists.shown
        await lists.press("right")
        assert lists.status == "! there is no column further right"
        await lists.pilot.resize_terminal(60, 16)
        await lists.settle()
        await lists.press("left", "left", "left", "g")
        text = "\n".join(lists.lines())
        assert "(ADD in INITIAL: →)" in text  # not a row of nothing
        assert re.search(r"tool grep +\(CUT in FINAL: →\) +\d", text)
        assert len(lists.shown) == 1
        await lists.pilot.resize_terminal(150, 40)
        await lists.settle()
        assert len(lists.shown) == 3


async def test_long_lists_open_without_wrapping_what_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped: list[int] = []

    def counted(text: str, room: int) -> object:
        wrapped.append(len(text))
        return wrap(text, room)

    monkeypatch.setattr(message_cells, "wrap", counted)
    texts = [f"a question of some length, number {n}, " * 9 for n in range(20_000)]
    async with lists_of(conversation(equal=0, texts=texts)) as lists:
        assert lists.columns.row_count < 20
        await lists.press("f", "f", "G", "n", "g")
        fold = next(n for n, entry in enumerate(lists.entries) if not isinstance(entry, int))
        await lists.press(*["down"] * fold, "enter")
        assert lists.columns.row_count > 20_000
        for key in ("G", "pageup", "g", "pagedown", "N", "n"):
            await lists.press(key)
        assert len(wrapped) < 1000
        assert max(wrapped) < 200
        await lists.press("w")
        assert len(wrapped) > 20_000
        assert lists.columns.line_count() > 200_000


async def test_a_layout_that_comes_late_is_not_drawn() -> None:
    texts = [f"question {n}" for n in range(4_000)]
    async with lists_of(conversation(equal=0, texts=texts)) as lists:
        await lists.pilot.press("w", "w", "f", "w", "f", "w")
        await lists.settle()
        assert lists.plan.view == lists.columns.view
        assert not lists.columns.view.wrap


async def test_what_was_dropped_is_named_where_its_column_is_out_of_sight() -> None:
    async with lists_of(conversation(), (60, 20)) as lists:
        await lists.press("n")
        assert lists.shown == (1,)
        assert "−DROP user" in lists.entry()[0]


async def test_the_next_change_is_brought_into_sight() -> None:
    async with lists_of(conversation(), (80, 24)) as lists:
        await lists.press("n", "n")
        assert 2 in lists.shown


async def test_find_shows_only_rows_that_hold_the_text() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("slash", *"CLI.py", "enter")
        assert lists.columns.row_count == 1
        await lists.press("slash", *"zzz", "enter")
        assert lists.columns.row_count == 0
        assert lists.status == 'no message holds "CLI.pyzzz"; esc shows all'
        await lists.press("escape")
        assert lists.columns.row_count > 6


async def test_copy_takes_the_text_of_the_message() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("g", "y")
        assert lists.app.clipboard == "You are a careful coding agent.\nFollow the project notes."


async def test_why_opens_the_report_and_comes_back_to_the_row() -> None:
    async with lists_of(conversation()) as lists:
        await lists.press("n", "n")
        row = lists.columns.row
        await lists.pilot.press("i")
        await lists.pilot.pause()
        assert isinstance(lists.app.screen, WhyScreen)
        assert lists.app.screen.item == "m4"
        await lists.press("escape")
        assert lists.columns.row == row


async def test_escape_goes_back() -> None:
    async with lists_of(conversation()) as lists:
        await lists.pilot.press("escape")
        assert not isinstance(lists.app.screen, MessagesScreen)


async def test_the_editor_opens_at_the_messages_line(monkeypatch: pytest.MonkeyPatch) -> None:
    async with lists_of(conversation()) as lists:
        opened: list[object] = []
        monkeypatch.setattr(lists.app, "open_editor", opened.append)
        await lists.press("n", "e")
        assert [str(source) for source in opened] == ["sessions/demo.jsonl:2"]


async def test_a_message_is_switched_off_and_the_cursor_stays(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("m")
        lists = Lists(pilot)
        await lists.settle()
        await lists.press("down", "down")
        await press(pilot, "space")
        await lists.settle()
        assert lists.columns.row == 2
        cell = lists.alignment.cell(2, 1)
        assert cell.word == "OFF"
        assert lists.app.driver.debugger is not None
        assert lists.app.driver.debugger.settings.off == {"m1"}
        assert lists.status.startswith("m1 off")
        await press(pilot, "u")
        await lists.settle()
        assert not lists.alignment.changed(2)
        await lists.press("g", "space")
        assert lists.status.startswith("! only stored messages can be switched off")


async def test_a_reload_keeps_the_row_and_what_is_open(run: Run, workspace: Path) -> None:
    async with run() as pilot:
        await pilot.press("m")
        lists = Lists(pilot)
        await lists.settle()
        await lists.press("G", "enter")
        manifest = workspace / "promptdbg.toml"
        manifest.write_text(manifest.read_text() + '\n[[messages]]\nrole = "assistant"\ncontent = "On it."\n')
        before = lists.app.picture
        lists.app.driver.reload()
        await settled(pilot, before)
        await lists.settle()
        assert lists.columns.row == 5
        assert lists.alignment.length == 7
        assert lists.columns.view.opened == {"m4"}


async def test_a_list_that_is_missing_is_said_once() -> None:
    whole = conversation()
    async with lists_of(assembly(whole.stages[:2])) as lists:
        assert "FINAL: not recorded in this file" in lists.header
        assert len(lists.names) == 2
        await lists.press("3")
        assert lists.status == "! FINAL: not recorded in this file"


async def test_a_framework_that_fails(golden: Golden) -> None:
    failure = Failure("KeyError", "session/manager.py::get_history", "A row has no role.")
    async with lists_of(assembly(conversation().stages[:1], failure=failure), (100, 16)) as lists:
        assert "INITIAL, FINAL: the framework fails before" in lists.header
        golden(lists.app, "messages-failure")


async def test_lists_without_messages(golden: Golden) -> None:
    empty = [stage(kind.value, kind, []) for kind in KINDS]
    async with lists_of(assembly(empty), (80, 12)) as lists:
        assert "No messages in these lists." in "\n".join(lists.lines())
        assert "no changes" in lists.header
        await lists.press("n", "enter", "d", "y", "i", "e", "space", "f", "f", "G", "greater_than_sign", "z")
        golden(lists.app, "messages-empty")


async def test_equal_lists() -> None:
    rows = [message(f"m{n}", "user", f"question {n}") for n in range(3)]
    equal = [
        stage(kind.value, kind, rows) for kind in (StageKind.SESSION, StageKind.INITIAL, StageKind.FINAL)
    ]
    async with lists_of(assembly(equal)) as lists:
        assert lists.status.startswith("aligned: the lists are the same")
        await lists.press("n")
        assert lists.status == "! nothing differs in these lists"


HOSTILE = [
    "\x1b]52;c;aGFja2Vk\x07 sets the clipboard",
    "\x1b[2J\x1b[31mred\x1b[0m",
    "right to left \u202eedisrever\u202c and hidden \u200b\u2060",
    "[red]markup[/red] [/] [link=x]",
    "wide 日本語テキスト and 👩‍👩‍👧‍👦 family",
    "tab\tand bell \x07 and null \x00",
    "x" * 200_000,
    "e\u0301" + "\u0301" * 400,
    "",
    "\n\n\n",
]


@pytest.mark.parametrize("keys", [(), ("w",), ("f",), ("G", "enter", "d")])
async def test_hostile_text_does_nothing(keys: tuple[str, ...]) -> None:
    async with lists_of(conversation(equal=0, texts=HOSTILE)) as lists:
        await lists.press(*keys)
        columns = lists.columns
        step = max(columns.line_count() // 300, 1)
        for line in range(0, columns.line_count(), step):
            strip = columns.draw_line(line, columns.text_width)
            assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in strip.text)
            assert "\u202e" not in strip.text
            assert strip.cell_length == columns.text_width
        assert all(segment.style is not None for segment in strip)


async def test_hostile_text_on_screen(golden: Golden) -> None:
    async with lists_of(conversation(equal=0, texts=HOSTILE), (120, 40)) as lists:
        await lists.press("G")
        golden(lists.app, "messages-hostile")


async def test_without_colour(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with lists_of(conversation()) as lists:
        await lists.press("n", "n", "enter", "d", "w")
        golden(lists.app, "messages-no-color")


@pytest.mark.parametrize("keys", [(), ("1",), ("G", "enter"), ("f",)])
async def test_in_plain_ascii(keys: tuple[str, ...]) -> None:
    async with lists_of(conversation(), ascii_only=True) as lists:
        await lists.press(*keys)
        strange = {char for line in lists.lines() for char in line if not char.isascii()}
        assert not strange
        totals = lists.screen.query_one(ColumnTotals)
        assert totals.render_line(0).text.isascii()


async def test_a_click_gives_the_focus_to_the_column_under_it() -> None:
    async with lists_of(conversation()) as lists:
        await lists.pilot.click(MessageColumns, offset=(100, 5))
        assert lists.columns.focus_column == 2
        assert lists.columns.cursor == 1


async def test_the_text_of_a_message_is_marked_as_lost_where_the_model_does_not_get_it(run: Run) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("m", "down")
        await press(pilot, "space")
        await pilot.press("t")
        await idle(pilot)
        text = screen_text(app)
        assert "user m0 · original" in text
        assert "1 stretch lost: n" in text
        await pilot.press("v")
        text = screen_text(app)
        assert "user m0 · as sent · 0 chars" in text
        assert "(nothing stands in the prompt)" in text
        await press(pilot, "u")
        assert "user m0 · as sent · 52 chars" in screen_text(app)
        await pilot.press("v", "n")
        assert home_status(pilot) == "! nothing of this text was lost; / finds a text"
