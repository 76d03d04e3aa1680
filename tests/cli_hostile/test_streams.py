"""Closed, full and broken outputs, odd environments, and an interrupt: exit codes and what is said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.cli_hostile.running import EXAMPLES

PROGRAM = f"{sys.executable} -m promptdbg"
WORKSPACE = EXAMPLES / "orbiter-order"


def shell(line: str, cwd: Path, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
        cwd=cwd,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("redirection", "codes"),
    [(">&-", {0}), ("2>&-", {0}), (">&- 2>&-", {0}), ("<&-", {0}), ("| head -1", {0, 141})],
)
def test_closed_streams(redirection: str, codes: set[int], tmp_path: Path) -> None:
    code, said = shell(f"{PROGRAM} rules {redirection}", tmp_path)
    assert (code in codes, said) == (True, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_full_output(tmp_path: Path) -> None:
    code, said = shell(f"{PROGRAM} rules > /dev/full", tmp_path)
    assert (code, said.count("\n")) == (2, 1)
    assert "the output: cannot be written" in said
    assert shell(f"{PROGRAM} inspect nowhere 2> /dev/full", tmp_path)[0] == 2


@pytest.mark.parametrize(
    "environment",
    [
        {"HOME": "", "COLUMNS": "10"},
        {"HOME": "/nowhere", "COLUMNS": "999999"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "dumb"},
        {"PYTHONIOENCODING": "ascii", "COLUMNS": "-5", "NO_COLOR": "1"},
        {"PYTHONIOENCODING": "utf-16", "TZ": ":/dev/zero"},
        {"TIKTOKEN_CACHE_DIR": "/dev", "TZ": "nope/zone", "PYTHONWARNINGS": "error"},
    ],
    ids=lambda environment: "-".join(environment),
)
def test_odd_environments(environment: dict[str, str], tmp_path: Path) -> None:
    code, said = shell(f"{PROGRAM} inspect {WORKSPACE} > /dev/null", tmp_path, **environment)
    assert (code, said) == (0, "")


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    code, said = shell(f"rmdir ../gone; {PROGRAM} inspect", tmp_path / "gone")
    assert (code, said.count("\n")) == (2, 1)


READING = """
import sys
from promptdbg.__main__ import main

told = []

def tell(event, arguments):
    if event == "open" and str(arguments[0]).endswith("session.jsonl") and not told:
        told.append(1)
        print("reading", file=sys.stderr, flush=True)

sys.addaudithook(tell)
sys.exit(main())
"""
"""The program, which says when it opens the session: where an interrupt meets it at work."""


def test_an_interrupt(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    row = '{"role": "user", "content": "%s %d"}\n'
    session.write_text("".join(row % ("word " * 50, number) for number in range(30_000)))
    words = ["inspect", str(EXAMPLES / "nanobot-lost-rule"), "--session", str(session)]
    with subprocess.Popen(
        [sys.executable, "-c", READING, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs in the background of a shell ignores it, and all it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as program:
        assert program.stderr is not None
        assert program.stderr.readline() == "reading\n"
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=60)
    assert program.returncode in (0, 130)
    assert "Traceback" not in said
