"""The messages that travel in the UI: workers post them, handlers change widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from promptdbg.tui.picture import Picture


class Pictured(Message):
    """There is a new assembly to draw: the only reason for anything to repaint its content. ``reread`` is
    whether the files were read since the one before."""

    def __init__(self, picture: Picture, *, reread: bool) -> None:
        super().__init__()
        self.picture = picture
        self.reread = reread


class Refused(Message):
    """Something could not be done; ``line`` says what and why, in one line."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.line = line


class Stale(Message):
    """The files cannot be read now; the last good picture stays. ``line`` says what and where."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.line = line


class Said(Message):
    """A sentence for the status line."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.line = line
