"""Export: what is hidden is shown first, and only what was named is written."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input

from promptdbg.commands.picture import svg
from promptdbg.debug import Debugger, opened_assembly
from promptdbg.export import formats
from promptdbg.export.levels import LEVELS, Level
from promptdbg.export.load import assembly_from, read_json
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.export_view import LEVEL_WORDS, progress_lines, suggested_path
from promptdbg.tui.screens.export import ExportScreen
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.widgets.prose import Prose
from tests.tui import sample
from tests.tui.conftest import Run, home_status, idle, on, paste, press, screen_text, settled, the_app

KEY = "sk-proj-" + "Zq7Lw2Xv9Kp4Rt6Bn1Mc8Yd3" * 2

DOCUMENT = sample.DOCUMENT.replace(
    'content = "Now write the change log."', f'content = "My mail is ada@lovelace.dev and my key is {KEY}."'
)


@pytest.fixture(autouse=True)
def _of_no_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine is hidden or written: no names of it, an empty home, an empty folder."""
    monkeypatch.setattr(formats, "machine_words", dict)
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / "config").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.chdir(here)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return sample.write_workspace(tmp_path / "secret", DOCUMENT)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def told(app: PromptdbgApp) -> str:
    return app.screen.query_one("#report", Prose).text


def screen(app: PromptdbgApp) -> ExportScreen:
    assert isinstance(app.screen, ExportScreen)
    return app.screen


async def test_structure_is_the_default_and_is_written_where_it_was_named(
    run: Run, secret: Path, tmp_path: Path
) -> None:
    async with run(folder=secret) as pilot:
        app = the_app(pilot)
        await pilot.press("x")
        await idle(pilot)
        assert "every text, path, user, host, time and question" in told(app)
        assert "AGENTS.md" in told(app)
        assert files(tmp_path / "here") == []
        assert files(tmp_path / "home") == []  # not even the salt of the hashes
        await pilot.press("ctrl+s")
        assert isinstance(app.focused, Input)
        assert app.focused.value == "prompt.structure.json"
        await pilot.press("enter")
        await idle(pilot)
        path = tmp_path / "here" / "prompt.structure.json"
        assert home_status(pilot).startswith("wrote prompt.structure.json (")
        assert home_status(pilot).endswith(
            " · structure only: no text, no names but well-known ones, no paths"
        )
        text = path.read_text()
        assert KEY not in text
        assert "bearer" not in text
        assert len(assembly_from(json.loads(text)).sections) == 14
        assert files(tmp_path / "here") == ["prompt.structure.json"]
        await pilot.press("escape")
        assert on(app, HomeScreen)


async def test_redacted_says_what_it_hides_and_hides_it(run: Run, secret: Path, tmp_path: Path) -> None:
    async with run(folder=secret) as pilot:
        app = the_app(pilot)
        await pilot.press("x", "right")
        await idle(pilot)
        assert screen(app).level == "redacted"
        assert "My mail is ‹e-mail-1›" in told(app)
        assert KEY not in told(app)
        assert "1 e-mail" in home_status(pilot)
        await pilot.press("ctrl+s", "enter")
        await idle(pilot)
        path = tmp_path / "here" / "prompt.redacted.json"
        assert "1 e-mail" in home_status(pilot)
        assert KEY not in path.read_text()
        assert "ada@lovelace.dev" not in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert read_json(path)["schema"] == "promptdbg/assembly/1"


async def test_full_warns(run: Run, secret: Path, tmp_path: Path) -> None:
    async with run(folder=secret) as pilot:
        app = the_app(pilot)
        await pilot.press("x", "left")
        await idle(pilot)
        assert screen(app).level == "full"
        assert told(app).startswith("Nothing is hidden. The file holds every text of this prompt")
        await pilot.press("ctrl+s", "enter")
        await idle(pilot)
        path = tmp_path / "here" / "prompt.full.json"
        assert home_status(pilot).endswith("nothing was hidden: this holds every text as it is")
        assert KEY in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_file_is_replaced_only_when_that_is_said(run: Run, tmp_path: Path) -> None:
    old = tmp_path / "here" / "prompt.structure.json"
    old.write_text("old")
    async with run() as pilot:
        await pilot.press("x")
        await idle(pilot)
        await pilot.press("ctrl+s", "enter")
        await pilot.pause()
        assert isinstance(the_app(pilot).focused, Input)
        assert "prompt.structure.json exists. Type yes to replace it:" in screen_text(the_app(pilot))
        await pilot.press(*"no", "enter")
        assert isinstance(the_app(pilot).focused, Input)
        await pilot.press("escape")
        await idle(pilot)
        assert old.read_text() == "old"
        await pilot.press("ctrl+s", *"yes", "enter")
        await idle(pilot)
        assert home_status(pilot).startswith("wrote prompt.structure.json")
        assert read_json(old)["schema"] == "promptdbg/structure/1"


