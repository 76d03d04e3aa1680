"""Writing down a pipeline: every list becomes a stage, every event a decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from promptdbg.engines.base import Trace
from promptdbg.engines.nanobot.estimate import Estimate, Estimator, ToolSet
from promptdbg.engines.nanobot.events import Event, Step
from promptdbg.engines.nanobot.rows import Rows
from promptdbg.engines.reuse import Reuse
from promptdbg.model import Action, Decision, Message, MessageStatus, Stage, StageKind
from promptdbg.tokens import TokenCounter

_CHANGES = {
    Action.INSERT: MessageStatus.INSERTED,
    Action.MERGE: MessageStatus.MERGED,
    Action.REWRITE: MessageStatus.REWRITTEN,
    Action.TRUNCATE: MessageStatus.REWRITTEN,
    Action.REPAIR: MessageStatus.REWRITTEN,
}
_STRENGTH = (MessageStatus.KEPT, MessageStatus.REWRITTEN, MessageStatus.MERGED, MessageStatus.INSERTED)


@dataclass(frozen=True, eq=False, slots=True)
class Listed:
    """A list of rows as messages; ``tokens`` is their sum."""

    messages: tuple[Message, ...]
    by_id: Mapping[str, Message]
    tokens: int


def listed(rows: Rows, counter: TokenCounter, estimator: Estimator) -> Listed:
    """The rows as they are shown, with both counts."""
    messages = tuple(row.message(counter, estimator.message(row)) for row in rows)
    by_id = {message.id: message for message in messages}
    return Listed(messages, by_id, sum(message.tokens for message in messages))


_NOTHING = Listed((), {}, 0)


class Recorder:
    """Collects stages and decisions. ``rows`` is the list as the last stage left it."""

    def __init__(
        self, counter: TokenCounter, estimator: Estimator, tools: ToolSet, trace: Trace, reuse: Reuse
    ) -> None:
        self.counter = counter
        self.estimator = estimator
        self.tools = tools
        self.trace = trace
        self.reuse = reuse
        self.stages: list[Stage] = []
        self.rows: Rows = ()
        self._list = _NOTHING
        self._since_initial: dict[str, MessageStatus] = {}
        self._gone: dict[str, Message] = {}

    def start(self, name: str, title: str, rows: Rows) -> None:
        """The first stage: the stored rows."""
        self._take(rows)
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
        before = self._list
        self._take(step.rows)
        statuses, dropped = self.reuse(done, step.events, before, self._list)
        number = self.trace.number
        self.trace.add(self.reuse(decisions, step.events, before, self._list, name, self.counter, number))
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

    def _take(self, rows: Rows) -> None:
        self.rows = rows
        self._list = self.reuse(listed, rows, self.counter, self.estimator)

    def _measured(self) -> Estimate:
        return self.reuse(self.estimator.prompt, self.rows, self.tools)

    def finish(self, title: str) -> None:
        """The final stage: the last list, with everything since the initial one."""
        present = self._list.by_id
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
        statuses: dict[str, MessageStatus],
        dropped: tuple[Message, ...],
        estimate: Estimate | None = None,
    ) -> None:
        self.stages.append(
            Stage(
                name=name,
                kind=kind,
                title=title,
                messages=self._list.messages,
                dropped=dropped,
                statuses=MappingProxyType(statuses),
                tokens=self._list.tokens,
                size=estimate.tokens if estimate else None,
                unit="tokens" if estimate else None,
                measured_by=estimate.source if estimate else "",
            )
        )


def done(
    events: tuple[Event, ...], before: Listed, now: Listed
) -> tuple[dict[str, MessageStatus], tuple[Message, ...]]:
    """What became of the messages between two lists: a status each, and those that left."""
    statuses = _statuses(events, before.by_id, now.by_id)
    return statuses, _dropped(before, now, statuses)


def _statuses(
    events: tuple[Event, ...], before: Mapping[str, Message], now: Mapping[str, Message]
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


def _dropped(before: Listed, now: Listed, statuses: Mapping[str, MessageStatus]) -> tuple[Message, ...]:
    if before.by_id.keys() <= now.by_id.keys():
        return ()
    joined = {
        source
        for item, status in statuses.items()
        if status is MessageStatus.MERGED
        for source in now.by_id[item].sources
    }
    gone = before.by_id.keys() - now.by_id.keys() - joined
    return tuple(message for item, message in before.by_id.items() if item in gone)


def decisions(
    events: tuple[Event, ...], before: Listed, now: Listed, stage: str, counter: TokenCounter, number: int
) -> tuple[Decision, ...]:
    """A decision for each event, numbered from ``number``."""
    made: list[Decision] = []
    for event in events:
        item, action = event.item, event.action
        if item not in before.by_id and item not in now.by_id:
            continue  # it came and went within this one stage, so no list ever showed it
        old = new = None
        if action is not Action.NOTE and action is not Action.PREDICT:
            old = sum([row.tokens(counter) for row in event.before])
            new = event.after.tokens(counter) if event.after is not None else 0
        because, measured, limit = event.because, event.measured, event.limit
        made.append(
            Decision(
                f"d{number + len(made)}",
                stage,
                event.rule.id,
                action,
                item,
                because,
                old,
                new,
                measured,
                limit,
                event.unit,
            )
        )
    return tuple(made)
