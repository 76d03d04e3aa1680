"""What a user of nanobot would not expect, found in one turn (spec section 15)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import TRUNCATED
from promptdbg.engines.nanobot.rows import Rows
from promptdbg.engines.nanobot.state import Turn
from promptdbg.engines.nanobot.tools import unknown_tools
from promptdbg.model import Notice, Source

_TINY_LIMIT = 1_300


def surprises(turn: Turn) -> Iterator[Notice]:
    """One notice for each surprise that applies."""
    yield from _wiped_history(turn)
    yield from _estimator(turn)
    yield from _consolidation(turn)
    yield from _budget(turn)
    if turn.crash is None:
        yield from turn.inputs.reuse(_neighbours, turn.recorder.rows)
    yield from _prompt(turn)
    yield from _session(turn)
    yield from _unknowns(turn)


def _wiped_history(turn: Turn) -> Iterator[Notice]:
    """One stray tool result erases what stands before it."""
    lost = [
        event for event in (turn.history.events if turn.history else ()) if event.rule is rules.HISTORY_LEGAL
    ]
    if len(lost) < 2:
        return
    stray = lost[-1]
    row = stray.before[0]
    message = (
        f"{row.id} answers a call that no row before it declares; nanobot therefore dropped it and the "
        f"{len(lost) - 1} rows before it from the history"
    )
    yield Notice("history.wiped", message, row.source)


def _estimator(turn: Turn) -> Iterator[Notice]:
    estimate = turn.initial_estimate
    if not turn.options.tokenizer:
        what = (
            "counts bytes, about five times the tokens"
            if turn.options.dialect.prompt_fallback
            else "counts nothing"
        )
        yield Notice("estimate.no-tokenizer", f"without its tokenizer nanobot {what}")
    elif estimate is not None and estimate.special is not None:
        holder = next((row for row in turn.initial if estimate.special in row.payload), None)
        where = f" in {holder.id}" if holder else " in the tool schemas"
        if turn.options.dialect.prompt_fallback:
            what = "measures this whole request in bytes instead of tokens, about five times as much"
        else:
            what = "takes the estimate for 0, so nothing is ever cut"
        message = f"the text {estimate.special}{where} is a special token: nanobot {what}"
        yield Notice("estimate.special-token", message, holder.source if holder else None)


def _consolidation(turn: Turn) -> Iterator[Notice]:
    result = turn.consolidated
    if result is None or not turn.options.dialect.consolidates:
        return
    compared = f"{result.probe.tokens:,} tokens against a budget of {result.budget:,}"
    if result.wanted and not result.rounds:
        end = f" up to row {result.first_boundary[0]}" if result.first_boundary else ""
        message = (
            f"nanobot would now ask the model to archive old rows{end} ({compared}); what follows shows the "
            "turn without that. Set the knob consolidation to succeeds or fails to see it"
        )
        yield Notice("consolidation.predicted", message)
    elif result.rounds:
        message = (
            f"{result.last_after - result.last_before} rows were archived for this turn ({compared}); the "
            "new summary reaches this turn through Recent History, and its own section from the next one"
        )
        yield Notice("consolidation.assumed", message)
        if len(result.calls) < len(result.rounds):
            message = (
                "nanobot does not even ask the model for a summary: the rows to archive do not fit its "
                "budget whole, so they go to memory/history.jsonl as raw text"
            )
            yield Notice("consolidation.not-asked", message)


def _budget(turn: Turn) -> Iterator[Notice]:
    request, governor = turn.request, turn.governor
    if request is None or governor is None or turn.crash is not None:
        return
    if request.pressure is not None and request.summary is not None:
        message = (
            f"the request was {request.pressure.tokens:,} tokens, {governor.budget:,} or less fit: "
            "nanobot replaces everything already sent by a summary; its text is assumed here"
        )
        yield Notice("compaction.assumed", message)
    if governor.budget > 0:
        size = turn.recorder.stages[-1].size or 0
        if size > governor.budget:
            fits = f"over its own budget of {governor.budget:,}"
            message = f"what is sent is {size:,} tokens by nanobot's estimate, {fits}"
            yield Notice("budget.exceeded", message)
    if 0 < turn.options.result_cap < _TINY_LIMIT and governor.files:
        message = (
            f"a tool result limit of {turn.options.result_cap:,} characters is smaller than nanobot's own "
            "reference to a stored result: references are cut, or wrapped in a second one at the next request"
        )
        if not turn.options.dialect.keeps_reference:
            yield Notice("results.tiny-limit", message)


def _neighbours(rows: Rows) -> tuple[Notice, ...]:
    """Two user rows in a row: harmless as texts, a loss where one has blocks."""
    found: list[Notice] = []
    for left, right in pairwise(rows):
        blocks = isinstance(left.content, list) or isinstance(right.content, list)
        if left.role == right.role == "user" and blocks:
            message = (
                f"{left.id} and {right.id} are user messages in a row, one has blocks: nanobot's class for "
                f"OpenAI-compatible providers sends only {right.id} and loses {left.id}"
            )
            found.append(Notice("adapter.replaced", message, left.source))
    return tuple(found)


def _prompt(turn: Turn) -> Iterator[Notice]:
    for draft in turn.prompt.drafts if turn.prompt else ():
        if draft.id == "recent_history" and draft.output.endswith(TRUNCATED):
            message = "Recent History is over 8,000 tokens: the newest entries are cut, the oldest stay"
            yield Notice("recent.wrong-end", message, draft.source)
        if draft.id == "memory" and draft.output and not draft.text.strip():
            message = "only white space, and that is enough for a Memory section"
            yield Notice("memory.blank", message, draft.source)


def _session(turn: Turn) -> Iterator[Notice]:
    stored = turn.inputs.stored
    if stored is not None and not stored.ref.readable:
        yield Notice(
            "session.not-read",
            f"nanobot would not read this session: {stored.ref.reason}",
            Source(stored.ref.path),
        )
    if turn.loaded.provider_state:
        message = (
            "the session holds a provider's own conversation state: a Responses-style provider gets that and "
            "the new rows instead of this list"
        )
        yield Notice("session.provider-state", message)
    usage = turn.loaded.metadata.get("_last_usage")
    if isinstance(usage, dict) and turn.settings.turn is None and turn.initial_estimate is not None:
        real = usage.get("context_tokens") or usage.get("prompt_tokens")
        if isinstance(real, int) and not isinstance(real, bool) and real > 0:
            estimate = turn.initial_estimate.tokens
            message = (
                f"the provider counted {real:,} tokens for the last request of the turn before; nanobot's "
                f"estimate of the next is {estimate:,} ({estimate - real:+,}), before its steps shorten it"
            )
            yield Notice("usage.recorded", message)
    goal = turn.loaded.metadata.get("goal_state") or turn.loaded.metadata.get("thread_goal")
    if goal:
        yield Notice(
            "goal.not-shown", "the session has a goal; the runtime context it adds is not reproduced"
        )


def _unknowns(turn: Turn) -> Iterator[Notice]:
    if not turn.tools.known:
        message = f"{unknown_tools(turn.options.dialect)}. Put them in tools.json to count them"
        yield Notice("tools.unknown", message)
    known = turn.requests
    if turn.options.request > known:
        message = f"only {known} request(s) of this turn are known; the last one is shown"
        yield Notice("turn.requests", message)
