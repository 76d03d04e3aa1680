"""What promptdbg says when it cannot do what was asked.

PromptdbgError
├── UsageError       the call is wrong: an unknown knob, engine, item or option
├── InputError       something on disk cannot be used: missing, not readable, not of the form
└── TokenizerError   an encoding cannot be had without a network

Every error is one line for a person: what happened, where, and what to try.
"""

from __future__ import annotations


class PromptdbgError(Exception):
    """Base of every error a user may see.

    Args:
        what: what happened, as a clause without a full stop.
        where: the file, line or option it happened at; empty when there is none.
        hint: what to try next; empty when there is nothing to try.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(self.line())

    def line(self) -> str:
        """The error as one line: ``where: what (hint)``."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} ({self.hint})" if self.hint else text


class UsageError(PromptdbgError):
    """The call is wrong: an unknown knob, engine, item or option."""


class InputError(PromptdbgError):
    """Something on disk cannot be used as it is."""


class TokenizerError(PromptdbgError):
    """An encoding cannot be had without a network."""
