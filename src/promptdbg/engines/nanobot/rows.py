"""One message on its way through the pipeline, with everything that is computed from it once.

A ``Row`` holds the framework's own object and never changes; a step that alters a message makes a
new row with the same id. Measures are remembered on the row, because most rows live unchanged
through every stage of every assembly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from promptdbg.engines.nanobot.crash import Crash
from promptdbg.model import Evidence, Json, Message, Source
from promptdbg.tokens import TokenCounter

SENT_KEYS = (
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "name",
    "reasoning_content",
    "thinking_blocks",
)
"""The keys of a stored row that a model may see, in the order replay writes them."""

_KNOWN = frozenset(("role", "content", "tool_calls", "tool_call_id", "name"))


class Row:
    """A message: its id, the framework's object, and where both came from.

    ``stored`` rows are as the session file has them: keys that are never sent travel as extras.
    """

    __slots__ = (
        "_memo",
        "_message",
        "_payload",
        "_pieces",
        "content",
        "evidence",
        "id",
        "measures",
        "role",
        "source",
        "sources",
        "stored",
        "value",
    )

    def __init__(
        self,
        id: str,  # noqa: A002 - the model's word
        value: Mapping[str, Json],
        *,
        sources: tuple[str, ...] = (),
        source: Source | None = None,
        stored: bool = False,
        evidence: Evidence = Evidence.COMPUTED,
    ) -> None:
        self.id = id
        self.value = value
        self.role: Json = value.get("role")
        self.content: Json = value.get("content")
        self.sources = sources or (id,)
        self.source = source
        self.stored = stored
        self.evidence = evidence
        self._pieces: tuple[str, ...] | None = None
        self._payload: str | None = None
        self._memo: dict[Any, Any] | None = None
        self._message: tuple[TokenCounter, int | None, Message] | None = None
        self.measures: Any = None
        """What the estimator keeps about this row."""

    @property
    def memo(self) -> dict[Any, Any]:
        """What other modules computed from this row alone, by a key of their own."""
        if self._memo is None:
            self._memo = {}
        return self._memo

    def replaced(self, value: Mapping[str, Json], sources: tuple[str, ...] = ()) -> Row:
        """The same message with another object."""
        return Row(self.id, value, sources=sources or self.sources, source=self.source)

    def with_content(self, content: Json) -> Row:
        return self.replaced({**self.value, "content": content})

    @property
    def pieces(self) -> tuple[str, ...]:
        """The texts the prompt estimate collects, in its order (section 7.1)."""
        if self._pieces is None:
            self._pieces = tuple(_prompt_pieces(self.value))
        return self._pieces

    @property
    def payload(self) -> str:
        """``pieces`` joined with line feeds: the text the message costs."""
        if self._payload is None:
            self._payload = "\n".join(self.pieces)
        return self._payload

    def tokens(self, counter: TokenCounter) -> int:
        """What the message costs by the user's tokenizer; images count nothing."""
        known = self._message
        return known[2].tokens if known and known[0] is counter else counter.count(self.payload)

    def message(self, counter: TokenCounter, size: int | None) -> Message:
        """The row as the model's value; the same object for the same arguments as last time."""
        known = self._message
        if known is None or known[0] is not counter or known[1] != size:
            known = self._message = (counter, size, self._built(counter, size))
        return known[2]

    def _built(self, counter: TokenCounter, size: int | None) -> Message:
        value = self.value
        sent = tuple(key for key in SENT_KEYS if key in value) if self.stored else tuple(value)
        role = value.get("role")
        return Message(
            id=self.id,
            role=role if isinstance(role, str) else "" if role is None else str(role),
            content=value.get("content"),
            tokens=self.tokens(counter),
            sources=self.sources,
            tool_calls=value.get("tool_calls"),
            tool_call_id=value.get("tool_call_id"),
            name=value.get("name"),
            extra=MappingProxyType({key: value[key] for key in value if key not in _KNOWN}),
            size=size,
            evidence=self.evidence,
            source=self.source,
            wire=sent,
        )


