"""The first minute of a new user, typed into the real program in a real tmux."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal, needs_tmux

EXAMPLE = Path(__file__).parents[2] / "src" / "promptdbg" / "examples" / "bee-nearest-rule"

pytestmark = needs_tmux


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    shutil.copytree(EXAMPLE, folder)
    return folder


@pytest.fixture(
    params=[(120, 40, False), (80, 24, False), (80, 24, True)], ids=["120x40", "80x24", "nocolor"]
)
def terminal(request: pytest.FixtureRequest, workspace: Path, tmp_path: Path) -> Iterator[Terminal]:
    width, height, nocolor = request.param
    environment = {"HOME": str(tmp_path), "TERM": "screen-256color", **({"NO_COLOR": "1"} if nocolor else {})}
    command = shlex.join([sys.executable, "-m", "promptdbg", str(workspace)])
    terminal = Terminal(command, width, height, environment)
    yield terminal
    terminal.close()


STATES = ("KEEP", "CUT", "DROP", "OFF", "EMPTY")


def row_of(screen: str, name: str) -> str:
    """The row of an item in the list; empty while it is not there."""
    rows = (line for line in screen.splitlines() if any(f" {state} " in line for state in STATES))
    return next((row for row in rows if name in row), "")


def test_the_first_minute(terminal: Terminal, workspace: Path) -> None:
    # It opens on a list that can be used: the rule's own file was dropped.
    terminal.wait("380 tokens")
    terminal.until(lambda screen: "DROP" in row_of(screen, "api/AGENTS.md"))

    # An item is switched off, and comes back.
    terminal.press("j")
    terminal.press("Space")
    terminal.wait("OFF")
    terminal.press("u")
    terminal.wait("undid")
    terminal.until(lambda screen: "KEEP" in row_of(screen, "Identity"))

    # More budget brings the file back.
    terminal.press("b")
    terminal.type("420")
    terminal.press("Enter")
    terminal.wait("420 tokens")
    terminal.until(lambda screen: "KEEP" in row_of(screen, "api/AGENTS.md"))
    terminal.press("u")
    terminal.wait("380 tokens")
    terminal.press("Escape")  # back to the list

    # A filter shows the rows it names; escape clears it.
    terminal.press("/")
    terminal.type("api/")
    terminal.press("Enter")
    terminal.until(lambda screen: row_of(screen, "api/") != "" and row_of(screen, "Identity") == "")

    # Why it was dropped, and what would keep it; a key tries it.
    terminal.press("G", "Enter")
    terminal.wait("over the budget of", "bee.budget.drop-context")
    terminal.press("Escape", "Escape")
    terminal.wait("Identity")

    # The three lists, and back.
    terminal.press("m")
    terminal.wait("SESSION", "INITIAL")
    terminal.press("n")
    terminal.press("Escape")
    terminal.wait("STATE", "Budget ")

    # A saved file shows its effect; a broken one keeps the last good picture under a mark.
    agents = workspace / "AGENTS.md"
    agents.write_text(agents.read_text() + "\n- one rule more, so that it is longer\n")
    terminal.wait("eloaded")
    manifest = workspace / "promptdbg.toml"
    good = manifest.read_text()
    manifest.write_text("engine = \n")
    terminal.wait("STALE", "Identity")
    manifest.write_text(good)
    terminal.until(lambda screen: "STALE" not in screen)

    # It leaves a clean terminal.
    terminal.press("q")
    terminal.wait("EXIT 0")
    assert "Sections" not in terminal.screen
