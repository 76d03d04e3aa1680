"""What the screen says of the files: stale until they could be read again, and what a recording follows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from promptdbg.debug import Debugger, opened_assembly
from promptdbg.export.document import document
from promptdbg.export.opening import document_assembly, opened_document
from promptdbg.tui.app import PromptdbgApp
from tests.tui import sample
from tests.tui.conftest import Run, drawn, home_status, press, screen_text, settled, the_app, until


async def test_a_change_does_not_take_the_mark_of_stale_files_away(run: Run, workspace: Path) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        manifest = workspace / "promptdbg.toml"
        good = manifest.read_bytes()
        manifest.write_bytes(good + b"x = [")
        await pilot.press("r")
        await until(pilot, lambda: app.stale, "stale")
        for keys in (["space"], ["u"], ["b", "right"], ["escape", "["]):
            await press(pilot, *keys)
            assert "STALE" in screen_text(app).splitlines()[0]
            assert "STALE  promptdbg.toml" in screen_text(app)
        manifest.write_bytes(good)
        await press(pilot, "r")
        assert not app.stale
        assert "STALE" not in screen_text(app)


async def test_what_was_changed_while_stale_is_told_apart_from_the_files(run: Run) -> None:
    """The mark of a change is about the settings, not about whether there is something to undo."""
    async with run() as pilot:
        app = the_app(pilot)
        await press(pilot, "space")
        assert "changed (c)" in screen_text(app)
        await press(pilot, "space")
        assert drawn(app).undo is not None
        assert "changed (c)" not in screen_text(app)
        await press(pilot, "[")
        assert "changed (c)" not in screen_text(app)


def recording(folder: Path, workspace: Path) -> Path:
    path = folder / "recorded.json"
    debugger = sample.opener(workspace)()
    path.write_text(json.dumps(document(debugger.assembly)), encoding="utf-8")
    return path


async def test_a_recording_is_followed_and_read_again_as_one(workspace: Path, tmp_path: Path) -> None:
    path = recording(tmp_path, workspace)
    shutil.rmtree(workspace)
    app = PromptdbgApp(lambda: Debugger(opened_document(path, None)), show_times=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert drawn(app).watched == (str(path),)
        await press(pilot, "r")
        assert home_status(pilot) == "reloaded · nothing changed"
        assert drawn(app).recorded
        before = app.picture
        path.write_text(path.read_text().replace("careful coding agent", "careless agent"), encoding="utf-8")
        await settled(pilot, before)
        assert drawn(app).recorded
        assert "careless" in drawn(app).sections["identity"].text
        path.write_text("{", encoding="utf-8")
        await until(pilot, lambda: app.stale, "stale")
        assert "recorded.json" in app.stale


async def test_a_prompt_without_a_file_is_not_followed() -> None:
    opened = opened_assembly(document_assembly([{"role": "user", "content": "hello"}], None))
    app = PromptdbgApp(lambda: Debugger(opened), show_times=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "WATCHING" not in screen_text(app)
        for key in ("r", "W"):
            await pilot.press(key)
            assert home_status(pilot) == "! this prompt was not read from a file"
