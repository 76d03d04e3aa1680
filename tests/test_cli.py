"""The command line as a whole: which command runs, what errors look like, what is imported."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest

from promptdbg import __version__, cli
from promptdbg.cli import main
from promptdbg.commands import COMMANDS
from promptdbg.commands.parser import load, parser_for
from promptdbg.errors import InputError
from promptdbg.workspace import MANIFEST_NAME
from tests import fake_engine

MANIFEST = """
engine = "fake"
[scenarios.tight]
budget = 3
[[sections]]
name = "identity"
text = "one two three four five"
[[messages]]
role = "user"
content = "hello"
"""

RUN = """
import sys
from promptdbg import engines
engines._ENGINES["fake"] = "tests.fake_engine:ENGINE"
from promptdbg.cli import main
sys.exit(main(sys.argv[1:]))
"""


SEE = " (see: promptdbg inspect --help)"
DEFECT = "promptdbg: a defect of promptdbg:"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fake_engine.install(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / MANIFEST_NAME).write_text(MANIFEST)
    return tmp_path


def program(*words: str, code: str = RUN, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own, with its output piped."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *words],
        env=os.environ | environment,
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# ---- which command ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*COMMANDS, "open"])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = load(name)
    with pytest.raises(SystemExit) as caught:
        parser_for(name, command).parse_args(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert (command.__doc__ or "").split()[0] in said
    assert "--debug" in said


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    for name, does in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(does)}$", said, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_abbreviated(name: str) -> None:
    assert not parser_for(name, load(name)).allow_abbrev


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"promptdbg {__version__}\n"


def test_module_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "promptdbg", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"promptdbg {__version__}\n"


def test_without_a_terminal_the_default_command_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder)]) == 0
    bare = capsys.readouterr().out
    assert main(["inspect", str(folder)]) == 0
    assert capsys.readouterr().out == bare
    assert "identity" in bare


def test_workspace_defaults_to_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "400")  # the folder of a test may be a long one
    assert main(["inspect"]) == 0
    assert str(folder) in capsys.readouterr().out


# ---- errors -------------------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line on stderr of a call that is refused."""
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("promptdbg: ")
    return captured.err.removeprefix("promptdbg: ").rstrip("\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["inspct"], "no command and no folder 'inspct' (did you mean: promptdbg inspect)"),
        (["nowhere/at/all"], "nowhere/at/all: no such folder (name the folder the agent works in)"),
        (["inspect", "--nothing"], f"unrecognized arguments: --nothing{SEE}"),
        (
            ["inspect", "--turn", "x"],
            "argument --turn: invalid int value: 'x' (see: promptdbg inspect --help)",
        ),
        (["--engine", "fake", "inspect"], "the command comes first: promptdbg inspect ..."),
        (["knobs", "nothing"], "unknown engine 'nothing' (one of nanobot, orbiter, bee, phronomy, agentos)"),
        (
            ["inspect", "--now", "noon"],
            f"argument --now: 'noon' is not an ISO time such as 2026-03-01T09:30{SEE}",
        ),
    ],
)
def test_wrong_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(capsys, *words) == line


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--set", "cap"], "--set: 'cap' is not KNOB=VALUE"),
        (["--set", "capp=1"], "--set: unknown knob 'capp' (near: cap"),
        (["--set", "cap=many"], "knob cap cannot be 'many' (a number of chars, 0 to 100,000)"),
        (["--off", "identy"], "no item 'identy' (near: identity)"),
        (["--off", "x*"], "no item matches 'x*' (see: promptdbg inspect)"),
        (["--scenario", "loose"], "unknown scenario 'loose' (one of tight)"),
        (["--turn", "7"], "--turn: no user message 7, there are 1"),
        (["--turn", "0"], "--turn: no user message 0, there are 1"),
        (["--tokenizer", "p50k_base"], "the data of encoding p50k_base is not on this machine"),
        (["--session", "x"], "--session: engine fake reads no session file"),
    ],
)
def test_settings_that_do_not_fit(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert refused(capsys, "inspect", str(folder), *words).startswith(line)


def test_broken_manifest_says_where(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / MANIFEST_NAME).write_text("engine = \n")
    assert "(at line 1, column 10)" in refused(capsys, "inspect", str(folder))


def test_text_from_disk_in_an_error_is_inert(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / MANIFEST_NAME).write_text('engine = "\\u001b[31mred\\n"\n')
    assert "\x1b" not in refused(capsys, "inspect", str(folder))
    assert "\x1b" not in refused(capsys, "inspect", "no\x1b[31mfolder")


def test_debug_shows_the_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path / "none"), "--debug"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert said.splitlines()[-1].startswith("promptdbg: ")


def _raising(error: BaseException) -> object:
    class Raising:
        __doc__ = "raises"

        @staticmethod
        def configure(parser: object) -> None: ...

        @staticmethod
        def run(arguments: object) -> int:
            raise error

    return Raising


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("bad", where="f:1"), 2, "promptdbg: f:1: bad\n"),
        (
            KeyError("x"),
            70,
            "promptdbg: a defect of promptdbg: KeyError: 'x' (--debug shows the traceback)\n",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    line: str,
) -> None:
    monkeypatch.setattr(cli, "load", lambda name: _raising(error))
    assert main(["inspect"]) == code
    assert capsys.readouterr().err == line


