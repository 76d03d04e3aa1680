"""The messages: estimates, tool results, the context notice, compaction.

Sources: ``internal/loop/{compact,turn_compact,turn_helpers}.go``, ``internal/tools/truncate.go``,
``internal/prompt/context_warning.go``. Plain functions on messages as bee stores them
(``{"role", "content": [blocks]}``); the stages are made in ``stages``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from promptdbg.engines.bee.constants import (
    TOOL_CUT_HEAD_BYTES,
    TOOL_CUT_MIDDLE_BYTES,
    WARN_BYTES,
    numbered,
    stand_in,
)
from promptdbg.engines.bee.gotext import SPACE, estimate_bytes, marshal, to_bytes, wire
from promptdbg.model import Json

PRESERVED = 4
"""The last messages that compaction keeps as they are."""

WARNING_SHARE = 0.70
_DEFAULT_THRESHOLD = 0.75
_HEADROOM = 8000.0


def blocks(message: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """A message's content blocks; a plain text counts as one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(value: Json) -> str:
    return value if isinstance(value, str) else ""


def block_parts(block: Mapping[str, Json]) -> tuple[bytes, ...]:
    """The texts of a block that bee estimates, each rounded down on its own."""
    kind = block.get("type")
    if kind in ("text", "thinking"):
        return (to_bytes(text_of(block.get("text"))),)
    use, result = block.get("tool_use"), block.get("tool_result")
    if kind == "tool_use" and isinstance(use, dict):
        return (marshal(use.get("input")), to_bytes(text_of(use.get("name"))))
    if kind == "tool_result" and isinstance(result, dict):
        return (to_bytes(text_of(result.get("content"))),)
    return ()


@dataclass(frozen=True, slots=True)
class Shape:
    """What is measured of a message: its texts, bee's estimate in tokens, and the tools it calls by
    the id of the call."""

    texts: tuple[str, ...]
    size: int
    calls: Mapping[Json, str]


def shape_of(message: Mapping[str, Json]) -> Shape:
    """The shape of a message as bee stores it."""
    texts: list[str] = []
    calls: dict[Json, str] = {}
    size = 0
    for block in blocks(message):
        parts = block_parts(block)
        size += sum(estimate_bytes(len(part)) for part in parts)
        texts += [wire(part) for part in parts if part]
        use = block.get("tool_use")
        if block.get("type") == "tool_use" and isinstance(use, dict) and isinstance(use.get("id"), str):
            calls[use["id"]] = text_of(use.get("name"))
    return Shape(tuple(texts), size, calls or _NO_CALLS)


_NO_CALLS: Mapping[Json, str] = MappingProxyType({})


def estimate_message(message: Mapping[str, Json]) -> int:
    """bee's estimate of a message in tokens (``compact.go::estimateMessageTokens``)."""
    return sum(estimate_bytes(len(part)) for block in blocks(message) for part in block_parts(block))


# ---- the context notice -----------------------------------------------------------------------------


def usage_share(input_tokens: int, limit: int) -> float:
    """The share of the window in use, 0 to 1; 0 without a limit."""
    return min(1.0, max(0, input_tokens) / limit) if limit > 0 else 0.0


def should_warn(input_tokens: int, context_limit: int) -> bool:
    """Whether 70 % of the window are in use."""
    return usage_share(input_tokens, context_limit) >= WARNING_SHARE


def context_notice(input_tokens: int, context_limit: int) -> bytes:
    """The notice before a tool result, two line feeds at its end; empty below 70 %.

    The real one names the percentage, rounded down, twice.
    """
    share = usage_share(input_tokens, context_limit)
    if share < WARNING_SHARE:
        return b""
    percent = int(share * 100)
    return numbered("warn.context", WARN_BYTES, percent, percent) + b"\n\n"


# ---- tool results -----------------------------------------------------------------------------------

TOOL_TOKENS = {
    "bash": 20_000,
    "read": 15_000,
    "search": 30_000,
    "grep": 30_000,
    "ls": 5_000,
    "webfetch": 10_000,
}
OTHER_TOOL_TOKENS = 50_000
_HEAD_AND_TAIL = frozenset({"bash"})


@dataclass(frozen=True, slots=True)
class CutResult:
    """A tool result under its cap. ``kept`` are the byte ranges of the original; ``cap`` is bytes."""

    output: bytes
    cap: int
    kept: tuple[tuple[int, int], ...] = ()
    truncated: bool = False


def tool_cap(tool: str, profile_tokens: int) -> int:
    """The most bytes a tool's result may have: 4 for each token of the smaller cap."""
    own = TOOL_TOKENS.get(tool, OTHER_TOOL_TOKENS)
    return 4 * (min(own, profile_tokens) if profile_tokens > 0 else own)


