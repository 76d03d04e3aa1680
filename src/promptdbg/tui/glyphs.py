"""The drawing characters, and what stands for them where only ASCII is wanted."""

from __future__ import annotations

from dataclasses import dataclass

_ASCII_WORDS = str.maketrans("·→←↑↓−–…×≈±‹›↵", "-><^v--~x~+<>>")


def written(text: str, ascii_only: bool) -> str:
    """Our own words as they are drawn: in ASCII, of the same width, where that is asked for."""
    return text.translate(_ASCII_WORDS) if ascii_only and not text.isascii() else text


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The drawing characters, so that a terminal without them loses nothing."""

    cursor: str = "▌"
    open: str = "▼"
    folded: str = "▶"
    full: str = "━"
    rest: str = "─"
    limit: str = "┃"
    free: str = "·"
    fills: tuple[str, ...] = ("█", "▓", "▒", "░", "▚", "▞")
    ellipsis: str = "…"
    tick: str = "✓"
    dot: str = "·"
    left: str = "‹"
    right: str = "›"
    sep: str = "│"
    about: str = "≈"
    dash: str = "–"


UNICODE = Glyphs()
ASCII = Glyphs(
    cursor=">",
    open="v",
    folded=">",
    full="=",
    rest="-",
    limit="|",
    free=".",
    fills=("#", "%", "+", ":", "o", "x"),
    ellipsis="~",
    tick="*",
    dot="-",
    left="<",
    right=">",
    sep="|",
    about="~",
    dash="-",
)


def glyphs(ascii_only: bool) -> Glyphs:
    return ASCII if ascii_only else UNICODE
