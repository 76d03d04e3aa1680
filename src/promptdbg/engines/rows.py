"""Conversations that a workspace holds in a message file: its rows, and the list an engine starts from.

For engines whose framework has no session format of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from types import MappingProxyType
from typing import TypeVar

from promptdbg.engines.base import EDITED, SWITCHED_OFF, Trace
from promptdbg.engines.stages import Stages, message_tokens
from promptdbg.files.structured import Parsed
from promptdbg.model import Action, Json, Message, MessageStatus, Notice, Rule, Settings, Source, Turn
from promptdbg.text import one_line
from promptdbg.tokens import TokenCounter

T = TypeVar("T")

_KNOWN = ("role", "content", "tool_calls", "tool_call_id", "name")
_NO_EXTRA: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """One message as stored; ``value`` keeps the keys and their order. ``m0`` is the first row."""

    id: str
    value: Mapping[str, Json]
    source: Source | None = None


def rows_from(engine: str, parsed: Parsed, value: Json) -> tuple[tuple[Row, ...], tuple[Notice, ...]]:
    """The rows of a list of messages. What is no message is left out with a notice."""
    if value is None:
        return (), ()
    if not isinstance(value, list):
        return (), (Notice(f"{engine}.bad-value", "messages must be a list", parsed.source()),)
    rows, notices = [], []
    for index, entry in enumerate(value):
        if isinstance(entry, dict) and isinstance(entry.get("role"), str):
            rows.append(Row(f"m{index}", MappingProxyType(entry), parsed.source(index)))
        else:
            message = f"message {index} has no role; it is left out"
            notices.append(Notice(f"{engine}.bad-message", message, parsed.source(index)))
    return tuple(rows), tuple(notices)


def turns_of(rows: Sequence[Row]) -> tuple[Turn, ...]:
    """The user messages among the rows."""
    found: list[Turn] = []
    for index, row in enumerate(rows):
        if row.value.get("role") == "user":
            content = row.value.get("content")
            title = one_line(content) if isinstance(content, str) else ""
            found.append(Turn(len(found) + 1, title, index))
    return tuple(found)


def message_of(row: Row, counter: TokenCounter, size: int | None = None) -> Message:
    """A row as a message. ``size`` is the framework's own estimate of it."""
    value = row.value
    extra = {key: value[key] for key in value if key not in _KNOWN}
    calls = value.get("tool_calls") or value.get("calls")
    return Message(
        id=row.id,
        role=str(value.get("role", "user")),
        content=value.get("content"),
        tokens=message_tokens(counter, value.get("content"), calls),
        sources=(row.id,),
        tool_calls=value.get("tool_calls"),
        tool_call_id=value.get("tool_call_id"),
        name=value.get("name"),
        extra=MappingProxyType(extra) if extra else _NO_EXTRA,
        size=size,
        source=row.source,
        wire=tuple(value),
    )


class Memo:
    """What depends on no setting, made once: a live debugger assembles the same inputs again and again."""

    def __init__(self) -> None:
        self._made: dict[object, tuple[Sequence[object], tuple[Message, ...]]] = {}
        self._turns: tuple[object, tuple[Turn, ...]] = ((), ())

    def messages(self, source: Sequence[T], key: object, make: Callable[[T], Message]) -> tuple[Message, ...]:
        """``make`` of each of ``source``.

        What is remembered under ``key`` of its beginning is not made again: an earlier turn has the
        beginning of the same rows.
        """
        known, made = self._made.get(key, ((), ()))
        if not all(map(is_, source, known)):
            made = ()
        if len(made) < len(source):
            made = (*made, *map(make, source[len(made) :]))
            self._made[key] = (source, made)
        return made[: len(source)]

    def turns(self, rows: Sequence[Row]) -> tuple[Turn, ...]:
        """The turns of the rows; remembered for this very sequence."""
        if self._turns[0] is not rows:
            self._turns = (rows, turns_of(rows))
        return self._turns[1]

    def messages_at(
        self, rows: Sequence[Row], turn: int | None, key: object, make: Callable[[Row], Message]
    ) -> tuple[Message, ...]:
        """The messages up to and with the user message of a turn; all of them for the next turn."""
        made = self.messages(rows, key, make)
        chosen = next((entry for entry in self.turns(rows) if entry.number == turn), None)
        return made if chosen is None else made[: chosen.row + 1]


@dataclass(frozen=True, slots=True)
class Added:
    """A message that the framework adds to the stored ones, and the rule by which it does."""

    message: Message
    rule: Rule
    because: str


def start(
    stages: Stages,
    trace: Trace,
    settings: Settings,
    title: str,
    *,
    first: Added | None = None,
    last: Added | None = None,
) -> None:
    """The initial stage: what is switched off or edited here, between what the framework adds."""
    messages: list[Message] = []
    gone: list[Message] = []
    statuses: dict[str, MessageStatus] = {}
    _add(trace, first, messages, statuses)
    for message in stages.messages:
        text = settings.texts.get(message.id)
        if message.id in settings.off:
            gone.append(message)
            trace.decide(
                Action.DISABLE,
                message.id,
                SWITCHED_OFF,
                stage="initial",
                because="Switched off here.",
                before=message.tokens,
                after=0,
            )
        elif text is not None and text != message.content:
            changed = stages.rewritten(message, text)
            messages.append(changed)
            statuses[message.id] = MessageStatus.REWRITTEN
            trace.decide(
                Action.REWRITE,
                message.id,
                EDITED,
                stage="initial",
                because="Its text was edited here.",
                before=message.tokens,
                after=changed.tokens,
            )
        else:
            messages.append(message)
    _add(trace, last, messages, statuses)
    stages.initial(title, messages, gone, statuses)


def _add(
    trace: Trace, added: Added | None, messages: list[Message], statuses: dict[str, MessageStatus]
) -> None:
    if added is None:
        return
    message = added.message
    messages.append(message)
    statuses[message.id] = MessageStatus.INSERTED
    trace.decide(
        Action.INSERT,
        message.id,
        added.rule,
        stage="initial",
        because=added.because,
        before=0,
        after=message.tokens,
    )
