"""The history of a turn: which stored rows are replayed, and in which words.

``session/manager.py::Session.get_history``. Four cuts of the front (archived rows, message count,
first user row, legal start), the projection of each row, and the token cap with two more cuts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.estimate import Estimator
from promptdbg.engines.nanobot.events import Event, Step, dropped, rewritten
from promptdbg.engines.nanobot.rows import SENT_KEYS, Row, Rows, first_user, last_user, legal_start
from promptdbg.engines.reuse import Reuse
from promptdbg.model import Action, Json, Rule

_TIME_PREFIX = re.compile(r"^\[Message Time: [^\]]+\]\n?")
_LOCAL_IMAGE = re.compile(r"^\[image: (?:/|~)[^\]]+\]\s*$")
_CALL_ECHO = re.compile(r"^\s*(?:generate_image|message)\([^)]*\)\s*$")
_ATTACHMENTS_MAX = 8
_DEFAULT_COUNT = 120


def history(
    rows: Rows,
    archived: int,
    dialect: Dialect,
    estimator: Estimator,
    *,
    cap: int,
    reuse: Reuse,
    count: int = 0,
    timestamps: bool | None = None,
) -> Step:
    """The replayed rows.

    Args:
        archived: ``last_consolidated`` of the session.
        cap: tokens at the most, 0 for no cap.
        reuse: what earlier assemblies know; most settings do not touch what comes before the cap.
        count: rows at the most (0.2.2), 0 for its default of 120.
        timestamps: whether user rows carry their time; the dialect's own choice by default.

    Raises:
        Crash: a replayed row has no ``role``, tool calls that are not a list, or no size in bytes.
    """
    stamped = dialect.timestamps if timestamps is None else timestamps
    limit = (count or _DEFAULT_COUNT) if dialect.count_limit else 0
    whole = reuse(_whole, rows, archived, dialect, limit, stamped)
    if cap <= 0 or not whole.rows:
        return whole
    sizes = reuse(_sizes, whole.rows, estimator)
    _check_measured(whole.rows, cap, sizes, estimator)
    # Where all of it fits, it does not matter by how much.
    capped = reuse(_capped, whole.rows, min(cap, sizes.totals[-1]), sizes)
    return Step(capped.rows, (*whole.events, *capped.events)) if whole.events else capped


def _whole(rows: Rows, archived: int, dialect: Dialect, count: int, stamped: bool) -> Step:
    """Everything before the token cap."""
    events: list[Event] = []
    start = _replay_start(rows, archived, dialect)
    _drop_archived(rows[:start], archived, events)
    sliced = rows[start:]
    if dialect.count_limit:
        sliced = _count_limit(sliced, count, events)
    sliced = _from_first_user(sliced, events)
    sliced = _from_legal_start(sliced, rules.HISTORY_LEGAL, events)
    return Step(_projected(sliced, dialect, stamped, events), tuple(events))


def recent_start(rows: Rows, count: int, *, extend_to_user: bool) -> int:
    """Where the newest ``count`` rows begin, or the user row before them when they hold none.

    ``utils/helpers.py::recent_message_start_index``.
    """
    start = max(0, len(rows) - count)
    if not extend_to_user or len(rows) <= count:
        return start
    if any(row.role == "user" for row in rows[start:]):
        return start
    for index in range(start - 1, -1, -1):
        if rows[index].role == "user":
            return index - 1 if index > 0 and rows[index - 1].value.get("_channel_delivery") else index
    return start


def _replay_start(rows: Rows, archived: int, dialect: Dialect) -> int:
    if not archived or not dialect.replay_suffix:
        return archived
    return min(archived, recent_start(rows, dialect.replay_suffix, extend_to_user=True))


def _drop_archived(gone: Rows, archived: int, events: list[Event]) -> None:
    for index, row in enumerate(gone):
        because = (
            f"row {index} is before row {len(gone)}, where replay starts: rows up to {archived} are archived"
        )
        events.append(
            dropped(row, rules.HISTORY_START, because, measured=index, limit=len(gone), unit="messages")
        )


def _count_limit(rows: Rows, count: int, events: list[Event]) -> Rows:
    start = recent_start(rows, count, extend_to_user=False)
    for index, row in enumerate(rows[:start]):
        behind = len(rows) - index
        because = f"it is {behind:,} rows from the end, and only the newest {count:,} are replayed"
        events.append(
            dropped(row, rules.HISTORY_COUNT, because, measured=behind, limit=count, unit="messages")
        )
    return rows[start:]


def _from_first_user(rows: Rows, events: list[Event]) -> Rows:
    start = first_user(rows)
    if start is None:
        return rows
    if start > 0 and rows[start - 1].value.get("_channel_delivery"):
        start -= 1
    for row in rows[:start]:
        because = f"replay starts at {rows[start].id}, the first row a user could have opened a turn with"
        events.append(dropped(row, rules.HISTORY_FIRST_USER, because))
    return rows[start:]


def _from_legal_start(rows: Rows, rule: Rule, events: list[Event]) -> Rows:
    start, stray = legal_start(rows)
    if stray is None:
        return rows
    line = f" (line {stray.source.start_line})" if stray.source else ""
    answered = stray.value.get("tool_call_id")
    for row in rows[:start]:
        if row is stray:
            because = f"it answers call {answered!r}, which no row before it declares"
        else:
            because = (
                f"{stray.id}{line} answers call {answered!r} without its call, which wipes all rows up to it"
            )
        events.append(dropped(row, rule, because))
    return rows[start:]


# ---- projection ----------------------------------------------------------------------------------


def _projected(rows: Rows, dialect: Dialect, stamped: bool, events: list[Event]) -> Rows:
    out: list[Row] = []
    for row in rows:
        key = ("replay", dialect.name, stamped)
        known = row.memo.get(key)
        if known is None:
            known = row.memo[key] = _project(row, dialect, stamped)
        kept, made = known
        events.extend(made)
        if kept is not None:
            out.append(kept)
    return tuple(out)


_Change = tuple[Rule, str]


def _project(row: Row, dialect: Dialect, stamped: bool) -> tuple[Row | None, tuple[Event, ...]]:
    """One row as the model will read it, ``None`` when it vanishes, and why."""
    value = row.value
    if value.get("_command"):
        return None, (dropped(row, rules.HISTORY_COMMAND, "it belongs to a slash command"),)
    role = value.get("role")
    content = value.get("content", "")
    changes: list[_Change] = []
    if "content" not in value:
        changes.append((rules.HISTORY_CONTENT, "the row has no content; it is replayed as an empty text"))
    if role == "assistant" and isinstance(content, str):
        content = _scrubbed(content, changes)
    if role == "user" and isinstance(content, str):
        content = _annotated(content, value, dialect, stamped, changes)
    if role == "assistant" and isinstance(content, str) and not content.strip() and not _has_more(value):
        return None, (dropped(row, rules.HISTORY_BLANK, "nothing is left of it but white space"),)
    if "role" not in value:
        raise Crash(
            "KeyError",
            "'role'",
            "session/manager.py::get_history",
            f"Row {row.id} has no role: every turn of this session fails.",
        )
    sent: dict[str, Json] = {"role": role, "content": content}
    sent.update({key: value[key] for key in SENT_KEYS[2:] if key in value})
    after = Row(row.id, sent, sources=row.sources, source=row.source, evidence=row.evidence)
    return after, _changes(row, after, changes)


def _changes(row: Row, after: Row, changes: list[_Change]) -> tuple[Event, ...]:
    """One event for each change; all tokens go to the last, so that they are counted once."""
    events: list[Event] = []
    for index, (rule, because) in enumerate(changes):
        last = index == len(changes) - 1
        events.append(rewritten(row, after if last else row, rule, because))
    return tuple(events)


def _has_more(value: Mapping[str, Json]) -> bool:
    return any(key in value for key in ("tool_calls", "reasoning_content", "thinking_blocks"))


def _scrubbed(content: str, changes: list[_Change]) -> str:
    """``session/manager.py::_sanitize_assistant_replay_text``."""
    text = _TIME_PREFIX.sub("", content, count=1)
    lines = text.splitlines()
    kept = [line for line in lines if not _LOCAL_IMAGE.match(line) and not _CALL_ECHO.match(line)]
    result = "\n".join(kept).strip()
    if result != content:
        removed = len(lines) - len(kept)
        parts = ["a leading time stamp"] if text != content else []
        if removed:
            parts.append(f"{removed} artefact line{'s' if removed > 1 else ''}")
        what = " and ".join(parts) + " removed" if parts else "line ends and outer white space normalised"
        changes.append((rules.HISTORY_SCRUB, what))
    return result


def _annotated(
    content: str, value: Mapping[str, Json], dialect: Dialect, stamped: bool, changes: list[_Change]
) -> str:
    media = value.get("media")
    names = [path for path in media if isinstance(path, str) and path] if isinstance(media, list) else []
    if names:
        changes.append(
            (rules.HISTORY_MEDIA, f"{len(names)} attached file(s) are named instead of sent again")
        )
        content = _appended(content, [f"[image: {path}]" for path in names])
    elif media and isinstance(media, list) and content and dialect.strict_rows:
        because = "none of its media has a path, and the line feed before their names stands alone"
        changes.append((rules.HISTORY_MEDIA, because))
        content += "\n"
    marked = isinstance(value.get("_runtime_context"), dict)
    if not (marked and dialect.explicit_skills):
        content = _attached(content, value.get("cli_apps"), _cli_line, changes)
    if dialect.count_limit:
        content = _attached(content, value.get("mcp_presets"), _preset_line, changes)
    timestamp = value.get("timestamp")
    if stamped and timestamp:
        changes.append((rules.HISTORY_TIME, "its stored time is put in front"))
        content = f"[Message Time: {timestamp}]\n{content}"
    return content


def _appended(content: str, lines: list[str]) -> str:
    added = "\n".join(lines)
    return f"{content}\n{added}" if content else added


def _attached(
    content: str, items: Json, line: Callable[[str, Mapping[str, Json]], str], changes: list[_Change]
) -> str:
    lines: list[str] = []
    for item in items[:_ATTACHMENTS_MAX] if isinstance(items, list) else ():
        if isinstance(item, dict) and (name := str(item.get("name") or "").strip().lower()):
            lines.append(line(name, item))
    if not lines:
        return content
    changes.append((rules.HISTORY_ATTACHED, f"{len(lines)} attachment(s) are named"))
    return _appended(content, lines)


def _cli_line(name: str, item: Mapping[str, Json]) -> str:
    entry = str(item.get("entry_point") or "unknown").strip() or "unknown"
    skill = f"skills/cli-app-{name}/SKILL.md"
    return f"[CLI App Attachment: @{name}; tool=run_cli_app; entry_point={entry}; skill={skill}]"


def _preset_line(name: str, item: Mapping[str, Json]) -> str:
    transport = str(item.get("transport") or "mcp").strip() or "mcp"
    return f"[MCP Preset Attachment: @{name}; tool_prefix=mcp_{name}_; transport={transport}]"


# ---- token cap -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class _Sizes:
    """Tokens of a list's rows: ``totals`` from the last row back, one more row in each. ``sound`` of
    them nanobot can measure; at the next row it raises."""

    totals: tuple[int, ...]
    sound: int

    def taken(self, cap: int) -> int:
        """How many rows fit; the last one stays even where it is too much alone."""
        return max(1, bisect_right(self.totals, cap))


def _sizes(rows: Rows, estimator: Estimator) -> _Sizes:
    totals: list[int] = []
    total, sound = 0, len(rows)
    for row in reversed(rows):
        try:
            total += estimator.strict_message(row)
        except Crash:
            sound = min(sound, len(totals))
            total += estimator.message(row)
        totals.append(total)
    return _Sizes(tuple(totals), sound)


def _check_measured(rows: Rows, cap: int, sizes: _Sizes, estimator: Estimator) -> None:
    """Fail where nanobot measures a row that it cannot: it takes rows until one does not fit."""
    if sizes.sound < min(len(rows), sizes.taken(cap) + 1):
        estimator.strict_message(rows[-1 - sizes.sound])


def _capped(rows: Rows, cap: int, sizes: _Sizes) -> Step:
    kept = rows[len(rows) - sizes.taken(cap) :]
    user = first_user(kept)
    recovered = last_user(rows) if user is None else None
    if recovered is not None:
        kept = rows[recovered:]  # over budget, but without a user row there is no turn
    events: list[Event] = []
    for index, row in enumerate(rows[: len(rows) - len(kept)]):
        total = sizes.totals[-1 - index]
        because = f"with it the history would be {total:,} tokens, over the replay budget of {cap:,}"
        events.append(dropped(row, rules.HISTORY_CAP, because, measured=total, limit=cap, unit="tokens"))
    if user is not None:
        for row in kept[:user]:
            because = f"{kept[user].id} is the first user row that fits; rows in front of it go"
            events.append(dropped(row, rules.HISTORY_CAP_USER, because))
        kept = kept[user:]
    elif recovered is not None:
        total = sizes.totals[len(kept) - 1]
        because = f"no user row fits {cap:,} tokens, so replay starts at the last one, with {total:,}"
        rule = rules.HISTORY_CAP_USER
        events.append(Event(Action.NOTE, kept[0].id, rule, because, measured=total, limit=cap, unit="tokens"))
    return Step(_from_legal_start(kept, rules.HISTORY_CAP_LEGAL, events), tuple(events))
