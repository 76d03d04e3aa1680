"""The command line."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    raise NotImplementedError(argv)