# ---- in a process of its own --------------------------------------------------------------------


def test_reader_that_goes_away_is_no_error(folder: Path) -> None:
    sections = "".join(f'[[sections]]\nname = "section {n}"\ntext = "{"x" * 50}"\n' for n in range(3000))
    (folder / MANIFEST_NAME).write_text('engine = "fake"\n' + sections)
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "inspect", str(folder), "--json"],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


def test_interrupt_ends_without_a_traceback(folder: Path) -> None:
    os.mkfifo(folder / "gate")
    code = RUN.replace(
        "from promptdbg.cli import main",
        "from promptdbg.cli import main\n"
        "from tests.fake_engine import FakeEngine\n"
        "import os, time\n"
        f"FakeEngine.load = lambda *a: (os.open({str(folder / 'gate')!r}, os.O_WRONLY), time.sleep(60))\n",
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "inspect", str(folder)],
        cwd=Path(__file__).parent.parent,
        stderr=subprocess.PIPE,
        # What runs in the background of a shell ignores it, and all it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        with (folder / "gate").open():  # opened by the other side once it is loading
            pass
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert (process.returncode, said) == (130, b"")


HYGIENE = """
import sys
from promptdbg import engines
engines._ENGINES["fake"] = "tests.fake_engine:ENGINE"
from promptdbg.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
print("HEAVY", sorted({name.partition(".")[0] for name in sys.modules} & {"textual", "watchfiles", "rich", "tiktoken"}), file=sys.stderr)
print("COMMANDS", sorted(n for n in sys.modules if n.startswith("promptdbg.commands.")), file=sys.stderr)
sys.exit(code)
"""  # noqa: E501


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "{folder}"],
        ["inspect", "{folder}", "--json"],
        ["compare", "{folder}"],
        ["compare", "{folder}", "--against", "tight"],
        ["engines"],
        ["knobs"],
        ["rules"],
        ["sessions", "{folder}"],
        ["demo", "--list"],
        ["why", "{folder}", "identity"],
        ["trace", "{folder}", "three"],
        ["lint", "{folder}"],
        ["check", "{folder}", "--max-tokens", "900"],
        ["{folder}"],
    ],
    ids=lambda words: " ".join(words),
)
def test_commands_do_without_the_terminal_ui(folder: Path, words: list[str]) -> None:
    done = program(*(word.format(folder=folder) for word in words), code=HYGIENE)
    assert done.returncode in (0, 1), done.stderr
    heavy = next(line for line in done.stderr.splitlines() if line.startswith("HEAVY"))
    for name in ("textual", "watchfiles"):
        assert name not in heavy
    if words[0] in ("engines", "knobs", "rules"):
        assert "tiktoken" not in heavy


def test_only_the_command_that_runs_is_imported() -> None:
    done = program("engines", code=HYGIENE)
    commands = next(line for line in done.stderr.splitlines() if line.startswith("COMMANDS"))
    modules = [f"promptdbg.commands.{name}" for name in ("engines", "options", "parser")]
    assert commands == f"COMMANDS {modules}"


def test_version_imports_next_to_nothing() -> None:
    done = program("--version", code=HYGIENE)
    assert "HEAVY []" in done.stderr


def test_package_imports_nothing() -> None:
    code = "import sys, promptdbg; print(sorted(n for n in sys.modules if n.startswith('promptdbg')))"
    assert program(code=code).stdout == "['promptdbg']\n"


def in_a_terminal(*words: str, **environment: str) -> str:
    """What the program writes to a terminal 80 wide."""
    left, right = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *words],
        env=kept | {"TERM": "xterm-256color", "COLUMNS": "80"} | environment,
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.DEVNULL,
        stdout=right,
        stderr=subprocess.STDOUT,
    )
    os.close(right)
    said = b""
    while True:
        try:
            block = os.read(left, 65536)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        said += block
    os.close(left)
    process.wait(timeout=60)
    return said.decode().replace("\r\n", "\n")


def test_colour_only_where_a_terminal_wants_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["inspect", str(folder), "--set", "cap=5"]
    assert main(words) == 0
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    coloured = in_a_terminal(*words)
    assert "\x1b[33m" in coloured, "a cut section has the warning colour"
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert in_a_terminal(*words, **environment) == plain


def test_marks_have_stand_ins_where_the_output_is_ascii(folder: Path) -> None:
    done = program("inspect", str(folder), "--set", "cap=5", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert "~ CUT" in done.stdout
    assert done.stdout.isascii()


def test_json_is_one_inert_document(folder: Path) -> None:
    (folder / MANIFEST_NAME).write_text(
        'engine = "fake"\n[[sections]]\nname = "\\u001b[31m\\u009b\\u202e"\ntext = "漢字 \\u0007"\n'
    )
    for environment in ({}, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}):
        done = program("inspect", str(folder), "--json", **environment)
        assert done.stdout.isascii()
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stdout)


def test_streams_without_reconfigure_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main(["inspect", str(folder)]) == 0
