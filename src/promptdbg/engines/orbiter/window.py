"""The agent's window over its messages: offload, summary, last rounds; truncate in generation B.

Read from ``core/agent.py::_apply_context_windowing`` (A), ``core/_internal/context_helpers.py`` (B)
and ``memory/summary.py``. One pass, as functions over messages; each records its decisions and adds
the stage it made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from promptdbg.engines.base import Trace
from promptdbg.engines.orbiter import rules
from promptdbg.engines.orbiter.config import AnyConfig, LimitConfig, Overflow
from promptdbg.engines.stages import Stages
from promptdbg.model import Action, Evidence, Message, MessageStatus, Rule

Summarizer = Callable[[str], str]
"""Answers the text of the old messages with a summary; what it raises counts as an empty answer."""

TOKENS_MAX = 4000
"""Estimated tokens above which a summary is made whatever the count (``SummaryConfig``)."""

SUMMARY_HEAD = "[Conversation Summary]\n"

_SPEAKER = {"user": "HUMAN", "assistant": "AI"}


@dataclass(frozen=True, slots=True)
class WindowAction:
    """What one step did, with the framework's own counts (``core/agent.py::_ContextAction``)."""

    action: str
    before: int
    after: int
    details: Mapping[str, Any]


@dataclass(slots=True)
class Window:
    """One pass: the messages so far and what was done."""

    stages: Stages
    trace: Trace
    actions: list[WindowAction] = field(default_factory=list)
    summarized: list[str] = field(default_factory=list)

    @property
    def system(self) -> list[Message]:
        return [message for message in self.stages.messages if message.role == "system"]


def apply_window(
    window: Window, config: AnyConfig, *, forced: bool = False, summarizer: Summarizer | None = None
) -> None:
    """Run one pass. A ``summarizer`` of ``None`` is a missing provider: nothing is summarized."""
    if isinstance(config, LimitConfig) and config.overflow is Overflow.HOOK:
        _skip(window, "overflow “hook” leaves the list to a hook, which is not run here")
        return
    rest = _system_first(window)
    if isinstance(config, LimitConfig) and config.overflow is Overflow.NONE:
        return
    if isinstance(config, LimitConfig) and config.overflow is Overflow.TRUNCATE:
        _keep_last(window, rest, config.limit, rules.TRUNCATE, "truncate", {"limit": config.limit})
        return
    if len(rest) > config.offload_threshold:
        rest = _offload(window, rest, config)
        window.stages.unchanged("summary", "Summary (skipped after an offload)")
    else:
        window.stages.unchanged("offload", "Offload")
        rest = _summarize(window, rest, config, forced, summarizer)
    rounds = config.history_rounds
    _keep_last(window, rest, rounds, rules.HISTORY_ROUNDS, "window", {"history_rounds": rounds})


def _skip(window: Window, because: str) -> None:
    if window.stages.messages:
        window.trace.decide(
            Action.NOTE,
            window.stages.messages[-1].id,
            rules.NOT_RUN,
            stage="window",
            because=because[0].upper() + because[1:] + ".",
        )
    window.stages.unchanged("window", "History window (not run)")


def not_run(window: Window, because: str) -> None:
    """Show that there is no pass at this step, and why."""
    _skip(window, because)


def _system_first(window: Window) -> list[Message]:
    """Move the system messages to the front; the rest, in order, is what can be cut."""
    messages = window.stages.messages
    rest = [message for message in messages if message.role != "system"]
    seen_other = False
    moved = []
    for message in messages:
        if message.role != "system":
            seen_other = True
        elif seen_other:
            moved.append(message)
    if not moved:
        window.stages.unchanged("system-first", "System messages first")
        return rest
    for message in moved:
        window.trace.decide(
            Action.NOTE,
            message.id,
            rules.SYSTEM_FIRST,
            stage="system-first",
            because="A system message moves in front of everything else.",
        )
    window.trace.warn(
        "orbiter.system-moved", f"{len(moved)} system message(s) after other messages move to the front"
    )
    window.stages.reorder("system-first", "System messages first", [*window.system, *rest])
    return rest


