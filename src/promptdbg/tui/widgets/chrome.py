"""The lines around every screen: header, status, keys, and the word that the window is too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from promptdbg.text import clip, one_line, width
from promptdbg.tui.config import Config
from promptdbg.tui.keys import Key, Place
from promptdbg.tui.widgets.drawing import Drawing
from promptdbg.tui.wrapping import Paragraph, Piece, layout, say

MIN_WIDTH, MIN_HEIGHT = 60, 10
"""The smallest window that can be worked in, in cells."""


class DrawnLines(Drawing, Widget):
    """A widget of a few lines that it draws itself."""

    DEFAULT_CSS = "DrawnLines { height: 1; }"


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a header: safe text, the name of its style, and how soon it goes when there is no
    room (highest first). ``right`` puts it at the right edge."""

    text: str
    style: str = ""
    rank: int = 0
    right: bool = False


class Header(DrawnLines):
    """One line about what is open; the least wanted cells go first when there is no room."""

    DEFAULT_CSS = "Header { dock: top; background: $panel; }"

    def __init__(self) -> None:
        super().__init__()
        self.cells: Sequence[Cell] = ()

    def show(self, cells: Sequence[Cell]) -> None:
        self.cells = [cell for cell in cells if cell.text]
        self.refresh()

    def render_line(self, y: int) -> Strip:
        total = self.size.width
        cells = fitting(self.cells, total - 2)
        left = [cell for cell in cells if not cell.right]
        right = [cell for cell in cells if cell.right]
        pieces = [(" ", self.plain)]
        for number, cell in enumerate(left):
            pieces.append(("   " if number else "", self.plain))
            pieces.append((cell.text, self.style(cell.style)))
        used = sum(width(text) for text, _ in pieces)
        tail = sum(width(cell.text) + 3 for cell in right)
        pieces.append((" " * max(total - used - tail + 2, 3 if right and left else 0), self.plain))
        for number, cell in enumerate(right):
            pieces.append(("   " if number else "", self.plain))
            pieces.append((cell.text, self.style(cell.style)))
        return self.strip(pieces, total)


def fitting(cells: Sequence[Cell], room: int) -> list[Cell]:
    """The cells that fit beside each other with three blanks between, least wanted left out."""
    kept = list(cells)
    while len(kept) > 1 and sum(width(cell.text) + 3 for cell in kept) - 3 > room:
        least = max(kept, key=lambda cell: cell.rank)
        if least.rank == 0:  # all are wanted: what names the screen most
            least = next((cell for cell in reversed(kept) if not cell.right), least)
        kept.remove(least)
    return kept


BANNER_LINES = 3
LOW = 16
"""Lines of a window below which a banner has one line alone, unless it says what to do."""


class Banner(DrawnLines):
    """What is worth lines of its own: stale files, a failure, the question of an example, a tour."""

    DEFAULT_CSS = """
    Banner { background: $panel; display: none; padding: 0 1; }
    Banner.shown { display: block; }
    """

    def __init__(self, name: str, *, low_lines: int = 1) -> None:
        super().__init__(id=name)
        self._low_lines = low_lines
        self._pieces: tuple[Piece, ...] = ()
        self._lines: list[list[Piece]] = []

    def show(self, pieces: Sequence[Piece]) -> None:
        """Safe texts with their styles; none hides it."""
        if tuple(pieces) != self._pieces:
            self._pieces = tuple(pieces)
            self.set_class(bool(pieces), "shown")
            self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        low = self.app.size.height < LOW
        hang = 2 if low else width(self._pieces[0][0]) if self._pieces else 0
        room = (self.size.width or self.app.size.width) - 2
        lines = layout([Paragraph(self._pieces, hang=hang)], room)
        self._lines = lines[: self._low_lines if low else BANNER_LINES]
        if len(lines) > len(self._lines) and self._lines[-1]:
            self._lines[-1] = _goes_on(self._lines[-1], room)
        self.styles.height = len(self._lines)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if y >= len(self._lines):
            return self.blank(self.size.width)
        return self.strip([(text, self.style(style)) for text, style in self._lines[y]], self.size.width)


STATUS_LINES = 2


def _goes_on(line: Sequence[Piece], room: int) -> list[Piece]:
    """A line with an ellipsis at its end, in the style of what stands there."""
    *pieces, (text, style) = line
    free = room - sum(width(before) for before, _ in pieces)
    text = text.rstrip()
    if width(text) + 2 > free:
        return [*pieces, (clip(text, max(free - 1, 0), ellipsis="") + "…", style)]
    return [*pieces, (f"{text} …", style)]


