"""How the command line of each command is read: its module, its parser."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import NoReturn, cast

from promptdbg import __version__
from promptdbg.commands import COMMANDS, Command
from promptdbg.errors import UsageError

DEFAULT = "open"
"""The command that runs where none is named."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours: one line, no usage block."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see: {self.prog} --help")


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
