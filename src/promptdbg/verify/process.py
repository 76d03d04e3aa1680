"""The child process: started on the interpreter that has nanobot, spoken to in lines of JSON."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from promptdbg.errors import InputError, UsageError
from promptdbg.files.disk import is_folder
from promptdbg.tokens import SHIPPED_ENCODINGS
from promptdbg.verify.driver import PROTOCOL

START_TIMEOUT = 90.0
RUN_TIMEOUT = 120.0
"""Seconds until the child is given up: to import nanobot, and to answer one request."""

ANSWER_LIMIT = 1 << 30
"""Characters of one answer that are read at the most."""

HINT = "pip install nanobot-ai into any environment and name it: promptdbg verify --python .venv/bin/python"

DRIVER = Path(__file__).parent / "driver"

# Loads the driver's folder as a package of its own: promptdbg is not importable over there.
_BOOT = """
import importlib.util, sys
folder, root = sys.argv[1:3]
spec = importlib.util.spec_from_file_location(
    "promptdbg_driver", folder + "/__init__.py", submodule_search_locations=[folder])
module = importlib.util.module_from_spec(spec)
sys.modules["promptdbg_driver"] = module
spec.loader.exec_module(module)
from promptdbg_driver.main import main
main(root)
"""

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)


class FrameworkError(InputError):
    """The child could not do its work: it does not start, does not answer, or broke down."""


def interpreter(python: Path | None) -> Path:
    """The interpreter to run nanobot with.

    Raises:
        UsageError: none was named and nanobot is not installed beside promptdbg.
        InputError: the one named is not there.
    """
    if python is None:
        if find_spec("nanobot") is None:
            raise UsageError("nanobot is not installed for this Python", hint=HINT)
        return Path(sys.executable)
    if not os.access(python, os.X_OK) or is_folder(python):
        raise InputError("is not a Python interpreter", where=str(python), hint=HINT)
    return Path(os.path.abspath(python))  # not resolved: a venv's interpreter is a link


def environment(home: Path, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The child's environment: no secret, no setting of nanobot, a home of its own.

    Variables that look like secrets keep their names, because skills may require them to be set,
    and lose their values.
    """
    kept = {
        name: ("withheld" if value and _SECRET.search(name) else value)
        for name, value in (os.environ if base is None else base).items()
        if not name.startswith(("NANOBOT_", "PYTHON", "XDG_", "LD_", "DYLD_"))
    }
    kept.update(
        HOME=str(home),
        USERPROFILE=str(home),
        TIKTOKEN_CACHE_DIR=str(SHIPPED_ENCODINGS),
        PYTHONUTF8="1",
        PYTHONDONTWRITEBYTECODE="1",
    )
    return kept


class Driver:
    """One child process; ``ask`` it as often as you like. Use as a context manager."""

    def __init__(
        self,
        python: Path,
        root: Path,
        *,
        extra: Mapping[str, str] | None = None,
        folder: Path = DRIVER,
    ) -> None:
        """Start it and wait until it says that it is ready.

        Args:
            root: the only folder the child may change; its working folder.
            extra: more environment variables.
            folder: the package to run there.

        Raises:
            FrameworkError: it does not start, or nanobot cannot be imported there.
        """
        home = root / "home"
        home.mkdir(parents=True, exist_ok=True)
        self.python = python
        try:
            self._process = subprocess.Popen(
                [str(python), "-B", "-P", "-c", _BOOT, str(folder), str(root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**environment(home), **(extra or {})},
                cwd=root,
            )
        except OSError as error:
            raise FrameworkError(f"cannot be started: {error.strerror}", where=str(python)) from error
        self._answers: queue.Queue[bytes] = queue.Queue()
        self._noise: deque[str] = deque(maxlen=20)
        assert self._process.stdout
        assert self._process.stderr
        self._threads = (
            threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._drain, args=(self._process.stderr,), daemon=True),
        )
        for thread in self._threads:
            thread.start()
        try:
            greeting = self._next(START_TIMEOUT)
            if greeting.get("protocol") != PROTOCOL:
                raise FrameworkError(
                    f"the driver speaks protocol {greeting.get('protocol')}", where=str(python)
                )
        except FrameworkError:
            self.close()
            raise
        self.greeting = greeting

    def ask(self, request: Mapping[str, Any], timeout: float = RUN_TIMEOUT) -> dict[str, Any]:
        """One request, one answer.

        Raises:
            FrameworkError: no answer in time, or the driver broke down; the child is gone then.
        """
        try:
            assert self._process.stdin
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            return self._next(timeout)
        except (OSError, FrameworkError) as error:
            self.close()
            if isinstance(error, FrameworkError):
                raise
            raise FrameworkError(f"the driver ended{self._last_words()}", where=str(self.python)) from error

    def close(self) -> None:
        """End the child; nothing happens when it has ended."""
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                with suppress(OSError):  # what was not yet written has nobody to go to
                    stream.close()

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _next(self, timeout: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=timeout)
        except queue.Empty:
            raise FrameworkError(f"no answer within {timeout:.0f} seconds", where=str(self.python)) from None
        if not line.endswith(b"\n"):
            raise FrameworkError(f"the driver ended{self._last_words()}", where=str(self.python))
        try:
            answer = json.loads(line)
        except ValueError:
            raise FrameworkError("the driver's answer is not JSON", where=str(self.python)) from None
        if "error" in answer:
            raise FrameworkError(str(answer["error"]), where=str(self.python), hint=HINT)
        found: dict[str, Any] = answer
        return found

    def _last_words(self) -> str:
        self._threads[1].join(timeout=2)
        words = next((line for line in reversed(self._noise) if line.strip()), "")
        return f": {words}" if words else ""

    def _listen(self, stream: IO[bytes]) -> None:
        while line := stream.readline(ANSWER_LIMIT):
            self._answers.put(line)
        self._answers.put(b"")

    def _drain(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._noise.append(line.decode("utf-8", "replace").strip()[:500])
