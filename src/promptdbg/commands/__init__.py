"""The commands, one module each: ``configure(parser)`` declares its arguments, ``run(arguments)``
does it and returns the exit code. What a command needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Protocol


class Command(Protocol):
    """What a command's module offers; its docstring is the description in ``--help``."""

    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


COMMANDS = {
    "inspect": "the assembly as a table, or as JSON",
    "why": "one item: its life, every decision, and what would keep it",
    "trace": "where a text went, and whether the model saw it",
    "fixes": "the smallest changes that would keep what was lost",
    "turns": "every turn of the session, its boundaries, and the life of an item",
    "cache": "the prefix shared with the turn before, and what broke it",
    "duplicates": "what reaches the model twice, and what that costs",
    "lint": "the final list against the providers' rules",
    "check": "demands on a prompt, as a gate for CI",
    "compare": "the three message lists side by side, or this assembly against another",
    "export": "write the prompt's structure, or its redacted texts, to share",
    "verify": "run the real framework (nanobot only) on a copy and show every difference",
    "sessions": "the stored sessions of a workspace",
    "engines": "the frameworks that can be rebuilt",
    "knobs": "the parameters of an engine",
    "rules": "the rules of an engine, and where each was read",
    "serve": "the terminal UI in a browser, on this machine only",
    "demo": "open a bundled example",
    "completions": "completions for bash, zsh or fish",
}
"""Every command and what it does, in the order of the help."""
