"""The growing list of stages of one assembly; a stage that changes nothing shares its messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from promptdbg.model import Json, Message, MessageStatus, Stage, StageKind
from promptdbg.tokens import TokenCounter


def message_tokens(counter: TokenCounter, content: Json, calls: Json = None) -> int:
    """Tokens of a content and its calls; what is not text counts as compact JSON."""
    total = counter.count(content if isinstance(content, str) else _compact(content)) if content else 0
    return total + (counter.count(_compact(calls)) if calls else 0)


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


class Stages:
    """Stages in the making. ``messages`` is the newest list."""

    def __init__(self, counter: TokenCounter, messages: Iterable[Message] = ()) -> None:
        self.counter = counter
        self.messages: tuple[Message, ...] = tuple(messages)
        self._tokens = sum(message.tokens for message in self.messages)
        self._stages: list[Stage] = []
        self._dropped: list[Message] = []
        self._statuses: dict[str, MessageStatus] = {}

    @property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(self._stages)

    def make(self, name: str, content: str, sources: tuple[str, ...]) -> Message:
        """A system message of the framework's own making."""
        return Message(name, "system", content, message_tokens(self.counter, content), sources)

    def rewritten(self, message: Message, content: str) -> Message:
        """The message with another content."""
        tokens = message_tokens(self.counter, content, message.tool_calls)
        return replace(message, content=content, tokens=tokens)

    def first(self, name: str, title: str, kind: StageKind = StageKind.SESSION) -> None:
        """The list as it is now, as a stage that nothing was done for."""
        self._stages.append(Stage(name, kind, title, self.messages, tokens=self._tokens))

    def unchanged(self, name: str, title: str) -> None:
        self.first(name, title, StageKind.STEP)

    def reorder(self, name: str, title: str, messages: Sequence[Message]) -> None:
        self._add(name, title, messages)

    def change(self, name: str, title: str, messages: Sequence[Message], gone: Sequence[Message]) -> None:
        """Another order, and ``gone`` no longer there."""
        self._add(name, title, messages, gone)

    def drop(self, name: str, title: str, gone: Sequence[Message]) -> None:
        if not gone:
            self.unchanged(name, title)
            return
        ids = {message.id for message in gone}
        self._add(name, title, [m for m in self.messages if m.id not in ids], gone)

    def replace(
        self, name: str, title: str, gone: Sequence[Message], made: Message, *, before: Sequence[Message]
    ) -> None:
        """``gone`` leave and ``made`` goes in front of ``before`` (at the end when that is empty)."""
        ids = {message.id for message in gone}
        kept = [message for message in self.messages if message.id not in ids]
        place = len(kept) - len(before)
        kept.insert(place, made)
        self._add(name, title, kept, gone, {made.id: MessageStatus.INSERTED})

    def insert_first(self, name: str, title: str, made: Message) -> None:
        self._add(name, title, [made, *self.messages], (), {made.id: MessageStatus.INSERTED})

    def insert_last(self, name: str, title: str, made: Message, status: MessageStatus) -> None:
        self._add(name, title, [*self.messages, made], (), {made.id: status})

    def rewrite(self, name: str, title: str, changed: Message, status: MessageStatus) -> None:
        messages = [changed if message.id == changed.id else message for message in self.messages]
        self._add(name, title, messages, (), {changed.id: status})

    def initial(
        self, title: str, messages: Sequence[Message], gone: Sequence[Message],
        statuses: Mapping[str, MessageStatus],
    ) -> None:  # fmt: skip
        """The list that is handed over first, with what was done to the stored one."""
        self._add("initial", title, messages, gone, statuses, StageKind.INITIAL)
        # The final stage counts from here on.
        self._dropped, self._statuses = [], {}

    def final(self, title: str) -> None:
        """Close the list: what the provider gets, with everything done since ``initial``."""
        present = {message.id for message in self.messages}
        statuses = {key: value for key, value in self._statuses.items() if key in present}
        self._stages.append(
            Stage(
                "final",
                StageKind.FINAL,
                title,
                self.messages,
                tuple(m for m in self._dropped if m.id not in present),
                MappingProxyType(statuses),
                self._tokens,
            )
        )

    def _add(
        self,
        name: str,
        title: str,
        messages: Sequence[Message],
        gone: Sequence[Message] = (),
        statuses: Mapping[str, MessageStatus] | None = None,
        kind: StageKind = StageKind.STEP,
    ) -> None:
        self.messages = tuple(messages)
        self._tokens = sum(message.tokens for message in self.messages)
        self._dropped += gone
        self._statuses.update(statuses or {})
        stage = Stage(
            name,
            kind,
            title,
            self.messages,
            tuple(gone),
            MappingProxyType(dict(statuses or {})),
            self._tokens,
        )
        self._stages.append(stage)
