"""Archiving before a turn (0.2.2 and main): whether it would run, how far, and what it would leave.

``agent/memory.py::Consolidator.maybe_consolidate_by_tokens``. The summary is a model's, so its text is
an assumption of the settings; everything else is computed. Nothing is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter

from promptdbg.engines.nanobot.archive import raw_archive, strip_think, transcript
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import CONSOLIDATION_ROUNDS, Dialect
from promptdbg.engines.nanobot.estimate import (
    NO_ESTIMATE,
    Estimate,
    Estimator,
    ToolSet,
    strict_prompt,
    truncate_chars,
)
from promptdbg.engines.nanobot.historyfile import HistoryEntry, HistoryFile
from promptdbg.engines.nanobot.merge import joined_content
from promptdbg.engines.nanobot.prompt import Summary
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.replay import history, recent_start
from promptdbg.engines.nanobot.rows import Rows, first_user, legal_start, said
from promptdbg.engines.reuse import Reuse

_SUMMARY_CHARS = 8_000
_ENTRY_CHARS = 64_000


@dataclass(frozen=True)
class Call:
    """One request to the summarising model: how many messages, and whether it answers."""

    messages: int
    works: bool


@dataclass(frozen=True)
class Archived:
    """Rows that one round moved out of the replayed history."""

    start: int
    end: int
    works: bool
    overflow: bool = False
    """Rows beyond the message limit, archived whatever the budget (0.2.2)."""


@dataclass
class Consolidated:
    """The outcome: positions are rows, sizes tokens."""

    probe: Estimate
    budget: int
    target: int
    wanted: bool
    """Whether the probe reached the budget of a session that is kept."""
    first_boundary: tuple[int, int] | None
    last_before: int
    last_after: int
    rounds: list[Archived] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    entries: list[HistoryEntry] = field(default_factory=list)
    """What was appended to history.jsonl."""
    summary: str | None = None
    """What becomes ``_last_summary``, too late for this turn."""


@dataclass(frozen=True)
class Archiver:
    """What consolidation depends on.

    ``system`` builds the probe's system prompt with the given extra history entries and summary;
    ``message`` makes the probe's user row from a text. ``reply`` is the model's answer, ``None``
    when it fails.
    """

    dialect: Dialect
    estimator: Estimator
    tools: ToolSet
    prose: Prose
    budget: int
    target: int
    max_messages: int
    file: HistoryFile
    system: Callable[[tuple[HistoryEntry, ...]], str]
    message: Callable[[str], str]
    reply: str | None
    acts: bool
    """Whether outcomes are applied; else only the prediction is made."""
    save: Callable[[], None]
    """Stores the session after a round, or fails as nanobot would."""
    reuse: Reuse

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """What the rounds so far have appended."""
        return tuple(self.file.appended)

    def probe(self, rows: Rows, archived: int, extra: tuple[HistoryEntry, ...] = ()) -> Estimate:
        """The next prompt with the whole replay in it (``estimate_session_prompt_tokens``)."""
        left = len(rows) - archived
        replay: Rows = ()
        if rows and (left > 0 or not self.dialect.count_limit):
            replay = self.replay(rows, archived, count=left)
        return self.measure(self.messages(replay, "[token-probe]", extra))

    def replay(self, rows: Rows, archived: int, *, cap: int = 0, count: int = 0) -> Rows:
        """The rows of a replay."""
        return history(
            rows, archived, self.dialect, self.estimator, cap=cap, count=count, reuse=self.reuse
        ).rows

    def measure(self, rows: Rows) -> Estimate:
        return strict_prompt(self.reuse, self.estimator, rows, self.tools)

    def messages(self, replay: Rows, text: str, extra: tuple[HistoryEntry, ...]) -> Rows:
        """A request with that replay, whose last message is a text."""
        keep = not self.dialect.explicit_skills
        return self.reuse(_request, replay, self.system(extra), self.message(text), keep)


def _request(replay: Rows, system: str, text: str, keep_empty: bool) -> Rows:
    first = said("system", "system", system)
    if replay and replay[-1].role == "user":
        content = joined_content(replay[-1].content, text, keep_empty_right=keep_empty)
        return (first, *replay[:-1], replay[-1].with_content(content))
    return (first, *replay, said("probe", "user", text))


def consolidate(
    archiver: Archiver, rows: Rows, archived: int, *, ephemeral: bool, enabled: bool
) -> Consolidated:
    """Predict, and where the settings ask for it, carry out consolidation.

    Raises:
        Crash: the probe's prompt cannot be built, or rows cannot be written where they go.
    """
    measured = enabled and bool(rows) and not ephemeral
    probe = _probe(archiver, rows, archived, guarded=not measured)
    result = Consolidated(
        probe=probe,
        budget=archiver.budget,
        target=archiver.target,
        wanted=measured and probe.tokens >= max(1, archiver.budget),
        first_boundary=boundary(archiver, rows, archived, max(1, probe.tokens - archiver.target)),
        last_before=archived,
        last_after=archived,
        entries=archiver.file.appended,
    )
    if not measured or not archiver.acts:
        return result
    if archiver.dialect.count_limit:
        _archive_overflow(archiver, rows, result)
        if result.rounds:
            probe = _probe(archiver, rows, result.last_after, archiver.entries)
    if probe.tokens > 0 and probe.tokens >= archiver.budget:
        _archive_rounds(archiver, rows, result, probe)
    return result


def _probe(
    archiver: Archiver,
    rows: Rows,
    archived: int,
    extra: tuple[HistoryEntry, ...] = (),
    *,
    guarded: bool = False,
) -> Estimate:
    """The probe's size; where 0.2.2 cannot make one it says so in its log and goes on.

    Args:
        guarded: nanobot makes no probe here, so that it cannot fail.

    Raises:
        Crash: the probe's prompt cannot be built.
    """
    try:
        return archiver.probe(rows, archived, extra)
    except Crash:
        if guarded or archiver.dialect.strict_rows:
            return NO_ESTIMATE
        raise


def boundary(archiver: Archiver, rows: Rows, archived: int, need: int) -> tuple[int, int] | None:
    """The user row before which enough tokens lie, and how many (``pick_consolidation_boundary``)."""
    found = archiver.reuse(_boundaries, rows, archived, archiver.estimator)
    enough = bisect_left(found, need, key=itemgetter(1))
    return found[min(enough, len(found) - 1)] if found else None


def _boundaries(rows: Rows, archived: int, estimator: Estimator) -> tuple[tuple[int, int], ...]:
    """The user rows after the archived ones, each with the tokens that lie before it."""
    found: list[tuple[int, int]] = []
    removed = 0
    for index in range(archived, len(rows)):
        if index > archived and rows[index].role == "user":
            found.append((index, removed))
        removed += estimator.message(rows[index])
    return tuple(found)


def _archive_rounds(archiver: Archiver, rows: Rows, result: Consolidated, probe: Estimate) -> None:
    for _ in range(CONSOLIDATION_ROUNDS):
        if probe.tokens <= archiver.target:
            return
        found = boundary(archiver, rows, result.last_after, max(1, probe.tokens - archiver.target))
        if found is None:
            return
        works = _archive(archiver, rows, result, found[0], overflow=False)
        if not works:
            return
        probe = _probe(archiver, rows, result.last_after, archiver.entries)
        if probe.tokens <= 0:
            return


def _archive_overflow(archiver: Archiver, rows: Rows, result: Consolidated) -> None:
    """0.2.2 first archives what its message limit hides (``_replay_overflow_boundary``)."""
    start, limit = result.last_after, archiver.max_messages
    tail = rows[start:]
    if limit <= 0 or len(tail) <= limit:
        return
    begin = recent_start(tail, limit, extend_to_user=True)
    visible = tail[begin:]
    user = first_user(visible)
    if user is not None:
        step = user - 1 if user > 0 and visible[user - 1].value.get("_channel_delivery") else user
        begin, visible = begin + step, visible[step:]
    legal, _stray = legal_start(visible)
    end = start + begin + legal if legal < len(visible) else len(rows)
    if end > start:
        _archive(archiver, rows, result, end, overflow=True)


def _archive(archiver: Archiver, rows: Rows, result: Consolidated, end: int, *, overflow: bool) -> bool:
    """One round: the rows up to ``end`` leave the replay, with a summary or as they are."""
    start = result.last_after
    chunk = rows[start:end]
    reply = archiver.reply
    if archiver.dialect.strict_rows:
        # The model would be sent this text, so it is made even where no raw entry needs it.
        transcript((row.value for row in chunk), archiver.dialect)
    sent = _request_size(archiver, rows, start, end, archiver.entries)
    if sent is None:
        reply = None
    else:
        result.calls.append(Call(sent, reply is not None))
    if archiver.dialect.strict_rows:
        reply = "[no summary]" if reply == "" else reply
    elif reply is not None and not reply.strip():
        reply = None
    if reply is None:
        text = truncate_chars(raw_archive(chunk, archiver.dialect), _ENTRY_CHARS)
        archiver.file.append(strip_think(text.rstrip(), archiver.dialect))
    elif archiver.dialect.strict_rows or reply.strip() != "(nothing)":
        archiver.file.append(strip_think(truncate_chars(reply.rstrip(), _SUMMARY_CHARS), archiver.dialect))
    else:
        reply = "(nothing)"
    result.rounds.append(Archived(start, end, reply is not None, overflow))
    result.last_after = end
    archiver.save()
    if reply and reply != "(nothing)":
        result.summary = reply
    return bool(reply)


def _request_size(
    archiver: Archiver, rows: Rows, start: int, end: int, extra: tuple[HistoryEntry, ...]
) -> int | None:
    """Messages of the summarising request; ``None`` where nanobot does not send it at all.

    main appends its instruction to the real prompt, so that must fit; 0.2.2 sends a transcript.
    """
    if archiver.dialect.strict_rows:
        return 2
    if archiver.budget <= 0:
        return None
    prefix = archiver.replay(rows[:end], start, cap=archiver.budget)
    whole = archiver.replay(rows[start:end], 0)
    tail = [row.value for row in prefix[len(prefix) - len(whole) :]]
    if not whole or tail != [row.value for row in whole]:
        return None
    messages = archiver.messages(prefix, archiver.prose.archive_request(len(whole)), extra)
    if archiver.measure(messages).tokens > archiver.budget:
        return None
    return len(messages)


def after(summary: Summary | None, result: Consolidated, updated_at: str) -> dict[str, str] | None:
    """``_last_summary`` once consolidation is over, ``None`` where it has none."""
    if result.summary is not None:
        return {"text": result.summary, "last_active": updated_at}
    if summary is None:
        return None
    return {"text": summary.text, "last_active": summary.last_active or updated_at}
