"""No command changes a byte or a time stamp of what it opens, connects anywhere, or runs anything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "src" / "promptdbg" / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/promptdbg.toml"))

# Each command, with words that make it do its whole work.
COMMANDS = [
    ["inspect"],
    ["inspect", "--json"],
    ["compare", "--all"],
    ["trace", "the"],
    ["fixes"],
    ["lint"],
    ["check", "--no-drop", "*"],
    ["export", "-o", "-", "--level", "redacted", "--format", "html"],
    ["sessions"],
    [],
]

# Runs every command in one process, and reports what an audit hook saw that must not be. (Binding is
# let pass: urllib3, which detect-secrets imports, binds a socket once to learn whether IPv6 works.)
DRIVER = """
import contextlib, io, json, os, sys
seen = []
root = os.path.realpath(sys.argv[1])
def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "subprocess.Popen",
                 "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.remove", "os.rename", "os.rmdir"):
        seen.append([event, str(arguments[:1])])
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        path, mode, flags = os.fsdecode(arguments[0]), arguments[1] or "", arguments[2]
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            seen.append([event, path])
    elif event == "exec" and getattr(arguments[0], "co_filename", "").startswith(root):
        seen.append([event, arguments[0].co_filename])
from promptdbg.cli import main
sys.addaudithook(watch)
codes = []
for words in json.loads(sys.argv[2]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        codes.append(main(words))
print(json.dumps({"seen": seen, "codes": codes}))
"""


def snapshot(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, data)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_touched(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, symlinks=True)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".config" / "promptdbg").mkdir(parents=True)
    (home / ".config" / "promptdbg" / "salt").write_bytes(b"0" * 32)
    before = snapshot(tmp_path)
    words = [
        [command[0], str(folder), *command[1:], "--now", "2026-03-01T09:30"] if command else [str(folder)]
        for command in COMMANDS
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-c", DRIVER, str(folder), json.dumps(words)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "COLUMNS": "100"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["seen"] == []
    refused = [w for w, code in zip(words, report["codes"], strict=True) if code not in (0, 1)]
    assert all(command[0] == "sessions" for command in refused), refused  # not every engine has any
    assert snapshot(tmp_path) == before
