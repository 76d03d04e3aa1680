"""nanobot's two token estimates, with the fallbacks that switch their unit (spec section 7).

The prompt estimate counts texts, never images; the message estimate counts everything, images as
their base64. Either falls back to bytes (0.2.2: to 0 and to characters / 4) for one call when the
tokenizer is missing or the text holds a special token such as ``<|endoftext|>``.

Prompt estimates are exact and incremental: see ``tokens.count_joined`` for why a text may be cut
between a line feed and a character that is neither white space nor a slash.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import TRUNCATED, Dialect
from promptdbg.engines.nanobot.rows import Row, Rows, dumps, message_pieces
from promptdbg.engines.reuse import Reuse
from promptdbg.lengths import utf8_length
from promptdbg.model import Json
from promptdbg.tokens import Tokenizer, count_ended, load_encoding, tokenizer

ENCODING = "cl100k_base"
"""The encoding nanobot uses for every model (``utils/helpers.py::_get_token_encoding``)."""

FRAMING = 4
"""Tokens that every message costs beside its text."""

MeasureSource: TypeAlias = Literal["tiktoken", "heuristic", "none"]


class Estimate(NamedTuple):
    """A prompt estimate and how it was made; ``special`` names the token that spoiled it."""

    tokens: int
    source: MeasureSource
    special: str | None = None


NO_ESTIMATE = Estimate(0, "none")


@dataclass(frozen=True)
class ToolSet:
    """The tool schemas of a request, in nanobot's order, and their JSON.

    ``known`` is false where nobody told what tools there are.
    """

    definitions: tuple[Json, ...] = ()
    text: str = ""
    known: bool = True


def tool_set(definitions: tuple[Json, ...], known: bool = True) -> ToolSet:
    """Schemas as they are counted; no schemas are counted as no text."""
    return ToolSet(definitions, dumps(list(definitions)) if definitions else "", known)


def _has_lone(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _check_bytes(text: str, function: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        meaning = "A lone surrogate has no bytes to count: the turn fails while it is measured."
        raise Crash("UnicodeEncodeError", str(error), f"utils/helpers.py::{function}", meaning) from error


class Measures:
    """What is computed once about a row's payload.

    ``lead`` counts its leading line feeds, ``core`` is the rest, ``safe`` whether a count may be cut
    before the core. ``ended`` has the core's tokens by the number of line feeds after it. ``lone`` is
    whether the payload holds a lone surrogate; it is known with ``utf8``.
    """

    __slots__ = ("alone", "core", "ended", "lead", "lone", "safe", "sizes", "special", "utf8")

    def __init__(self, payload: str, encoding: Tokenizer) -> None:
        self.core = payload.lstrip("\n")
        self.lead = len(payload) - len(self.core)
        self.safe = bool(self.core) and not self.core[0].isspace() and self.core[0] != "/"
        self.special = encoding.special(payload)
        self.ended: dict[int, int] = {}
        self.sizes: dict[tuple[str, bool], int] = {}
        self.utf8: int | None = None
        self.lone = False
        self.alone: int | None = None


class Estimator:
    """The estimates of one dialect. ``available`` is whether tiktoken can load its data there.

    Nothing of it changes: what an estimate depends on is the estimator, the rows and the tools.
    """

    def __init__(self, dialect: Dialect, available: bool = True) -> None:
        self.dialect = dialect
        self.available = available
        self._encoding: Tokenizer = tokenizer(ENCODING)
        self._kind = (dialect.message_fallback, available)

    def spoiled(self, text: str) -> bool:
        """Whether tiktoken cannot encode this text here."""
        return not self.available or self._encoding.special(text) is not None

    def text(self, text: str) -> int:
        """A text alone, by the measure a message would get, without framing."""
        if not self.spoiled(text):
            return self._encoding.count(text)
        return utf8_length(text) if self.dialect.message_fallback == "bytes" else len(text) // 4

    def message(self, row: Row) -> int:
        """One message (``helpers.py::estimate_message_tokens``)."""
        sizes = self._measures(row).sizes
        known = sizes.get(self._kind)
        if known is None:
            payload = "\n".join(message_pieces(row.value))
            known = max(FRAMING, self.text(payload) + FRAMING) if payload else FRAMING
            sizes[self._kind] = known
        return known

    def strict_message(self, row: Row) -> int:
        """``message`` as nanobot itself finds it.

        Raises:
            Crash: the bytes of a lone surrogate would be counted.
        """
        if self._may_count_bytes(row):
            payload = "\n".join(message_pieces(row.value))
            if self.spoiled(payload):
                _check_bytes(payload, "estimate_message_tokens")
        return self.message(row)

    def _may_count_bytes(self, row: Row) -> bool:
        """Whether a row's own size could be in bytes; what decides is a text that is slower to make."""
        if self.dialect.message_fallback != "bytes":
            return False
        simple = isinstance(row.content, str)
        return not self.available or not simple or self._measures(row).special is not None

    def check_bytes(self, rows: Rows, tools: ToolSet) -> None:
        """Fail where a request that was measured in bytes has a text without bytes.

        Raises:
            Crash: it holds a lone surrogate.
        """
        if _has_lone(tools.text) or any(self._measures(row).lone for row in rows):
            payloads = [row.payload for row in rows if row.pieces]
            _check_bytes("\n".join((*payloads, tools.text)), "_estimate_prompt_tokens_with_source")

    def share(self, row: Row, source: MeasureSource) -> int:
        """A row's own part of a prompt estimate that was made in this way, without framing."""
        if source == "none":
            return 0
        measures = self._measures(row)
        if source == "heuristic":
            return self._bytes(row, measures)
        if measures.alone is None:
            measures.alone = self._encoding.count(row.payload)
        return measures.alone

    def tools(self, tools: ToolSet, after_text: bool = True) -> int:
        """The schemas' share of a prompt estimate; they are counted apart from the messages."""
        if not tools.text:
            return 0
        text = "\n" + tools.text if after_text else tools.text
        if not self.spoiled(tools.text):
            return self._encoding.count(text)
        return utf8_length(text) if self.dialect.prompt_fallback else 0

    def prompt(self, rows: Rows, tools: ToolSet) -> Estimate:
        """A whole request (``helpers.py::estimate_prompt_tokens_chain``)."""
        special = self._special(rows, tools) if self.available else None
        if not self.available or special is not None:
            return self._without_tokenizer(rows, tools, special)
        collected = any(row.pieces for row in rows)
        total = self._joined(rows) + self.tools(tools, collected) + FRAMING * len(rows)
        return Estimate(total, "tiktoken") if total > 0 else NO_ESTIMATE

    def _measures(self, row: Row) -> Measures:
        known = row.measures
        if known is None:
            known = row.measures = Measures(row.payload, self._encoding)
        measures: Measures = known
        return measures

    def _special(self, rows: Rows, tools: ToolSet) -> str | None:
        for row in rows:
            found = self._measures(row).special
            if found is not None:
                return found
        return self._encoding.special(tools.text)

    def _without_tokenizer(self, rows: Rows, tools: ToolSet, special: str | None) -> Estimate:
        if not self.dialect.prompt_fallback:
            return Estimate(0, "none", special)
        sizes = [self._bytes(row, self._measures(row)) for row in rows if row.pieces]
        total = sum(sizes) + max(0, len(sizes) - 1)
        if tools.text:
            total += utf8_length(tools.text) + (1 if total else 0)
        total += FRAMING * len(rows)
        return Estimate(total, "heuristic" if total > 0 else "none", special)

    def _bytes(self, row: Row, measures: Measures) -> int:
        if measures.utf8 is None:
            measures.utf8 = utf8_length(row.payload)
            measures.lone = _has_lone(row.payload)
        return measures.utf8

    def _joined(self, rows: Rows) -> int:
        """Tokens of every row's payload joined with line feeds."""
        total = 0
        run: Measures | str = ""
        gap = -1  # line feeds since the end of ``run``; the first payload has none before it
        for row in rows:
            if not row.pieces:
                continue
            measures: Measures = row.measures or self._measures(row)
            gap += 1 + measures.lead
            if not measures.core:
                continue
            if gap and measures.safe:
                total += self._ended(run, gap)
                run = measures
            else:
                run = (run if isinstance(run, str) else run.core) + "\n" * gap + measures.core
            gap = 0
        return total + self._ended(run, max(gap, 0))

    def _ended(self, run: Measures | str, gap: int) -> int:
        if isinstance(run, str):
            text = run + "\n" * gap
            return self._encoding.count(text) if text else 0
        known = run.ended.get(gap)
        if known is None:
            known = run.ended[gap] = count_ended(self._encoding, run.core, "\n" * gap)
        return known