def _offload(window: Window, rest: list[Message], config: AnyConfig) -> list[Message]:
    count, limit, keep = len(rest), config.offload_threshold, config.summary_threshold
    kept = rest[-keep:]
    _drop(
        window,
        rest[: count - len(kept)],
        rules.OFFLOAD,
        "offload",
        f"{count} messages are more than offload_threshold {limit}: the last {keep} stay.",
        (count, limit),
    )
    window.stages.drop("offload", "Offload", rest[: count - len(kept)])
    window.actions.append(WindowAction("offload", count, len(kept), {"offload_threshold": limit}))
    return kept


def _drop(
    window: Window, messages: Sequence[Message], rule: Rule, stage: str, because: str, counts: tuple[int, int]
) -> None:
    for message in messages:
        window.trace.decide(
            Action.DROP,
            message.id,
            rule,
            stage=stage,
            because=because,
            before=message.tokens,
            after=0,
            measured=counts[0],
            limit=counts[1],
            unit="messages",
        )


def _keep_last(
    window: Window, rest: list[Message], limit: int, rule: Rule, action: str, details: Mapping[str, Any]
) -> None:
    title = "Truncate" if action == "truncate" else "History rounds"
    count = len(rest)
    if count <= limit:
        window.stages.unchanged(action, title)
        return
    gone = rest[: count - limit]
    because = f"{count} messages are more than {limit}: the oldest {len(gone)} go."
    _drop(window, gone, rule, action, because, (count, limit))
    if any(message.id == "summary" for message in gone):
        window.trace.warn(
            "orbiter.summary-dropped", f"the summary just made is the first of {count} messages and is cut"
        )
    window.stages.drop(action, title, gone)
    window.actions.append(WindowAction(action, count, limit, details))


# ---- the summary --------------------------------------------------------------------------------


def _summarize(
    window: Window, rest: list[Message], config: AnyConfig, forced: bool, summarizer: Summarizer | None
) -> list[Message]:
    count, threshold = len(rest), config.summary_threshold
    entered = count >= threshold or (forced and count >= 2)
    if not entered or not _triggered(window, rest, threshold, forced):
        window.stages.unchanged("summary", "Summary")
        return rest
    if summarizer is None:
        _note(window, rest, "A summary is due, but there is no provider: nothing is summarized.")
        window.stages.unchanged("summary", "Summary")
        return rest
    keep = min(_keep_recent(config, count, forced), count)
    old, recent = rest[: count - keep], rest[count - keep :]
    text = _summary_text(window, old or rest, summarizer)
    summary = window.stages.make("summary", SUMMARY_HEAD + text, tuple(message.id for message in old or rest))
    if text:  # what a model would answer is not knowable; that a failure gives nothing is
        summary = replace(summary, evidence=Evidence.UNKNOWN)
    _record_summary(window, old, summary, count, keep, forced, threshold)
    window.stages.replace("summary", "Summary", old, summary, before=recent)
    details = {"summary_threshold": threshold, "keep_recent": keep, "forced": forced}
    window.actions.append(WindowAction("summarize", count, keep + 1, details))
    return [summary, *recent]


