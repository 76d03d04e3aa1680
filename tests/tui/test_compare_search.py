"""Comparing with the files and with scenarios; searching everything, kept or lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from promptdbg.export.document import document
from promptdbg.files.scan import TextFile, text_files
from promptdbg.model import SectionStatus, Settings
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.others import FILES, Other
from promptdbg.tui.screens.choices import ChoiceBox, ChoiceList
from promptdbg.tui.screens.compare import CompareScreen
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.search import HitList, SearchScreen
from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.widgets.differences import DifferenceList
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.text_view import TextView
from promptdbg.workspace import read_manifest
from tests.tui import sample
from tests.tui.conftest import (
    Run,
    drawn,
    home_status,
    idle,
    on,
    paste,
    press,
    screen_text,
    settled,
    the_app,
)


def screen(app: PromptdbgApp) -> CompareScreen:
    assert isinstance(app.screen, CompareScreen)
    return app.screen


async def test_now_against_the_files(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("c")
        await idle(pilot)
        listing = app.screen.query_one(DifferenceList)
        assert listing.differences == []
        assert "Nothing is changed" in listing.empty_word
        await pilot.press("escape")
        await press(pilot, "space")
        await pilot.press("c")
        await idle(pilot)
        (found,) = app.screen.query_one(DifferenceList).differences
        assert found.item == "identity"
        assert found.before is SectionStatus.KEPT
        assert found.after is SectionStatus.DISABLED
        assert found.change == -16
        assert home_status(pilot) == "1 section differs · messages: 1 EDIT · 213 then, 197 tokens now (−16)"
        text = screen_text(app)
        assert "THE FILES" in text
        assert "~system" in text
        await pilot.press("enter")
        assert on(app, WhyScreen)
        await pilot.press("c")  # back to where it lies open
        assert on(app, CompareScreen)
        await pilot.press("c")
        assert on(app, HomeScreen)


async def test_a_scenario_is_used_and_taken_back(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("c", "greater_than_sign")
        await idle(pilot)
        assert screen(app).other == Other("scenario", "small")
        await press(pilot, "a")
        assert drawn(app).assembly.settings.values == {"budget": 60}
        await press(pilot, "u")
        assert not drawn(app).assembly.settings.changed
        await pilot.press("less_than_sign")
        assert screen(app).other == FILES
        await pilot.press("less_than_sign", "less_than_sign")
        assert screen(app).other == Other("turn", turn=2)


async def test_turn_against_turn(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await press(pilot, "left_square_bracket")
        await pilot.press("c", "s")
        assert on(app, ChoiceBox)
        names = [choice.name for choice in app.screen.query_one(ChoiceList).choices]
        assert names[-2:] == ["turn 1", "a file or a folder"]
        assert "the turn to come" in names
        assert f"turn {drawn(app).assembly.turn}" not in names  # not with itself
        await pilot.press("G", "up", "enter")
        await idle(pilot)
        assert screen(app).other == Other("turn", turn=1)
        lists = screen(app).lists
        assert lists.alignment is not None
        assert [column.stage.name for column in lists.alignment.columns] == ["turn 1", "now"]
        assert lists.alignment.changes
        await pilot.press("2", "n")
        assert lists.row == lists.alignment.changes[0].start
        assert "TURN 1" in screen_text(app)
        before = drawn(app).assembly.turn
        await press(pilot, "a")
        assert drawn(app).assembly.turn == 1 != before


async def test_against_a_saved_prompt_and_another_folder(run: Run, workspace: Path, tmp_path: Path) -> None:
    saved = tmp_path / "then.json"
    debugger = sample.opener(workspace)()
    saved.write_text(json.dumps(document(debugger.preview(Settings().toggled("identity")))))
    other = sample.write_workspace(
        tmp_path / "elsewhere", sample.DOCUMENT.replace("budget = 200", "budget = 90")
    )
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("c", "s", "G", "enter")
        await paste(pilot, tmp_path / "none.json")
        await pilot.press("enter")
        await idle(pilot)
        assert "! There is no such file or folder: " in screen_text(app)  # and it can be typed again
        await pilot.press("ctrl+u")
        await paste(pilot, saved)
        await pilot.press("enter")
        await idle(pilot)
        assert screen(app).other == Other("place", str(saved))
        (found,) = screen(app).sections.differences
        assert (found.item, found.before) == ("identity", SectionStatus.DISABLED)
        await pilot.press("a")
        assert home_status(pilot).startswith("! a prompt elsewhere cannot be taken over")
        await pilot.press("s", "G", "enter")
        await paste(pilot, other)
        await pilot.press("enter")
        await idle(pilot)
        assert {entry.item for entry in screen(app).sections.differences} >= {"retrieved: api.md"}
        await pilot.press("less_than_sign")  # what was named stays among the others
        assert screen(app).other == Other("place", str(saved))


async def test_where_the_framework_fails_the_sections_are_compared_alone(run: Run, tmp_path: Path) -> None:
    text = sample.DOCUMENT.replace("budget = 200", "budget = 200\nfails = \"'role' of row 3\"", 1)
    async with run(folder=sample.write_workspace(tmp_path / "f", text)) as pilot:
        app = the_app(pilot)
        await pilot.press("c")
        await idle(pilot)
        assert "Nothing is changed" in screen_text(app)
        assert "there is no final list: the real framework fails" in screen_text(app)
        await pilot.press("2", "i")
        assert home_status(pilot) == "! nothing differs here"


async def test_changes_are_saved_only_when_asked(run: Run, workspace: Path) -> None:
    manifest = workspace / "promptdbg.toml"
    before = manifest.read_text()
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("c", "ctrl+s")
        assert home_status(pilot) == "! nothing is changed, so there is nothing to save"
        await pilot.press("escape")
        await press(pilot, "space")
        await pilot.press("c", "ctrl+s", *"small", "enter")
        assert manifest.read_text() == before  # the name is taken, the input stays open
        picture = app.picture
        await pilot.press("ctrl+u", *"quiet", "enter")
        await settled(pilot, picture)
        await idle(pilot)
        said = "saved as scenario quiet in promptdbg.toml · 1 section differs · "
        assert home_status(pilot).startswith(said)
        await press(pilot, "r")  # as the watcher does when it sees the file
        await idle(pilot)
        assert home_status(pilot).startswith(said)
        read = read_manifest(manifest)
        assert read is not None
        assert read.scenarios["quiet"].off == {"identity"}
        assert manifest.read_text().startswith(before)
        assert "quiet" in drawn(app).scenarios
        await idle(pilot)
        assert home_status(pilot).startswith("saved as scenario quiet in promptdbg.toml · 1 section differs")
        await press(pilot, "r")  # as where the files are followed
        await idle(pilot)
        assert home_status(pilot).startswith("saved as scenario quiet")
        await press(pilot, "u")
        await idle(pilot)
        assert home_status(pilot).startswith("no section differs")


async def test_what_cannot_be_read_is_not_compared(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    async with run() as pilot:
        await pilot.press("c", "s", "G", "enter", *str(tmp_path / "broken.json"), "enter")
        await idle(pilot)
        assert home_status(pilot).startswith("! ")
        assert "There is nothing to compare with." in screen_text(the_app(pilot))


async def test_a_scenario_saved_in_a_bundled_example_says_so(
    run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("promptdbg.examples.FOLDER", workspace.parent)
    async with run() as pilot:
        await press(pilot, "space")
        await pilot.press("c", "ctrl+s", *"quiet", "enter")
        await idle(pilot)
        said = "saved as scenario quiet in promptdbg.toml of the bundled example · "
        assert home_status(pilot).startswith(said)


async def test_that_it_can_be_saved_is_seen_at_eighty_columns(run: Run) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("c")
        await idle(pilot)
        assert "ctrl+s" not in screen_text(app), "nothing is changed"
        await pilot.press("escape")
        await press(pilot, "space")
        await pilot.press("c")
        await idle(pilot)
        for pane in "12":
            await pilot.press(pane)
            assert "ctrl+s Save" in screen_text(app)


async def test_search_says_what_the_model_saw(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("F", *"fifteen", "enter")
        await idle(pilot)
        assert on(app, SearchScreen)
        assert home_status(pilot) == "14 hits: the model saw 5, 9 lost"
        await pilot.press("f")
        hits = app.screen.query_one(HitList).hits
        assert len(hits) == 9
        assert {hit.verdict for hit in hits} == {"cut"}
        await pilot.press("down", "enter")
        assert on(app, TextScreen)
        await idle(pilot)
        assert app.screen.query_one(TextView).hits == 14
        await pilot.press("escape", "escape")
        assert on(app, HomeScreen)


async def test_files_that_were_not_read_are_found_too(run: Run, workspace: Path) -> None:
    (workspace / "NOTES.md").write_text("the zebra rule\n")
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("F", *"zebra", "enter")
        await idle(pilot)
        assert [hit.verdict for hit in app.screen.query_one(HitList).hits] == ["not read"]
        await pilot.press("slash", "ctrl+u", *"nowhere at all", "enter")
        await idle(pilot)
        assert home_status(pilot).startswith("no hit in anything that was loaded, kept or lost")


async def test_each_hit_says_where_it_is_seen_or_what_took_it(run: Run, workspace: Path) -> None:
    (workspace / "CLAUDE.md").write_text("Never deploy on a Friday.\nA bearer of news.\n")
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("F", *"bearer", "enter")
        await idle(pilot)
        listing = app.screen.query_one(HitList)
        assert home_status(pilot) == ("15 hits: the model saw 5, 9 lost, 1 in files that are not read")
        report = app.screen.query_one("#report", Prose)
        assert "Seen at  message 0, character " in report.text
        assert listing.reasons[0].startswith("message 0, character ")
        assert listing.reasons[0].endswith("% into the request")
        listing.cursor = 9
        await pilot.pause()
        assert "CUT  retrieved: auth.md, line 10, column 25 · auth.md:10" in report.text
        assert "sample.cap · sample 1.2 · sample.py::cap" in report.text
        assert listing.reasons[9].startswith("system: It has 1,050 characters")
        listing.cursor = 14
        await pilot.pause()
        assert "NOT READ  CLAUDE.md, line 2, column 3 · CLAUDE.md:2" in report.text
        assert "CLAUDE.md is a file of Claude Code; Sample does not read it here" in report.text
        await pilot.press("f")
        assert [hit.verdict for hit in listing.hits].count("seen") == 0


async def test_files_that_are_not_read_are_read_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []

    def counted(folder: Path) -> Iterator[TextFile]:
        reads.append(folder)
        return text_files(folder)

    monkeypatch.setattr("promptdbg.analysis.unread.text_files", counted)
    async with run() as pilot:
        await pilot.press("F", *"bear", "enter")
        await idle(pilot)
        once = len(reads)
        await pilot.press("slash", *"er", "enter")
        await idle(pilot)
        assert len(reads) == once > 0
        await press(pilot, "r")  # read again: other files may be there
        await idle(pilot)
        assert len(reads) > once
