"""A person's own settings: theme, ASCII, keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.tui.config import Config, config_path, read_config
from promptdbg.tui.keys import KEYS, TOGETHER
from promptdbg.tui.ownkeys import clashes, keys_here
from tests.tui.conftest import Run, drawn, home_status, idle, press, screen_text, the_app


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
    keys = '[keys]\n"app.undo" = "f12"\n"no.such" = "x"\n"app.redo" = 4\n'
    config = written(tmp_path, f'theme = 3\nascii = "yes"\ncolour = 1\n{keys}')
    assert (config.theme, config.ascii, dict(config.keys)) == (None, False, {"app.undo": "f12"})
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


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('"item.toggle" = "m"', ["m is item.toggle: app.messages, messages.away have no key there"]),
        ('"item.toggle" = "x"', ["x is item.toggle: app.export keeps ctrl+e"]),
        (
            '"app.undo" = "space"',
            ["space is item.toggle, knobs.toggle, export.other: app.undo has no key there"],
        ),
        ('"app.undo" = "m"', ["m is app.undo: app.messages has no key there"]),
        ('"item.toggle" = "f12"\n"app.undo" = "f12"', ["f12 is item.toggle: app.undo has no key there"]),
        ('"app.messages" = "f12"\n"messages.away" = "f12"', []),  # a key that leads back, as in the table
        ('"app.undo" = "ctrl+z"\n"item.toggle" = "space,backspace"', []),  # as docs/configuration.md has it
        (
            '"app.undo" = "z"',
            ["z is sections.fold-all, columns.fold, turns.life: app.undo has no key there"],
        ),
        ('"columns.next" = "o"', []),  # another place than where o orders
    ],
)
def test_a_key_that_is_taken_is_told(tmp_path: Path, keys: str, said: list[str]) -> None:
    problems = written(tmp_path, f"[keys]\n{keys}\n").problems
    told = [problem.partition("[keys] ")[2] for problem in problems]
    assert [line for line in told if line in said] == said
    assert bool(told) == bool(said)


def test_as_it_comes_no_key_is_taken() -> None:
    assert clashes({}) == ()
    assert clashes({key.id: key.keys for key in KEYS}) == ()
    for places in TOGETHER:
        assert keys_here({"ask.done": "f12"}, *places) == keys_here({}, *places) or "ask" in places


async def test_who_lost_the_key_leaves_the_screen(run: Run, tmp_path: Path) -> None:
    config = written(tmp_path, '[keys]\n"item.toggle" = "m"\n')
    async with run(config=config) as pilot:
        app = the_app(pilot)
        assert "m is item.toggle: app.messages, messages.away have no key there" in home_status(pilot)
        line = screen_text(app).splitlines()[-1]
        assert "m On/off" in line
        assert "Messages" not in line
        await press(pilot, "m")
        assert drawn(app).assembly.settings.off == {"identity"}
        await pilot.press("question_mark")
        assert "SESSION, INITIAL and FINAL side by side" not in screen_text(app)


@pytest.mark.parametrize(
    "keys",
    ["", "K", "b", "2", "m", "c", "c 2", "t", "i", "F o n e enter", "p", "T", "x", "slash"],
)
async def test_what_works_together_is_in_the_table(run: Run, keys: str) -> None:
    async with run() as pilot:
        for key in keys.split():
            await pilot.press(key)
            await idle(pilot)
        screen = the_app(pilot).on_top
        assert screen is not None
        assert screen.places_now() in TOGETHER


async def test_problems_are_said_at_the_start(run: Run, tmp_path: Path) -> None:
    config = written(tmp_path, 'theme = "no-such-theme"\nfoo = 1')
    async with run(config=config) as pilot:
        assert "foo is not a setting" in home_status(pilot)
        assert "there is no theme no-such-theme" in home_status(pilot)


async def test_every_problem_can_be_read_in_the_box_of_warnings(run: Run, tmp_path: Path) -> None:
    lines = "".join(f'"no.such-{number}" = "x"\n' for number in range(5))
    config = written(tmp_path, f'theme = "nope"\n[keys]\n{lines}"item.why" = 5\n')
    async with run(config=config) as pilot:
        assert home_status(pilot).endswith("5 more (!)")
        await pilot.press("exclamation_mark")
        text = screen_text(the_app(pilot))
        for said in ("no.such-4 is no key's id", "item.why must be a text", "there is no theme nope"):
            assert said in text
