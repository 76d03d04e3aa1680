"""The real program in a real terminal: tmux, where a test types and looks at the screen.

CI has tmux; elsewhere its absence skips the tests and says so.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable

import pytest

PATIENCE = 40.0

needs_tmux = pytest.mark.skipif(
    shutil.which("tmux") is None and "CI" not in os.environ, reason="tmux is not installed"
)


class Terminal:
    """One program in one tmux server of its own."""

    def __init__(self, command: str, width: int, height: int, environment: dict[str, str]) -> None:
        self._server = f"promptdbg-{uuid.uuid4().hex[:8]}"
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        self._tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
            f"env -u COLUMNS -u LINES {variables} {command}; echo EXIT $?; sleep 100",
        )  # fmt: skip

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._server, *words], capture_output=True, text=True, timeout=30, check=False
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        for key in keys:
            self._tmux("send-keys", key)
            # An escape that another key follows at once is read as that key with alt.
            time.sleep(0.7 if key == "Escape" else 0.05)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def wait(self, *texts: str) -> None:
        """Until every text stands on the screen."""
        self.until(lambda screen: all(text in screen for text in texts), f"no {texts}")

    def until(self, holds: Callable[[str], bool], otherwise: str = "not yet") -> None:
        """Until something holds of the screen."""
        end = time.monotonic() + PATIENCE
        while not holds(screen := self.screen):
            assert time.monotonic() < end, f"{otherwise} on\n{screen}"
            time.sleep(0.1)

    def close(self) -> None:
        self._tmux("kill-server")
