"""That a text is not the framework's own is said where a person looks at it, and so is what was chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.debug import Debugger
from promptdbg.tokens import tokenizer
from promptdbg.tui.app import PromptdbgApp
from tests.tui import sample
from tests.tui.conftest import Run, idle, screen_text, settled, the_app

FIDELITY = "stand-ins for Sample's own passages (no copy was found)"
CLAUSE = "a stand-in for about 218 tokens of Sample's own"
DOCUMENT = f"""\
engine = "sample"
fidelity = "{FIDELITY}"

[[sections]]
name = "identity"
text = "[who it is]"
stand_in = "{CLAUSE}"

[[sections]]
name = "rules"
text = "Read first."

[[messages]]
role = "user"
content = "Fix it."
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sample.write_workspace(tmp_path / "standing", DOCUMENT)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_the_first_screen_says_it(run: Run, folder: Path, size: tuple[int, int]) -> None:
    async with run(folder=folder, size=size) as pilot:
        header = screen_text(the_app(pilot)).splitlines()[0]
        assert "stand-ins (!)" in header
    async with run(size=size) as pilot:
        assert "(!)" not in screen_text(the_app(pilot)), "where all is exact there is nothing to say"


async def test_another_doubt_than_stand_ins_is_no_stand_in(run: Run, tmp_path: Path) -> None:
    doubtful = DOCUMENT.replace(FIDELITY, "the order is the documented one")
    folder = sample.write_workspace(tmp_path / "doubt", doubtful)
    async with run(folder=folder) as pilot:
        assert "not exact (!)" in screen_text(the_app(pilot))


async def test_the_row_the_reason_and_the_text_say_it(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        rows = screen_text(app).splitlines()
        (row,) = (line for line in rows if "KEEP    identity" in line)
        assert "stand-in" in row
        (row,) = (line for line in rows if "KEEP    rules" in line)
        assert "stand-in" not in row
        assert "Shown here: a stand-in for about 218" in " ".join(" ".join(rows).split())
        assert "3 Text · 11 chars · stand-in" in screen_text(app)
        await pilot.press("i")
        await idle(pilot)
        assert f"Shown here: {CLAUSE}" in screen_text(app)
        await pilot.press("escape", "t")
        await idle(pilot)
        assert "identity · original · 11 chars · stand-in" in screen_text(app)
        await pilot.press("escape", "down")
        await idle(pilot)
        assert "Shown here" not in screen_text(app)
    async with run(folder=folder, size=(80, 24)) as pilot:
        assert f"KEEP identity: {CLAUSE}" in screen_text(the_app(pilot))


async def test_the_warnings_say_how_exact_it_is_and_why_this_engine(run: Run, folder: Path) -> None:
    async with run(folder=folder) as pilot:
        app = the_app(pilot)
        await pilot.press("exclamation_mark")
        await idle(pilot)
        text = screen_text(app)
        assert "Engine    Sample 1.2: promptdbg.toml says so" in text
        assert f"Fidelity  {FIDELITY}" in text
        assert "No warnings." in text


async def test_whose_measure_the_budget_is_in_is_said(run: Run, workspace: Path) -> None:
    async with run(size=(120, 40)) as pilot:
        text = screen_text(the_app(pilot))
        assert "234 tokens by Sample  used 213  left 21" in text
    async with run(size=(60, 20)) as pilot:
        assert "234 tokens  used 213  left 21" in screen_text(the_app(pilot)), "no room for it"


async def test_a_trace_is_as_exact_as_it_was_recorded(tmp_path: Path) -> None:
    from promptdbg.export.opening import opened_document

    trace = tmp_path / "trace.json"
    trace.write_text('{"schema": "promptdbg/trace/1", "sections": [{"name": "a", "text": "x"}]}')
    app = PromptdbgApp(lambda: Debugger(opened_document(trace, tokenizer())), watch=False, show_times=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "(!)" not in screen_text(app)
        assert " by " not in next(line for line in screen_text(app).splitlines() if "Budget" in line)
