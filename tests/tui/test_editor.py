"""The person's own editor: how it is called on each system, and what happens around it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import cast

import pytest

from promptdbg.errors import UsageError
from promptdbg.model import Source
from promptdbg.tui import editor as module
from promptdbg.tui.editor import editor_command, has_window
from promptdbg.tui.outside import _lent as lent
from promptdbg.tui.outside import edit
from tests.tui.conftest import Run, home_status, idle, the_app


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", "f"]),
        ("code --wait", ["code", "--wait", "--goto", "f:7"]),
        ("hx", ["hx", "f:7"]),
        ("'unclosed", ["'unclosed", "+7", "f"]),
    ],
)
def test_editors_are_told_the_line(editor: str, command: list[str]) -> None:
    assert editor_command(Path("f"), 7, {"EDITOR": editor}) == command
    assert editor_command(Path("f"), 7, {"VISUAL": "nano", "EDITOR": editor}) == ["nano", "+7", "f"]


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """As on Windows; the programs that are there, by the name they are called by."""
    there: dict[str, str] = {}
    monkeypatch.setattr(module, "_WINDOWS", True)
    monkeypatch.setattr("promptdbg.tui.editor.shutil.which", there.get)
    return there


def test_windows_paths_keep_their_backslashes(windows: dict[str, str]) -> None:
    path = cast(Path, PureWindowsPath(r"C:\work\AGENTS.md"))
    assert editor_command(path, 7, {"EDITOR": r"C:\vim\gvim.exe -f"}) == [
        r"C:\vim\gvim.exe",
        "-f",
        "+7",
        r"C:\work\AGENTS.md",
    ]
    assert editor_command(path, 7, {"EDITOR": r'"C:\Program Files\Code\code.exe" --wait'}) == [
        r"C:\Program Files\Code\code.exe",
        "--wait",
        "--goto",
        r"C:\work\AGENTS.md:7",
    ]
    windows[r"C:\Program Files\np\notepad++.exe"] = r"C:\Program Files\np\notepad++.exe"
    assert editor_command(path, 7, {"EDITOR": r"C:\Program Files\np\notepad++.exe"}) == [
        r"C:\Program Files\np\notepad++.exe",
        "-n7",
        r"C:\work\AGENTS.md",
    ]


def test_windows_has_an_editor_of_its_own(windows: dict[str, str]) -> None:
    windows["notepad"] = r"C:\Windows\notepad.exe"
    command = editor_command(Path("f"), 7, {})
    assert command == [r"C:\Windows\notepad.exe", "f"]
    assert has_window(command)


def test_a_batch_file_is_given_no_name_that_a_shell_would_read(windows: dict[str, str]) -> None:
    windows["code"] = r"C:\bin\code.cmd"
    assert editor_command(Path("f"), 7, {"EDITOR": "code"}) == [r"C:\bin\code.cmd", "--goto", "f:7"]
    for name in ("a&calc", "%PATH%", 'a"b', "a|b", "a^b", "a!b"):
        with pytest.raises(UsageError, match="cannot be given a file of this name"):
            editor_command(Path(name), 7, {"EDITOR": "code"})


def test_no_editor_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptdbg.tui.editor.shutil.which", lambda name: None)
    assert editor_command(Path("f"), 7, {}) is None


async def test_an_editor_with_a_window_runs_beside_where_the_terminal_cannot_be_lent(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Sequence[str]] = []

    def start(command: Sequence[str], stdin: int) -> None:
        started.append(command)

    monkeypatch.setattr("promptdbg.tui.outside.subprocess.Popen", start)
    async with run() as pilot:
        monkeypatch.setenv("VISUAL", "code")
        the_app(pilot).open_editor(Source("AGENTS.md", 1))
        await idle(pilot)
        assert home_status(pilot) == "opened in the editor; what is saved there is read again here"
        assert started[0][:2] == ["code", "--goto"]
        monkeypatch.setenv("VISUAL", "vi")
        the_app(pilot).open_editor(Source("AGENTS.md", 1))
        await idle(pilot)
        assert home_status(pilot).startswith("! this terminal cannot start an editor; the file is /")
        assert len(started) == 1


async def test_a_file_whose_name_is_a_command_to_an_editor_is_only_a_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[Sequence[str]] = []
    monkeypatch.setattr(
        "promptdbg.tui.outside.subprocess.Popen", lambda command, stdin: started.append(command)
    )
    monkeypatch.setenv("VISUAL", "gvim")
    monkeypatch.chdir(tmp_path)
    async with run() as pilot:
        for name in ("+:!id", "-S evil"):
            Path(name).touch()
            # Where a document tells no workspace, its paths are taken from the current folder.
            edit(the_app(pilot), "", Source(name, 1))
            await idle(pilot)
            assert started.pop() == ["gvim", "+1", str(tmp_path / name)]


def test_an_editor_that_cannot_be_started_is_a_word_and_no_exception(tmp_path: Path) -> None:
    """An exception would leave the terminal lent for ever."""
    heard = signal.getsignal(signal.SIGINT)
    assert lent(["/nope/x", "f"]) == "/nope/x cannot be started: No such file or directory"
    plain = tmp_path / "plain"
    plain.touch()
    assert lent([str(plain)]).endswith("cannot be started: Permission denied")
    assert lent([sys.executable, "-c", "raise SystemExit(3)"]).endswith(" ended with code 3")
    assert lent([sys.executable, "-c", ""]) == ""
    assert signal.getsignal(signal.SIGINT) is heard
