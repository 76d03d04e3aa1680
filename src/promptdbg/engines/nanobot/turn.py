"""Which turn is shown: what of the stored session was there when its message was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.engines.nanobot.events import Event, Step, rewritten
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.knobs import is_turn
from promptdbg.engines.nanobot.loading import LoadedSession
from promptdbg.engines.nanobot.rows import SENT_KEYS, Row, Rows
from promptdbg.errors import UsageError
from promptdbg.model import Action, Json, Notice, Source, Turn
from promptdbg.text import one_line

_TITLE_CHARS = 120


@dataclass(frozen=True)
class TurnView:
    """A session as of one turn. ``current`` is the row that opened it, ``None`` for the next turn."""

    rows: Rows
    archived: int
    metadata: Mapping[str, Json]
    current: Row | None = None
    following: Rows = ()
    """Rows the turn itself produced, as stored."""
    notices: tuple[Notice, ...] = ()


def turns_of(loaded: LoadedSession) -> tuple[Turn, ...]:
    """The user messages of a session, numbered from 1."""
    found: list[Turn] = []
    for index, row in enumerate(loaded.rows):
        if is_turn(row):
            stamp = row.value.get("timestamp")
            time = stamp if isinstance(stamp, str) else ""
            found.append(Turn(len(found) + 1, one_line(_words(row.content))[:_TITLE_CHARS], index, time))
    return tuple(found)


def session_turns(inputs: NanobotInputs, dialect: str) -> tuple[Turn, ...]:
    """The turns of a session as a dialect loads it."""
    key = ("turns", dialect)
    if key not in inputs.cache:
        inputs.cache[key] = turns_of(inputs.loaded(dialect))
    found: tuple[Turn, ...] = inputs.cache[key]
    return found


def _words(content: Json) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [block["text"] for block in content if isinstance(block, dict) and _has_text(block)]
        return "\n".join(texts) or f"{len(content)} blocks"
    return ""


def _has_text(block: Mapping[str, Json]) -> bool:
    return isinstance(block.get("text"), str)


def view(loaded: LoadedSession, turns: tuple[Turn, ...], number: int | None) -> TurnView:
    """The session when turn ``number`` began; everything stored for the next one.

    Raises:
        UsageError: there is no such turn.
    """
    if number is None:
        return TurnView(loaded.rows, loaded.last_consolidated, loaded.metadata)
    if not 1 <= number <= len(turns):
        have = f"the session has turns 1 to {len(turns)}" if turns else "the session has no user message"
        raise UsageError(f"there is no turn {number}", hint=have)
    start = turns[number - 1].row
    end = turns[number].row if number < len(turns) else len(loaded.rows)
    current = loaded.rows[start]
    archived = loaded.last_consolidated
    later = archived > start
    metadata = {
        k: v for k, v in loaded.metadata.items() if k not in _OF_NOW and not (later and k == "_last_summary")
    }
    return TurnView(
        rows=loaded.rows[:start],
        archived=0 if later else archived,
        metadata=metadata,
        current=current,
        following=loaded.rows[start + 1 : end],
        notices=(_as_of_now(number, current.source, archived, later),),
    )


_OF_NOW = ("runtime_checkpoint", "pending_user_turn")


def _as_of_now(number: int, source: Source | None, archived: int, later: bool) -> Notice:
    what = "files, tools and the session's metadata are those of now, not of then"
    if later:
        what += f"; rows up to {archived} were archived since, so that and the summary are left out"
    elif archived:
        what += f"; when the rows up to {archived} were archived is not recorded"
    return Notice("turn.as-of-now", f"turn {number} is rebuilt from what is stored: {what}", source)


def produced(row: Row) -> Row:
    """A stored row as it joined the turn's list: the keys that are sent, in their order."""
    value = {key: row.value[key] for key in SENT_KEYS if key in row.value}
    return Row(row.id, value, sources=row.sources, source=row.source, evidence=row.evidence)


# ---- what-if -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """The rows after items were switched off and texts edited, and how far the archive reaches."""

    step: Step
    archived: int
    used: frozenset[str] = field(default=frozenset())
    """Ids of the settings that named a stored row."""


def what_if(rows: Rows, archived: int, off: frozenset[str], texts: Mapping[str, str]) -> Changed:
    """Leave out the rows that are switched off, as if they had never been stored, and edit others."""
    if not off and not texts:
        return Changed(Step(rows), archived)
    events: list[Event] = []
    kept: list[Row] = []
    reach = archived
    used: set[str] = set()
    for index, row in enumerate(rows):
        if row.id in off:
            used.add(row.id)
            reach -= index < archived
            events.append(Event(Action.DISABLE, row.id, SWITCHED_OFF, "switched off here", (row,)))
            continue
        if row.id in texts:
            used.add(row.id)
            value = {**row.value, "content": texts[row.id]}
            after = Row(row.id, value, source=row.source, stored=True, evidence=row.evidence)
            events.append(rewritten(row, after, EDITED, "its text is the one edited here"))
            row = after
        kept.append(row)
    return Changed(Step(tuple(kept), tuple(events)) if events else Step(rows), reach, frozenset(used))
