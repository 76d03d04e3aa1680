"""Nothing from disk acts on the terminal: the raw bytes that reach it are searched."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

from tests.tui import sample

ROOT = Path(__file__).parents[2]

ATTACKS = {
    "title": "\x1b]0;OWNED\x07",
    "clipboard": "\x1b]52;c;T1dORUQ=\x07",
    "clear": "\x1b[2J\x1b[HOWNED",
    "c1": "\x9b31mred\x9d0;OWNED\x9c",
    "bidi": "user\u202egnp.exe\u202c",
    "isolate": "\u2066\u2067\u2068x\u2069",
    "invisible": "a\u200bb\u2060c\ufeffd\U000e0041",
    "markup": "[red]bold[/red] [/] [link=file:///etc/passwd]x[/link] [@click=app.quit]y[/]",
    "controls": "".join(map(chr, range(1, 32))) + "\x7f",
    "marks": "o" + "\u0301" * 400,
    "brackets": "[" * 10_000 + "]" * 10_000,
    "wide": "漢字" * 400 + "👩‍👩‍👧‍👦" * 20,
    "long line": "x" * 1_000_000,
}

_SETUP = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.tui import sample
from promptdbg.tui.start import run
sample.install()
sys.exit(run(sample.opener(Path(sys.argv[2])), watch=False))
"""


def hostile_document() -> str:
    parts = [
        'engine = "sample"',
        "budget = 100000",
        "cap = 2000000",
        f"session_name = {_toml(ATTACKS['title'])}",
    ]
    parts.append(f"notes = [{', '.join(_toml(text) for text in ATTACKS.values() if len(text) < 2000)}]")
    for name, text in ATTACKS.items():
        parts.append(f"[[sections]]\nname = {_toml(text[:3000] + name)}\nkind = {_toml(text[:60])}")
        parts.append(f"text = {_toml(text)}\npriority = 1")
    for text in ATTACKS.values():
        parts.append(f'[[messages]]\nrole = "user"\ncontent = {_toml(text)}')
    return "\n".join(parts)


def _toml(text: str) -> str:
    return re.sub(r"\\u(d[89a-f]..)\\u(d[c-f]..)", _pair, json.dumps(text)).replace("\x7f", "\\u007f")


def _pair(match: re.Match[str]) -> str:
    char = bytes.fromhex(match[1] + match[2]).decode("utf-16-be")
    return f"\\U{ord(char):08x}"


KEYS = (
    *("j",) * 4,
    "t", "v", "w", "w", "\x1b",
    "2", "G", "3", "G", "1",
    "j", "\r", "t", "\x1b", "\x1b",
    "K", "j", "\x1b",
    "!", "G", "\x1b",
    "T", "n", "v", "j", "z", "\r",
    "F", *"OWNED", "\r", "\r", "\x1b", "\x1b",
    " ", "c", "\x1b",
    "/", *"red", "\r", "\x1b",
    "m", "n", "n", "\r", "w", "\x1b",
    "p", *("j",) * 9, "\r", "\x1b", "\x1b",
    "x", "l", "l", "\x1b",
    "\x10", *"red", "\x1b",
    *("j",) * 9, "G", "t", "\x1b",
)  # fmt: skip


def test_raw_bytes(tmp_path: Path) -> None:
    folder = sample.write_workspace(tmp_path / "hostile\x1b]0;OWNED\x07[red]", hostile_document())
    output, code = _play(folder, KEYS)
    assert code == 0, output[-2000:]
    assert b"\xe2\x90\x9b" in output  # the escape is shown as its picture
    for attack in (b"]0;", b"]52;", b"\x1b[31m"):
        assert b"\x1b" + attack.lstrip(b"\x1b") not in output
    assert b"\x1b[2J\x1b[HOWNED" not in output
    text = output.decode("utf-8", "replace")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2060\ufeff\U000e0041\x80-\x9f\x7f]", text)
    assert "\u0301" * 20 not in text
    titles = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    rest = re.sub(titles + r"|\x1b[\[>?=()][^a-zA-Z]*[a-zA-Z]|[\r\n\t]", "", text)
    assert not {char for char in rest if char < " "} - {"\x1b"}
    assert "[red]bold" in re.sub("\x1b\\[[0-9;]*m", "", text)  # markup is only text


def _play(folder: Path, keys: tuple[str, ...]) -> tuple[bytes, int]:
    """Run the app in a real terminal of 120 by 40, press keys, leave; what it wrote, and its code."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (40, 120))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": str(ROOT)}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-c", _SETUP, str(ROOT), str(folder)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        start_new_session=True,
    )
    os.close(slave)
    output = bytearray()
    try:
        _read_until(master, output, b" whole", 60)
        for key in keys:
            os.write(master, key.encode())
            # An escape alone is told from a sequence by the time after it.
            _read(master, output, 0.25 if key == "\x1b" else 0.03)
        _read(master, output, 0.5)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            os.write(master, b"\x1b")  # out of whatever is open, then leave
            _read(master, output, 0.3)
            os.write(master, b"q")
            _read(master, output, 0.3)
        _read(master, output, 0.2)
        return bytes(output), process.wait(10)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)


def _read(master: int, output: bytearray, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([master], [], [], left)
        if not ready:
            return
        try:
            output += os.read(master, 65_536)
        except OSError:  # the other end is closed
            return


def _read_until(master: int, output: bytearray, wanted: bytes, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and wanted not in output:
        _read(master, output, 0.1)
