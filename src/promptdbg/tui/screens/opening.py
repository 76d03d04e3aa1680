"""What stands there until there is a picture: the frame of the first screen, and the word for it.

Small on purpose: it is all that is imported, styled and laid out before the first frame.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.strip import Strip

from promptdbg.tui.screens.framed import FramedScreen
from promptdbg.tui.widgets.chrome import DrawnLines, Header, KeyLine, Status

_LINE = 2
"""Where the word stands: about where the first section will."""


class Opening(DrawnLines):
    """The word for it."""

    DEFAULT_CSS = "Opening { height: 1fr; }"

    def render_line(self, y: int) -> Strip:
        text = "   opening " + self.glyphs.ellipsis if y == _LINE else ""
        return self.strip([(text, self.style("virtual--muted"))], self.size.width)


class OpeningScreen(FramedScreen):
    """The first frame."""

    def compose_frame(self) -> ComposeResult:
        yield Header()
        yield Opening()
        yield Status()
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(KeyLine).show(
            ("sections", "list", "home", "item", "app"), config=self.promptdbg.config
        )
