"""The token budget: when history and retrieved context are reduced, and how far.

``PromptEngine.ts::applyTokenBudget`` and ``truncateMessages``, in both versions. Shares are doubles;
targets may be negative, infinite or NaN as in JavaScript.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.components import (
    ASSISTANT_ROLE,
    TOOL_ROLE,
    Document,
    HistoryItem,
    history_item,
)
from promptdbg.engines.agentos.estimate import Meter, Totals
from promptdbg.engines.agentos.log import HISTORY, Log
from promptdbg.model import Action, Json

HISTORY_SHARE = 0.35
RETRIEVED_SHARE = 0.20

HISTORY_COMPONENT = "conversationHistory"
RETRIEVED_COMPONENT = "retrievedContext"


class Summarizer(Protocol):
    """What the framework calls its utility AI. Any exception counts as a failure."""

    def summarize_conversation_history(
        self, messages: Sequence[Json], target: float, model: Json, preserve_important: Json
    ) -> tuple[Sequence[Json], float]:
        """Messages to stand in the place of ``messages``, and their tokens by its own count."""

    def summarize_rag_context(
        self, context: Json, target: float, model: Json, preserve_sources: Json
    ) -> tuple[str, float]:
        """A text to stand in the place of the retrieved context, and its tokens."""


@dataclass(frozen=True, slots=True)
class Issue:
    """What the engine reports beside the prompt; ``tokens`` and ``budget`` where it names them."""

    type: str
    code: str
    message: str
    tokens: float | None = None
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class HistoryNumbers:
    """The numbers of the newer history step, for the whole prompt at its start."""

    history_tokens: float
    turn_count: int
    turn_tokens: float
    earlier_tokens: float
    earlier_target: float
    min_earlier_kept: int


@dataclass(frozen=True, slots=True)
class Setup:
    """What both steps need: the model's budget, how to estimate, and the summarizer, if any."""

    version: str
    model: Json
    config: Mapping[str, Json]
    budget: float
    meter: Meter
    summarizer: Summarizer | None = None
    keep_tool_rounds: bool = False

    @property
    def history_share(self) -> float:
        return HISTORY_SHARE * self.budget

    @property
    def retrieved_share(self) -> float:
        return RETRIEVED_SHARE * self.budget


@dataclass
class Outcome:
    """What the budget made of the components. ``totals`` follow the framework's own book-keeping."""

    totals: Totals
    history: tuple[HistoryItem, ...] | None
    retrieved: Any
    documents: tuple[Document, ...]
    user_input: Any
    original: float = 0
    truncated: list[str] = field(default_factory=list)
    summarized: list[str] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    numbers: HistoryNumbers | None = None
    modified: bool = False
    summary: tuple[HistoryItem, ...] = ()
    retrieved_summary: bool = False
    after_history: float = 0
    """The total between the two steps."""

    def mark_truncated(self, component: str) -> None:
        self.truncated.append(component)
        self.modified = True

    def mark_summarized(self, component: str) -> None:
        self.summarized.append(component)
        self.modified = True


def budget_of(model: Json) -> float:
    """``optimalContextTokens``, or ``maxContextTokens`` when that is zero or missing."""
    optimal = js.get(model, "optimalContextTokens")
    return js.to_number(optimal if js.truthy(optimal) else js.get(model, "maxContextTokens"))


def history_step(outcome: Outcome, setup: Setup, turn_count: Any, log: Log) -> None:
    """Reduce the history when it, or the whole prompt, is too long."""
    history = outcome.history
    if not history:
        return
    tokens, total = outcome.totals.history, outcome.totals.total
    if not (tokens > setup.history_share or total > setup.budget):
        return
    _note_step(history[-1], tokens, total, setup, log)
    if setup.version == rules.NEWER:
        _reduce_newer(history, outcome, setup, turn_count, log)
    else:
        _reduce_published(history, outcome, setup, log)


def _note_step(last: HistoryItem, tokens: float, total: float, setup: Setup, log: Log) -> None:
    over_share = tokens > setup.history_share
    measured, limit = (tokens, setup.history_share) if over_share else (total, setup.budget)
    what = "The history is over its share" if over_share else "The whole prompt is over the budget"
    log.add(
        HISTORY,
        Action.NOTE,
        last.item,
        rules.HISTORY_STEP,
        f"{what}, {measured:,.6g} tokens of {limit:,.6g}, so the history step runs.",
        measured=measured,
        limit=limit,
        unit="tokens",
    )


