"""The requests of one turn: rows are appended after each answer, and every request is prepared anew.

``agent/runner.py::_run_core``. Only the last request becomes stages; those before it are run for
what they leave behind: compacted results (main) and the accepted history (0.3.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.archive import raw_archive, strip_think
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import SAFETY_BUFFER
from promptdbg.engines.nanobot.estimate import Estimate, truncate_to_tokens
from promptdbg.engines.nanobot.events import Event, Step, absorbed, compressed, difference, inserted
from promptdbg.engines.nanobot.governance import FITTING, normalized_row, steps
from promptdbg.engines.nanobot.governor import Governor
from promptdbg.engines.nanobot.merge import is_hidden, joined_content, with_runtime_context
from promptdbg.engines.nanobot.rows import Row, Rows, said

EVENTS_BEFORE = "earlier_requests"
"""The stage that stands for everything between the initial list and the shown request."""


@dataclass(frozen=True)
class TurnRow:
    """A row of the turn. ``fresh`` results are as the tool gave them, others as they were stored."""

    row: Row
    fresh: bool


@dataclass(frozen=True)
class NamedStep:
    name: str
    step: Step


@dataclass
class Request:
    """One request, from the rows it began with to the list that is sent."""

    before: Rows
    steps: list[NamedStep] = field(default_factory=list)
    pressure: Estimate | None = None
    summary: str | None = None
    summary_request: int | None = None
    """Messages of the summarising request; ``None`` where it was not sent."""
    compacted_before: tuple[str, ...] = ()
    failure: Crash | None = None

    @property
    def sent(self) -> Rows:
        return self.steps[-1].step.rows if self.steps else self.before


@dataclass(frozen=True)
class Compactor:
    """0.3.5: how accepted history is summarised.

    ``reply`` is the model's answer, ``None`` when it fails; ``rebuild`` makes the system row around
    a new summary. ``persistent`` is false for turns that are not kept: they are snipped instead.
    """

    persistent: bool
    window: int
    max_output: int
    session_key: str
    tokenizer: bool
    reply: str | None
    enabled: bool
    rebuild: Callable[[str], Row]
    active_summary: str | None


def append(governor: Governor, rows: Rows, added: TurnRow, *, keep_apart: bool) -> tuple[Rows, Event]:
    """One row joins the turn's list (section 10)."""
    row = added.row
    if row.role == "tool" and added.fresh:
        row, _events, files = normalized_row(row, governor.results, len(rows))
        governor.store(files)
    last = rows[-1] if rows else None
    if last is not None and not keep_apart and row.role == "user" and last.role == "user":
        hidden = governor.dialect.explicit_skills and (is_hidden(last.value) or is_hidden(row.value))
        if not hidden:
            value = (
                with_runtime_context(last, row)
                if governor.dialect.explicit_skills
                else {
                    **last.value,
                    "content": joined_content(last.content, row.content, keep_empty_right=True),
                }
            )
            after = last.replaced(value, (*last.sources, *row.sources))
            because = f"{row.id} arrived during the turn, right after {last.id}"
            return (*rows[:-1], after), absorbed(last, after, rules.TURN_MERGED, because)
    rule = rules.TURN_NORMALIZED if row is not added.row else rules.TURN_ROW
    because = (
        "the tool result was normalised as it was appended"
        if row is not added.row
        else "produced in this turn"
    )
    return (*rows, row), inserted(row, rule, because)


def run_requests(
    governor: Governor,
    initial: Rows,
    produced: tuple[TurnRow, ...],
    number: int,
    compactor: Compactor,
) -> tuple[Step, Request]:
    """The first ``number`` requests; the events before the last one, and the last one.

    An assistant row is the answer to a request, so the request after it sees it.
    """
    raw = initial
    events: list[Event] = []
    position = 0
    state = _Accepted(initial, len(initial) - 1, compactor.active_summary)
    for index in range(1, number):
        request = _request(governor, raw, compactor, state)
        if request.failure is not None:
            return Step(request.before, compressed(initial, request.before, tuple(events))), request
        if governor.dialect.compacts_requests and compactor.persistent:
            events.extend(_accepted_events(request))
            state.accept(request.sent, len(raw))
        stop = _next_answer(produced, position)
        for added in produced[position:stop]:
            raw, event = append(governor, raw, added, keep_apart=governor.dialect.compacts_requests)
            events.append(event)
        position = stop
        del index
    before = state.request(raw) if governor.dialect.compacts_requests and compactor.persistent else raw
    return Step(before, compressed(initial, before, tuple(events))), _request(governor, raw, compactor, state)


def _next_answer(produced: tuple[TurnRow, ...], position: int) -> int:
    """Where the rows between this answer and the next one end."""
    stop = position + 1
    while stop < len(produced) and produced[stop].row.role != "assistant":
        stop += 1
    return min(stop, len(produced))


@dataclass
class _Accepted:
    """0.3.5's split: what the provider has seen already, and where the rest begins in the raw list."""

    messages: Rows
    boundary: int
    summary: str | None
    first: bool = True

    def request(self, raw: Rows) -> Rows:
        return raw if self.first else (*self.messages, *raw[self.boundary :])

    def history(self, request: Rows) -> Rows:
        """The accepted part of a request; at the first one the system prompt and the history."""
        return request[: self.boundary] if self.first else self.messages

    def accept(self, sent: Rows, boundary: int) -> None:
        self.messages, self.boundary, self.first = sent, boundary, False