def _keep_recent(config: AnyConfig, count: int, forced: bool) -> int:
    if forced:
        return max(2, count // 2)
    if isinstance(config, LimitConfig):
        return max(2, config.keep_recent)
    return max(2, config.summary_threshold // 2)


def _triggered(window: Window, rest: list[Message], threshold: int, forced: bool) -> bool:
    if forced:
        return True
    if len(rest) > threshold:
        return True
    estimate = sum(len(said(message)) for message in rest) // 4
    reached = f"{len(rest)} messages reach summary_threshold {threshold} without passing it"
    if estimate > TOKENS_MAX:
        _note(window, rest, f"{reached}, but {estimate:,} estimated tokens do: a summary is made.", estimate)
        return True
    _note(window, rest, f"{reached}, and {estimate:,} estimated tokens do not either: no summary.", estimate)
    return False


def _note(window: Window, rest: list[Message], because: str, estimate: int | None = None) -> None:
    window.trace.decide(
        Action.NOTE,
        rest[0].id,
        rules.TRIGGER,
        stage="summary",
        because=because,
        measured=len(rest) if estimate is None else estimate,
        limit=None if estimate is None else TOKENS_MAX,
        unit="messages" if estimate is None else "tokens",
    )


def said(message: Message) -> str:
    """A message's content as the summary's estimate and prompt take it."""
    return str(message.content or "")


def _summary_text(window: Window, messages: Sequence[Message], summarizer: Summarizer) -> str:
    """The summarizer's answer; empty when it fails, and the old messages go all the same."""
    text = "\n".join(f"[{_SPEAKER.get(m.role, 'TOOL')}]: {said(m)}" for m in messages)
    window.summarized.append(text)
    try:
        return str(summarizer(text) or "")
    except Exception as error:
        window.trace.warn(
            "orbiter.summary-failed",
            f"the summarizer failed ({type(error).__name__}): an empty summary replaces the old messages",
        )
        return ""


def _record_summary(
    window: Window, old: list[Message], summary: Message, count: int, keep: int, forced: bool, threshold: int
) -> None:
    why = "token pressure forces it" if forced else f"{count} messages, summary_threshold {threshold}"
    because = f"Replaced by the summary ({why}); the last {keep} stay."
    _drop(window, old, rules.SUMMARY, "summary", because, (count, threshold))
    covered = len(old) or count
    window.trace.decide(
        Action.INSERT,
        summary.id,
        rules.SUMMARY,
        stage="summary",
        because=f"A summary of {covered} message(s) goes in front of the last {keep}.",
        before=0,
        after=summary.tokens,
        measured=count,
        limit=threshold,
        unit="messages",
    )
    if not old:
        window.trace.warn(
            "orbiter.summary-grows",
            f"nothing is old enough to go: all {count} messages are summarized and kept, the list grows",
        )


# ---- the usage tag ------------------------------------------------------------------------------


def usage_tag(used: int, total: int) -> str:
    """``[Context: USED/TOTAL tokens (P% full)]``; P rounds half to even, 0 without a total."""
    try:
        percent = round(100.0 * used / total) if total > 0 else 0
    except OverflowError:  # a number beyond what a float holds; the tag still names it
        percent = 100 * used // total
    return f"[Context: {used}/{total} tokens ({percent}% full)]"


def tagged(content: str, used: int, total: int) -> str:
    """A system message with the tag as its last line, earlier tags removed."""
    lines = [line for line in content.splitlines() if not line.startswith("[Context:")]
    base = "\n".join(lines).rstrip()
    tag = usage_tag(used, total)
    return f"{base}\n{tag}" if base else tag


def apply_tag(window: Window, used: int, total: int) -> None:
    """Put the usage tag into the first system message, or insert one in front."""
    first = next((message for message in window.stages.messages if message.role == "system"), None)
    numbers: dict[str, Any] = {"measured": used, "limit": total, "unit": "tokens"}
    if first is None:
        message = window.stages.make("usage-tag", usage_tag(used, total), ())
        because = "There is no system message, so one is inserted with the tag."
        window.trace.decide(
            Action.INSERT, message.id, rules.TAG, stage="usage-tag", because=because, before=0,
            after=message.tokens, **numbers,
        )  # fmt: skip
        window.stages.insert_first("usage-tag", "Usage tag", message)
        return
    changed = window.stages.rewritten(first, tagged(said(first), used, total))
    if changed.content == first.content:
        window.stages.unchanged("usage-tag", "Usage tag")
        return
    because = f"The call before used {used:,} of {total:,} tokens; the tag says so."
    window.trace.decide(
        Action.REWRITE, first.id, rules.TAG, stage="usage-tag", because=because, before=first.tokens,
        after=changed.tokens, **numbers,
    )  # fmt: skip
    window.stages.rewrite("usage-tag", "Usage tag", changed, MessageStatus.REWRITTEN)