def strict_prompt(reuse: Reuse, estimator: Estimator, rows: Rows, tools: ToolSet) -> Estimate:
    """``Estimator.prompt`` as nanobot itself finds it.

    Raises:
        Crash: the bytes of a lone surrogate would be counted.
    """
    estimate = reuse(estimator.prompt, rows, tools)
    if estimate.source == "heuristic":
        estimator.check_bytes(rows, tools)
    return estimate


@lru_cache(maxsize=64)
def truncate_to_tokens(text: str, limit: int, dialect: Dialect, available: bool) -> str:
    """The longest prefix that fits ``limit`` tokens with its mark (``helpers.py::truncate_text_to_tokens``).

    Without a tokenizer the limit is bytes; 0.2.2 takes four characters for a token.
    """
    if limit <= 0:
        return text
    counter = tokenizer(ENCODING)
    if not available or counter.special(text) is not None:
        return (
            _truncate_to_bytes(text, limit)
            if dialect.prompt_fallback
            else _truncate_to_chars(text, limit * 4)
        )
    if counter.count(text) <= limit:
        return text
    encoding = load_encoding(ENCODING)
    tokens = encoding.encode_ordinary(text)
    room = limit - len(encoding.encode_ordinary(TRUNCATED))
    for size in range(room, -1, -1) if room > 0 else ():
        result = encoding.decode(tokens[:size]) + TRUNCATED
        if len(encoding.encode_ordinary(result)) <= limit:
            return result
    return encoding.decode(tokens[:limit])


def _truncate_to_bytes(text: str, limit: int) -> str:
    if utf8_length(text) <= limit:
        return text
    suffix = len(TRUNCATED.encode())
    body = text.encode("utf-8", "surrogatepass")
    if limit <= suffix:
        return body[:limit].decode("utf-8", "ignore")
    return body[: limit - suffix].decode("utf-8", "ignore") + TRUNCATED


def _truncate_to_chars(text: str, limit: int) -> str:
    suffix = len(TRUNCATED)
    if limit <= suffix:
        return text[:limit]
    return truncate_chars(text, limit - suffix)


def truncate_chars(text: str, limit: int) -> str:
    """A text cut to ``limit`` code points with its mark after them (``helpers.py::truncate_text``)."""
    if limit <= 0 or len(text) <= limit:
        return text
    return text[:limit] + TRUNCATED
