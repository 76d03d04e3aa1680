"""From the lines of a session file to the rows a dialect would hold in memory, repairs included.

``session/manager.py::_load_unlocked`` reads strictly; any damage starts ``_repair_unlocked``, which
skips what it cannot use. Each line that is lost on the way becomes a notice with its number.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from datetime import datetime

from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.execsession import migrate_exec_session
from promptdbg.engines.nanobot.rows import Row, Rows
from promptdbg.model import Evidence, Json, Notice, Source
from promptdbg.records import Record, StoredSession


@dataclass(frozen=True)
class LoadedSession:
    """A session as nanobot has it after loading; ``migrated`` are row ids that loading rewrote.

    ``created_at`` and ``updated_at`` are ISO texts, ``None`` where nanobot takes the clock's time.
    """

    key: str
    rows: Rows = ()
    metadata: dict[str, Json] = field(default_factory=dict)
    created_at: str | None = None
    updated_at: str | None = None
    last_consolidated: int = 0
    provider_state: bool = False
    notices: tuple[Notice, ...] = ()
    migrated: tuple[str, ...] = ()
    crash: Crash | None = None


class _Strict(Exception):
    """The strict pass met something it cannot take; ``note`` says what, at which line."""

    def __init__(self, line: int, note: str) -> None:
        super().__init__(note)
        self.line = line
        self.note = note


@dataclass
class _State:
    rows: list[Row] = field(default_factory=list)
    metadata: Json = field(default_factory=dict)
    created_at: str | None = None
    updated_at: str | None = None
    offset: Json = 0
    provider_state: bool = False


def load_session(stored: StoredSession | None, dialect: Dialect) -> LoadedSession:
    """The session a dialect would work with; an empty one where there is no file."""
    if stored is None:
        return LoadedSession("cli:direct")
    key = stored.ref.key
    if stored.problem is not None:
        return _unreadable(stored, stored.problem, dialect)
    try:
        state = _strict(stored.records, dialect, stored.ref.path)
        notices: tuple[Notice, ...] = ()
    except _Strict as damage:
        repaired = _repair(stored, dialect, damage)
        if isinstance(repaired, LoadedSession):
            return repaired
        state, notices = repaired
    except Crash as crash:
        return LoadedSession(key, crash=crash.bare())
    return _finished(key, state, notices, stored, dialect)


def _unreadable(stored: StoredSession, problem: Notice, dialect: Dialect) -> LoadedSession:
    """Missing and undecodable files are empty sessions; what cannot be opened stops main and 0.3.5."""
    kind = problem.code.removeprefix("session.")
    crash = None
    if kind in ("directory", "permission", "loop", "io") and not dialect.strict_rows:
        names = {"directory": "IsADirectoryError", "permission": "PermissionError"}
        error = names.get(kind, "OSError")
        crash = Crash(
            error, problem.message, "session/manager.py::_load_unlocked", "Every turn of this session fails."
        )
    return LoadedSession(stored.ref.key, notices=(problem,), crash=crash)


def _strict(records: tuple[Record, ...], dialect: Dialect, path: str) -> _State:
    state = _State()
    for record in records:
        if record.error:
            if record.fatal and record.error.startswith("RecursionError") and not dialect.strict_rows:
                raise _too_deep(record, path)
            raise _Strict(record.line, record.error)
        value = record.value
        if not isinstance(value, dict):
            raise _Strict(record.line, f"the line is a {_kind(value)}, not an object")
        kind = value.get("_type")
        if kind == "metadata":
            _take_metadata(state, value, dialect, record.line, strict=True)
        elif kind == "provider_state" and not dialect.strict_rows:
            state.provider_state = isinstance(value.get("state"), dict)
        else:
            _take_row(state, record, path)
    return state


def _too_deep(record: Record, path: str) -> Crash:
    return Crash(
        "RecursionError",
        "maximum recursion depth exceeded while decoding a JSON object",
        "session/manager.py::_load_unlocked",
        f"Line {record.line} of {path} is nested so deeply that the session cannot be loaded at all.",
    )


def _take_row(state: _State, record: Record, path: str) -> None:
    row = Row(
        f"m{len(state.rows)}",
        record.value,
        source=Source(path, record.line, record.line),
        stored=True,
        evidence=Evidence.RECORDED,
    )
    state.rows.append(row)


def _take_metadata(
    state: _State, value: dict[str, Json], dialect: Dialect, line: int, *, strict: bool
) -> None:
    """A metadata record replaces the one before, wherever it stands: the last one wins."""
    metadata = value.get("metadata", {})
    state.metadata = metadata if isinstance(metadata, dict) or dialect.strict_rows else {}
    for name in ("created_at", "updated_at"):
        text = value.get(name)
        if dialect.strict_rows and text and not isinstance(text, str):
            if strict:
                raise _Strict(line, f"{name} is a {_kind(text)}")
            continue
        if not isinstance(text, str) or not text:
            if strict:
                setattr(state, name, None)
            continue
        if is_time(text):
            setattr(state, name, text)
        elif strict:
            raise _Strict(line, f"{name} is not a time: {text[:40]!r}")
    state.offset = _offset(value, dialect)


def _offset(value: dict[str, Json], dialect: Dialect) -> Json:
    for name in filter(None, (dialect.archived_key, "last_consolidated")):
        number = value.get(name)
        if isinstance(number, int) and not isinstance(number, bool):
            return number
    return 0


def is_time(text: str) -> bool:
    """Whether nanobot's Python takes a text for a time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _kind(value: Json) -> str:
    names = {list: "list", str: "text", int: "number", float: "number", bool: "true or false", dict: "object"}
    return names.get(type(value), "null")


