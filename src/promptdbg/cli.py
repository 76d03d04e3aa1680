"""The command line: which command is meant, and what a user sees when something goes wrong.

Only the module of the command that runs is imported. Exit codes: 0 done; 1 a check failed or a
difference was found; 2 wrong arguments or unreadable input, with one line that says what and where;
70 a defect of promptdbg itself; 130 interrupted; 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, cast

from promptdbg import __version__
from promptdbg.commands import COMMANDS
from promptdbg.errors import PromptdbgError, UsageError

if TYPE_CHECKING:
    from promptdbg.commands import Command

DEFAULT = "open"
"""The command that runs where none is named."""
_DEFECT, _INTERRUPTED, _PIPE_CLOSED = 70, 130, 141


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours: one line, no usage block."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see: {self.prog} --help")


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


def load(name: str) -> Command:
    """The module of a command."""
    return cast("Command", import_module(f"promptdbg.commands.{name}"))


def parser_for(name: str, command: Command) -> Parser:
    """The argument parser of a command. Options cannot be abbreviated, so that a later option can
    never change what a script's short form means."""
    parser = Parser(
        prog="promptdbg" if name == DEFAULT else f"promptdbg {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.configure(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    if name == DEFAULT:
        parser.add_argument("--version", action="version", version=f"promptdbg {__version__}")
        width = max(map(len, COMMANDS))
        lines = [f"  {command_name:<{width}}  {does}" for command_name, does in COMMANDS.items()]
        parser.epilog = "commands (promptdbg COMMAND --help says more):\n" + "\n".join(lines)
    return parser
