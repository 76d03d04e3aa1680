"""A terminal that goes away without a signal must not leave a program that spins."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "src" / "promptdbg" / "examples" / "bee-nearest-rule"

pty = pytest.importorskip("pty", reason="no pseudo terminals on this system")


def test_the_program_ends_with_its_terminal() -> None:
    outer, inner = pty.openpty()
    # A session of its own without a controlling terminal gets no hang-up when the terminal goes.
    process = subprocess.Popen(
        [sys.executable, "-m", "promptdbg", str(EXAMPLE)],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(inner)
    try:
        drawn = b""
        until = time.monotonic() + 60
        while b"KEEP" not in drawn and time.monotonic() < until:
            drawn += os.read(outer, 65536)
        assert b"KEEP" in drawn
        os.close(outer)
        assert process.wait(timeout=60) != 0
    finally:
        process.kill()
        process.wait()
