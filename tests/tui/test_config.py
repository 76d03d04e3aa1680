"""A person's own settings: theme, ASCII, keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.tui.config import Config, config_path, read_config
from tests.tui.conftest import Run, drawn, home_status, press, screen_text, the_app


def written(folder: Path, text: str) -> Config:
    path = folder / "config.toml"
    path.write_text(text, "utf-8")
    return read_config(path)


def test_where_it_is() -> None:
    assert config_path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/promptdbg/config.toml")
    assert config_path({"HOME": "/h"}) == Path("/h/.config/promptdbg/config.toml")
    assert config_path({"XDG_CONFIG_HOME": "x", "HOME": "/h"}) == Path("/h/.config/promptdbg/config.toml")
    assert config_path({}) is None


def test_where_it_is_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptdbg.files.own._WINDOWS", True)
    roaming = {"APPDATA": "/roaming", "USERPROFILE": "/h"}
    assert config_path(roaming) == Path("/roaming/promptdbg/config.toml")
    assert config_path({"XDG_CONFIG_HOME": "/x", **roaming}) == Path("/x/promptdbg/config.toml")
    assert config_path({"USERPROFILE": "/h"}) == Path("/h/.config/promptdbg/config.toml")


def test_no_file_is_no_problem(tmp_path: Path) -> None:
    assert read_config(tmp_path / "none.toml") == Config()
    assert read_config(None) == Config()


def test_what_is_wrong_is_said_and_left_out(tmp_path: Path) -> None:
    keys = '[keys]\n"app.undo" = "z"\n"no.such" = "x"\n"app.redo" = 4\n'
    config = written(tmp_path, f'theme = 3\nascii = "yes"\ncolour = 1\n{keys}')
    assert (config.theme, config.ascii, dict(config.keys)) == (None, False, {"app.undo": "z"})
    assert len(config.problems) == 5
    assert "is not TOML" in written(tmp_path, "theme = [").problems[0]
    assert "[keys] must be a table" in written(tmp_path, "keys = 1").problems[0]
    assert "is a folder" in read_config(tmp_path).problems[0]


async def test_own_keys_work_and_are_shown(run: Run, tmp_path: Path) -> None:
    keys = '[keys]\n"item.toggle" = "x"\n"app.undo" = "ctrl+z"\n'
    config = written(tmp_path, f'ascii = true\ntheme = "nord"\n{keys}')
    async with run(config=config) as pilot:
        app = the_app(pilot)
        assert app.theme == "nord"
        await press(pilot, "x")
        assert drawn(app).assembly.settings.off == {"identity"}
        await press(pilot, "ctrl+z")
        assert not drawn(app).assembly.settings.off
        text = screen_text(app)
        assert "x On/off" in text
        assert "ctrl+z Undo" in text
        assert "+ KEEP" in text


async def test_problems_are_said_at_the_start(run: Run, tmp_path: Path) -> None:
    config = written(tmp_path, 'theme = "no-such-theme"\nfoo = 1')
    async with run(config=config) as pilot:
        assert "foo is not a setting" in home_status(pilot)
        assert "there is no theme no-such-theme" in home_status(pilot)
