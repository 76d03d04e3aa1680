"""What every drawing widget shares: its styles by name, and making strips from pieces.

``Drawing`` is a mixin and not a widget, because Textual takes CSS from the first widget base only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from promptdbg.tui.status import Glyphs, glyphs, written

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object

# Textual styles every component class of every widget again when a focus or a size changes, so a
# widget declares only what it draws with.
WORDS = {
    "virtual--head",
    "virtual--muted",
    "virtual--strong",
    "virtual--accent",
    "virtual--error",
    "virtual--warning",
    "virtual--key",
}
"""Component classes for words: of every drawing widget."""

ROWS = {
    "virtual--cursor",
    "virtual--lost",
    "virtual--match",
    "status--keep",
    "status--cut",
    "status--drop",
    "status--off",
    "status--empty",
    "status--add",
}
"""Component classes for rows and texts."""

BARS = {f"bar--{number}" for number in range(6)}
"""Component classes for the parts of bars."""


def css(widget: str) -> str:
    """The styles of the component classes for one widget class."""
    return (
        """
    WIDGET {
        & > .virtual--head { color: $text-muted; text-style: bold; }
        & > .virtual--cursor { background: $panel; color: $foreground; }
        &:focus > .virtual--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        & > .virtual--muted { color: $text-muted; }
        & > .virtual--strong { text-style: bold; }
        & > .virtual--accent { color: $text-accent; }
        & > .virtual--lost { color: $text-warning; text-style: strike; }
        & > .virtual--match { background: $warning; color: $background; }
        & > .virtual--error { color: $text-error; text-style: bold; }
        & > .virtual--warning { color: $text-warning; text-style: bold; }
        & > .virtual--key { color: $text-accent; text-style: bold; }
        & > .status--cut { color: $text-warning; }
        & > .status--drop { color: $text-muted; }
        & > .status--off { color: $text-muted; text-style: strike; }
        & > .status--empty { color: $text-muted; }
        & > .status--add { color: $text-primary; }
        & > .bar--0 { color: $primary; }
        & > .bar--1 { color: $success; }
        & > .bar--2 { color: $accent; }
        & > .bar--3 { color: $primary-lighten-3; }
        & > .bar--4 { color: $error-lighten-2; }
        & > .bar--5 { color: $foreground 50%; }
    }
    WIDGET:nocolor {
        & > .virtual--cursor { text-style: bold; }
        &:focus > .virtual--cursor { text-style: reverse; }
        & > .virtual--muted { text-style: dim; }
        & > .virtual--match { text-style: reverse; }
        & > .virtual--error { text-style: bold reverse; }
        & > .virtual--key { text-style: bold; }
        & > .status--cut { text-style: underline; }
        & > .status--drop { text-style: dim; }
        & > .status--off { text-style: strike; }
        & > .status--empty { text-style: dim; }
        & > .status--add { text-style: bold; }
    }
    """
    ).replace("WIDGET", widget)


class Drawing(_Base):
    """Styles and strips for a widget that draws its own lines."""

    @property
    def ascii_only(self) -> bool:
        return bool(getattr(self.app, "ascii_only", False))

    @property
    def glyphs(self) -> Glyphs:
        return glyphs(self.ascii_only)

    @property
    def plain(self) -> Style:
        """The style of ordinary text here. Textual caches this one; ``rich_style`` it works out anew
        from all ancestors, which a page of lines would feel."""
        return self.visual_style.rich_style

    def title(self, text: str) -> Content:
        """A border title: safe text, never markup."""
        return Content(written(text, self.ascii_only))

    def fill(self, number: int) -> str:
        """The fill of a bar's part: solid where colours tell the parts apart, else a pattern."""
        patterns = self.ascii_only or self.app.no_color
        return self.glyphs.fills[number if patterns else 0]

    def style(self, name: str) -> Style:
        """The full style of a component class, or of the widget for an empty name.

        Never a partial style: that loses blended colours.
        """
        return self.get_component_rich_style(name) if name else self.plain

    def blank(self, width: int, style: Style | None = None) -> Strip:
        return Strip.blank(width, style or self.plain)

    def strip(self, pieces: Iterable[tuple[str, Style]], width: int, fill: Style | None = None) -> Strip:
        """Pieces of safe text as exactly ``width`` cells. Everything in it has a style: a segment
        without one crashes Textual under NO_COLOR."""
        ascii_only = self.ascii_only
        made = Strip([Segment(written(text, ascii_only), style) for text, style in pieces if text])
        return made.crop_extend(0, width, fill or self.plain)
