"""Where the real framework would have raised, ours stops too and says so."""

from __future__ import annotations

from promptdbg.model import Failure


class Crash(Exception):
    """The real program raises here.

    Args:
        error: the exception's class name.
        message: its text, as Python prints it.
        where: ``file::function`` of the deepest nanobot frame.
        meaning: what follows for the user, one sentence.
    """

    def __init__(self, error: str, message: str, where: str, meaning: str) -> None:
        super().__init__(f"{error}: {message}")
        self.error = error
        self.message = message
        self.where = where
        self.meaning = meaning

    def bare(self) -> Crash:
        """The same, to be kept: one that was raised holds on to all that ran then."""
        return Crash(self.error, self.message, self.where, self.meaning)

    def failure(self) -> Failure:
        return Failure(f"{self.error}: {self.message}", self.where, self.meaning)
