"""The first and the last moments of the program, where ctrl-c must be a quiet end too."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from promptdbg import __main__ as start

INTERRUPTED_WHILE_IMPORTING = """
import sys

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == NAME:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from promptdbg.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["promptdbg.cli", "argparse", "promptdbg.commands.inspect"])
def test_ctrl_c_while_anything_is_imported_is_a_quiet_end(name: str) -> None:
    code = INTERRUPTED_WHILE_IMPORTING.replace("NAME", repr(name))
    done = subprocess.run(
        [sys.executable, "-c", code, "inspect"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_nothing_is_imported_before_ctrl_c_is_quiet() -> None:
    code = (
        "import sys; before = set(sys.modules); import promptdbg.__main__; print(set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.strip("'") for name in done.stdout.strip()[1:-1].split(", ")}
    assert imported <= {"promptdbg", "promptdbg.__main__", "__future__"}


@pytest.fixture
def handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("handler")
def test_when_the_work_is_done_ctrl_c_ends_at_once_unless_it_is_passed_over() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert start._over(1) == 1
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start._over(0)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
