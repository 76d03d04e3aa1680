"""Whether one place of a message's text still stands in what became of the message.

A text may stand in a message twice and be cut once; that it is found says nothing of which. So
the place is followed through what is kept of the text (``cut.message_spans``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from promptdbg.analysis.cut import message_spans
from promptdbg.analysis.items import message_texts
from promptdbg.model import Message, Span

_PROBE = 40
"""Characters by which the beginning of what is kept is found again in a message of several."""


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a message's text as it first was."""

    text: str
    start: int
    end: int

    @property
    def needle(self) -> str:
        return self.text[self.start : self.end]


class Surviving:
    """Follows places through the lists; texts are compared once."""

    def __init__(self) -> None:
        self._spans: dict[tuple[str, str], tuple[Span, ...]] = {}

    def offset(self, place: Place, item: str, holder: Message) -> int | None:
        """Where the place stands in the texts of the message that the item is in now, one behind the
        other; ``None`` where it does not."""
        before = 0
        merged = any(source != item for source in holder.sources)
        for there in message_texts(holder):
            found = self._offset(place, there, merged)
            if found is not None:
                return before + found
            before += len(there)
        return None

    def _offset(self, place: Place, there: str, merged: bool) -> int | None:
        if place.needle not in there:
            return None
        if (whole := there.find(place.text)) >= 0:
            return whole + place.start
        spans = self._kept_and_lost(place.text, there)
        lost = [span for span in spans if not span.kept]
        length = len(place.needle)
        if _is_kept(place.start, length, lost):
            first = next((span.start for span in spans if span.kept), 0)
            base = max(there.find(place.text[first : first + _PROBE]), 0)
            earlier = _places(place.needle, place.text[first : place.start])
            number = sum(_is_kept(first + at, length, lost) for at in earlier)
            places = tuple(_places(place.needle, there[base:]))
            return base + places[min(number, len(places) - 1)] if places else None
        if merged or any(_is_kept(at, length, lost) for at in _places(place.needle, place.text)):
            return None  # what is found there is another place, or another message's
        # The comparison takes all of it for new, and it is still there: as many as there are, in order.
        number = sum(1 for _ in _places(place.needle, place.text[: place.start]))
        return next(islice(_places(place.needle, there), number, None), None)

    def _kept_and_lost(self, text: str, there: str) -> tuple[Span, ...]:
        if (text, there) not in self._spans:
            self._spans[text, there] = message_spans(text, there)
        return self._spans[text, there]


def _places(needle: str, text: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))


def _is_kept(start: int, length: int, lost: list[Span]) -> bool:
    return not any(span.start < start + length and start < span.end for span in lost)
