"""Odd arguments: each gives an answer or one line, never a defect."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli_hostile.running import EXAMPLES, run

NANOBOT = EXAMPLES / "nanobot-lost-rule"
ODD = [
    "",
    " ",
    "²",
    "*",
    "[",
    "-1",
    "nan",
    "inf",
    "1e999",
    "9" * 400,
    "9" * 5000,
    "x" * 5000,
    "\x1b]52;c;QQ==\x07",
    "\u202e",
    "[red]",
    "[/]",
    "[" * 10_000,
    "~nosuchuser/x",
    "/dev/zero",
    "../../etc/passwd",
    "%s",
    "a=b",
    "\ud800",
    "null",
]
OPTIONS = [
    "--set",
    "--off",
    "--turn",
    "--now",
    "--tokenizer",
    "--scenario",
    "--engine",
    "--session",
    "--message",
]


@pytest.mark.parametrize("option", OPTIONS)
def test_odd_values(option: str) -> None:
    for value in ODD:
        run("inspect", NANOBOT, option, value)
    for value in ODD:
        run("inspect", NANOBOT, "--set", f"context_window={value}")


@pytest.mark.parametrize("command", ["why", "trace", "fixes"])
def test_odd_items(command: str) -> None:
    for value in ODD:
        if command != "fixes" or value.strip():  # none: all that was lost, which takes its time
            run(command, NANOBOT, value)


@pytest.mark.parametrize(
    "time",
    [
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "9999-12-31",
        "0001-01-01",
        "2026-02-30",
        "24:00",
    ],
)
@pytest.mark.parametrize("name", ["nanobot-lost-rule", "bee-nasty", "orbiter-nasty", "agentos-nasty"])
def test_times_at_the_ends_of_the_calendar(name: str, time: str) -> None:
    code, _, said = run("inspect", EXAMPLES / name, "--now", time)
    assert code == 2
    assert "is not an ISO time" in said


def test_against_and_final() -> None:
    for value in ODD:
        run("compare", NANOBOT, "--against", value)
        run("compare", NANOBOT, "--final", value)
        run("cache", NANOBOT, "--against", value)


WORDS = st.one_of(
    st.sampled_from(
        [
            "inspect",
            "why",
            "trace",
            "cache",
            "lint",
            "check",
            "compare",
            "sessions",
            "engines",
            "knobs",
            "rules",
        ]
    ),
    st.sampled_from(
        [*OPTIONS, "--json", "--no-text", "--all", "--max-tokens", "--no-drop", "--debugx", "--", "-"]
    ),
    st.sampled_from([*ODD, str(EXAMPLES / "orbiter-order"), "nanobot", "1"]),
    st.text(max_size=5),
)


@given(st.lists(WORDS, max_size=6))
@settings(max_examples=150, deadline=None)
def test_any_words(words: list[str]) -> None:
    run("inspect", EXAMPLES / "orbiter-order", *words)


def made(folder: Path) -> dict[str, tuple[Path, str]]:
    """Places that are no workspace, and what is said of each."""
    (folder / "file").write_text("hi")
    os.mkfifo(folder / "fifo")
    os.chdir(folder)  # the caller puts it back; a socket's path must be short
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("socket")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    evil = folder / "na\nme\x1b]52;c;QQ==\x07\u202e[red]\x9b31m"
    return {
        "missing": (folder / "missing", "no such folder"),
        "file": (folder / "file", "is not a folder"),
        "fifo": (folder / "fifo", "is not a folder"),
        "socket": (folder / "socket", "is not a folder"),
        "dangling": (folder / "dangling", "is a link to something that is not there"),
        "loop": (folder / "loop", "is a link that leads back to itself"),
        "long": (folder / ("x" * 5000), "no such folder"),
        "device": (Path("/dev/zero"), "is not a folder"),
        "evil": (evil, "no such folder"),
    }


@pytest.mark.parametrize(
    "line",
    [
        "inspect",
        "fixes",
        "cache",
        "lint",
        "compare",
        "export -o -",
        "sessions",
        "verify",
        "check --max-tokens 1",
        "",
    ],
)
def test_no_workspace(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = line.split()
    monkeypatch.chdir(tmp_path)
    for name, (path, why) in made(tmp_path).items():
        code, _, said = run(*words[:1], path, *words[1:])
        assert (code, name, why in said) == (2, name, True), said
