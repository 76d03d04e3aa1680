"""What every drawing widget shares: its styles by name, and making strips from pieces.

``Drawing`` is a mixin and not a widget, because Textual takes CSS from the first widget base only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from promptdbg.tui.glyphs import Glyphs, glyphs, written
from promptdbg.tui.looks import CURSOR, FOCUSED, LOOKS, style_from

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object


class Drawing(_Base):
    """Styles and strips for a widget that draws its own lines."""

    _styles_drawn: Mapping[tuple[str, bool], Style] = {}

    def notify_style_update(self) -> None:
        self._styles_drawn = {}
        super().notify_style_update()

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
        """The full style of a look, or of the widget for an empty name."""
        if not name:
            return self.plain
        focused = name == CURSOR and self.has_focus
        found = self._styles_drawn.get((name, focused))
        if found is None:
            app, look = self.app, FOCUSED if focused else LOOKS[name]
            found = style_from(look, self.visual_style, app.theme_variables, monochrome=app.no_color)
            self._styles_drawn = {**self._styles_drawn, (name, focused): found}
        return found

    def blank(self, width: int, style: Style | None = None) -> Strip:
        return Strip.blank(width, style or self.plain)

    def strip(
        self,
        pieces: Iterable[tuple[str, Style]],
        width: int,
        fill: Style | None = None,
        *,
        as_is: bool = False,
    ) -> Strip:
        """Pieces of safe text as exactly ``width`` cells. Everything in it has a style: a segment
        without one crashes Textual under NO_COLOR.

        Args:
            as_is: some of it is the prompt's text, no character of which may be shown as another.
        """
        ascii_only = self.ascii_only and not as_is
        plainly = (part for piece in joined(pieces) for part in without_lined_blanks(*piece))
        made = Strip([Segment(written(text, ascii_only), style) for text, style in plainly])
        return made.crop_extend(0, width, fill or self.plain)


_NO_LINES = Style(underline=False, strike=False)


def without_lined_blanks(text: str, style: Style) -> Iterable[tuple[str, Style]]:
    """A piece with its outer blanks apart where a line goes under or through it: what only fills a
    column is no part of the word."""
    if not (style.underline or style.strike) or not (text[0] == " " or text[-1] == " "):
        return ((text, style),)
    inside, bare = text.strip(" "), style + _NO_LINES
    start = len(text) - len(text.lstrip(" ")) if inside else 0
    end = start + len(inside)
    parts = (text[:start], bare), (inside, style), (text[end:], bare)
    return [(part, look) for part, look in parts if part]


def joined(pieces: Iterable[tuple[str, Style]]) -> Iterator[tuple[str, Style]]:
    """The pieces, neighbours that look the same as one: all that Textual does, it does to each."""
    text = ""
    look: Style | None = None
    for more, style in pieces:
        if not more:
            continue
        if look is None or not (style is look or style == look):
            if look is not None:
                yield text, look
            text, look = more, style
        else:
            text += more
    if look is not None:
        yield text, look
