"""Phronomy's token estimate (``context/token_estimator.rb::estimate``), and the tokenizers that may
take its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from promptdbg.lengths import utf8_length
from promptdbg.model import Json

Estimate = Callable[[str], int]

# Ruby splits at ASCII white space only.
_WORD = re.compile(r"[^ \t\n\v\f\r]+")


def chars_over_four_up(text: str) -> int:
    """ceil(code points / 4), per piece."""
    return -(-len(text) // 4)


TOKENIZERS: Mapping[str, Estimate] = MappingProxyType(
    {
        "chars/4": chars_over_four_up,
        "bytes": utf8_length,
        "words": lambda text: len(_WORD.findall(text)),
    }
)
"""The default (code points / 4, rounded up, per piece) and two others to try."""


def text_of(content: Json) -> str:
    """A message's content as text: nothing for null, compact JSON for what is neither."""
    if content is None:
        return ""
    return content if isinstance(content, str) else canonical_json(content)


def canonical_json(value: Json) -> str:
    """Sorted keys, no spaces, as the framework stores structured content."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class TokenEstimator:
    """The framework's process-wide estimator. ``tokenizer`` replaces the heuristic for everyone;
    ``None`` restores it."""

    tokenizer: Estimate | None = None

    @classmethod
    def estimate(cls, value: Any) -> int:
        """Tokens of a text, of a message (its content), or of a list of messages, each for itself."""
        if isinstance(value, str):
            return (cls.tokenizer or chars_over_four_up)(value)
        if isinstance(value, (list, tuple)):
            return sum(cls.estimate(text_of(content_of(message))) for message in value)
        return cls.estimate(text_of(content_of(value)))


def content_of(message: Any) -> Json:
    """A message's content: the key of a mapping, else the attribute."""
    return message.get("content") if isinstance(message, Mapping) else message.content
