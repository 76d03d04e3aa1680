"""The child process, with drivers of our own in place of nanobot's."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from promptdbg.errors import InputError, UsageError
from promptdbg.verify import process
from promptdbg.verify.driver import PROTOCOL
from promptdbg.verify.process import DRIVER, Driver, FrameworkError, environment, interpreter

GREETING = f'print(json.dumps({{"protocol": {PROTOCOL}, "version": "9", "pid": os.getpid()}}), flush=True)'


def _driver(folder: Path, body: str) -> Path:
    """A driver package whose ``main(root)`` is ``body``; the real guard and redirection are there."""
    package = folder / "driver"
    shutil.copytree(DRIVER, package, ignore=shutil.ignore_patterns("__pycache__"))
    lines = "\n    ".join(body.strip().splitlines())
    imports = "import json, os, socket, subprocess, sys, time\nfrom . import clock, guard, redirect\n\n"
    (package / "main.py").write_text(f"{imports}def main(root):\n    {lines}\n")
    return package


def _ask(tmp_path: Path, body: str, request: dict[str, Any] | None = None) -> dict[str, Any]:
    package = _driver(tmp_path, body)
    root = tmp_path / "root"
    root.mkdir()
    with Driver(Path(sys.executable), root, folder=package) as driver:
        return driver.ask(request or {}, timeout=30)


ECHO = f"{GREETING}\nfor line in sys.stdin: print(line, end='', flush=True)"


def test_asks_as_often_as_one_likes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with Driver(Path(sys.executable), root, folder=_driver(tmp_path, ECHO)) as driver:
        assert driver.greeting["version"] == "9"
        for number in range(3):
            text = "\u2028\ud800" * number
            assert driver.ask({"number": number, "text": text}) == {"number": number, "text": text}


def test_a_driver_that_ends_says_why(tmp_path: Path) -> None:
    with pytest.raises(FrameworkError, match="ended: ValueError: because"):
        _ask(tmp_path, f"{GREETING}\nraise ValueError('because')")


def test_a_driver_that_hangs_is_ended(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    driver = Driver(Path(sys.executable), root, folder=_driver(tmp_path, f"{GREETING}\ntime.sleep(60)"))
    with pytest.raises(FrameworkError, match="no answer within 1 second"):
        driver.ask({}, timeout=1)
    assert driver._process.poll() is not None


@pytest.mark.parametrize("answer", ["no json", "[1", '{"protocol": 99}'])
def test_what_is_no_greeting_is_refused(tmp_path: Path, answer: str) -> None:
    with pytest.raises(FrameworkError):
        _ask(tmp_path, f"print({answer!r}, flush=True)\ntime.sleep(60)")


# The real driver, on an interpreter that is told which nanobot to find.
BLOCKED = "import sys\nsys.modules['nanobot'] = None\n"
METADATA = "Metadata-Version: 2.1\nName: nanobot-ai\nVersion: 9\n"


def test_an_interpreter_without_nanobot_says_so(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    with pytest.raises(FrameworkError, match="nanobot is not installed there"):
        Driver(Path(sys.executable), root, extra={"PYTHONPATH": str(tmp_path)})


def test_a_broken_nanobot_says_so(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "nanobot_ai-9.dist-info").mkdir()
    (tmp_path / "nanobot_ai-9.dist-info" / "METADATA").write_text(METADATA)
    (tmp_path / "nanobot.py").write_text("raise ImportError('none here')")
    with pytest.raises(FrameworkError, match="nanobot cannot be used here"):
        Driver(Path(sys.executable), root, extra={"PYTHONPATH": str(tmp_path)})


def test_nothing_is_imported_from_the_copy(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "json.py").write_text("raise ImportError('not this one')")
    with Driver(Path(sys.executable), root, folder=_driver(tmp_path, ECHO)) as driver:
        assert driver.ask({"a": 1}) == {"a": 1}


def test_an_interpreter_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="--python"):
        interpreter(None)
    with pytest.raises(InputError, match="not a Python interpreter"):
        interpreter(tmp_path / "nowhere")
    with pytest.raises(InputError, match="not a Python interpreter"):
        interpreter(tmp_path)
    assert interpreter(Path(sys.executable)) == Path(sys.executable)
    # The child works in another folder, where a relative path would mean something else.
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert interpreter(Path("python")) == tmp_path / "python"


def test_the_environment_has_no_secret(tmp_path: Path) -> None:
    given = {
        "PATH": "/bin",
        "OPENAI_API_KEY": "sk-1",
        "GITHUB_TOKEN": "t",
        "MY_PASSWORD": "p",
        "EMPTY_KEY": "",
        "NANOBOT_AGENTS__DEFAULTS__MODEL": "m",
        "PYTHONPATH": "/x",
        "HOME": "/home/me",
    }
    made = environment(tmp_path, given)
    assert made["PATH"] == "/bin"
    assert made["HOME"] == str(tmp_path)
    # Skills may require a variable to be set, so its name stays.
    assert made["OPENAI_API_KEY"] == made["GITHUB_TOKEN"] == made["MY_PASSWORD"] == "withheld"
    assert made["EMPTY_KEY"] == ""
    assert not {"NANOBOT_AGENTS__DEFAULTS__MODEL", "PYTHONPATH"} & set(made)
    assert "sk-1" not in made.values()


GUARDED = f"""
guard.install(root)
{GREETING}
request = json.loads(sys.stdin.readline())
outside, results = request["outside"], {{}}
def attempt(name, call):
    try:
        call()
        results[name] = "done"
    except guard.Refused:
        results[name] = "refused"
    except OSError as error:
        results[name] = type(error).__name__
