"""Comparing with the files and with scenarios; searching everything, kept or lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from promptdbg.files.scan import TextFile, text_files
from promptdbg.model import SectionStatus
from promptdbg.tui.screens.compare import FILES, CompareScreen, DifferenceList
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.search import HitList, SearchScreen
from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.text_view import TextView
from promptdbg.workspace import read_manifest
from tests.tui.conftest import Run, drawn, home_status, idle, on, press, settled, the_app


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
        found = {entry.item: entry for entry in app.screen.query_one(DifferenceList).differences}
        assert found["identity"].before is SectionStatus.KEPT
        assert found["identity"].after is SectionStatus.DISABLED
        assert found["identity"].change == -16
        assert set(found) == {"identity", "system"}
        assert home_status(pilot) == "2 items differ · 213 then, 197 tokens now (−16)"
        await pilot.press("enter")
        assert on(app, WhyScreen)


async def test_a_scenario_is_used_and_taken_back(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("c", "greater_than_sign")
        await idle(pilot)
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.other == "small"
        await press(pilot, "a")
        assert drawn(app).assembly.settings.values == {"budget": 60}
        await press(pilot, "u")
        assert not drawn(app).assembly.settings.changed
        await pilot.press("greater_than_sign")
        assert app.screen.other == FILES


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
        read = read_manifest(manifest)
        assert read is not None
        assert read.scenarios["quiet"].off == {"identity"}
        assert manifest.read_text().startswith(before)
        assert "quiet" in drawn(app).scenarios


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
