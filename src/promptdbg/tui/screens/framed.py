"""What every full screen is: as wide and high as the window allows, with a status line to say things in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from promptdbg.errors import PromptdbgError
from promptdbg.text import safe
from promptdbg.tui.widgets.chrome import Status

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp

WIDTHS = ((0, "-w-none"), (60, "-w-60"), (80, "-w-80"), (100, "-w-100"), (140, "-w-140"))
HEIGHTS = ((0, "-h-none"), (10, "-h-10"), (16, "-h-16"), (24, "-h-24"), (30, "-h-30"))
"""From how many cells on a screen has which class."""


def size_classes(size: Size) -> tuple[str, str]:
    """The classes of a window's size."""
    return _class(size.width, WIDTHS), _class(size.height, HEIGHTS)


def _class(cells: int, steps: Sequence[tuple[int, str]]) -> str:
    return max(step for step in steps if step[0] <= cells)[1]


class FramedScreen(Screen[None]):
    """A subclass gives ``compose_frame``."""

    HORIZONTAL_BREAKPOINTS = [*WIDTHS]  # noqa: RUF012 (Textual declares it)
    VERTICAL_BREAKPOINTS = [*HEIGHTS]  # noqa: RUF012

    DEFAULT_CSS = """
    FramedScreen {
        layout: vertical;
        background: $background;
    }
    """

    @property
    def promptdbg(self) -> PromptdbgApp:
        return cast("PromptdbgApp", self.app)

    def compose(self) -> ComposeResult:
        # Textual would set them when a size comes, and style every widget once more then.
        self.add_class(*size_classes(self.app.size), update=False)
        yield from self.compose_frame()

    def compose_frame(self) -> ComposeResult:
        """The widgets, a ``Status`` among them."""
        yield Status()

    def say(self, line: str, style: str = "") -> None:
        """A sentence in the status line, from when that is there."""
        for status in self.query(Status):
            status.show(line, style)

    def refuse(self, line: str) -> None:
        """Say why a key cannot work now."""
        self.say(f"! {line}", "virtual--warning")

    # -- what is worked out beside the event loop

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.gave_up(fault(event.worker))

    def gave_up(self, line: str) -> None:
        """A worker of this screen, or of a widget on it, ended with an error."""
        self.refuse(line)


def fault(worker: Worker[object]) -> str:
    """What a worker ended with, as a line: an error that a person may see, or a defect of ours."""
    error = worker.error
    if isinstance(error, PromptdbgError):
        return safe(error.line(), lines=False)
    return safe(f"{worker.description} failed: {type(error).__name__}: {error}", lines=False)