def _repair(
    stored: StoredSession, dialect: Dialect, damage: _Strict
) -> tuple[_State, tuple[Notice, ...]] | LoadedSession:
    """The second pass: bad lines are skipped, a bad time leaves the earlier one."""
    path = stored.ref.path
    state = _State()
    notices: list[Notice] = []
    for record in stored.records:
        value = record.value
        where = Source(path, record.line)
        if record.error and record.fatal:
            return _absent(stored, record.line, f"{record.error}; the repair reader does not expect it")
        if record.error:
            notices.append(Notice("session.line-skipped", f"skipped: not JSON ({record.error})", where))
        elif not isinstance(value, dict):
            if dialect.strict_rows:
                return _absent(
                    stored, record.line, f"the line is a {_kind(value)}, which 0.2.2 cannot repair"
                )
            notices.append(Notice("session.line-skipped", f"skipped: a {_kind(value)}, not an object", where))
        elif value.get("_type") == "metadata":
            _take_metadata(state, value, dialect, record.line, strict=False)
        elif value.get("_type") == "provider_state" and not dialect.strict_rows:
            state.provider_state = isinstance(value.get("state"), dict)
        else:
            _take_row(state, record, path)
    if not notices:
        text = f"nanobot read the session a second time, with repairs: {damage.note}"
        notices.append(Notice("session.repaired", text, Source(path, damage.line)))
    if not state.rows and not state.metadata and not state.provider_state:
        return _absent(stored, damage.line, "nothing in it could be recovered")
    return state, tuple(notices)


def _absent(stored: StoredSession, line: int, why: str) -> LoadedSession:
    message = f"{why}: the session counts as absent, and the next save overwrites the file"
    return LoadedSession(
        stored.ref.key, notices=(Notice("session.absent", message, Source(stored.ref.path, line)),)
    )