async def test_names_and_formats_go_together(run: Run, tmp_path: Path) -> None:
    async with run(svg=svg) as pilot:
        app = the_app(pilot)
        await pilot.press("x")
        await idle(pilot)
        await pilot.press("down", "right", "right", "right")
        assert screen(app).form == "svg"
        await pilot.press("down", "right")
        assert home_status(pilot) == "! enter names the file"
        await pilot.press("enter", "ctrl+u", "enter")
        assert isinstance(app.focused, Input)  # a file needs a name
        await paste(pilot, tmp_path)
        await pilot.press("enter")
        assert isinstance(app.focused, Input)  # a folder is no file
        await pilot.press("ctrl+u", *"page.html", "enter")
        assert screen(app).form == "html"
        await pilot.press("up", "enter")  # the next format, and the name with it
        assert screen(app).form == "svg"
        assert screen(app).path == Path("page.svg")
        for form, start in (("svg", "<svg"), ("json", "{"), ("md", "#"), ("html", "<!doctype html>")):
            assert screen(app).form == form
            await pilot.press("ctrl+s")
            await idle(pilot)
            assert (tmp_path / "here" / f"page.{form}").read_text().lstrip().lower().startswith(start)
            await pilot.press("space")


async def test_a_name_that_says_the_level_follows_it(run: Run, secret: Path, tmp_path: Path) -> None:
    async with run(folder=secret) as pilot:
        app = the_app(pilot)
        await pilot.press("x", "down", "down", "enter", "enter")
        assert screen(app).path == Path("prompt.structure.json")
        await pilot.press("up", "right")
        assert screen(app).path == Path("prompt.structure.md")
        await pilot.press("up", "right")
        await idle(pilot)
        assert screen(app).level == "redacted"
        assert screen(app).path == Path("prompt.redacted.md")
        await pilot.press("ctrl+s")
        await idle(pilot)
        assert files(tmp_path / "here") == ["prompt.redacted.md"], "texts, in a file that says so"
        await pilot.press("down", "down", "enter", "ctrl+u", *"mine.md", "enter", "up", "up", "right")
        await idle(pilot)
        assert screen(app).path == Path("mine.md"), "a name of one's own stays"


async def test_enter_says_what_it_does_on_each_row(run: Run) -> None:
    async with run() as pilot:
        app = the_app(pilot)
        await pilot.press("x")
        await idle(pilot)
        assert "enter Name" not in screen_text(app)
        await pilot.press("down", "down")
        assert "enter Name" in screen_text(app)
        await pilot.press("up")
        assert "enter Name" not in screen_text(app)


@pytest.mark.parametrize("level", LEVELS)
async def test_a_level_is_told_whole_at_eighty_columns(run: Run, level: Level) -> None:
    async with run(size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("x", *["right"] * LEVELS.index(level))
        await idle(pilot)
        assert LEVEL_WORDS[level] in screen_text(app)


async def test_a_picture_is_offered_only_where_it_can_be_drawn(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("x", "down")
        seen = []
        for _ in range(4):
            seen.append(screen(the_app(pilot)).form)
            await pilot.press("l")
        assert seen == ["json", "md", "html", "json"]


async def test_a_folder_that_is_not_there_is_told(run: Run) -> None:
    async with run() as pilot:
        await pilot.press("x")
        await idle(pilot)
        await pilot.press("ctrl+s", "ctrl+u", *"none/x.json", "enter")
        await idle(pilot)
        assert home_status(pilot).startswith("! none/x.json: cannot be written")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x" * 300, "was not written: File name too long"),
        ("x" * 300 + "/y", "cannot be written: File name too long"),
        ("~no-such-user/y", "~no-such-user/y: cannot be written"),
    ],
)
async def test_a_name_that_no_file_can_have_is_told(run: Run, name: str, said: str) -> None:
    async with run(size=(400, 40)) as pilot:
        await pilot.press("x")
        await idle(pilot)
        await pilot.press("ctrl+s", "ctrl+u")
        focused = the_app(pilot).focused
        assert isinstance(focused, Input)
        focused.value = name
        await pilot.press("enter")
        await idle(pilot)
        assert said in home_status(pilot)


