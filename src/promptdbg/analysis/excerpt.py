"""A found text with what stands around it, in one line: cut between words, and seen to be cut."""

from __future__ import annotations

from promptdbg.analysis.trace import CONTEXT, Hit
from promptdbg.text import clip, safe, width

_WORD = 16
"""Letters of a word from which on a part of it says more than none of it."""


def excerpt(hit: Hit, cells: int, *, ellipsis: str = "…") -> tuple[str, str, str]:
    """The text before, the text that was found, and the text behind it, in at most so many cells.

    All three are safe. Where more of the line is left out an ellipsis stands, between words where
    there are any.
    """
    found = clip(safe(hit.text.replace("\n", "⏎"), lines=False), cells, ellipsis=ellipsis)
    room = cells - width(found)
    before, after = safe(hit.before, lines=False), safe(hit.after, lines=False)
    # The line began further to the left, or goes on further to the right, than what a hit keeps of it.
    before_cut, after_cut = hit.column - 1 > len(hit.before), len(hit.after) > CONTEXT
    needs = width(after) + after_cut * (width(ellipsis) + 1)
    left = _shortened(before[::-1], max(room - needs, room // 2), before_cut, ellipsis)[::-1]
    return left, found, _shortened(after, room - width(left), after_cut, ellipsis)


def _shortened(text: str, cells: int, cut: bool, ellipsis: str) -> str:
    """The beginning of a text that fits, with an ellipsis where it is not the whole."""
    if not cut and width(text) <= cells:
        return text
    room = cells - width(ellipsis) - 1
    if room < 1:
        return clip(ellipsis, cells, ellipsis="")
    kept = clip(text, room, ellipsis="")
    whole, blank, word = kept.rpartition(" ")
    if blank and len(word) < _WORD and not text[len(kept) :].startswith(" "):
        kept = whole
    return f"{kept.rstrip()} {ellipsis}"
