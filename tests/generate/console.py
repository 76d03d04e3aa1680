"""The ``console`` blocks of a page: their commands are run in order, and what they print is shown.

Understood are ``promptdbg ...``, ``cd "$(promptdbg demo --path [NAME])"`` (into a copy), ``echo $?``
and ``python FILE.py``. A page begins in an empty folder. Comments before a block steer it:
``<!-- show 1-4 /BUDGET/+3 -->`` keeps those lines of the output, ``<!-- file NAME -->`` writes the block to
that file, so that commands can use it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from promptdbg.cli import main
from promptdbg.examples import FLAGSHIP, find

_BLOCK = re.compile(
    r"(?P<head>(?:^<!-- (?P<word>show|file) (?P<what>[^\n]*?) -->\n)?^```(?P<language>[\w-]+)\n)"
    r"(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_INTO_DEMO = re.compile(r'cd "\$\(promptdbg demo (?:(?P<name>[\w-]+) )?--path\)"')
_ELIDED = "…"
_COLUMNS = "100"
_DEFECT = 70
"""The exit code after a defect of ours, which no page is to show."""


class PageError(Exception):
    """A page holds something that cannot be run; the text names it."""


def filled(page: str) -> str:
    """The page with every output made anew."""
    with TemporaryDirectory() as folder, _plain(folder):
        session = _Session(Path(folder).resolve())
        return _BLOCK.sub(session.block, page)


@contextmanager
def _plain(folder: str) -> Iterator[None]:
    """Nothing of the machine shows: its home, its width, its colours."""
    changed = {
        "HOME": folder,
        "USERPROFILE": folder,
        "COLUMNS": _COLUMNS,
        "NO_COLOR": "1",
        "LOGNAME": "reader",
    }
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        with chdir(folder):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Session:
    """What a reader's shell would hold while the page is followed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.exit_code = 0

    def block(self, found: re.Match[str]) -> str:
        body = found["body"]
        if found["word"] == "file":
            Path(found["what"]).write_text(body, encoding="utf-8")
        if found["language"] != "console":
            return found[0]
        lines: list[str] = []
        commands = _commands(body)
        if found["word"] == "show" and len(commands) > 1:
            raise PageError(f"parts are shown of one command's output, not of several: {commands}")
        for command in commands:
            shown = self.run(command.replace("\\\n", " ")).rstrip("\n").splitlines()
            lines += [f"$ {command}", *shown]
        if found["word"] == "show":
            lines = chosen(lines, found["what"])
        output = "\n".join(line.rstrip() for line in lines)
        if str(self.root) in output:
            raise PageError(f"a path of this machine is in the output of: {commands}")
        return f"{found['head']}{output}\n```"

    def run(self, command: str) -> str:
        """What a command prints."""
        if into := _INTO_DEMO.fullmatch(command):
            self.enter(into["name"] or FLAGSHIP)
            return ""
        words = shlex.split(command)
        match words:
            case ["echo", "$?"]:
                return str(self.exit_code)
            case ["promptdbg", *arguments]:
                out = StringIO()
                with redirect_stdout(out), redirect_stderr(out):
                    self.exit_code = _exit_code(arguments)
                if self.exit_code == _DEFECT:
                    raise PageError(f"{command}: {out.getvalue().strip()}")
                return out.getvalue()
            case ["python", script]:
                done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=True)
                return done.stdout
        raise PageError(f"cannot run: {command}")

    def enter(self, name: str) -> None:
        """Into a copy of an example, named as it is."""
        copy = self.root / name
        if not copy.exists():
            shutil.copytree(find(name).path, copy)
        os.chdir(copy)


def _exit_code(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as done:  # argparse, after --help and --version
        return int(done.code or 0)


def _commands(body: str) -> list[str]:
    """The commands of a block, as they are written: with their continuation lines."""
    commands: list[str] = []
    lines = iter(body.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)
            commands.append(command)
    if not commands:
        raise PageError(f"a console block without a command: {body[:60]!r}")
    return commands


_PART = re.compile(r"(?P<first>\d+|/[^/]+/)(?:-(?P<last>\d*)|\+(?P<more>\d+))?")


def chosen(lines: list[str], parts: str) -> list[str]:
    """Some of the lines, with a mark where others are left out.

    A part is ``3``, ``3-9`` or ``3-`` (numbers from 1), or ``/text/``, ``/text/+4`` or ``/text/-``: the
    next line that holds the text, with so many after it, or with all.
    """
    kept: list[str] = []
    done = 0
    for part in _PART.finditer(parts):
        start = _start(lines, part["first"], done)
        end = start + int(part["more"] or 0)
        if part["last"] is not None:
            end = int(part["last"] or len(lines))
        if start > done + 1:
            kept.append(_ELIDED)
        kept += lines[start - 1 : end]
        done = end
    if done < len(lines):
        kept.append(_ELIDED)
    return kept


def _start(lines: list[str], first: str, done: int) -> int:
    if first.startswith("/"):
        found = (number for number, line in enumerate(lines, 1) if number > done and first[1:-1] in line)
        number = next(found, 0)
    else:
        number = int(first) if int(first) <= len(lines) else 0
    if not number:
        raise PageError(f"no line {first} in the output of: {lines[0]}")
    return number