async def test_without_a_current_folder_the_name_is_offered_all_the_same(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> Path:
        raise FileNotFoundError(2, "No such file or directory")

    async with run() as pilot:
        await pilot.press("x")
        await idle(pilot)
        monkeypatch.setattr(Path, "cwd", gone)
        await pilot.press("ctrl+s")
        focused = the_app(pilot).focused
        assert isinstance(focused, Input)
        assert focused.value == "prompt.structure.json"


async def test_a_bad_redact_table_is_told(run: Run, tmp_path: Path) -> None:
    document = sample.DOCUMENT.replace("budget = 200", 'budget = 200\nredact = "all"', 1)
    async with run(folder=sample.write_workspace(tmp_path / "bad", document)) as pilot:
        await pilot.press("x", "right")
        await idle(pilot)
        assert "[redact] must be a table" in home_status(pilot)
        await pilot.press("ctrl+s")
        assert home_status(pilot).endswith("[redact] must be a table")


async def test_the_last_level_chosen_is_the_one_that_is_shown(run: Run, secret: Path) -> None:
    async with run(folder=secret) as pilot:
        app = the_app(pilot)
        await pilot.press("x", "right", "right", "right", "right")
        await idle(pilot)
        assert screen(app).level == "redacted"
        preview = screen(app).preview
        assert preview is not None
        assert preview.made.level == "redacted"


async def test_a_change_is_in_the_next_file(run: Run, tmp_path: Path) -> None:
    async with run() as pilot:
        await pilot.press("x", "right")
        await idle(pilot)
        await press(pilot, "[")
        await idle(pilot)
        await pilot.press("ctrl+s", "enter")
        await idle(pilot)
        assert read_json(tmp_path / "here" / "prompt.redacted.json")["turn"] == 3


async def test_a_recording_can_be_exported(workspace: Path, tmp_path: Path) -> None:
    made = sample.opener(workspace)().assembly
    app = PromptdbgApp(lambda: Debugger(opened_assembly(made)), watch=False, show_times=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await idle(pilot)
        await pilot.press("ctrl+s", "enter")
        await idle(pilot)
        assert files(tmp_path / "here") == ["prompt.structure.json"]


async def test_in_a_browser_it_is_a_download(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivered: dict[str, str] = {}

    def deliver(self: object, file: object, *, save_filename: str, open_method: str) -> None:
        delivered[save_filename] = file.read()  # type: ignore[attr-defined]

    monkeypatch.setattr(PromptdbgApp, "is_web", True)
    monkeypatch.setattr(PromptdbgApp, "deliver_text", deliver)
    async with run() as pilot:
        await pilot.press("x", "right")
        await idle(pilot)
        await pilot.press("down", "down", "enter")
        assert home_status(pilot).startswith("! in a browser")
        await pilot.press("ctrl+s")
        await idle(pilot)
        assert home_status(pilot).startswith("wrote prompt.redacted.json")
    assert json.loads(delivered["prompt.redacted.json"])["schema"] == "promptdbg/assembly/1"
    assert files(tmp_path / "here") == []


async def test_hostile_text_is_inert(run: Run, tmp_path: Path) -> None:
    attack = "a\\u001b]52;c;T1dORUQ=\\u0007\\u202e[red]x[/] ada@lovelace.dev"
    document = sample.DOCUMENT.replace("Now write the change log.", attack)
    document = document.replace('name = "identity"', f'name = "{attack}"')
    folder = sample.write_workspace(tmp_path / "hostile\x1b[31m", document)
    async with run(folder=folder, size=(80, 24)) as pilot:
        app = the_app(pilot)
        await pilot.press("x")
        for _ in range(3):
            await idle(pilot)
            assert not {"\x1b", "\x07", "\u202e"} & set(screen_text(app))
            await pilot.press("right")
        assert "[red]x[/]" in told(app) or "redacted" not in screen_text(app)


@pytest.mark.parametrize("level", ["structure", "redacted", "full"])
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_golden(
    run: Run,
    secret: Path,
    golden: Callable[[PromptdbgApp, str], None],
    size: tuple[int, int],
    level: str,
) -> None:
    async with run(folder=secret, size=size) as pilot:
        await pilot.press("x", *{"structure": (), "redacted": ("right",), "full": ("left",)}[level])
        await idle(pilot)
        golden(the_app(pilot), f"export-{level}-{size[0]}x{size[1]}")


def test_the_name_that_is_offered_tells_nothing_and_is_not_in_the_workspace() -> None:
    home, workspace = Path("/home/ada"), "/home/ada/code/secret-plan"
    here = Path("/home/ada/docs")
    assert suggested_path("redacted", "md", workspace, here, home) == here / "prompt.redacted.md"
    inside = Path(workspace) / "api"
    assert suggested_path("redacted", "md", workspace, inside, home) == home / "prompt.redacted.md"


def test_the_bar_grows_to_the_end_and_not_beyond() -> None:
    for done, cells in ((0, 0), (50, 20), (100, 40), (120, 40)):
        bar = progress_lines(done, 100, "#", "-")[1].text
        assert bar.startswith("#" * cells + "-" * (40 - cells) + " ")
