"""See the prompt an LLM agent sends: what its model saw, what was cut, and by which rule.

Opens the workspace in the terminal UI; where the output is not a terminal, prints what
"promptdbg inspect" prints. WORKSPACE may also be a JSON file: an assembly that promptdbg wrote, or
a trace of another program.
"""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches
from pathlib import Path

from promptdbg.commands import COMMANDS, inspect, options
from promptdbg.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)


def run(arguments: argparse.Namespace) -> int:
    _meant_a_command(arguments.workspace)
    return show(arguments)


def show(arguments: argparse.Namespace) -> int:
    """The workspace in the terminal UI, or printed where there is no terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        inspect.print_table(options.debugger(arguments))
        return 0
    from promptdbg.tui.app import run as run_tui  # Textual, which no other command pays for

    return run_tui(lambda: options.debugger(arguments))


def _meant_a_command(word: str) -> None:
    """
    Raises:
        UsageError: the word is no folder and looks like the name of a command.
    """
    if "/" in word or Path(word).exists():
        return
    if word in COMMANDS:
        raise UsageError(f"the command comes first: promptdbg {word} ...")
    if near := get_close_matches(word, COMMANDS, n=1, cutoff=0.7):
        raise UsageError(f"no command and no folder {word!r}", hint=f"did you mean: promptdbg {near[0]}")