class Status(DrawnLines):
    """One sentence: what happened last. A long one has a second line where there are lines enough.

    The second line stays until the window is another: what is above would jump with every other row, and
    laying it out anew takes longer than a frame.
    """

    _height = 1
    _window = Size(0, 0)

    def __init__(self) -> None:
        super().__init__()
        self.line = ""
        self._style = ""
        self._lines: list[str] = [""]

    def show(self, line: str, style: str = "") -> None:
        self.line, self._style = one_line(line), style
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        size = self.app.size
        room = (self.size.width or size.width) - 2
        most = 1 if size.height < LOW else STATUS_LINES
        lines = [self.line]
        if most > 1 and width(self.line) > room:
            lines = ["".join(text for text, _ in line) for line in layout([say(self.line)], room)]
        last = " ".join(line.rstrip() for line in lines[most - 1 :])
        self._lines = [*lines[: most - 1], clip(last, room, ellipsis=self.glyphs.ellipsis)][: len(lines)]
        height = len(self._lines) if size != self._window else max(len(self._lines), self._height)
        self._window = size
        if height != self._height:
            self.styles.height = self._height = height
        self.refresh()

    def render_line(self, y: int) -> Strip:
        text = self._lines[y] if y < len(self._lines) else ""
        return self.strip([(" ", self.plain), (text, self.style(self._style))], self.size.width)


_ALWAYS = ("back", "close", "help", "quit")
"""What every line has room for: where nothing tells the way back, a person takes the way out."""


class KeyLine(DrawnLines):
    """The keys that matter now, as many as fit; a click presses them."""

    DEFAULT_CSS = "KeyLine { background: $panel; }"

    def __init__(self) -> None:
        super().__init__()
        self._keys: Sequence[Key] = ()
        self._dim: frozenset[str] = frozenset()

    def show(
        self,
        places: Sequence[Place],
        dim: frozenset[str] = frozenset(),
        config: Config | None = None,
        *,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        """The places the focus is in; ``dim`` are ids of keys that cannot work now, ``hidden`` of those
        that mean nothing here."""
        config = config or Config()
        keys = [key for key in config.key_line(*places) if key.id not in hidden]
        if (keys, dim) != (self._keys, self._dim):
            self._keys, self._dim = keys, dim
            self.refresh()

    def fitted(self) -> list[tuple[int, Key]]:
        """Where each key that fits begins. The ways back and out, and the help, are always there."""
        must = [key for key in self._keys if key.id.partition(".")[2] in _ALWAYS]
        room = self.size.width - 1 - sum(_key_width(key) for key in must)
        shown: list[Key] = []
        for key in self._keys:
            if key in must:
                continue
            room -= _key_width(key)
            if room < 0:
                break
            shown.append(key)
        place, placed = 1, []
        for key in (*shown, *must):
            placed.append((place, key))
            place += _key_width(key)
        return placed

    def render_line(self, y: int) -> Strip:
        pieces = [(" ", self.plain)]
        for _, key in self.fitted():
            dim = key.id in self._dim
            pieces.append((_shown(key), self.style("virtual--muted" if dim else "virtual--key")))
            pieces.append((f" {key.words}", self.style("virtual--muted" if dim else "")))
            pieces.append(("  ", self.plain))
        return self.strip(pieces, self.size.width)

    def on_click(self, event: events.Click) -> None:
        for place, key in self.fitted():
            if place <= event.x < place + _key_width(key) - 2:
                self.app.simulate_key(key.keys.split(",")[0])


def _shown(key: Key) -> str:
    return key.shown.split(" ")[0]


def _key_width(key: Key) -> int:
    return width(_shown(key)) + 1 + width(key.words) + 2


class TooSmall(DrawnLines):
    """Stands in for everything in a window too small to work in."""

    DEFAULT_CSS = "TooSmall { height: 1fr; display: none; }"

    def render_line(self, y: int) -> Strip:
        if y != self.size.height // 2:
            return self.blank(self.size.width)
        size = self.app.size
        line = f"Needs {MIN_WIDTH} × {MIN_HEIGHT}, this is {size.width} × {size.height}"
        if self.ascii_only:
            line = line.replace("×", "x")
        return self.strip([(line.center(self.size.width), self.plain)], self.size.width)
