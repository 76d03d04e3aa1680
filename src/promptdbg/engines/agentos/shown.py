"""What sections are made of beside the construction, and the stretches they show as kept or lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from promptdbg.engines.agentos import js
from promptdbg.engines.agentos.memory import MemoryPart
from promptdbg.model import Place, Source, Span


@dataclass(frozen=True, slots=True)
class Disabled:
    """An item that is switched off here: enough of it to show it."""

    item: str
    name: str
    kind: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Extras:
    """What sections show beside the construction: where things are, what is off, the memories."""

    source: Callable[[str], Source | None] = lambda item: None
    disabled: Sequence[Disabled] = ()
    memory: Sequence[MemoryPart] = ()


def text_of(content: Any) -> str:
    """Content as the prompt prints it; nothing for null."""
    return "" if js.nullish(content) else js.to_string(content)


def priority_of(priority: Any) -> float | None:
    """A priority as a number, ``None`` where it is missing or is none."""
    number = None if js.nullish(priority) else js.to_number(priority)
    return number if number is not None and number == number else None


def all_lost(text: str) -> tuple[Span, ...]:
    return (Span(0, len(text), False),) if text else ()


def spans_of(stretches: Sequence[tuple[int, int, bool]]) -> tuple[Span, ...]:
    """Stretches (start, end, kept) as spans, without the empty ones."""
    return tuple(Span(start, end, kept) for start, end, kept in stretches if end > start)


def split_characters(output: str, text: str) -> int:
    """1 when the cut went through the last character, which is lost then."""
    return 1 if output and not text.startswith(output) else 0


def memory_spans(part: MemoryPart) -> tuple[Span, ...]:
    """What of a memory was written, before anything happened to the memory text."""
    if part.lost is None:
        return ()
    start, end = part.lost
    return spans_of(((0, start, True), (start, end, False), (end, len(part.text), True)))
