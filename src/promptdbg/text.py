"""Text from disk, made safe to show.

Whatever a workspace or a session holds may be hostile: a terminal escape that sets the clipboard,
a bidi override that reorders a line, a tag character that hides words. ``safe`` turns every
character that acts, hides or has no width of its own into one that is seen. It is for showing
only; measures and exports use the text as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# What must not reach a terminal as it is: C0, DEL and C1 controls, line and paragraph separators,
# bidi and invisible format characters, variation selectors, tag characters, lone surrogates,
# non-characters. Line feeds are dealt with by the caller's choice.
_ACTS = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# A cluster with more marks than any script needs can smear over the lines above it. The second line
# is the scripts whose own marks stack: Hebrew, Arabic, Thai, Lao, Tibetan.
_MARKS_MAX = 8
_MANY_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06dc\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84]{9,}"
)
_VARIATION = frozenset("\ufe0e\ufe0f")


def safe(text: str, *, lines: bool = True) -> str:
    """``text`` with every acting or invisible character shown as a visible one.

    Control characters become their pictures (``␛``), everything else its code (``‹202E›``).
    The two emoji variation selectors vanish: they change a glyph's width, not what it says.

    Args:
        lines: keep line feeds; else they too become pictures (for one-line cells).
    """
    shown = _ACTS.sub(_shown_lines if lines else _shown, text)
    return _MANY_MARKS.sub(_fewer_marks, shown)


def _shown_lines(match: re.Match[str]) -> str:
    return "\n" if match[0] == "\n" else _shown(match)


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "" if char in _VARIATION else f"‹{code:04X}›"


def _fewer_marks(match: re.Match[str]) -> str:
    return f"{match[0][:_MARKS_MAX]}‹{len(match[0]) - _MARKS_MAX} marks›"


def one_line(text: str) -> str:
    """The first non-blank line of ``text``, safe and stripped; for titles."""
    for line in text.split("\n", 64):
        if stripped := line.strip():
            return safe(stripped[:1000], lines=False)
    return ""


def shared_start(a: Sequence[str], b: Sequence[str]) -> int:
    """How many items both begin with, of two texts how many characters.

    Halving: comparing slices is what Python does fastest.
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def named(kind: str, name: str) -> str:
    """What something is and its name, once where they are the same."""
    return name if kind == name else f"{kind} {name}"


def plural(count: int, one: str, many: str = "") -> str:
    """``1 item``, ``2 items``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def part_of(part: int, whole: int, one: str) -> str:
    """``3 tokens`` where it is all of it, else ``1 of 3 tokens``."""
    return plural(whole, one) if part == whole else f"{part:,} of {plural(whole, one)}"


def share(part: float) -> str:
    """``38%`` of a whole, or ``0.4%`` where it is little."""
    return f"{part:.1%}" if 0 < part < 0.095 else f"{part:.0%}"


def width(text: str) -> int:
    """Terminal cells of a safe text on one line."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def clip(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """``text`` in at most ``cells`` terminal cells, the end cut with an ellipsis if need be."""
    if width(text) <= cells:
        return text
    if cells <= width(ellipsis):
        return _take(text, cells)
    return _take(text, cells - width(ellipsis)) + ellipsis


def clip_middle(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """``text`` in at most ``cells`` cells, the middle cut; names and paths keep both ends."""
    if width(text) <= cells:
        return text
    room = cells - width(ellipsis)
    if room < 2:
        return clip(text, cells, ellipsis=ellipsis)
    tail = _take(text[::-1], room // 2)[::-1]
    return _take(text, room - width(tail)) + ellipsis + tail


def _take(text: str, cells: int) -> str:
    if text.isascii():
        return text[: max(cells, 0)]
    used = 0
    for index, char in enumerate(text):
        used += width(char)
        if used > cells:
            return text[:index]
    return text


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """``text`` clipped and filled with spaces to exactly ``cells`` cells."""
    clipped = clip(text, cells)
    fill = " " * (cells - width(clipped))
    return fill + clipped if right else clipped + fill


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a code point offset."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1
