"""Generation B's own token counter, which its prompts do not use (``core/token_counter.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_OPENAI = {
    "gpt-4o": "o200k_base",
    "gpt-4o-mini": "o200k_base",
    "o1": "o200k_base",
    "o1-mini": "o200k_base",
    "o1-preview": "o200k_base",
    "o3": "o200k_base",
    "o3-mini": "o200k_base",
    "o4-mini": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-4-turbo": "cl100k_base",
    "gpt-4-turbo-preview": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
}
_PROVIDERS = {"anthropic": "cl100k_base"}
_RATIOS = {"cl100k_base": 3.7, "o200k_base": 4.2}
_PER_MESSAGE = _REPLY = 3


def encoding_of(model: str) -> str:
    """The encoding for ``provider:model`` or a bare model, which counts as OpenAI's; the longest
    known beginning of an OpenAI name decides."""
    provider, colon, name = model.partition(":")
    if not colon:
        provider, name = "openai", model
    if provider != "openai":
        return _PROVIDERS.get(provider, "o200k_base")
    known = [prefix for prefix in _OPENAI if name.startswith(prefix)]
    return _OPENAI[max(known, key=len)] if known else "o200k_base"


def estimate_tokens(text: str, model: str = "openai:gpt-4o") -> int:
    """What it counts where tiktoken is not installed: max(1, round(code points / ratio)), the ratio
    3.7 for cl100k_base, 4.2 for o200k_base, 4.0 otherwise."""
    return max(1, round(len(text) / _RATIOS.get(encoding_of(model), 4.0)))


def estimate_messages(messages: Sequence[Mapping[str, Any]], model: str = "openai:gpt-4o") -> int:
    """3 for each message and every text value in it, and 3 at the end."""
    texts = (value for message in messages for value in message.values() if isinstance(value, str))
    return _PER_MESSAGE * len(messages) + sum(estimate_tokens(text, model) for text in texts) + _REPLY