def _finished(
    key: str, state: _State, notices: tuple[Notice, ...], stored: StoredSession, dialect: Dialect
) -> LoadedSession:
    offset = state.offset
    valid = isinstance(offset, int) and not isinstance(offset, bool) and 0 <= offset <= len(state.rows)
    notes = list(notices)
    if not valid:
        message = f"the archive position {offset!r} is outside the {len(state.rows)} rows; nanobot takes 0"
        notes.append(Notice("session.offset", message, Source(stored.ref.path)))
    if not isinstance(state.metadata, dict):
        crash = Crash(
            "AttributeError",
            f"'{type(state.metadata).__name__}' object has no attribute 'get'",
            "agent/loop.py::_restore_runtime_checkpoint",
            "The session's metadata is not an object: every turn fails.",
        )
        return LoadedSession(key, tuple(state.rows), notices=tuple(notes), crash=crash)
    loaded = LoadedSession(
        key=key,
        rows=tuple(state.rows),
        metadata=state.metadata,
        created_at=state.created_at,
        updated_at=state.updated_at,
        last_consolidated=int(offset) if valid else 0,
        provider_state=state.provider_state,
        notices=tuple(notes),
    )
    if dialect.compacts_requests:
        loaded = _overlaid(loaded, stored)
        loaded = _migrated(loaded)
    return loaded


def _overlaid(loaded: LoadedSession, stored: StoredSession) -> LoadedSession:
    """0.3.5 takes the in-flight state from a file of its own, if that fits the session exactly."""
    sidecar = stored.sidecar
    if not isinstance(sidecar, dict):
        return loaded
    where = Source(str(sidecar.get("path")))

    def ignored(why: str) -> LoadedSession:
        notice = Notice("session.sidecar", f"the checkpoint file is ignored and removed: {why}", where)
        return replace(loaded, notices=(*loaded.notices, notice))

    payload = sidecar.get("payload")
    if sidecar.get("problem"):
        return ignored(str(sidecar["problem"]))
    if sidecar.get("stale"):
        return ignored("the session was saved after it")
    if not isinstance(payload, dict) or not isinstance(payload.get("checkpoint"), dict):
        return ignored("it holds no checkpoint")
    expected = {"version": 1, "session_key": loaded.key, "base_message_count": len(loaded.rows)}
    for name, value in expected.items():
        if payload.get(name) != value:
            return ignored(f"its {name} is {payload.get(name)!r}, not {value!r}")
    updated = loaded.updated_at and datetime.fromisoformat(loaded.updated_at).isoformat()
    if payload.get("base_updated_at") != updated:
        return ignored("it was written for another state of the session")
    return replace(loaded, metadata={**loaded.metadata, "runtime_checkpoint": payload["checkpoint"]})


def _migrated(loaded: LoadedSession) -> LoadedSession:
    """0.3.5 rewrites calls of a tool that was renamed."""
    rows: list[Row] = []
    changed: list[str] = []
    for row in loaded.rows:
        value = migrate_exec_session(row.value)
        if value is row.value:
            rows.append(row)
            continue
        changed.append(row.id)
        rows.append(Row(row.id, value, source=row.source, stored=True, evidence=row.evidence))
    checkpoint = loaded.metadata.get("runtime_checkpoint")
    metadata = loaded.metadata
    if isinstance(checkpoint, dict):
        metadata = {**metadata, "runtime_checkpoint": _migrated_checkpoint(checkpoint)}
    if not changed:
        return replace(loaded, metadata=metadata)
    return replace(loaded, rows=tuple(rows), metadata=metadata, migrated=tuple(changed))


def _migrated_checkpoint(checkpoint: dict[str, Json]) -> dict[str, Json]:
    result = copy.copy(checkpoint)
    assistant = checkpoint.get("assistant_message")
    if isinstance(assistant, dict):
        result["assistant_message"] = migrate_exec_session(assistant)
    for name in ("completed_tool_results", "pending_tool_calls"):
        entries = checkpoint.get(name)
        if isinstance(entries, list):
            result[name] = [
                migrate_exec_session(entry, call=name.startswith("pending"))
                if isinstance(entry, dict)
                else entry
                for entry in entries
            ]
    return result
