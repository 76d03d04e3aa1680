"""Whole programs: how fast the commands start, and the first frame in a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from functools import partial

from promptdbg.examples import FLAGSHIP, find
from tests.bench.measuring import Result, best, bound, in_turn, ratio

_EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("an empty app")
Empty().run()
"""
_OURS = f"from promptdbg.cli import main; main(['demo', '{FLAGSHIP}'])"
# Opening begins behind the first frame; it waits here, so that none of it counts as the frame's.
_WAITING = f"""
import time
from promptdbg.commands import options
options.debugger = lambda arguments: time.sleep(60)
{_OURS}
"""
_FIRST, _WHOLE, _EMPTY_FRAME = b"opening", b"KEEP", b"an empty app"
"""What shows that a frame is there: any of ours, ours with the sections, the empty app's."""


_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Modules are compiled, as they are once a package is installed; the first run of each sees to it."""


def starting() -> Iterator[Result]:
    """Commands that end at once, against Python doing nothing."""
    path = str(find(FLAGSHIP).path)
    idle = best(partial(_run, "-c", "pass"))
    yield bound("python that does nothing", idle)
    for words in (["--version"], ["rules", "bee"], ["inspect", path], ["inspect", path, "--json"]):
        shown = " ".join(word.replace(path, "EXAMPLE") for word in words)
        spent = best(partial(_run, "-m", "promptdbg", *words))
        yield bound(f"promptdbg {shown}", spent, told=shown.startswith("inspect") and "--json" not in words)


def _run(*words: str) -> None:
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, env=_INSTALLED, check=True)


def first_frame() -> Iterator[Result]:
    """From the start of the process to the first frame on a terminal of 120 by 40, and to its end."""
    ours, empty = in_turn(partial(_until, _WAITING, _FIRST), partial(_until, _EMPTY, _EMPTY_FRAME), runs=5)
    yield ratio("first frame of the UI, against an empty Textual app", ours, empty, 1.3, told=True)
    whole = best(partial(_until, _OURS, _WHOLE), runs=5)
    yield bound("from the start of the process to the example's sections", whole, told=True)


def _until(code: str, mark: bytes) -> None:
    """Run a program in a terminal until it has written ``mark``, then end it."""
    left, right = pty.openpty()
    fcntl.ioctl(right, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=right,
        stdout=right,
        stderr=right,
        env=_INSTALLED | {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
        start_new_session=True,
    )
    os.close(right)
    said = b""
    end = time.monotonic() + 30
    try:
        while mark not in said:
            ready, _, _ = select.select([left], [], [], end - time.monotonic())
            if not ready:
                raise TimeoutError(f"{mark!r} never came")
            said += os.read(left, 65536)
    finally:
        process.kill()
        process.wait()
        os.close(left)
