"""Every key has an effect or a word, and a word is there no longer than it is true."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from textual.widgets import Input

from promptdbg.debug import Debugger, open_workspace
from promptdbg.examples import FLAGSHIP, find
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.screens import messages as messages_screen
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.ways import to_knob
from promptdbg.tui.widgets.message_columns import MessageColumns
from promptdbg.tui.widgets.text_view import TextView
from tests.tui import sample
from tests.tui.conftest import Run, home_status, idle, press, screen_text, settled, the_app, until
from tests.tui.test_keyboard import type_at_once


@pytest.mark.parametrize("key", ["space", "i", "t", "e", "enter", "z", "left", "right", "plus", "E"])
async def test_an_empty_list_says_so(run: Run, key: str) -> None:
    async with run() as pilot:
        await pilot.press("slash", *"zzzz", "enter")
        await pilot.press(key)
        assert home_status(pilot).startswith("! ")
        assert "file of its own" not in home_status(pilot)


async def test_folding_a_list_that_shows_some_rows_says_why_not(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("slash", *"md", "enter")
        for key in ("z", "left", "right"):
            await pilot.press(key)
            assert (
                home_status(pilot) == "! nothing is folded while the list shows only some rows: esc shows all"
            )


async def test_how_to_use_it_goes_when_it_is_left(run: Run) -> None:
    async with run() as pilot:
        for keys in (["b", "escape"], ["K", "down", "escape"], ["K", "K"]):
            await pilot.press(keys[0])
            await pilot.pause()
            assert home_status(pilot)
            await pilot.press(*keys[1:])
            assert not home_status(pilot), keys
        await press(pilot, "b", "right")
        said = home_status(pilot)
        await pilot.press("escape")
        assert home_status(pilot) == said, "what was done stays"


async def test_a_text_is_typed_from_what_it_is(run: Run) -> None:
    app = PromptdbgApp(lambda: Debugger(open_workspace(find("bee-nearest-rule").path)), watch=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        to_knob(app, "model")
        for key in ("right", "left", "enter"):
            await pilot.press(key)
            entry = app.screen.query_one(Input)
            assert entry.value == "vendor/plain-model"
            await pilot.press("escape")
            to_knob(app, "model")


async def test_keys_wait_for_the_lists(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages_screen, "ALIGN_AT_ONCE", 0)
    async with run() as pilot:
        app = the_app(pilot)
        await type_at_once(pilot, "mG")
        assert isinstance(app.screen, MessagesScreen)
        lists = app.screen.query_one(MessageColumns)
        assert lists.row_count > 1
        assert lists.cursor == lists.row_count - 1


async def test_row_numbers_are_whole(tmp_path: Path) -> None:
    document = ['engine = "sample"'] + [
        f'[[messages]]\nrole = "user"\ncontent = "message {number}"' for number in range(1_200)
    ]
    path = sample.write_workspace(tmp_path / "many", "\n".join(document))
    app = PromptdbgApp(sample.opener(path), watch=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("m", "G")
        await idle(pilot)
        assert "1,201" in screen_text(app)


async def test_in_ascii_the_prompt_is_what_it_is(tmp_path: Path) -> None:
    text = "price → 5 ± 2 … ‹x› · ≈ −1"
    document = f'engine = "sample"\n[[messages]]\nrole = "user"\ncontent = "{text}"'
    path = sample.write_workspace(tmp_path / "ascii", document)
    app = PromptdbgApp(sample.opener(path), watch=False, ascii_only=True)
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot)
        await pilot.press("m")
        await idle(pilot)
        assert text in screen_text(app)
        await pilot.press("n", "enter")
        await idle(pilot)
        assert text in screen_text(app)


async def test_an_item_that_is_gone_is_called_gone(run: Run, workspace: Path) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("t")
        manifest = workspace / "promptdbg.toml"
        document = manifest.read_text().replace('name = "identity"', 'name = "someone else"')
        manifest.write_text(document, encoding="utf-8")
        before = app.picture
        app.driver.reload(asked=True)
        await settled(pilot, before)
        await idle(pilot)
        assert "(it is not in this prompt any more)" in screen_text(app)
        assert "identity · gone" in str(app.screen.query_one(TextView).border_title)


async def test_a_file_that_could_not_be_written_is_asked_for_again(run: Run, tmp_path: Path) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("x")
        await idle(pilot)
        (tmp_path / "file").touch()
        path = tmp_path / "file" / "x.json"
        for _ in range(2):
            await pilot.press("ctrl+s")
            await until(pilot, lambda: app.on_top.query_one(Input).has_focus, "a question")  # type: ignore[union-attr]
            app.on_top.query_one(Input).value = str(path)  # type: ignore[union-attr]
            await pilot.press("enter")
            await until(pilot, lambda: home_status(pilot).startswith("! "), "why not")
            await idle(pilot)
        assert str(path.parent) in home_status(pilot)


async def test_a_warning_with_another_figure_is_no_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(find(FLAGSHIP).path, folder)
    app = PromptdbgApp(lambda: Debugger(open_workspace(folder)), watch=False)
    async with app.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        tools = folder / "tools.json"
        whole = json.loads(tools.read_text())
        tools.write_text(json.dumps(whole[:1]), encoding="utf-8")
        await press(pilot, "r")
        assert "reloaded" in home_status(pilot)
        assert "new warning" not in home_status(pilot)


async def test_what_stays_off_is_not_called_on() -> None:
    app = PromptdbgApp(lambda: Debugger(open_workspace(find("bee-nearest-rule").path)), watch=False)
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot)
        item = "context/AGENTS.md/@docs/style.md"
        for off in (item, "context/AGENTS.md", item):
            before = app.picture
            app.toggle(off)
            await settled(pilot, before)
        assert "@docs/style.md on, but still off with AGENTS.md" in home_status(pilot)


async def test_an_import_that_falls_out_is_said_to(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(find("bee-nearest-rule").path, folder)
    app = PromptdbgApp(lambda: Debugger(open_workspace(folder)), watch=False)
    async with app.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        text = (folder / "docs" / "style.md").read_text()
        (folder / "docs" / "style.md").unlink()
        await press(pilot, "r")
        assert "out: @docs/style.md" in home_status(pilot)
        (folder / "docs" / "style.md").write_text(text)
        await press(pilot, "r")
        assert "in: @docs/style.md" in home_status(pilot)


async def test_a_save_that_a_tried_text_hides_is_told(run: Run, workspace: Path) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("E", *"new ")
        await press(pilot, "ctrl+s")
        manifest = workspace / "promptdbg.toml"
        manifest.write_text(manifest.read_text().replace("careful", "careless"), encoding="utf-8")
        before = app.picture
        app.driver.reload()
        await settled(pilot, before)
        assert "a text that is tried here hides what its file says" in home_status(pilot)