def _wants_summary(outcome: Outcome, setup: Setup) -> bool:
    if setup.summarizer is None:
        return False
    ratio = js.get(js.get(setup.config, "historyManagement"), "summarizationTriggerRatio")
    trigger = js.to_number(ratio)
    return trigger > 0 and js.divide(outcome.totals.history, setup.history_share) > trigger


def _summarize(
    messages: tuple[HistoryItem, ...], target: float, outcome: Outcome, setup: Setup, log: Log
) -> tuple[tuple[HistoryItem, ...], float] | None:
    """The summary messages and the tokens the summarizer names; ``None`` when it failed."""
    assert setup.summarizer is not None
    preserve = js.get(js.get(setup.config, "historyManagement"), "preserveImportantMessages")
    try:
        found, tokens = setup.summarizer.summarize_conversation_history(
            [message.raw for message in messages], target, setup.model, preserve
        )
        summary = tuple(history_item(f"summary/{n}", js.plain(raw)) for n, raw in enumerate(found))
    except Exception as error:  # the framework catches whatever its summarizer throws
        code = "HISTORY_SUMMARIZATION_FAILED"
        outcome.issues.append(Issue("warning", code, f"summarizing the history failed: {error}"))
        because = f"The summarizer failed ({error}), so the history is cut instead."
        log.add(HISTORY, Action.NOTE, messages[-1].item, rules.HISTORY_SUMMARY_FAILED, because)
        return None
    outcome.mark_summarized(HISTORY_COMPONENT)
    outcome.summary = summary
    measured, limit = outcome.totals.history, setup.history_share
    for message in messages:
        log.add(
            HISTORY,
            Action.DROP,
            message.item,
            rules.HISTORY_SUMMARIZE,
            f"Replaced by the summary: the history of {measured:,.0f} tokens has a share of {limit:,.6g}.",
            measured=measured,
            limit=limit,
            unit="tokens",
        )
    for message in summary:
        because = f"Stands for {len(messages)} messages; the summarizer was asked for {target:,.6g} tokens."
        log.add(HISTORY, Action.INSERT, message.item, rules.HISTORY_SUMMARIZE, because)
    return summary, tokens


def _reduce_published(history: tuple[HistoryItem, ...], outcome: Outcome, setup: Setup, log: Log) -> None:
    share, over = setup.history_share, outcome.totals.total - setup.budget
    failed = False
    if _wants_summary(outcome, setup):
        done = _summarize(history, share - over if over > 0 else share, outcome, setup, log)
        if done is not None:
            outcome.history = done[0]
            outcome.totals = replace(outcome.totals, history=done[1])
            return
        failed = True
    kept = _truncate(history, share, 1, setup, log, leading_tools=False)
    if failed or len(kept) < len(history):
        outcome.mark_truncated(HISTORY_COMPONENT)
    outcome.history = kept
    outcome.totals = replace(outcome.totals, history=setup.meter.messages(kept))


def _reduce_newer(
    history: tuple[HistoryItem, ...], outcome: Outcome, setup: Setup, turn_count: Any, log: Log
) -> None:
    boundary = len(history) - turn_length(turn_count, len(history))
    if setup.keep_tool_rounds:
        boundary = _round_start(history, boundary, log)
    earlier, turn = history[:boundary], history[boundary:]
    numbers = _numbers(turn, outcome, setup)
    outcome.numbers = numbers
    for message in turn:
        because = f"Belongs to the current turn of {len(turn)} messages, which is never reduced."
        log.add(HISTORY, Action.KEEP, message.item, rules.HISTORY_TURN, because)
    reduced = earlier
    if earlier and numbers.earlier_target <= 0 and not numbers.min_earlier_kept:
        reduced = ()
        outcome.mark_truncated(HISTORY_COMPONENT)
        _drop_all(earlier, numbers, log)
    elif earlier:
        reduced = _reduce_earlier(earlier, numbers, outcome, setup, log)
    outcome.history = reduced + turn
    left = outcome.totals.history - numbers.earlier_tokens + setup.meter.messages(reduced)
    outcome.totals = replace(outcome.totals, history=left)


def turn_length(count: Any, history: int) -> int:
    """How many messages at the end are the current turn: floored, between none and all.

    A count that is no number makes all of them the turn, because that is how ``slice`` takes NaN.
    """
    number = js.floor(js.to_number(0 if js.nullish(count) else count))
    return history if number != number else int(js.smallest(js.largest(0, number), history))


