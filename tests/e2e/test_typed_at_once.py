"""Everything typed in one go, as a script or a fast hand does, into the real program in a real tmux."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal, needs_tmux
from tests.e2e.test_journey import EXAMPLE, row_of

pytestmark = needs_tmux


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """The program, just started: nothing of it is on the screen yet."""
    folder = tmp_path / "shop"
    shutil.copytree(EXAMPLE, folder)
    command = shlex.join([sys.executable, "-m", "promptdbg", str(folder)])
    terminal = Terminal(command, 100, 30, {"HOME": str(tmp_path), "TERM": "screen-256color"})
    yield terminal
    terminal.close()


def test_before_anything_is_there(terminal: Terminal) -> None:
    terminal.type("/api/\r")
    terminal.until(lambda screen: row_of(screen, "api/") != "" and row_of(screen, "Identity") == "")


def test_a_screen_and_its_own_keys_before_anything_is_there(terminal: Terminal) -> None:
    terminal.type("m/discount")
    terminal.wait("SESSION", "Find: discount")


def test_a_filter_its_end_and_the_next_key(terminal: Terminal) -> None:
    terminal.wait("380 tokens")
    terminal.type("/api/\rG\r")
    terminal.wait("over the budget of", "bee.budget.drop-context")


def test_a_search(terminal: Terminal) -> None:
    terminal.wait("380 tokens")
    terminal.type("FIdentity\r")
    terminal.wait('"Identity"')


def test_escape_and_the_key_after_it(terminal: Terminal) -> None:
    terminal.wait("380 tokens")
    terminal.type("/api\x1bq")
    terminal.wait("EXIT 0")
