"""The command line: which command is meant, and what a user sees when something goes wrong.

Only the module of the command that runs is imported. Exit codes: 0 done; 1 a check failed or a
difference was found; 2 wrong arguments or unreadable input, with one line that says what and where;
70 a defect of promptdbg itself; 130 interrupted; 141 the reader of the output went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from promptdbg.commands import COMMANDS
from promptdbg.commands.parser import DEFAULT, load, parser_for
from promptdbg.errors import PromptdbgError

_DEFECT, _INTERRUPTED, _PIPE_CLOSED = 70, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except PromptdbgError as error:
        return _told(error, error.exit_code, "--debug" in words)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except Exception as error:
        defect = PromptdbgError(
            f"a defect of promptdbg: {type(error).__name__}: {error}", hint="--debug shows the traceback"
        )
        return _told(defect, _DEFECT, "--debug" in words)


def _told(error: PromptdbgError, code: int, debug: bool) -> int:
    """Say the error on stderr; with ``debug`` the traceback of the exception being handled first."""
    from promptdbg.text import safe

    if debug:
        import traceback

        traceback.print_exc()
    print(f"promptdbg: {safe(error.line(), lines=False)}", file=sys.stderr)
    return code


def _run(words: list[str]) -> int:
    name = words[0] if words and words[0] in COMMANDS else DEFAULT
    command = load(name)
    # Intermixed: a workspace may stand before an option and the item after it.
    arguments = parser_for(name, command).parse_intermixed_args(words if name == DEFAULT else words[1:])
    return command.run(arguments)