Rows = tuple[Row, ...]


def said(item: str, role: str, text: str) -> Row:
    """A message that is nothing but a text."""
    return Row(item, {"role": role, "content": text})


def _prompt_pieces(value: Mapping[str, Json]) -> Iterator[str]:
    content = value.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") == "text":
                text = block.get("text", "")
                if isinstance(text, str) and text:
                    yield text
    if calls := value.get("tool_calls"):
        yield dumps(calls)
    reasoning = value.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        yield reasoning
    yield from _names(value)


def message_pieces(value: Mapping[str, Json]) -> Iterator[str]:
    """The texts the per-message estimate collects, in its order (section 7.2)."""
    content = value.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") == "text":
                text = block.get("text", "")
                if isinstance(text, str) and text:
                    yield text
            else:
                yield dumps(block)
    elif content is not None:
        yield dumps(content)
    yield from _names(value)
    if calls := value.get("tool_calls"):
        yield dumps(calls)
    reasoning = value.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        yield reasoning


def _names(value: Mapping[str, Json]) -> Iterator[str]:
    for key in ("name", "tool_call_id"):
        text = value.get(key)
        if isinstance(text, str) and text:
            yield text


def dumps(value: Json) -> str:
    """JSON as nanobot writes it: default separators, characters as they are."""
    return json.dumps(value, ensure_ascii=False)


def calls_of(value: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """The tool calls of a message that are objects.

    Raises:
        Crash: ``tool_calls`` is a value that Python cannot iterate.
    """
    calls = value.get("tool_calls")
    if not calls:
        return
    if isinstance(calls, bool) or not isinstance(calls, Iterable):
        raise Crash(
            "TypeError",
            f"'{type(calls).__name__}' object is not iterable",
            "utils/helpers.py::find_legal_message_start",
            "A stored row has tool_calls that are not a list: every turn of this session fails.",
        )
    for call in calls:
        if isinstance(call, dict):
            yield call


def call_ids(value: Mapping[str, Json]) -> Iterator[str]:
    """The ids a message declares, as text; calls without one are left out."""
    for call in calls_of(value):
        if call.get("id"):
            yield str(call["id"])


def answered_id(value: Mapping[str, Json]) -> str:
    """The call a tool row answers, as text; empty when it names none."""
    answered = value.get("tool_call_id")
    return str(answered) if answered else ""


def text_blocks(content: list[Json]) -> str | None:
    """The texts of a list of text blocks joined with LF; ``None`` when it holds anything else."""
    parts: list[str] = []
    for block in content:
        if (
            not isinstance(block, dict)
            or block.get("type") != "text"
            or not isinstance(block.get("text"), str)
        ):
            return None
        parts.append(block["text"])
    return "\n".join(parts)


def first_user(rows: Rows) -> int | None:
    """The index of the first user row."""
    return next((index for index, row in enumerate(rows) if row.role == "user"), None)


def last_user(rows: Rows) -> int | None:
    """The index of the last user row."""
    return next((index for index in range(len(rows) - 1, -1, -1) if rows[index].role == "user"), None)


def legal_start(rows: Rows) -> tuple[int, Row | None]:
    """Where a list may begin so that no tool result lacks its call, and the row that moved it there.

    ``utils/helpers.py::find_legal_message_start``: a result whose id no row *since the last such
    result* declared moves the start past itself, wherever it stands.

    Raises:
        Crash: a row's ``tool_calls`` cannot be iterated.
    """
    declared: set[str] = set()
    start, stray = 0, None
    for index, row in enumerate(rows):
        role = row.role
        if role == "assistant":
            if row.value.get("tool_calls"):
                declared.update(call_ids(row.value))
        elif role == "tool":
            answered = row.value.get("tool_call_id")
            if answered and str(answered) not in declared:
                start, stray = index + 1, row
                declared.clear()
    return start, stray
