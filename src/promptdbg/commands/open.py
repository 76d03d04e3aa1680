"""See the prompt an LLM agent sends: what its model saw, what was cut, and by which rule.

Opens the workspace in the terminal UI; where the output is not a terminal, prints what
"promptdbg inspect" prints. WORKSPACE may also be a JSON file: an assembly that promptdbg wrote, or
a trace of another program.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from promptdbg.commands import COMMANDS, options
from promptdbg.errors import UsageError

if TYPE_CHECKING:
    from promptdbg.model import Assembly, Stage


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    add_screen(parser)


def add_screen(parser: argparse.ArgumentParser, *, plain: bool = True) -> None:
    """What is about the terminal UI alone.

    Args:
        plain: whether lines may be printed instead.
    """
    group = parser.add_argument_group("on screen")
    group.add_argument("--final", metavar="FILE", help="a recorded request (JSON), beside the final list")
    group.add_argument("--ascii", action="store_true", help="draw with plain ASCII")
    if plain:
        group.add_argument("--plain", action="store_true", help="print lines instead, for screen readers")
    group.add_argument("--theme", metavar="NAME", help="colours; ctrl+p lists the names")
    group.add_argument("--tour", action="store_true", help="begin with the guided tour")
    group.add_argument("--no-watch", action="store_true", help="do not follow changes on disk")


def run(arguments: argparse.Namespace) -> int:
    _meant_a_command(arguments.workspace)
    return show(arguments)


def show(arguments: argparse.Namespace) -> int:
    """The workspace in the terminal UI, or printed where there is no terminal.

    Raises:
        PromptdbgError: it cannot be opened.
    """
    if not is_on_screen(arguments):
        if arguments.final is not None:
            raise UsageError("needs a terminal", where="--final", hint="promptdbg compare --final prints")
        debugger = options.debugger(arguments)
        if arguments.plain:
            from promptdbg.commands.plain import print_plain

            print_plain(debugger)
        else:
            from promptdbg.commands.inspect import print_table

            print_table(debugger)
        return 0
    from promptdbg.tui.start import run as run_tui  # Textual, which no other command pays for

    if arguments.theme is not None:
        from promptdbg.tui.theme import NAMES

        if arguments.theme not in NAMES:
            raise UsageError(
                f"no theme {arguments.theme!r}", where="--theme", hint="one of " + ", ".join(NAMES)
            )
    return run_tui(
        lambda: options.debugger(arguments),
        ascii_only=arguments.ascii,
        theme=arguments.theme,
        watch=not arguments.no_watch,
        recorded=_recorded(arguments),
        svg=_svg,
        tour=arguments.tour,
    )


def _svg(assembly: Assembly) -> str:
    from promptdbg.commands.picture import svg

    return svg(assembly)


def _recorded(arguments: argparse.Namespace) -> Stage | None:
    if arguments.final is None:
        return None
    from promptdbg.commands.recorded import recorded_stage

    return recorded_stage(Path(arguments.final), options.counter(arguments))


def is_on_screen(arguments: argparse.Namespace) -> bool:
    """Whether the UI is wanted and there is a terminal for it, or a browser that Textual draws for
    (its driver is set then)."""
    terminal = (sys.stdin.isatty() and sys.stdout.isatty()) or "TEXTUAL_DRIVER" in os.environ
    return terminal and not arguments.plain


def _meant_a_command(word: str) -> None:
    """
    Raises:
        UsageError: the word is no folder and looks like the name of a command.
    """
    if "/" in word or os.sep in word or os.path.exists(word):
        return
    if word in COMMANDS:
        raise UsageError(f"the command comes first: promptdbg {word} ...")
    from difflib import get_close_matches

    if near := get_close_matches(word, COMMANDS, n=1, cutoff=0.7):
        raise UsageError(f"no command and no folder {word!r}", hint=f"did you mean: promptdbg {near[0]}")
