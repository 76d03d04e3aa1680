"""A summarizer that answers with fixed texts: what stands in for the framework's utility AI.

A debugger must not call a model, and a summary it made up would not be the real one. The texts come
from the workspace; where it names none, a short text says what it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promptdbg.engines.agentos import js
from promptdbg.engines.agentos.components import MESSAGE_OVERHEAD
from promptdbg.engines.agentos.estimate import DEFAULT_DIVISOR, estimate
from promptdbg.model import Json


class SummaryError(Exception):
    """The stub was told to fail."""


@dataclass(frozen=True, slots=True)
class StubSummarizer:
    """Fixed answers. Tokens that are not named are the estimate of the text (length / 4)."""

    history_text: str = "SUM"
    history_tokens: float | None = None
    rag_text: str = "RAGSUM"
    rag_tokens: float | None = None
    history_fails: bool = False
    rag_fails: bool = False

    def summarize_conversation_history(
        self, messages: Sequence[Json], target: float, model: Json, preserve_important: Json
    ) -> tuple[Sequence[Json], float]:
        if self.history_fails:
            raise SummaryError("set to fail")
        tokens = self.history_tokens
        if tokens is None:
            tokens = estimate(self.history_text, DEFAULT_DIVISOR) + MESSAGE_OVERHEAD
        return [{"id": "sum", "role": "summary", "content": self.history_text}], tokens

    def summarize_rag_context(
        self, context: Json, target: float, model: Json, preserve_sources: Json
    ) -> tuple[str, float]:
        if self.rag_fails:
            raise SummaryError("set to fail")
        tokens = self.rag_tokens
        return self.rag_text, estimate(self.rag_text, DEFAULT_DIVISOR) if tokens is None else tokens


def from_settings(utility: Json) -> StubSummarizer:
    """A stub from its settings, ``historyText``, ``historyTokens``, ``ragText``, ``ragTokens``, and
    ``history`` or ``rag`` set to ``fail``.

    Raises:
        ValueError: a key is unknown or of the wrong kind; the text says which.
    """
    texts = {"historyText": "history_text", "ragText": "rag_text"}
    numbers = {"historyTokens": "history_tokens", "ragTokens": "rag_tokens"}
    fails = {"history": "history_fails", "rag": "rag_fails"}
    fields: dict[str, object] = {}
    if not isinstance(utility, dict):
        raise ValueError("summarizer must be an object")
    for key, value in utility.items():
        if key in texts and isinstance(value, str):
            fields[texts[key]] = value
        elif key in numbers and isinstance(value, (int, float)) and not isinstance(value, bool):
            fields[numbers[key]] = value
        elif key in fails and value in ("fail", "works"):
            fields[fails[key]] = value == "fail"
        else:
            raise ValueError(f"summarizer.{key} cannot be {js.to_string(value)!r}")
    return StubSummarizer(**fields)  # type: ignore[arg-type]
