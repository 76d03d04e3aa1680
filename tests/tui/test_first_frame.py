"""The first frame: what it takes, what it shows, and how the picture comes after it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from textual.geometry import Size

from promptdbg.debug import Debugger
from promptdbg.examples import FLAGSHIP
from promptdbg.tui import screens as screens_package
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.screens.framed import HEIGHTS, WIDTHS, FramedScreen, size_classes
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.opening import OpeningScreen
from tests.tui import sample
from tests.tui.conftest import Run, drawn, on, screen_text, settled, the_app

pty = pytest.importorskip("pty", reason="no pseudo terminals on this system")

MODULES = """
    import sys
    from pathlib import Path
    from promptdbg.cli import main
    from promptdbg.commands import open
    from promptdbg.tui.app import PromptdbgApp

    def at_the_first_frame(app):
        Path(sys.argv[1]).write_text("\\\\n".join(sys.modules))
        app.exit(0)

    PromptdbgApp._drive = at_the_first_frame
    sys.exit(main(sys.argv[2:]))
"""

LIGHT = """
    __init__ cli errors paths text commands commands.parser commands.options commands.open
    files files.disk files.own
    tui tui.ahead tui.app tui.config tui.editor tui.glyphs tui.guide tui.keyboard tui.keys tui.looks
    tui.outside tui.places tui.start tui.theme tui.watching tui.ways tui.wrapping
    tui.screens tui.screens.base tui.screens.framed tui.screens.opening
    tui.widgets tui.widgets.ask tui.widgets.chrome tui.widgets.drawing
"""
"""Modules of ours that are imported for the first frame. Whatever else one needs is imported behind
it: each of them keeps a person waiting who opens a workspace."""

HEAVY = {"tiktoken", "watchfiles", "anyio", "yaml", "regex", "detect_secrets", "markdown_it", "pygments"}


def imported_for_the_first_frame(tmp_path: Path, *words: str) -> set[str]:
    """What the program has imported when its first frame is on the terminal."""
    told = tmp_path / "modules"
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(MODULES), str(told), *words],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=os.environ | {"TERM": "xterm-256color", "HOME": str(tmp_path)},
        start_new_session=True,
    )
    os.close(inner)
    try:
        while os.read(outer, 65536):
            pass
    except OSError:  # the other side is closed
        pass
    os.close(outer)
    assert process.wait(timeout=60) == 0
    return set(told.read_text().split())


@pytest.mark.parametrize("words", [["{folder}"], ["demo"], ["demo", FLAGSHIP]], ids=" ".join)
def test_what_is_imported_for_it(tmp_path: Path, workspace: Path, words: list[str]) -> None:
    seen = imported_for_the_first_frame(tmp_path, *(word.format(folder=workspace) for word in words))
    ours = {name.removeprefix("promptdbg").strip(".") for name in seen if name.startswith("promptdbg")}
    allowed = {name.removesuffix("__init__") for name in LIGHT.split()}
    if words[0] == "demo":
        allowed |= {"commands.demo", "examples"}
    assert ours - allowed == set()
    assert {name.partition(".")[0] for name in seen} & HEAVY == set()


async def test_the_workspace_is_opened_behind_it(workspace: Path) -> None:
    seen = []

    def opener() -> Debugger:
        seen.append((type(app.screen), "opening" in screen_text(app)))
        return sample.opener(workspace)()

    app = PromptdbgApp(opener, watch=False)
    async with app.run_test() as pilot:
        await settled(pilot)
        assert seen == [(OpeningScreen, True)]
        assert on(app, HomeScreen)


async def test_the_first_screen_has_its_picture_when_it_appears(workspace: Path) -> None:
    """Nothing is drawn between the word and the picture: no empty panes, no other layout."""
    frames: list[str] = []
    app = PromptdbgApp(sample.opener(workspace), watch=False, show_times=False)
    draw = app._display

    def watched(screen: object, renderable: object) -> None:
        draw(screen, renderable)  # type: ignore[arg-type] # as Textual calls it
        if renderable is not None and app.is_running:
            frames.append(screen_text(app))

    app._display = watched  # type: ignore[method-assign] # Textual tells of no frame
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
    first = next(frame for frame in frames if "1 Sections" in frame)
    assert "identity" in first
    before = frames[: frames.index(first)]
    assert all("opening" in frame for frame in before if frame.strip())
    assert frames[0].splitlines()[-1] == first.splitlines()[-1], "the line of keys stays"


@pytest.mark.parametrize(
    ("size", "classes"),
    [((120, 40), ("-w-100", "-h-30")), ((59, 9), ("-w-none", "-h-none")), ((140, 24), ("-w-140", "-h-24"))],
)
async def test_a_screen_knows_its_size_before_it_is_laid_out(
    run: Run, size: tuple[int, int], classes: tuple[str, str]
) -> None:
    assert size_classes(Size(*size)) == classes
    async with run(size=size) as pilot:
        screen = the_app(pilot).screen
        assert isinstance(screen, FramedScreen)
        names = {name for _, name in (*WIDTHS, *HEIGHTS)}
        assert screen.classes & names == set(classes), "as Textual sets them"
        await pilot.resize_terminal(80, 12)
        assert screen.classes & names == {"-w-80", "-h-10"}


async def test_what_the_configuration_complains_of_is_said(run: Run) -> None:
    async with run(theme="no such theme") as pilot:
        assert drawn(the_app(pilot))
        assert "there is no theme no such theme" in screen_text(the_app(pilot))


def test_every_screen_is_imported_before_it_is_asked_for() -> None:
    code = """
        import asyncio, sys
        from promptdbg.tui import ahead
        import promptdbg.tui.screens.opening  # with the first frame
        import promptdbg.tui.screens.home  # with the picture
        asyncio.run(ahead.imported(*ahead.MODULES))
        print("\\n".join(sys.modules))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    screens = Path(screens_package.__path__[0]).glob("*.py")
    wanted = {f"promptdbg.tui.screens.{path.stem}" for path in screens if path.stem != "__init__"}
    assert wanted <= set(done.stdout.split())
