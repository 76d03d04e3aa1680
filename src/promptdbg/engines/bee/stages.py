"""The message lists of one request: stored, handed to the loop, and what each step makes of them.

Sources: ``internal/loop/{turn_run,compact,turn_warnings,turn_tools}.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from promptdbg.engines.base import EDITED, SWITCHED_OFF, Trace
from promptdbg.engines.bee import history
from promptdbg.engines.bee.gotext import estimate_bytes, to_bytes, wire
from promptdbg.engines.bee.inputs import Row
from promptdbg.engines.bee.rules import (
    ATTACH_EXACT,
    COMPACT,
    COMPACT_NOT,
    CONTEXT_NOTICE,
    CURRENT,
    EPHEMERAL,
    SYSTEM,
    TOOL_RESULT,
    WIRE_THINKING,
)
from promptdbg.model import (
    Action,
    Evidence,
    Json,
    Message,
    MessageStatus,
    Rule,
    Source,
    Stage,
    StageKind,
    Unit,
)
from promptdbg.tokens import TokenCounter

_ALREADY_CUT = "\n...\n(truncated"
"""How bee's own notes in a stored result begin."""


CURRENT_ID = "current"
"""The new message, for as long as it is not stored."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the messages of one request are made of.

    ``current`` is the new message as typed and ``expanded`` with its attachments; both ``None`` in
    the middle of a run. ``current_id`` is the row of one that is stored, so that it is the same item in
    this turn and in those after. ``window`` is what notices and compaction measure against.
    """

    system: bytes
    rows: tuple[Row, ...]
    current: Mapping[str, Json] | None = None
    expanded: Mapping[str, Json] | None = None
    current_id: str = CURRENT_ID
    current_source: Source | None = None
    off: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    cut_results: bool = True
    tool_output_tokens: int = 0
    input_tokens: int = 0
    window: int = 0
    compaction: bool = True
    threshold: float = 0.75
    summary: str | None = ""


_Run = Callable[[tuple[Message, ...]], tuple[Message, ...]]


