"""Writing down a pipeline: every list becomes a stage, every event a decision."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from promptdbg.engines.base import Trace
from promptdbg.engines.nanobot.estimate import Estimate, Estimator, ToolSet
from promptdbg.engines.nanobot.events import Event, Step
from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.model import Action, Message, MessageStatus, Stage, StageKind
from promptdbg.tokens import TokenCounter

_CHANGES = {
    Action.INSERT: MessageStatus.INSERTED,
    Action.MERGE: MessageStatus.MERGED,
    Action.REWRITE: MessageStatus.REWRITTEN,
    Action.TRUNCATE: MessageStatus.REWRITTEN,
    Action.REPAIR: MessageStatus.REWRITTEN,
}
_STRENGTH = (MessageStatus.KEPT, MessageStatus.REWRITTEN, MessageStatus.MERGED, MessageStatus.INSERTED)


class Recorder:
    """Collects stages and decisions. ``rows`` is the list as the last stage left it."""

    def __init__(self, counter: TokenCounter, estimator: Estimator, tools: ToolSet, trace: Trace) -> None:
        self.counter = counter
        self.estimator = estimator
        self.tools = tools
        self.trace = trace
        self.stages: list[Stage] = []
        self.rows: Rows = ()
        self._messages: tuple[Message, ...] = ()
        self._estimate: Estimate | None = None
        self._since_initial: dict[str, MessageStatus] = {}
        self._gone: dict[str, Message] = {}

    def start(self, name: str, title: str, rows: Rows) -> None:
        """The first stage: the stored rows."""
        self.rows = rows
        self._messages = self._shown(rows)
        self._add(StageKind.SESSION, name, title, {}, ())

    def step(
        self, name: str, title: str, step: Step, *, kind: StageKind = StageKind.STEP, measured: bool = False
    ) -> Estimate | None:
        """The next stage, from what a step did to the rows of the one before.

        Args:
            measured: give the framework's estimate of the whole request; it is returned.
        """
        if step.rows is self.rows and not step.events and kind is StageKind.STEP:
            return self._unchanged(name, title, measured)
        before = {message.id: message for message in self._messages}
        if step.rows is not self.rows:
            self.rows = step.rows
            self._messages = self._shown(step.rows)
            self._estimate = None
        now = {message.id: message for message in self._messages}
        statuses = self._statuses(step.events, before, now)
        dropped = self._dropped(before, now, statuses)
        self._decide(name, step.events, before.keys() | now.keys())
        if kind is StageKind.INITIAL:
            self._since_initial, self._gone = {}, {}
        else:
            self._accumulate(statuses, dropped)
        estimate = self._measured() if measured else None
        self._add(kind, name, title, statuses, dropped, estimate)
        return estimate

    def _unchanged(self, name: str, title: str, measured: bool) -> Estimate | None:
        estimate = self._measured() if measured else None
        self._add(StageKind.STEP, name, title, {}, (), estimate)
        return estimate

    def _measured(self) -> Estimate:
        if self._estimate is None:
            self._estimate = self.estimator.prompt(self.rows, self.tools)
        return self._estimate

    def finish(self, title: str) -> None:
        """The final stage: the last list, with everything since the initial one."""
        present = {message.id for message in self._messages}
        statuses = {item: status for item, status in self._since_initial.items() if item in present}
        dropped = tuple(message for item, message in self._gone.items() if item not in present)
        last = self.stages[-1]
        self.stages.append(
            Stage(
                name="final",
                kind=StageKind.FINAL,
                title=title,
                messages=last.messages,
                dropped=dropped,
                statuses=MappingProxyType(statuses),
                tokens=last.tokens,
                size=last.size,
                unit=last.unit,
                measured_by=last.measured_by,
            )
        )

    def _shown(self, rows: Rows) -> tuple[Message, ...]:
        return tuple(row.message(self.counter, self.estimator.message(row)) for row in rows)

    def _statuses(
        self, events: tuple[Event, ...], before: Mapping[str, Message], now: Mapping[str, Message]
    ) -> dict[str, MessageStatus]:
        statuses: dict[str, MessageStatus] = {}
        for event in events:
            status = _CHANGES.get(event.action)
            if status is None or event.item not in now:
                continue
            if event.item not in before:
                status = MessageStatus.INSERTED
            known = statuses.get(event.item, MessageStatus.KEPT)
            statuses[event.item] = max(known, status, key=_STRENGTH.index)
        # Two empty messages joined, or a text edited to itself: something was done, nothing changed.
        return {
            item: status
            for item, status in statuses.items()
            if item not in before or before[item].to_json() != now[item].to_json()
        }

    def _dropped(
        self, before: Mapping[str, Message], now: Mapping[str, Message], statuses: Mapping[str, MessageStatus]
    ) -> tuple[Message, ...]:
        if before.keys() <= now.keys():
            return ()
        joined = {
            source
            for message in self._messages
            if statuses.get(message.id) is MessageStatus.MERGED
            for source in message.sources
        }
        return tuple(message for item, message in before.items() if item not in now and item not in joined)

    def _decide(self, stage: str, events: tuple[Event, ...], known: set[str]) -> None:
        for event in events:
            if event.item not in known:
                continue  # it came and went within this one stage, so no list ever showed it
            counted = event.action not in (Action.NOTE, Action.PREDICT)
            self.trace.decide(
                event.action,
                event.item,
                event.rule,
                stage=stage,
                because=event.because,
                before=self._tokens(event.before) if counted else None,
                after=self._tokens((event.after,) if event.after else ()) if counted else None,
                measured=event.measured,
                limit=event.limit,
                unit=event.unit,
            )

    def _tokens(self, rows: tuple[Row, ...]) -> int:
        return sum(row.tokens(self.counter) for row in rows)

    def _accumulate(self, statuses: Mapping[str, MessageStatus], dropped: tuple[Message, ...]) -> None:
        for item, status in statuses.items():
            known = self._since_initial.get(item, MessageStatus.KEPT)
            self._since_initial[item] = max(known, status, key=_STRENGTH.index)
        for message in dropped:
            self._gone.setdefault(message.id, message)

    def _add(
        self,
        kind: StageKind,
        name: str,
        title: str,
        statuses: Mapping[str, MessageStatus],
        dropped: tuple[Message, ...],
        estimate: Estimate | None = None,
    ) -> None:
        last = self.stages[-1] if self.stages else None
        same = last is not None and last.messages is self._messages
        assert last is not None or not same
        self.stages.append(
            Stage(
                name=name,
                kind=kind,
                title=title,
                messages=self._messages,
                dropped=dropped,
                statuses=MappingProxyType(dict(statuses)),
                tokens=last.tokens if same and last else sum(message.tokens for message in self._messages),
                size=estimate.tokens if estimate else None,
                unit="tokens" if estimate else None,
                measured_by=estimate.source if estimate else "",
            )
        )
