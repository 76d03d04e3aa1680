"""The guard's own parts; the whole of it is tried in a child process in ``test_process``."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest

from promptdbg.verify.driver import guard


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc here")
def test_the_folder_of_a_descriptor(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        assert guard._folder_of(descriptor) == str(tmp_path)
    finally:
        os.close(descriptor)
    assert guard._folder_of(descriptor) == os.sep  # closed: it cannot be told, so it is refused


def test_the_folder_of_a_descriptor_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def fcntl(descriptor: int, question: int, room: bytes) -> bytes:
        asked.append((descriptor, question))
        if descriptor < 0:
            raise OSError(9, "Bad file descriptor")
        return b"/private/tmp/work".ljust(len(room), b"\0")

    module = types.ModuleType("fcntl")
    module.F_GETPATH, module.fcntl = 50, fcntl  # type: ignore[attr-defined]  # made here
    monkeypatch.setitem(sys.modules, "fcntl", module)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert guard._folder_of(7) == "/private/tmp/work"
    assert guard._folder_of(-1) == os.sep
    assert asked == [(7, 50), (-1, 50)]