class Stages:
    """Makes the stages one after another; each step that changes nothing shares the list."""

    def __init__(self, request: Request, trace: Trace, counter: TokenCounter) -> None:
        self.request = request
        self.trace = trace
        self.counter = counter
        self.stages: list[Stage] = []
        self._statuses: dict[str, MessageStatus] = {}
        self._dropped: list[Message] = []
        self._name = ""
        self._all_statuses: dict[str, MessageStatus] = {}
        self._all_dropped: list[Message] = []
        self._summaries = 0

    def make(self) -> tuple[Stage, ...]:
        session = tuple(
            self._message(row.id, row.value, row.source, shape=row.shape) for row in self.request.rows
        )
        self._push("session", StageKind.SESSION, "As stored", session)
        messages = self._initial(session)
        messages = self._step("tool-results", "Tool results cut", messages, self._cut_results)
        messages = self._step("context-notice", "Context notice", messages, self._notice)
        messages = self._step("attachments", "Attached files in place", messages, self._attach)
        messages = self._step(
            "compact-history", "History compacted before the turn", messages, self._compact_history
        )
        messages = self._step("compact", "Compacted before the request", messages, self._compact_all)
        messages = self._step("wire", "What is sent", messages, self._wire)
        self._statuses = self._all_statuses
        self._dropped = self._all_dropped
        self._push("final", StageKind.FINAL, "What the provider gets", messages)
        return tuple(self.stages)

    # ---- making messages and stages -----------------------------------------------------------------

    def _message(
        self,
        name: str,
        value: Mapping[str, Json],
        source: Source | None = None,
        sources: tuple[str, ...] | None = None,
        evidence: Evidence = Evidence.COMPUTED,
        shape: history.Shape | None = None,
    ) -> Message:
        shape = shape or history.shape_of(value)
        return Message(
            id=name,
            role=history.text_of(value.get("role")),
            content=value.get("content"),
            tokens=sum(self.counter.count(text) for text in shape.texts),
            sources=(name,) if sources is None else sources,
            size=shape.size,
            source=source,
            evidence=evidence,
        )

    def _push(self, name: str, kind: StageKind, title: str, messages: tuple[Message, ...]) -> None:
        here = {message.id for message in messages}
        self.stages.append(
            Stage(
                name=name,
                kind=kind,
                title=title,
                messages=messages,
                dropped=tuple(self._dropped),
                statuses=MappingProxyType({k: v for k, v in self._statuses.items() if k in here}),
                tokens=sum(message.tokens for message in messages),
                size=sum(message.size or 0 for message in messages),
                unit="tokens",
                measured_by="bytes/4",
            )
        )
        if kind is StageKind.STEP:
            self._all_statuses.update(self._statuses)
            self._all_dropped += self._dropped
        self._statuses, self._dropped = {}, []

    def _step(self, name: str, title: str, messages: tuple[Message, ...], run: _Run) -> tuple[Message, ...]:
        self._name = name
        changed = run(messages)
        self._push(name, StageKind.STEP, title, changed)
        return changed

    def _decide(
        self,
        action: Action,
        item: str,
        rule: Rule,
        because: str,
        before: int | None = None,
        after: int | None = None,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        self.trace.decide(
            action, item, rule, stage=self._name, because=because,
            before=before, after=after, measured=measured, limit=limit, unit=unit,
        )  # fmt: skip

    def _rewritten(self, message: Message, content: Json) -> Message:
        value = {"role": message.role, "content": content}
        made = self._message(message.id, value, message.source, message.sources, message.evidence)
        self._statuses[message.id] = MessageStatus.REWRITTEN
        return made

    # ---- the steps ----------------------------------------------------------------------------------

    def _initial(self, session: tuple[Message, ...]) -> tuple[Message, ...]:
        self._name = "initial"
        messages = [self._system()]
        for row, message in zip(self.request.rows, session, strict=True):
            if message.id in self.request.off:
                self._leave(
                    message, Action.DISABLE, SWITCHED_OFF, "Switched off here: not part of the history."
                )
            elif row.value.get("ephemeral") is True:
                self._leave(
                    message, Action.DROP, EPHEMERAL, "Marked as shown on screen only; it is never replayed."
                )
            elif message.id in self.request.texts:
                content = [{"type": "text", "text": self.request.texts[message.id]}]
                made = self._rewritten(message, content)
                because = "The text is edited here; the stored message is not."
                self._decide(Action.REWRITE, message.id, EDITED, because, message.tokens, made.tokens)
                messages.append(made)
            else:
                messages.append(message)
        if self.request.current is not None:
            item = self.request.current_id
            made = self._message(item, self.request.current, self.request.current_source)
            self._statuses[item] = MessageStatus.INSERTED
            because = "The new message follows the history."
            self._decide(Action.INSERT, item, CURRENT, because, 0, made.tokens)
            messages.append(made)
        listed = tuple(messages)
        self._push("initial", StageKind.INITIAL, "Handed to the loop", listed)
        return listed

    def _system(self) -> Message:
        text = wire(self.request.system)
        tokens = self.counter.count(text) if text else 0
        self._statuses["system"] = MessageStatus.INSERTED
        self._decide(Action.INSERT, "system", SYSTEM, "The assembled system prompt.", 0, tokens)
        size = estimate_bytes(len(self.request.system))
        return Message("system", "system", text, tokens, ("system",), size=size)

    def _leave(self, message: Message, action: Action, rule: Rule, because: str) -> None:
        self._dropped.append(message)
        self._decide(action, message.id, rule, because, message.tokens, 0)

    def _cut_results(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        if not self.request.cut_results:
            return messages
        names = {call: tool for row in self.request.rows for call, tool in row.shape.calls.items()}
        made = [self._cut_result(message, names) for message in messages]
        return tuple(made) if self._statuses else messages

    def _cut_result(self, message: Message, names: Mapping[Json, str]) -> Message:
        if not isinstance(message.content, list):
            return message
        content = list(message.content)
        reasons: list[tuple[history.CutResult, int, str]] = []
        for index, block in enumerate(content):
            result = block.get("tool_result") if isinstance(block, dict) else None
            if not isinstance(result, dict) or _ALREADY_CUT in history.text_of(result.get("content")):
                continue
            data = to_bytes(history.text_of(result.get("content")))
            call = result.get("use_id")
            tool = names.get(call, "") if isinstance(call, str) else ""
            cut = history.truncate_result(tool, data, self.request.tool_output_tokens)
            if cut.truncated:
                reasons.append((cut, len(data), tool or "a tool of unknown name"))
                content[index] = {**block, "tool_result": {**result, "content": wire(cut.output)}}
        if not reasons:
            return message
        made = self._rewritten(message, content)
        before = message.tokens
        for place, (cut, size, tool) in enumerate(reasons):
            after = made.tokens if place == len(reasons) - 1 else before
            because = (
                f"The result of {tool} has {size:,} bytes and its cap is {cut.cap:,}; {_kept_words(cut)}."
            )
            self._decide(
                Action.TRUNCATE, message.id, TOOL_RESULT, because, before, after, size, cut.cap, "bytes"
            )
            before = after
        return made

    def _notice(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        request = self.request
        if request.current is not None or not messages or messages[-1].role != "tool":
            return messages
        notice = history.context_notice(request.input_tokens, request.window)
        last = messages[-1]
        if not notice or not isinstance(last.content, list):
            return messages
        content = list(last.content)
        for index, block in enumerate(content):
            result = block.get("tool_result") if isinstance(block, dict) else None
            if isinstance(result, dict):
                text = wire(notice) + history.text_of(result.get("content"))
                content[index] = {**block, "tool_result": {**result, "content": text}}
                made = self._rewritten(last, content)
                because = (
                    f"{request.input_tokens:,} of {request.window:,} tokens are in use, 70 % or more; the "
                    "notice goes before the newest tool result."
                )
                self._decide(
                    Action.REWRITE, last.id, CONTEXT_NOTICE, because, last.tokens, made.tokens,
                    request.input_tokens, int(request.window * history.WARNING_SHARE), "tokens",
                )  # fmt: skip
                return (*messages[:-1], made)
        return messages

    def _attach(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        request = self.request
        if request.expanded is None or request.current is None or request.expanded == request.current:
            return messages
        current = messages[-1]
        made = self._rewritten(current, request.expanded.get("content"))
        because = "The files that the message names with @ stand in it."
        self._decide(Action.REWRITE, current.id, ATTACH_EXACT, because, current.tokens, made.tokens)
        return (*messages[:-1], made)

    def _compact_history(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        if self.request.current is None:
            return messages
        made = self._compacted(messages[:-1])
        return (*made, messages[-1]) if self._statuses else messages

    def _compact_all(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return self._compacted(messages)

    def _compacted(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """One check and, if it strikes, one compaction of everything after the system prompt."""
        request = self.request
        listed = messages[1:]
        # A new message resets what the provider reported, so only a run in progress goes by it.
        actual = request.input_tokens if request.current is None and not self._summaries else 0
        threshold = history.scaled_threshold(request.threshold, request.window)
        total = history.request_tokens(request.system, (message.size or 0 for message in listed), actual)
        if not request.compaction or not history.should_compact(total, request.window, threshold):
            return messages
        limit = int(request.window * threshold)
        measured = "reported" if actual else "estimated"
        why = (
            f"The request is {measured} at {total:,} tokens, over {threshold:.4g} of the window of "
            f"{request.window:,}"
        )
        if len(listed) <= history.PRESERVED or request.summary is None:
            end = (
                f"; only {len(listed)} messages, of which {history.PRESERVED} always stay."
                if len(listed) <= history.PRESERVED
                else "; the summary failed, so the messages stay."
            )
            self._decide(Action.NOTE, "system", COMPACT_NOT, why + end, None, None, total, limit, "tokens")
            return messages
        return self._summarized(messages, why, total, limit)

    def _summarized(
        self, messages: tuple[Message, ...], why: str, total: int, limit: int
    ) -> tuple[Message, ...]:
        older, kept = messages[1 : -history.PRESERVED], messages[-history.PRESERVED :]
        for message in older:
            text = history.flat_text(message.to_json())
            because = f"{why}. It is not one of the last {history.PRESERVED}; " + (
                f"{len(to_bytes(text)):,} bytes of its text go to the summarizer."
                if text
                else "nothing of it reaches the summary."
            )
            self._dropped.append(message)
            self._decide(Action.DROP, message.id, COMPACT, because, message.tokens, 0, total, limit, "tokens")
        self._summaries += 1
        name = f"summary:{self._summaries}"
        made = self._message(
            name,
            history.summary_message(self.request.summary or ""),
            sources=tuple(message.id for message in older),
            evidence=Evidence.UNKNOWN,
        )
        self._statuses[name] = MessageStatus.INSERTED
        because = f"Stands for {len(older)} messages; what a model would write is not known here."
        self._decide(Action.INSERT, name, COMPACT, because, 0, made.tokens)
        return (messages[0], made, *kept)

    def _wire(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        made = [self._without_thinking(message) for message in messages]
        return tuple(made) if self._statuses else messages

    def _without_thinking(self, message: Message) -> Message:
        if not isinstance(message.content, list):
            return message
        content = [b for b in message.content if not (isinstance(b, dict) and b.get("type") == "thinking")]
        if len(content) == len(message.content):
            return message
        made = self._rewritten(message, content)
        because = "Its thinking is stored for display and not sent back."
        self._decide(Action.REWRITE, message.id, WIRE_THINKING, because, message.tokens, made.tokens)
        return made


def _kept_words(cut: history.CutResult) -> str:
    sizes = [f"{end - start:,}" for start, end in cut.kept]
    return (
        f"the first {sizes[0]} are kept"
        if len(sizes) == 1
        else f"the first {sizes[0]} and the last {sizes[1]} are kept"
    )