def truncate_result(tool: str, content: bytes, profile_tokens: int = 0) -> CutResult:
    """A tool result cut to its cap (``truncate.go::TruncateWithLimitSpill`` without a spill folder)."""
    cap = tool_cap(tool, profile_tokens)
    total = len(content)
    if total <= cap:
        return CutResult(content, cap)
    if tool not in _HEAD_AND_TAIL:
        head = _to_line_end(content[:cap])
        note = numbered("toolcut.head", TOOL_CUT_HEAD_BYTES, len(head), total)
        return CutResult(head + b"\n...\n" + note, cap, ((0, len(head)),), True)
    tail_size = min(cap // 3, total - cap)
    head = _to_line_end(content[: cap - tail_size])
    start = total - tail_size
    newline = content.find(b"\n", start)
    start = newline if newline >= 0 else start
    tail = content[start:]
    skipped = total - len(head) - len(tail)
    note = numbered("toolcut.headtail", TOOL_CUT_MIDDLE_BYTES, len(head), len(tail), total, skipped)
    output = head + b"\n...\n" + note + b"\n..." + tail
    return CutResult(output, cap, ((0, len(head)), (start, total)), True)


def _to_line_end(head: bytes) -> bytes:
    at = head.rfind(b"\n")
    return head[:at] if at > 0 else head


# ---- compaction -------------------------------------------------------------------------------------


def scaled_threshold(base: float, budget: int) -> float:
    """The share at which history is compacted (``turn_compact.go::scaledCompactThreshold``).

    0.75 or more is widened to leave 8,000 tokens; a lower one is meant and stays.
    """
    if budget <= 0 or base <= 0 or base < _DEFAULT_THRESHOLD:
        return base
    return max(base, 0.5, 1.0 - _HEADROOM / budget)


def request_tokens(system: bytes, sizes: Iterable[int], actual: int = 0) -> int:
    """The tokens compaction goes by: those the provider reported, else bee's estimate of the system
    prompt and of each message."""
    return actual if actual > 0 else estimate_bytes(len(system)) + sum(sizes)


def should_compact(total: int, budget: int, threshold: float) -> bool:
    """Whether a request of ``total`` tokens is over ``budget * threshold``; a budget or threshold of 0
    or less turns compaction off (``compact.go::ShouldAutoCompactWithUsage``)."""
    return budget > 0 and threshold > 0 and total > budget * threshold


def summary_request(older: Sequence[Mapping[str, Json]]) -> bytes:
    """What the summarizer is asked: a fixed head and the text blocks of the older messages."""
    lines = [stand_in("compact.request") + b"\n\n"]
    for message in older:
        text = flat_text(message)
        if text:
            lines.append(to_bytes(f"[{text_of(message.get('role'))}] {text}\n"))
    return b"".join(lines)


def flat_text(message: Mapping[str, Json]) -> str:
    """A message's text blocks in one line, a blank between them; nothing of tools or thinking."""
    texts = (text_of(block.get("text")) + " " for block in blocks(message) if block.get("type") == "text")
    return "".join(texts).strip(SPACE)


def flat_raw(message: Mapping[str, Json]) -> str:
    """A message's text blocks as the search for records sees them (``turn_helpers.go::collectUserText``)."""
    texts = [text_of(block.get("text")) for block in blocks(message) if block.get("type") == "text"]
    joined = ""
    for text in texts:
        joined += ("\n" if joined else "") + text
    return joined


def summary_message(summary: str) -> dict[str, Json]:
    """The message that stands for the older ones."""
    return {"role": "user", "content": [{"type": "text", "text": "[compacted history]\n" + summary}]}


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compacted history: the messages, and the request for the summary where one was made."""

    messages: tuple[Mapping[str, Json], ...]
    request: bytes | None = None
    before_tokens: int = 0
    after_tokens: int = 0


def compact(messages: Sequence[Mapping[str, Json]], summary: str | None) -> Compaction:
    """All but the last four messages as one summary (``compact.go::Compact``).

    ``summary`` is what the model answered, ``None`` when it failed: then nothing changes.
    """
    before = sum(estimate_message(message) for message in messages)
    if len(messages) <= PRESERVED:
        return Compaction(tuple(messages), None, before, before)
    request = summary_request(messages[:-PRESERVED])
    if summary is None:
        return Compaction(tuple(messages), request, before, before)
    made = (summary_message(summary), *messages[-PRESERVED:])
    return Compaction(made, request, before, sum(estimate_message(message) for message in made))