def _round_start(history: tuple[HistoryItem, ...], boundary: int, log: Log) -> int:
    """The boundary moved back to the call that the first message of the turn answers."""
    while boundary < len(history) and history[boundary].role == TOOL_ROLE:
        wanted = js.get(history[boundary].raw, "tool_call_id")
        found = next((row for row in range(boundary - 1, -1, -1) if _makes_call(history[row], wanted)), None)
        if found is None:
            break
        because = "Its call is kept with the result that opens the current turn, as documented."
        log.add(HISTORY, Action.NOTE, history[found].item, rules.HISTORY_TOOL_ROUND, because)
        boundary = found
    return boundary


def _makes_call(message: HistoryItem, wanted: Any) -> bool:
    calls = js.get(message.raw, "tool_calls")
    return (
        message.role == ASSISTANT_ROLE
        and isinstance(calls, list)
        and any(isinstance(call, dict) and call.get("id") == wanted for call in calls)
    )


def _numbers(turn: tuple[HistoryItem, ...], outcome: Outcome, setup: Setup) -> HistoryNumbers:
    history, total = outcome.totals.history, outcome.totals.total
    turn_tokens = setup.meter.messages(turn)
    earlier_tokens = history - turn_tokens
    share_left = js.largest(0, setup.history_share - turn_tokens)
    target = js.largest(0, js.smallest(share_left, setup.budget - (total - earlier_tokens)))
    minimum = 0 if turn or js.truthy(outcome.user_input) else 1
    return HistoryNumbers(history, len(turn), turn_tokens, earlier_tokens, target, minimum)


def _drop_all(earlier: tuple[HistoryItem, ...], numbers: HistoryNumbers, log: Log) -> None:
    for message in earlier:
        log.add(
            HISTORY,
            Action.DROP,
            message.item,
            rules.HISTORY_TURN_FILLS,
            "Nothing is left for messages before the current turn, and the request is there without them.",
            measured=numbers.earlier_tokens,
            limit=numbers.earlier_target,
            unit="tokens",
        )


def _reduce_earlier(
    earlier: tuple[HistoryItem, ...], numbers: HistoryNumbers, outcome: Outcome, setup: Setup, log: Log
) -> tuple[HistoryItem, ...]:
    failed = False
    if _wants_summary(outcome, setup):
        done = _summarize(earlier, numbers.earlier_target, outcome, setup, log)
        if done is not None:
            return done[0]
        failed = True
    kept = _truncate(
        earlier, numbers.earlier_target, numbers.min_earlier_kept, setup, log, leading_tools=True
    )
    if failed or len(kept) < len(earlier):
        outcome.mark_truncated(HISTORY_COMPONENT)
    return kept


def _truncate(
    messages: tuple[HistoryItem, ...],
    target: float,
    minimum: int,
    setup: Setup,
    log: Log,
    *,
    leading_tools: bool,
) -> tuple[HistoryItem, ...]:
    """Drop the oldest until the rough estimate fits; then leading tool results, where they go."""
    meter = setup.meter
    rough = sum(map(meter.rough, messages))
    first, last = 0, len(messages) - minimum
    while rough > target and first < last:
        log.add(
            HISTORY,
            Action.DROP,
            messages[first].item,
            rules.HISTORY_TRUNCATE,
            f"The oldest left while the rough estimate of {rough:,.6g} is over the target of {target:,.6g}.",
            measured=rough,
            limit=target,
            unit="tokens",
        )
        rough -= meter.rough(messages[first])
        first += 1
    if not first and messages:
        because = (
            f"No message goes for its size: the rough estimate of {rough:,.6g} is not over {target:,.6g}."
        )
        if not rough > target:
            log.add(HISTORY, Action.NOTE, messages[-1].item, rules.HISTORY_TRUNCATE, because)
    if rough > target and messages[first:]:
        because = f"Kept though {rough:,.6g} is over the target of {target:,.6g}: the last one always stays."
        log.add(HISTORY, Action.KEEP, messages[first].item, rules.HISTORY_MINIMUM, because)
    while leading_tools and first < last and messages[first].role == TOOL_ROLE:
        because = "A tool result left first, whose call has gone."
        log.add(HISTORY, Action.DROP, messages[first].item, rules.HISTORY_LEADING_TOOL, because)
        first += 1
    return messages[first:]
