"""The command line: which command is meant, and what a user sees when something goes wrong.

Only the module of the command that runs is imported. Exit codes: 0 done; 1 a check failed or a
difference was found; 2 wrong arguments or unreadable input, with one line that says what and where;
70 a defect of promptdbg itself; 130 interrupted; 141 the reader of the output went away.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from promptdbg.commands import COMMANDS
from promptdbg.commands.parser import DEFAULT, load, parser_for
from promptdbg.errors import PromptdbgError

_OF_STREAMS = frozenset(
    code
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EBADF", "EAGAIN", "ECONNRESET")
    if (code := getattr(errno, name, None)) is not None  # Windows has not all of them
)

_DEFECT, _INTERRUPTED, _PIPE_CLOSED = 70, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _stand_in_for_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Line feeds everywhere: scripts and documents are read by programs that want them.
            stream.reconfigure(errors="backslashreplace", newline="\n")
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except PromptdbgError as error:
        return _told(error, error.exit_code, "--debug" in words)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _discard(sys.stdout)
        return _PIPE_CLOSED
    except OSError as error:
        _discard(sys.stdout)
        failed = _of_the_system(error)
        return _told(failed, failed.exit_code, "--debug" in words)
    except Exception as error:
        defect = PromptdbgError(
            f"a defect of promptdbg: {type(error).__name__}: {error}", hint="--debug shows the traceback"
        )
        return _told(defect, _DEFECT, "--debug" in words)


def _of_the_system(error: OSError) -> PromptdbgError:
    """What the system refused. Files are read where problems are values, so it is mostly the output's;
    but only what a stream that is being written to can say is called that."""
    said = error.strerror or str(error)
    if error.filename is None and error.errno in _OF_STREAMS:
        return PromptdbgError(f"cannot be written: {said}", where="the output")
    where = "" if error.filename is None else os.fsdecode(error.filename)
    return PromptdbgError(f"the system refused: {said}", where=where, hint="--debug shows where")


def _stand_in_for_closed_streams() -> None:
    """Python has no stream where the shell closed one; what is written there goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as the program runs


def _discard(stream: TextIO) -> None:
    """Let what is still to be written vanish: Python flushes once more at exit, which must not fail."""
    with suppress(OSError, ValueError):  # not a stream of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _told(error: PromptdbgError, code: int, debug: bool) -> int:
    """Say the error on stderr; with ``debug`` the traceback of the exception being handled first."""
    from promptdbg.text import safe

    if debug:
        import traceback

        print(safe(traceback.format_exc()), end="", file=sys.stderr)
    try:
        print(f"promptdbg: {safe(error.line(), lines=False)}", file=sys.stderr, flush=True)
    except OSError:  # nowhere to say it; the exit code does
        _discard(sys.stderr)
    return code


def _run(words: list[str]) -> int:
    name = words[0] if words and words[0] in COMMANDS else DEFAULT
    command = load(name)
    # Intermixed: a workspace may stand before an option and the item after it.
    arguments = parser_for(name, command).parse_intermixed_args(words if name == DEFAULT else words[1:])
    return command.run(arguments)