os.symlink(outside, root + "/link")
attempt("write inside", lambda: open(root + "/new", "w").close())
attempt("folder inside", lambda: os.makedirs(root + "/a/b"))
attempt("read outside", lambda: open(outside + "/file").close())
attempt("write outside", lambda: open(outside + "/file", "w"))
attempt("append outside", lambda: os.open(outside + "/file", os.O_WRONLY | os.O_APPEND))
attempt("write through a link", lambda: open(root + "/link/file", "w"))
attempt("create outside", lambda: open(outside + "/new", "x"))
attempt("link outside", lambda: os.symlink(root, outside + "/link"))
attempt("hard link to outside", lambda: os.link(outside + "/file", root + "/hard"))
attempt("remove outside", lambda: os.remove(outside + "/file"))
attempt("rename outside", lambda: os.replace(root + "/new", outside + "/new"))
attempt("folder outside", lambda: os.mkdir(outside + "/folder"))
attempt("touch outside", lambda: os.utime(outside + "/file"))
attempt("mode outside", lambda: os.chmod(outside + "/file", 0o777))
attempt("connect", lambda: socket.create_connection(("127.0.0.1", 9), timeout=1))
attempt("look up", lambda: socket.getaddrinfo("localhost", 80))
attempt("program", lambda: subprocess.run([sys.executable, "-c", "pass"]))
attempt("shell", lambda: os.system("true"))
print(json.dumps(results), flush=True)
"""


def test_the_guard(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("original")
    before = (outside / "file").stat()
    results = _ask(tmp_path, GUARDED, {"outside": str(outside)})
    allowed = {name for name, result in results.items() if result == "done"}
    assert allowed == {"write inside", "folder inside", "read outside"}
    assert {result for name, result in results.items() if name not in allowed} == {"refused"}
    after = (outside / "file").stat()
    assert (after.st_mtime_ns, after.st_mode, after.st_size) == (before.st_mtime_ns, before.st_mode, 8)
    assert [path.name for path in outside.iterdir()] == ["file"]


REDIRECTED = f"""
{GREETING}
from pathlib import Path
request = json.loads(sys.stdin.readline())
shown, copy = request["shown"], request["copy"]
redirect.place([(shown, copy)])
folder = Path(shown)
(folder / "made" / "deep").mkdir(parents=True)
(folder / "made" / "deep" / "new.txt").write_text("written")
os.replace(folder / "made" / "deep" / "new.txt", folder / "moved.txt")
answer = {{
    "text": (folder / "file.txt").read_text(),
    "resolved": str((folder / "file.txt").resolve()),
    "exists": [(folder / name).exists() for name in ("file.txt", "only-original", "moved.txt")],
    "listed": [entry.name for entry in folder.iterdir()],
    "walked": sorted(name for _, _, names in os.walk(shown) for name in names),
    "neighbour": Path(shown + "-more/file.txt").read_text(),
}}
redirect.place([])
answer["after"] = (folder / "file.txt").read_text()
print(json.dumps(answer), flush=True)
"""


def test_the_copy_appears_at_the_place_of_the_original(tmp_path: Path) -> None:
    shown, copy, neighbour = tmp_path / "shown", tmp_path / "root" / "copy", tmp_path / "shown-more"
    for folder, text in ((shown, "original"), (neighbour, "another")):
        folder.mkdir()
        (folder / "file.txt").write_text(text)
    (shown / "only-original").write_text("")
    package = _driver(tmp_path, REDIRECTED)
    copy.mkdir(parents=True)
    (copy / "file.txt").write_text("copied")
    with Driver(Path(sys.executable), tmp_path / "root", folder=package) as driver:
        answer = driver.ask({"shown": str(shown), "copy": str(copy)}, timeout=30)
    assert answer["text"] == "copied"
    assert answer["resolved"] == str(shown / "file.txt")
    assert answer["exists"] == [True, False, True]
    assert sorted(answer["listed"]) == ["file.txt", "made", "moved.txt"]
    assert answer["walked"] == ["file.txt", "moved.txt"]
    assert answer["neighbour"] == "another"
    assert answer["after"] == "original"
    assert sorted(path.name for path in shown.iterdir()) == ["file.txt", "only-original"]


ORDERED = f"""
{GREETING}
request = json.loads(sys.stdin.readline())
original = os.listdir(request["shown"])
redirect.place([(request["shown"], request["copy"])])
print(json.dumps({{"original": original, "copy": os.listdir(request["shown"])}}), flush=True)
"""


def test_a_copied_folder_is_listed_in_the_original_order(tmp_path: Path) -> None:
    names = [f"{n * 7919 % 1009}-{n}" for n in range(60)]
    shown, copy = tmp_path / "shown", tmp_path / "root" / "copy"
    package = _driver(tmp_path, ORDERED)
    for folder, order in ((shown, names), (copy, sorted(names))):
        folder.mkdir(parents=True)
        for name in order:
            (folder / name).touch()
    with Driver(Path(sys.executable), tmp_path / "root", folder=package) as driver:
        answer = driver.ask({"shown": str(shown), "copy": str(copy)}, timeout=30)
    assert answer["copy"] == answer["original"]


FROZEN = f"""
import datetime as module, types
{GREETING}
request = json.loads(sys.stdin.readline())
package = types.ModuleType("framework")
package.datetime = module.datetime
sys.modules["framework"] = package
kept = module.datetime
clock.install("framework")
clock.freeze(request["now"])
now = package.datetime.now()
answer = {{
    "now": now.isoformat(),
    "zone": package.datetime.now(module.timezone.utc).isoformat(),
    "late import": module.datetime.now().isoformat(),
    "instance": [isinstance(kept(2020, 1, 1), package.datetime), isinstance(now, kept)],
    "parsed": package.datetime.fromisoformat("2020-01-01T00:00:00").isoformat(),
}}
clock.freeze(None)
answer["runs"] = package.datetime.now().isoformat() != request["now"]
print(json.dumps(answer), flush=True)
"""


def test_the_clock_stands(tmp_path: Path) -> None:
    answer = _ask(tmp_path, FROZEN, {"now": "2026-08-20T09:30:00"})
    assert answer["now"] == answer["late import"] == "2026-08-20T09:30:00"
    assert answer["zone"].endswith("+00:00")
    assert answer["instance"] == [True, True]
    assert answer["parsed"] == "2020-01-01T00:00:00"
    assert answer["runs"] is True
