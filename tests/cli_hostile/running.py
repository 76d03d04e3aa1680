"""Running a command in this process, and what must hold whatever it was given."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from promptdbg.cli import main
from tests.steps import steps

EXAMPLES = Path(__file__).parents[2] / "src" / "promptdbg" / "examples"

ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e0fff]"
)
"""What may never reach a terminal: all that acts on it or hides on it, but line feed and tab."""

STEPS_MAX = 3_000_000
"""Lines of Python of one command on small input; far above what is needed."""


def run(*words: str | Path, one_line: bool = True) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command; asserts what must hold for every input.

    Args:
        one_line: an error is all that is said; exports report before they fail.
    """
    out, err = io.StringIO(), io.StringIO()
    code = 0

    def call() -> None:
        nonlocal code
        try:
            code = main([str(word) for word in words])
        except SystemExit as done:  # argparse, after --help
            code = int(done.code or 0)

    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        work = steps(call)
    said = err.getvalue()
    assert code in (0, 1, 2), said
    assert "Traceback" not in said
    assert not ACTING.search(out.getvalue()), "the output acts on a terminal"
    assert not ACTING.search(said), "the error acts on a terminal"
    assert not one_line or code != 2 or said.count("\n") == 1, said
    assert work < STEPS_MAX
    return code, out.getvalue(), said
