"""The options that commands share, and how they become an open workspace with settings.

Which workspace and session to open: ``OpenRequest``. What to try on it: ``Settings``, laid over the
manifest's own: a scenario first, then single knobs, then switched-off items, then the turn.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from promptdbg.errors import InputError, UsageError
from promptdbg.paths import is_written_as_path

if TYPE_CHECKING:
    from promptdbg.debug import Debugger, Opened
    from promptdbg.model import Settings
    from promptdbg.tokens import TokenCounter


def add_workspace(parser: argparse.ArgumentParser) -> None:
    """WORKSPACE and the options every command that opens one has."""
    parser.add_argument(
        "workspace",
        nargs="?",
        default=".",
        metavar="WORKSPACE",
        help="the agent's folder (default: .), or a JSON document",
    )
    add_opening(parser)


def add_opening(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to open")
    group.add_argument("--session", metavar="FILE|KEY", help="the session; default: the latest one")
    group.add_argument("--turn", type=int, metavar="N", help="as it was when user message N was sent, from 1")
    group.add_argument("--message", metavar="TEXT", help="the user message of the turn to build")
    group.add_argument("--engine", metavar="NAME", default="auto", help="the framework; default: found out")
    group.add_argument("--now", type=_time, metavar="TIME", help="freeze the clock, as 2026-03-01T09:30")
    group.add_argument("--trust", action="store_true", help="let Python files of the workspace run")
    group = parser.add_argument_group("what to try")
    group.add_argument("--scenario", metavar="NAME", help="the settings of that name in promptdbg.toml")
    group.add_argument(
        "--set", action="append", default=[], metavar="KNOB=VALUE", help="set a knob; repeatable"
    )
    group.add_argument(
        "--off",
        action="append",
        default=[],
        metavar="ITEM",
        help="switch an item off, with its parts; repeatable, may be a glob",
    )
    group.add_argument("--tokenizer", metavar="NAME", help="an encoding or a model name; default: o200k_base")


def place_item(arguments: argparse.Namespace) -> None:
    """Where only one of WORKSPACE and ITEM was given, and it is neither something on disk nor written as
    a path, it is an item of the workspace here."""
    word = arguments.workspace
    on_disk = not word or os.path.lexists(word) or is_written_as_path(word)
    if arguments.item is None and not on_disk:
        arguments.workspace, arguments.item = ".", word


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def _time(text: str) -> str:
    from promptdbg.times import is_iso_time

    if not is_iso_time(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an ISO time such as 2026-03-01T09:30")
    return text


def opened(arguments: argparse.Namespace) -> Opened:
    """The workspace and session that the arguments name, or the JSON document.

    Raises:
        PromptdbgError: they cannot be opened.
    """
    from promptdbg.debug import OpenRequest, open_workspace
    from promptdbg.files.disk import is_document

    path = Path(arguments.workspace)
    if is_document(path):
        from promptdbg.export.opening import opened_document

        for option in ("session", "message", "now"):
            if getattr(arguments, option) is not None:
                raise UsageError(f"{path.name} is already assembled", where=f"--{option}")
        return opened_document(path, counter(arguments) if arguments.tokenizer else None)
    return open_workspace(
        arguments.workspace,
        OpenRequest(
            engine=arguments.engine,
            session=arguments.session,
            message=arguments.message,
            now=arguments.now,
            trust=arguments.trust,
        ),
    )


def debugger(arguments: argparse.Namespace) -> Debugger:
    """The workspace, open, with everything applied that the arguments say.

    Raises:
        PromptdbgError: it cannot be opened, or a setting does not fit.
    """
    from promptdbg.debug import Debugger

    open_state = opened(arguments)
    counted_by = counter(arguments)
    return Debugger(open_state, settings(open_state, arguments, counted_by), counted_by)


def debugger_for(arguments: argparse.Namespace, word: str, usage: str) -> Debugger:
    """The same for a command that takes a word behind WORKSPACE: where the workspace is not there and
    the word is a folder, the two were most likely exchanged, and the hint says so.

    Raises:
        PromptdbgError: it cannot be opened, or a setting does not fit.
    """
    try:
        return debugger(arguments)
    except InputError as error:
        if os.path.lexists(os.path.expanduser(arguments.workspace)) or not os.path.isdir(word):
            raise
        hint = f"the folder comes first: promptdbg {usage}"
        raise InputError(error.what, where=error.where, hint=hint) from error


def counter(arguments: argparse.Namespace) -> TokenCounter:
    """The tokenizer that ``--tokenizer`` names.

    Raises:
        TokenizerError: its data is not on this machine.
    """
    from promptdbg.tokens import DEFAULT_ENCODING, tokenizer

    return tokenizer(arguments.tokenizer or DEFAULT_ENCODING)


def settings(open_state: Opened, arguments: argparse.Namespace, counted_by: TokenCounter) -> Settings:
    """The settings that the arguments describe.

    Raises:
        UsageError: an unknown scenario, knob or item, a value that does not fit, no such turn, an item
            that cannot be switched off.
    """
    from promptdbg.debug import with_knob

    chosen = open_state.scenario(arguments.scenario) if arguments.scenario else open_state.base
    knobs = {knob.name: knob for knob in open_state.knobs}
    if arguments.set and open_state.recorded:
        raise UsageError(
            "this is a recording: nothing can be set in it", where="--set", hint="open the workspace itself"
        )
    for assignment in arguments.set:
        name, found, text = assignment.partition("=")
        if not found:
            raise UsageError(f"{assignment!r} is not KNOB=VALUE", where="--set")
        if name not in knobs:
            raise UsageError(f"unknown knob {name!r}", where="--set", hint=_near(name, knobs))
        chosen = with_knob(chosen, knobs[name], knobs[name].parse(text))
    if arguments.turn is not None:
        turns = len(open_state.turns)
        if not 1 <= arguments.turn <= turns:
            there = f"there are {turns:,}" if turns else "there are none"
            raise UsageError(f"no user message {arguments.turn}, {there}", where="--turn")
        chosen = chosen.with_turn(arguments.turn)
    if arguments.off:
        from promptdbg.analysis.items import match_items

        # Which items there are is known only once it is assembled with everything else applied.
        assembly = open_state.assemble(chosen, counted_by)
        off = {item for pattern in arguments.off for item in match_items(assembly, pattern)}
        chosen = chosen.with_off(chosen.off | off)
        open_state.switched(chosen, counted_by).check(sorted(off))
    return chosen


def _near(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(name, names, n=3)
    return "near: " + ", ".join(near) if near else "one of " + ", ".join(names)