def _request(governor: Governor, raw: Rows, compactor: Compactor, state: _Accepted) -> Request:
    persistent = governor.dialect.compacts_requests and compactor.persistent
    before = state.request(raw) if persistent else raw
    request = Request(before, compacted_before=tuple(governor.compacted))
    rows = before
    for name, step in steps(governor.dialect):
        done = step(governor, rows)
        request.steps.append(NamedStep(name, done))
        rows = done.rows
    if not governor.dialect.compacts_requests or not compactor.window or not compactor.enabled:
        return request
    estimate = governor.measure(rows)
    if governor.budget > 0 and estimate.tokens < governor.budget:
        return request
    request.pressure = estimate
    try:
        if persistent:
            _compact_history(governor, request, compactor, state)
        else:
            for name, step in FITTING:
                request.steps.append(NamedStep(name, step(governor, request.sent)))
            _ensure_fits(governor, request, compactor)
    except Crash as crash:
        request.failure = crash.bare()
    return request


def _compact_history(governor: Governor, request: Request, compactor: Compactor, state: _Accepted) -> None:
    accepted = state.history(request.before)
    delta = request.before[len(accepted) :]
    prefix = _cleaned(governor, accepted)
    assert request.pressure is not None
    summary = _summarise(governor, prefix, compactor, state.summary, request)
    if summary is None:
        why = "there is no history that could be summarised"
        raise _exceeded(governor, request.pressure, compactor, "_compact_request_history", why)
    state.summary = request.summary = summary
    words = governor.prose.fixed("summary_continuation")
    continuation = governor.reuse(said, "continuation", "user", words)
    prepared = _cleaned(governor, (compactor.rebuild(summary), continuation, *delta))
    earlier = request.sent
    limit = f"the request is {request.pressure.tokens:,} tokens, at or over {governor.budget:,}"
    events = difference(
        earlier,
        prepared,
        drop=(rules.REQUEST_COMPACTED, lambda row: f"{limit}: everything already sent is summarised"),
        insert=(rules.REQUEST_COMPACTED, lambda row: "stands after the summary, in place of the history"),
        rewrite=(
            rules.REQUEST_COMPACTED,
            lambda row: "holds the new summary" if row.id == "system" else limit,
        ),
    )
    request.steps.append(NamedStep("compact_request_history", Step(prepared, events)))
    _ensure_fits(governor, request, compactor)


def _cleaned(governor: Governor, rows: Rows) -> Rows:
    for _name, step in steps(governor.dialect):
        rows = step(governor, rows).rows
    return rows


def _summarise(
    governor: Governor, prefix: Rows, compactor: Compactor, previous: str | None, request: Request
) -> str | None:
    """The text that replaces the history (``memory.py::Consolidator.summarize_transcript``)."""
    source = tuple(row for row in prefix if row.role != "system")
    if not source:
        return None
    max_output = max(0, compactor.max_output)
    room = compactor.window - max_output
    excerpt = max(1, min(max_output, max(1, (room - SAFETY_BUFFER) // 2)))
    asked = governor.reuse(said, "archive", "user", governor.prose.archive_request(len(source)))
    fits = room > 0 and governor.measure((*prefix, asked)).tokens <= room
    summary = ""
    if fits:
        request.summary_request = len(prefix) + 1
        summary = strip_think((compactor.reply or "").rstrip(), governor.dialect)
    if not summary:
        raw = governor.reuse(raw_archive, source, governor.dialect)
        summary = _excerpt(governor, raw, previous, excerpt, compactor.tokenizer)
    return truncate_to_tokens(summary, max(1, max_output), governor.dialect, compactor.tokenizer)


def _excerpt(governor: Governor, raw: str, previous: str | None, limit: int, tokenizer: bool) -> str:
    """A bounded raw text in the summary's place (``MemoryArchiver._combine_raw_checkpoint``)."""

    def cut(text: str, tokens: int) -> str:
        return truncate_to_tokens(text, tokens, governor.dialect, tokenizer)

    if not previous:
        return cut(raw, limit)
    older, newer = "[Previous archived context]\n", "[Newly archived raw context]\n"
    whole = f"{older}{previous}\n\n{newer}{raw}"
    if cut(whole, limit) == whole:
        return whole
    half = max(1, (limit - 32) // 2)
    return cut(f"{older}{cut(previous, half)}\n\n{newer}{cut(raw, half)}", limit)


def _ensure_fits(governor: Governor, request: Request, compactor: Compactor) -> None:
    estimate = governor.measure(request.sent)
    if governor.budget > 0 and estimate.tokens <= governor.budget:
        return
    why = "the request is still too large after it was fitted"
    raise _exceeded(governor, estimate, compactor, "ensure_request_fits", why)


def _exceeded(governor: Governor, estimate: Estimate, compactor: Compactor, function: str, why: str) -> Crash:
    return Crash(
        "ContextWindowExceededError",
        f"{compactor.session_key}: {estimate.tokens}/{governor.budget} via {estimate.source}",
        f"agent/context_governance.py::{function}",
        f"The turn fails: {why} ({estimate.tokens:,} tokens, {governor.budget:,} fit).",
    )


def _accepted_events(request: Request) -> list[Event]:
    """What an earlier request did to the list that stays accepted afterwards."""
    return [event for named in request.steps for event in named.step.events]
