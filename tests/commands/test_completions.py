"""The completions say what the parsers say, and the shells that are here understand them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from promptdbg.cli import main
from promptdbg.commands import COMMANDS
from promptdbg.commands.completions import interface
from promptdbg.export import FORMATS

SHELLS = ("bash", "zsh", "fish")
HERE = [shell for shell in SHELLS if shutil.which(shell)]


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completions", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_it(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = script(shell, capsys)
    for name in COMMANDS:
        assert name in said
    options = {option for arguments in interface().values() for a in arguments for option in a.names}
    for option in options:
        assert option in said or f"-l {option[2:]} " in said or f"-s {option[1:]} " in said


@pytest.mark.parametrize("shell", HERE)
def test_the_shell_can_read_it(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "completions"
    path.write_text(script(shell, capsys))
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


BASH = [
    (["wh"], ["why"]),
    ([""], list(COMMANDS)),
    (["--asc"], ["--ascii"]),
    (["check", "--lint", "an"], ["anthropic"]),
    (["why", "--engine", "b"], ["bee"]),
    (["why", "--session", ""], []),
    (["export", "--lev"], ["--level"]),
    (["rules", "ag"], ["agentos"]),
    (["demo", "nanobot-l"], ["nanobot-lost-rule"]),
    (["completions", ""], list(SHELLS)),
    (["inspect", "--set", "budg"], ["budget="]),
    (["inspect", "--set", "fuzzy", "="], ["off", "on"]),
    (["inspect", "--set", "fuzzy", "=", "of"], ["off"]),
    (["inspect", "--set", "=", "fuzzy", "=", "of"], ["off"]),
    (["inspect", "--set", "budget", "="], []),
    (["--set", "budg"], ["budget="]),
    (["export", "--format", "=", "h"], ["html"]),
    (["export", "--format", "="], list(FORMATS)),
]


def test_bash_completes(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "".join(
        f"COMP_WORDS=(promptdbg {' '.join(word or repr('') for word in words)}); COMP_CWORD={len(words)}; "
        '_promptdbg; echo "${COMPREPLY[*]}"\n'
        for words, _ in BASH
    )
    done = subprocess.run(
        ["bash", "-c", script("bash", capsys) + asked], capture_output=True, text=True, check=True
    )
    assert [line.split() for line in done.stdout.splitlines()] == [expected for _, expected in BASH]


@pytest.mark.skipif("fish" not in HERE, reason="fish is not installed")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("inspect --set budg", {"budget="}),
        ("inspect --set fuzzy=", {"fuzzy=on", "fuzzy=off"}),
        ("knobs b", {"bee"}),
        ("export --format ", set(FORMATS)),
    ],
)
def test_fish_completes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: str, offered: set[str]
) -> None:
    path = tmp_path / "completions.fish"
    path.write_text(script("fish", capsys))
    asked = f"source {path}; complete -C 'promptdbg {typed}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert offered <= {line.split("\t")[0] for line in done.stdout.splitlines()}
