"""The Recent History section (0.2.2 and main): which entries of memory/history.jsonl a prompt shows.

``agent/memory.py::read_recent_history_for_prompt`` and ``agent/context.py::build_system_prompt``.
"""

from __future__ import annotations

from collections.abc import Mapping

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import RECENT_ENTRIES, RECENT_TOKENS, TRUNCATED, Dialect
from promptdbg.engines.nanobot.estimate import truncate_to_tokens
from promptdbg.engines.nanobot.historyfile import HistoryEntry, history_entries
from promptdbg.engines.nanobot.inputs import CURSOR, HISTORY, NanobotInputs
from promptdbg.engines.nanobot.sections import Draft, joined
from promptdbg.model import Action, Rule, SectionStatus, Source, Span, Unit
from promptdbg.text import shared_start

_HEAD = "# Recent History\n\n"
_INTERNAL_KEYS = frozenset({"heartbeat"})
_INTERNAL_PREFIXES = ("cron:", "dream:")


def recent_history(
    inputs: NanobotInputs,
    dialect: Dialect,
    *,
    session_key: str,
    unified: bool,
    summary: str | None,
    shown: bool,
    extra: tuple[HistoryEntry, ...],
    off: frozenset[str],
    texts: Mapping[str, str],
    tokenizer: bool,
) -> Draft:
    """The section, with one part for each entry of the file.

    Raises:
        Crash: the file cannot be read, or not as UTF-8, or holds what 0.2.2 cannot take.
    """
    if not shown:
        return _left_out(inputs)
    # An appended entry can have the id of the file's last line: it was written onto it.
    by_id = {entry.id: entry for entry in (*history_entries(inputs, dialect), *extra)}
    entries = tuple(by_id.values())
    drafts = {entry.id: _entry_draft(inputs, entry, texts) for entry in entries}
    kept = _selected(entries, drafts, inputs, dialect, session_key, unified, summary, off)
    lines = [drafts[entry.id] for entry in kept]
    text = joined(lines, "\n", len(_HEAD))
    cut = truncate_to_tokens(text, RECENT_TOKENS, dialect, tokenizer)
    if cut != text:
        _cut_entries(lines, text, cut)
    output = _HEAD + cut if kept else ""
    draft = Draft(
        "recent_history", "recent_history", "history", output, output, children=list(drafts.values())
    )
    draft.status = SectionStatus.KEPT if output else SectionStatus.EMPTY
    draft.source = Source(str(inputs.agent_files[HISTORY].path))
    return draft


def _left_out(inputs: NanobotInputs) -> Draft:
    draft = Draft("recent_history", "recent_history", "history", "", "", SectionStatus.EMPTY)
    if inputs.agent_files[HISTORY].text:
        draft.note(rules.RECENT_EPHEMERAL, "an ephemeral turn is not shown the history file", Action.EMPTY)
    return draft


def _entry_draft(inputs: NanobotInputs, entry: HistoryEntry, texts: Mapping[str, str]) -> Draft:
    text = texts.get(entry.id, entry.shown if not entry.problem else entry.content)
    line = entry.line if entry.line > 0 else None
    source = Source(str(inputs.agent_files[HISTORY].path), line, line)
    draft = Draft(entry.id, entry.timestamp or f"line {entry.line}", "entry", text, text, source=source)
    return draft.note(EDITED, "its text is the one edited here") if entry.id in texts else draft


def _dream_cursor(inputs: NanobotInputs) -> int:
    try:
        return int((inputs.agent_files[CURSOR].text or "").strip())
    except ValueError:
        return 0


def _selected(
    entries: tuple[HistoryEntry, ...],
    drafts: Mapping[str, Draft],
    inputs: NanobotInputs,
    dialect: Dialect,
    session_key: str,
    unified: bool,
    summary: str | None,
    off: frozenset[str],
) -> list[HistoryEntry]:
    """The entries that stay; every other one is dropped with its reason."""
    cursor = _dream_cursor(inputs)
    kept: list[HistoryEntry] = []
    for entry in entries:
        draft = drafts[entry.id]
        if entry.id in off:
            draft.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "switched off here")
        elif entry.problem:
            _drop(draft, rules.RECENT_INVALID, entry.problem)
        elif entry.cursor <= cursor:
            because = (
                f"cursor {entry.cursor} is not above {cursor}, up to which entries were worked into memory"
            )
            _drop(draft, rules.RECENT_DREAMT, because, entry.cursor, cursor)
        elif not _belongs(entry, session_key, unified):
            whose = entry.session_key or "no session"
            _drop(draft, rules.RECENT_SESSION, f"it belongs to {whose}, this is {session_key}")
        else:
            kept.append(entry)
    for behind, entry in enumerate(reversed(kept[:-RECENT_ENTRIES]), start=RECENT_ENTRIES + 1):
        because = f"{behind} entries from the end; only the last {RECENT_ENTRIES} are shown"
        _drop(drafts[entry.id], rules.RECENT_COUNT, because, behind, RECENT_ENTRIES)
    kept = kept[-RECENT_ENTRIES:]
    twin = _twin(kept, session_key, summary) if dialect.bootstrap_filters else None
    if twin is None:
        return kept
    _drop(drafts[twin.id], rules.RECENT_DUPLICATE, "the archived summary says the same below")
    return [entry for entry in kept if entry is not twin]


def _drop(
    draft: Draft, rule: Rule, because: str, measured: int | None = None, limit: int | None = None
) -> None:
    unit: Unit | None = None if measured is None else "count"
    draft.lose(SectionStatus.DROPPED, Action.DROP, rule, because, measured=measured, limit=limit, unit=unit)


def _twin(kept: list[HistoryEntry], session_key: str, summary: str | None) -> HistoryEntry | None:
    """The newest entry that says what the archived summary says."""
    if not summary:
        return None
    return next((e for e in reversed(kept) if e.session_key == session_key and e.content == summary), None)


def _belongs(entry: HistoryEntry, session_key: str, unified: bool) -> bool:
    key = entry.session_key
    if not unified or key == session_key:
        return key == session_key
    return not key or not (key in _INTERNAL_KEYS or key.startswith(_INTERNAL_PREFIXES))


def _cut_entries(lines: list[Draft], text: str, cut: str) -> None:
    """Mark what a cut of the joined text took: the newest entries, which stand last."""
    body = cut.removesuffix(TRUNCATED)
    end = shared_start(text, body)
    position = 0
    for draft in lines:
        begin, position = position, position + len(draft.output) + 1
        length = len(draft.output)
        if begin + length <= end:
            continue
        kept = max(0, end - begin)
        whole = draft.output
        because = (
            f"the section is cut to {RECENT_TOKENS:,} tokens from its beginning, and newer entries come last"
        )
        numbers = {"measured": float(begin + length), "limit": float(end)}
        if kept == 0:
            draft.lose(SectionStatus.DROPPED, Action.DROP, rules.RECENT_CUT, because, **numbers, unit="chars")
            continue
        draft.lose(
            SectionStatus.TRUNCATED, Action.TRUNCATE, rules.RECENT_CUT, because, **numbers, unit="chars"
        )
        draft.output = body[begin:]
        draft.whole = whole
        draft.inner = len(_HEAD) + begin
        draft.spans = (Span(0, kept, True), Span(kept, length, False))
