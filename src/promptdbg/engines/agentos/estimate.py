"""AgentOS's token estimate: UTF-16 length over a divisor of the model's name, rounded up.

``PromptEngine.ts::estimateTokenCount``, ``calculateTokensForMessages``, ``calculateTotalTokens``,
``thinkingSentFor``. Results are doubles and may be NaN, as in JavaScript.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from promptdbg.engines.agentos import js
from promptdbg.engines.agentos.components import ASSISTANT_ROLE, HistoryItem, Prepared, SystemPrompt
from promptdbg.engines.agentos.rules import NEWER
from promptdbg.lengths import utf16_length
from promptdbg.model import Json

TOOL_TOKENS = 50
DEFAULT_DIVISOR = 4.0
STRIP_THINKING = "AGENTOS_ANTHROPIC_STRIP_PRIOR_THINKING"
_DIVISORS = (("gpt-4", 3.8), ("claude", 4.2))

# model-cache-capabilities.ts::resolveCacheCapabilities, in its order: which Claude models keep the
# thinking of earlier turns in context. A Claude model that no line names keeps it.
_RETENTION = (
    (re.compile("claude-haiku-4-5|claude-4-5-haiku|claude-3-5-haiku|claude-3-haiku"), False),
    (re.compile("claude-(?:fable|mythos)-"), True),
    (re.compile("claude-opus-4-[5678]"), True),
    (re.compile("claude-opus-4|claude-3-opus"), False),
    (re.compile("claude-sonnet-4-6|claude-sonnet-5"), True),
    (re.compile("claude-sonnet-4|claude-3-7-sonnet|claude-3-5-sonnet|claude-3-sonnet"), False),
)


def divisor(model_id: Any) -> float:
    """Characters a token, by the model's name (case matters; ``gpt-4`` is looked for first)."""
    return next((number for name, number in _DIVISORS if js.includes(model_id, name)), DEFAULT_DIVISOR)


def estimate(content: Any, characters: float) -> float:
    """Tokens of a text at ``characters`` a token; 0 for what JavaScript takes as false."""
    return js.ceil(js.length(content) / characters) if js.truthy(content) else 0


def retains_thinking(model_id: str) -> bool:
    """Whether a model keeps the thinking of earlier turns in its context."""
    name = model_id.lower()
    if "claude" not in name:
        return False
    return next((keeps for pattern, keeps in _RETENTION if pattern.search(name)), True)


@dataclass(frozen=True, slots=True)
class Meter:
    """The estimate for one model and one history.

    ``all_thinking`` counts every message's thinking, else ``thinking_of`` names the one message
    whose thinking counts.
    """

    characters: float
    all_thinking: bool = False
    thinking_of: str | None = None

    def text(self, content: Any) -> float:
        if isinstance(content, str):
            return math.ceil(utf16_length(content) / self.characters)
        return estimate(content, self.characters)

    def sends_thinking(self, message: HistoryItem) -> bool:
        return self.all_thinking or (self.thinking_of is not None and message.item == self.thinking_of)

    def message(self, message: HistoryItem) -> float:
        """Tokens of one message."""
        cost = message.cost
        total: float = cost.fixed
        for length in cost.lengths:
            total += math.ceil(length / self.characters)
        if self.sends_thinking(message):
            total += sum(js.ceil(length / self.characters) for length in cost.thinking)
        return total

    def messages(self, messages: Iterable[HistoryItem]) -> float:
        return sum(map(self.message, messages))

    def rough(self, message: HistoryItem) -> float:
        """The cut's own estimate: characters / 4, nothing for the message itself.

        Raises:
            JsError: a thinking block that counts has no text.
        """
        thinking: float = 0
        if self.sends_thinking(message):
            if message.cost.thinking_unread:
                raise js.JsError("reads the length of a thinking block that has no text")
            thinking = sum(message.cost.thinking)
        return (message.cost.rough + thinking) / 4


def meter_for(
    model: Json, history: tuple[HistoryItem, ...] | None, version: str, env: Mapping[str, str]
) -> Meter:
    """The meter for a model target. Only the newer version counts thinking."""
    characters = divisor(js.get(model, "modelId"))
    if version != NEWER or not history or js.get(model, "providerId") != "anthropic":
        return Meter(characters)
    strip = env.get(STRIP_THINKING)
    if strip in ("0", "false"):
        return Meter(characters, all_thinking=True)
    if strip not in ("1", "true"):
        name = js.get(model, "modelId")
        if not isinstance(name, str):
            raise js.JsError("calls toLowerCase on a model id that is not a text")
        if retains_thinking(name):
            return Meter(characters, all_thinking=True)
    last = next((message.item for message in reversed(history) if message.role == ASSISTANT_ROLE), None)
    return Meter(characters, thinking_of=last)


@dataclass(frozen=True, slots=True)
class Totals:
    """The estimate of every counted component; their sum is what is held against the budget.

    Images, audio, memory context, task data and custom components are never counted.
    """

    system: float
    user_input: float
    history: float
    retrieved: float
    tools: float

    @property
    def total(self) -> float:
        return self.system + self.user_input + self.history + self.retrieved + self.tools


def totals(
    prepared: Prepared,
    system: Iterable[SystemPrompt],
    user_input: Any,
    meter: Meter,
) -> Totals:
    """What each component costs before anything is reduced."""
    return Totals(
        system=sum(meter.text(prompt.content) for prompt in system),
        user_input=meter.text(user_input),
        history=meter.messages(prepared.history or ()),
        retrieved=meter.text(joined(prepared)) if js.truthy(prepared.retrieved) else 0,
        tools=len(prepared.tools or ()) * TOOL_TOKENS,
    )


def joined(prepared: Prepared) -> str:
    """The retrieved context as one text: documents joined by a line break."""
    if isinstance(prepared.retrieved, str):
        return prepared.retrieved
    return js.join((document.content for document in prepared.documents), "\n")
