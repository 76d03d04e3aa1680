"""Golden screens: every screen and state as text, in the two sizes people have.

``UPDATE_SNAPSHOTS=1`` writes them anew; look at the difference before committing it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.screens.home import HomeScreen
from tests.tui import sample
from tests.tui.conftest import Run, idle, on, press, screen_text, settled, the_app, until

Golden = Callable[[PromptdbgApp, str], None]

SIZES = {"120x40": (120, 40), "80x24": (80, 24)}

pytestmark = pytest.mark.parametrize("size", SIZES)

STATES: dict[str, tuple[str, ...]] = {
    "home": (),
    "home-cut": ("G", "up"),
    "home-lost": ("f",),
    "home-no-match": ("slash", "z", "z", "enter"),
    "home-sorted": ("o", "z"),
    "home-filtering": ("slash", "g", "i"),
    "budget": ("b",),
    "knobs": ("K", "down"),
    "help": ("question_mark",),
    "turns": ("T",),
    "warnings": ("exclamation_mark",),
    "edit": ("E",),
    "text": ("G", "up", "t", "slash", *"cut", "enter", "n"),
    "text-as-sent": ("G", "up", "t", "v"),
    "search": ("F", *"token", "enter"),
    "search-nothing": ("F", *"zebra", "enter"),
    "ledger": ("B",),
    "palette": ("ctrl+p", *"raise"),
    "states": ("f", "f", "f"),
    "compare-nothing": ("c",),
    "compare-scenario": ("c", "greater_than_sign"),
}


@pytest.fixture(autouse=True)
def cursor_that_never_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would keep an item is told when the cursor has rested on it for a moment, which comes sooner
    or later than the picture is taken. ``test_why`` has it."""
    monkeypatch.setattr("promptdbg.tui.widgets.side.may_be_kept", lambda picture, item: False)


@pytest.mark.parametrize("state", STATES)
async def test_state(run: Run, golden: Golden, size: str, state: str) -> None:
    async with run(size=SIZES[size]) as pilot:
        await pilot.press(*STATES[state])
        await idle(pilot)
        golden(the_app(pilot), f"{state}-{size}")


async def test_changed(run: Run, golden: Golden, size: str) -> None:
    async with run(size=SIZES[size]) as pilot:
        await pilot.press("down", "down", "down")
        await press(pilot, "space")
        golden(the_app(pilot), f"home-changed-{size}")


async def test_over_the_budget(run: Run, golden: Golden, size: str, tmp_path: Path) -> None:
    document = sample.DOCUMENT.replace("budget = 200", "budget = 1", 1)
    async with run(size=SIZES[size], folder=sample.write_workspace(tmp_path / "over", document)) as pilot:
        golden(the_app(pilot), f"home-over-{size}")


PLAIN = """
engine = "sample"
budget = {budget}
[[sections]]
name = "identity"
text = "You are a careful assistant."
[[sections]]
name = "rules"
text = "Never on a Friday."
[[messages]]
role = "user"
content = "hello"
"""


@pytest.mark.parametrize(("name", "budget"), [("nothing-lost", 100), ("all-lost", 0)])
async def test_nothing_and_everything_lost(
    run: Run, golden: Golden, size: str, tmp_path: Path, name: str, budget: int
) -> None:
    folder = sample.write_workspace(tmp_path / name, PLAIN.format(budget=budget), {})
    async with run(size=SIZES[size], folder=folder) as pilot:
        golden(the_app(pilot), f"home-{name}-{size}")


async def test_why(run: Run, golden: Golden, size: str) -> None:
    async with run(size=SIZES[size]) as pilot:
        await pilot.press("G", "up", "enter")
        await idle(pilot)
        golden(the_app(pilot), f"why-{size}")


async def test_messages_only(run: Run, golden: Golden, size: str, tmp_path: Path) -> None:
    document = 'engine = "sample"\n[[messages]]\nrole = "user"\ncontent = "hello"\n'
    async with run(size=SIZES[size], folder=sample.write_workspace(tmp_path / "m", document)) as pilot:
        golden(the_app(pilot), f"home-empty-{size}")


async def test_failure(run: Run, golden: Golden, size: str, tmp_path: Path) -> None:
    document = sample.DOCUMENT.replace("budget = 200", "budget = 200\nfails = \"'role' of row 3\"", 1)
    async with run(size=SIZES[size], folder=sample.write_workspace(tmp_path / "f", document)) as pilot:
        golden(the_app(pilot), f"home-failure-{size}")


async def test_stale(run: Run, golden: Golden, size: str, tmp_path: Path) -> None:
    folder = sample.write_workspace(tmp_path / "s")
    async with run(size=SIZES[size], folder=folder) as pilot:
        (folder / "promptdbg.toml").write_text("engine = 5")
        app = the_app(pilot)

        def told() -> bool:
            return screen_text(app).splitlines()[0].endswith(" STALE")

        await pilot.press("r")
        await until(pilot, told, "stale")
        golden(app, f"home-stale-{size}")
        for key in "mTcpxF":
            await pilot.press(key)
            await until(pilot, lambda: not on(app, HomeScreen), f"another screen by {key}")
            await idle(pilot)
            assert told(), key
            await pilot.press("escape", "escape")


async def test_opening(workspace: Path, golden: Golden, size: str) -> None:
    """The first frame stands before anything is loaded."""
    import threading

    go = threading.Event()

    def slow() -> object:
        go.wait(100)
        return sample.opener(workspace)()

    app = PromptdbgApp(slow, watch=False, show_times=False)  # type: ignore[arg-type]
    async with app.run_test(size=SIZES[size]) as pilot:
        await until(pilot, lambda: "opening …" in screen_text(app), "the first frame")
        golden(app, f"opening-{size}")
        await pilot.press("space", "t", "m", "c", "F", "enter", "b", "K", "K", "e", "y", "s", "f", "z")
        go.set()


async def test_a_debugger_that_is_open_already(workspace: Path, size: str) -> None:
    """The picture may come before the screen is there."""
    debugger = sample.opener(workspace)()
    app = PromptdbgApp(lambda: debugger, watch=False, show_times=False)
    async with app.run_test(size=SIZES[size]) as pilot:
        await settled(pilot)
        assert "identity" in screen_text(app)
