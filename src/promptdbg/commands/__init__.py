"""The commands, one module each: ``configure(parser)`` declares its arguments, ``run(arguments)``
does it and returns the exit code. What a command needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Protocol


class Command(Protocol):
    """What a command's module offers; its docstring is the description in ``--help``."""

    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...
