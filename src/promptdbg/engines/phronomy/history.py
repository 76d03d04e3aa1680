"""What an agent's callbacks may do to the history before assembly: trim, look, compact.

Read from ``context/trim_context.rb``, ``trigger_context.rb`` and ``compaction_context.rb``, with
their surprises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from promptdbg.engines.phronomy.estimate import Estimate, TokenEstimator, content_of, text_of


@dataclass(frozen=True, slots=True)
class Element:
    """One message with its number from 0, its estimate and its role."""

    seq: int
    message: Any
    tokens: int
    role: str


@dataclass(frozen=True, slots=True)
class Range:
    """A Ruby range of indexes; ``exclusive`` leaves the end out. Negative ones count from the end."""

    start: int
    end: int
    exclusive: bool = False

    def select(self, items: Sequence[Any]) -> list[Any]:
        """``items[range]`` in Ruby; empty for nil."""
        count = len(items)
        start = self.start + count if self.start < 0 else self.start
        stop = self.end + count if self.end < 0 else self.end
        if not 0 <= start <= count:
            return []
        return list(items[start : stop if self.exclusive else stop + 1]) if stop >= 0 else []

    @property
    def last(self) -> int:
        """The last index, as the source computes it: without looking at its sign."""
        return self.end - 1 if self.exclusive else self.end


def number(messages: Iterable[Any], estimate: Estimate | None = None) -> list[Element]:
    """The messages as numbered elements."""
    measure = estimate or TokenEstimator.estimate
    return [
        Element(seq, message, measure(text_of(content_of(message))), _role(message))
        for seq, message in enumerate(messages)
    ]


def _role(message: Any) -> str:
    role = message.get("role", "") if hasattr(message, "get") else getattr(message, "role", "")
    return str(role)


class TrimContext:
    """Given to ``on_trim``: removes messages by their number."""

    def __init__(self, elements: Sequence[Element], budget: Any = None) -> None:
        self._elements = list(elements)
        self.budget = budget

    @property
    def message_elements(self) -> list[Element]:
        return list(self._elements)

    @property
    def messages(self) -> list[Any]:
        return [element.message for element in self._elements]

    @property
    def total_tokens(self) -> int:
        return sum(element.tokens for element in self._elements)

    def remove(self, seqs: int | Iterable[int]) -> TrimContext:
        """Remove one number or several; unknown ones are ignored."""
        gone = {seqs} if isinstance(seqs, int) else set(seqs)
        self._elements = [element for element in self._elements if element.seq not in gone]
        return self


@dataclass(frozen=True, slots=True)
class TriggerContext:
    """Given to the trigger callback, which only looks."""

    message_elements: tuple[Element, ...]
    budget: Any = None

    @property
    def total_tokens(self) -> int:
        return sum(element.tokens for element in self.message_elements)


@dataclass(frozen=True, slots=True)
class Compaction:
    """One call that replaced something: the numbers it covered, its text."""

    start_seq: int
    end_seq: int
    summary_text: str


class CompactionContext:
    """Given to ``on_compact``: replaces a range by one system message."""

    def __init__(self, elements: Sequence[Element], budget: Any = None) -> None:
        self.message_elements = list(elements)
        self.budget = budget
        self.result_messages: list[Any] = [element.message for element in elements]
        self.saved: list[Compaction] = []

    @property
    def total_tokens(self) -> int:
        return sum(element.tokens for element in self.message_elements)

    def compact(self, span: int | Range, summarize: Callable[[list[Element]], str]) -> list[Any]:
        """Replace the span by a summary; everything before it goes too.

        Each call starts from the original messages, so only the last one counts. An empty selection
        changes nothing. A negative last index leaves everything from one past it, counted from the
        end, which for -1 is the whole list.
        """
        selected = self._selected(span)
        if not selected:
            return self.result_messages
        text = str(summarize(selected))
        self.saved.append(Compaction(selected[0].seq, selected[-1].seq, text))
        last = span.last if isinstance(span, Range) else span
        rest = self._from(last + 1)
        self.result_messages = [{"role": "system", "content": text}, *(e.message for e in rest)]
        return self.result_messages

    def _selected(self, span: int | Range) -> list[Element]:
        if isinstance(span, Range):
            return span.select(self.message_elements)
        count = len(self.message_elements)
        return [self.message_elements[span]] if -count <= span < count else []

    def _from(self, index: int) -> list[Element]:
        """``elements[index..]`` in Ruby, nil as empty."""
        count = len(self.message_elements)
        return self.message_elements[index:] if -count <= index <= count else []
