"""The boxes over a screen: help, warnings, a text to try."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import TextArea

from promptdbg.analysis.alignment import SIGNS
from promptdbg.marks import MESSAGE_MARKS, SECTION_MARKS
from promptdbg.text import one_line, pad, safe
from promptdbg.tui.config import Config
from promptdbg.tui.keys import PLACE_TITLES, Key, Place, bindings
from promptdbg.tui.message_cells import SIGN_MEANINGS, STYLES
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.framed import HEIGHTS, WIDTHS, size_classes
from promptdbg.tui.status import glyph_of, style_of
from promptdbg.tui.widgets.chrome import KeyLine, TooSmall
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.wrapping import BLANK, Paragraph, layout, say

_SIDES, _ENDS = 6, 3
"""Cells of a box left and right of what is in it, and its lines above and below."""


class Box(ModalScreen[None]):
    """A framed box in the middle; escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("modal")
    places: ClassVar[tuple[Place, ...]] = ("modal",)
    AUTO_FOCUS = "#box > *"

    DEFAULT_CSS = """
    Box {
        align: center middle;
        & > #box {
            width: 80%;
            max-width: 100;
            min-width: 54;
            height: 80%;
            border: round $border;
            background: $background;
            border-title-style: bold;
        }
        & > #box > * { height: 1fr; }
        & > #box > KeyLine { height: 1; }
        &.-h-10 > #box { height: 100%; }
        &.-w-60 > #box, &.-w-80 > #box { width: 90%; }
        &.-w-none, &.-h-none {
            & > #box { display: none; }
            & > TooSmall { display: block; }
        }
    }
    """

    HORIZONTAL_BREAKPOINTS = [*WIDTHS]  # noqa: RUF012 (Textual declares it)
    VERTICAL_BREAKPOINTS = [*HEIGHTS]  # noqa: RUF012

    def __init__(self, title: str) -> None:
        super().__init__()
        self._box_title = title

    def compose_body(self) -> Iterable[Widget]:
        """What is in the box."""
        return ()

    def compose(self) -> ComposeResult:
        self.add_class(*size_classes(self.app.size), update=False)
        box = Vertical(*self.compose_body(), KeyLine(), id="box")
        self._fit(box)
        box.border_title = Content(self._box_title)  # a name from disk is never markup
        yield box
        yield TooSmall()

    def on_mount(self) -> None:
        self.query_one(KeyLine).show(self.places)

    def on_resize(self) -> None:
        for box in self.query("#box"):
            self._fit(box)

    def lines_in(self, cells: int) -> int | None:
        """How many lines there are to show in so many cells; ``None`` where the box is to be large."""
        return None

    def _fit(self, box: Widget) -> None:
        """No higher than what is in it: an empty box hides what it is about."""
        width = self.app.size.width
        cells = min(max(width * (9 if width < 100 else 8) // 10, 54), 100) - _SIDES
        lines = self.lines_in(cells)
        box.styles.max_height = None if lines is None else max(lines, 1) + _ENDS

    def action_close(self) -> None:
        self.close()

    def close(self) -> bool:
        """Close the box; false when it is closed already (a key pressed twice)."""
        if not self.is_current:
            return False
        self.dismiss()
        return True


class ProseBox(Box):
    """A box of paragraphs."""

    def __init__(self, title: str, paragraphs: Sequence[Paragraph]) -> None:
        super().__init__(title)
        self._paragraphs = paragraphs

    def compose_body(self) -> Iterable[Widget]:
        yield Prose()

    def lines_in(self, cells: int) -> int:
        return len(layout(self._paragraphs, cells))

    def on_mount(self) -> None:
        self.query_one(Prose).show(self._paragraphs)


_KEY_CELLS = 10


def help_lines(places: Iterable[Place], config: Config, *, ascii_only: bool) -> list[Paragraph]:
    """The keys of some places, in the table's order of places, then what the marks mean."""
    lines: list[Paragraph] = []
    keys = config.here(*places)
    for place, title in PLACE_TITLES.items():
        own = [key for key in keys if key.place == place]
        if own:
            lines += [say((title, "virtual--strong")), *map(_help_line, own), BLANK]
    signs = any(key.place == "columns" for key in keys)
    return lines + (_sign_lines(ascii_only) if signs else _mark_lines(ascii_only))


def _mark_lines(ascii_only: bool) -> list[Paragraph]:
    lines = [say(("Marks", "virtual--strong"))]
    for status, mark in SECTION_MARKS.items():
        word = pad(f"{glyph_of(mark, ascii_only)} {mark.word}", _KEY_CELLS)
        lines.append(say((word, style_of(status)), " ", mark.means, indent=2))
    lines += [BLANK, say(("Marks of messages", "virtual--strong"))]
    for state, mark in MESSAGE_MARKS.items():
        word = pad(f"{glyph_of(mark, ascii_only)} {mark.word}", _KEY_CELLS)
        lines.append(say((word, style_of(state)), " ", mark.means, indent=2))
    return lines


def _sign_lines(ascii_only: bool) -> list[Paragraph]:
    lines = [say(("Signs, against the column to the left", "virtual--strong"))]
    for kind, word, means in SIGN_MEANINGS:
        sign = SIGNS[kind].replace("−", "-") if ascii_only else SIGNS[kind]
        lines.append(say((pad(f"{sign} {word}", _KEY_CELLS), STYLES[kind]), " ", means, indent=2))
    return lines


def _help_line(key: Key) -> Paragraph:
    return say((pad(key.shown, _KEY_CELLS), "virtual--key"), " ", key.tooltip, indent=2, hang=_KEY_CELLS + 1)


def warning_lines(
    picture: Picture | None, complaints: Sequence[str] = (), config: str = ""
) -> list[Paragraph]:
    """How far the picture is to be trusted: which engine and why that one, what of it is not the
    framework's own, then the warnings, each with its place and code.

    Args:
        complaints: what is wrong with the person's own settings, in the file ``config``.
    """
    own = [say(("! ", "virtual--warning"), safe(line, lines=False), hang=2) for line in complaints]
    if own:
        place = safe(config, lines=False) or "your settings"
        own += [say((place, "virtual--muted"), indent=2), BLANK]
    if picture is None:
        return [*own, say("No warnings.")]
    lines = [*_trust_lines(picture), *own]
    if not picture.assembly.warnings:
        return [*lines, say("No warnings.")]
    for notice in picture.assembly.warnings:
        lines.append(say(("! ", "virtual--warning"), safe(notice.message, lines=False), hang=2))
        where = f"{picture.where(notice.source)} · " if notice.source else ""
        lines += [say((where + one_line(notice.code), "virtual--muted"), indent=2), BLANK]
    return lines[:-1]


def _trust_lines(picture: Picture) -> list[Paragraph]:
    engine, muted = picture.assembly.engine, "virtual--muted"
    exact = engine.fidelity in ("exact", "as recorded")
    chosen = f"{one_line(f'{engine.title} {engine.version}')}: {safe(picture.engine_reason, lines=False)}"
    fidelity = (safe(engine.fidelity, lines=False), "" if exact else "virtual--warning")
    return [
        say(("Engine    ", muted), chosen, hang=10),
        say(("Fidelity  ", muted), fidelity, hang=10),
        BLANK,
    ]


class EditBox(Box):
    """Try another text; nothing on disk is changed."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("edit")
    places: ClassVar[tuple[Place, ...]] = ("edit",)

    DEFAULT_CSS = "EditBox TextArea, EditBox TextArea:focus { border: none; padding: 0 1; }"

    def __init__(self, title: str, text: str, done: Callable[[str], None]) -> None:
        super().__init__(title)
        self._text = text
        self._done = done

    def compose_body(self) -> Iterable[Widget]:
        # The text goes back into the prompt as it is, so it cannot be shown in its safe form; the
        # caller refuses texts with characters that act on a terminal.
        area = TextArea(self._text, soft_wrap=True, show_line_numbers=False)
        area.cursor_blink = False
        yield area

    def action_done(self) -> None:
        if self.close():
            self._done(self.query_one(TextArea).text)
