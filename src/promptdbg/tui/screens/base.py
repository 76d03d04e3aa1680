"""What every full screen has: header, banner, status, keys, and the picture it draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from promptdbg.tui.keys import Place
from promptdbg.tui.screens.framed import FramedScreen
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Banner, Cell, Header, KeyLine, Status, TooSmall
from promptdbg.tui.wrapping import Piece

if TYPE_CHECKING:
    from promptdbg.tui.picture import Picture


_CHANGING = ("item.toggle", "item.try-text", "home.budget", "home.knobs", "why.fix", "compare.use")
"""The ids of keys that change something, of those that a key line may show."""


class PictureScreen(FramedScreen):
    """Draws pictures. A subclass gives ``compose_body`` and ``show_picture``.

    ``places`` are the groups of keys that work on the whole screen; a widget with focus adds its
    own by an attribute ``places``.
    """

    places: ClassVar[tuple[Place, ...]] = ()
    about: str = ""
    """What the screen shows, to find one that is open already; empty for the first screen."""

    AUTO_FOCUS = "#body VirtualLines"

    DEFAULT_CSS = """
    PictureScreen {
        & > #body { height: 1fr; }
        & .pane {
            border: round $foreground 30%;
            border-title-color: $text-muted;
            border-subtitle-color: $text-muted;
            &:focus { border: round $border; border-title-color: $text; border-title-style: bold; }
        }
        &.-w-none, &.-h-none {
            & > *, & > Banner { display: none; }
            & > TooSmall { display: block; }
        }
    }
    """

    @property
    def picture(self) -> Picture | None:
        """The picture on this screen; ``None`` until something is loaded."""
        return self._picture

    def __init__(self) -> None:
        super().__init__()
        self._picture: Picture | None = None
        self._composed = False

    # -- what a subclass gives

    def compose_body(self) -> Iterable[Widget]:
        """The widgets between the header and the status line."""
        return ()

    def show_picture(self, picture: Picture) -> None:
        """Draw a new picture; cursor, filter and scroll stay as they can."""

    def banner(self) -> Sequence[Piece]:
        """What stands in lines of its own under the header; usually nothing."""
        from promptdbg.tui.frame import banner

        return banner(self.picture, self.promptdbg.stale)

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        """What the header says."""
        from promptdbg.tui.frame import header_cells

        app = self.promptdbg
        return header_cells(picture, app.watching.word, stale=bool(app.stale), ascii_only=app.ascii_only)

    # -- the rest is the same everywhere

    def compose_frame(self) -> ComposeResult:
        yield Header()
        yield Banner("banner")
        yield Vertical(*self.compose_body(), id="body")
        yield Banner("tour", low_lines=4)
        yield Ask()
        yield Status()
        yield KeyLine()
        yield TooSmall()

    def show(self, picture: Picture) -> None:
        """Take a picture; one that comes before the widgets are there is taken when they are."""
        if self._composed:
            self._picture = picture
            self.show_frame()
            self.show_picture(picture)
            self.show_keys()

    def show_frame(self) -> None:
        """Header and banner, which also change without a new picture (watching, staleness)."""
        if not self._composed:
            return
        if self._picture is not None:
            self.query_one(Header).show(self.header_cells(self._picture))
        self.query_one("#banner", Banner).show(self.banner())
        self.show_tour()

    def show_tour(self) -> None:
        """What the guided tour says, above the status line; nothing where no tour is taken."""
        if self._composed:
            self.query_one("#tour", Banner).show(self.promptdbg.guide.words)

    def ask(self, asked: Ask.Question) -> None:
        """Open the one-line input above the status line."""
        self.query_one(Ask).open(asked)

    def action_leave(self) -> None:
        self.leave()

    def leave(self) -> None:
        """Back to the screen below, from all but the first; once, however often escape is pressed."""
        if self.is_current and self.about:
            self.app.pop_screen()

    def on_mount(self) -> None:
        self._composed = True
        self.show_latest()

    def on_screen_resume(self) -> None:
        self.show_latest()

    def show_latest(self) -> None:
        """Draw the app's picture if it is not the one on this screen."""
        latest = self.promptdbg.picture
        if latest is not None and latest is not self._picture:
            self.show(latest)
            self.say(latest.sentence)  # what was done elsewhere; a screen may have more to say
        self.show_frame()
        self.show_keys()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        """The key line for where the focus is; what cannot work now is dim."""
        if self._composed:
            self.query_one(KeyLine).show(
                self.places_now(), self.idle_keys(), self.promptdbg.config, hidden=self.hidden_keys()
            )

    def hidden_keys(self) -> frozenset[str]:
        """The ids of keys that mean nothing for what is in front of the person."""
        return frozenset()

    def idle_keys(self) -> frozenset[str]:
        """The ids of keys that would only say why they cannot work."""
        picture = self._picture
        if picture is None:
            return frozenset()
        idle = {"app.undo": picture.undo, "app.redo": picture.redo, "app.turn-before": picture.assembly.turns}
        changing = _CHANGING if picture.recorded else ()
        return frozenset([*changing, *(key for key, use in idle.items() if not use)])

    def places_now(self) -> tuple[Place, ...]:
        """The groups of keys that work now, the nearest first."""
        if self.query_one(Ask).is_open:
            return ("ask",)
        own = tuple(getattr(self.focused, "places", ()))
        return (*own, *self.places, "app")
