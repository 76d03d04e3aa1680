"""memory/history.jsonl (0.2.2 and main): its entries, and what a turn itself appends to it.

``agent/memory.py::MemoryStore``: ``_read_entries``, ``append_history`` and ``_next_cursor``. Nothing is
written; an appended entry is what the file would have held.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.inputs import COUNTER, HISTORY, NanobotInputs
from promptdbg.engines.nanobot.rows import dumps
from promptdbg.model import Json

_TAIL_BYTES = 4096
"""How much of the file's end is read for its last entry (``_read_last_entry``)."""

_NOT_JSON = "the line is not JSON"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One line of history.jsonl; ``problem`` says why nanobot ignores it.

    A negative ``line`` numbers an entry that this turn itself would have appended.
    """

    line: int
    cursor: int
    timestamp: str
    content: str
    session_key: str | None
    problem: str = ""

    @property
    def id(self) -> str:
        return f"recent_history/{self.line}" if self.line > 0 else f"recent_history/new:{-self.line}"

    @property
    def shown(self) -> str:
        return f"- [{self.timestamp}] {self.content}"


def history_entries(inputs: NanobotInputs, dialect: Dialect) -> tuple[HistoryEntry, ...]:
    """Every entry of the file, the ignored ones with their problem.

    Raises:
        Crash: the file cannot be read, or not as UTF-8, or holds what 0.2.2 cannot take.
    """
    key = ("history", dialect.name)
    if key not in inputs.cache:
        inputs.cache[key] = _read_entries(inputs, dialect)
    found: tuple[HistoryEntry, ...] = inputs.cache[key]
    return found


def _read_entries(inputs: NanobotInputs, dialect: Dialect) -> tuple[HistoryEntry, ...]:
    file = inputs.agent_files[HISTORY]
    if not file.found:
        return ()
    if file.text is None:
        error, _, message = file.error.partition(": ")
        raise Crash(error, message, "agent/memory.py::_read_entries", "history.jsonl makes every turn fail.")
    entries: list[HistoryEntry] = []
    for number, line in enumerate(file.text.split("\n"), start=1):
        if line.strip():
            entries.append(_entry(number, line.strip(), dialect))
    return tuple(entries)


def _entry(number: int, line: str, dialect: Dialect) -> HistoryEntry:
    def ignored(problem: str, content: str = line) -> HistoryEntry:
        return HistoryEntry(number, -1, "", content, None, problem)

    try:
        value = json.loads(line)
    except json.JSONDecodeError:
        return ignored(_NOT_JSON)
    except (ValueError, RecursionError) as error:
        meaning = f"Line {number} of history.jsonl makes every turn fail."
        raise Crash(type(error).__name__, str(error), "agent/memory.py::_read_entries", meaning) from error
    if not isinstance(value, dict):
        if dialect.strict_rows:
            raise Crash(
                "AttributeError",
                f"'{type(value).__name__}' object has no attribute 'get'",
                "agent/memory.py::_iter_valid_entries",
                f"Line {number} of history.jsonl is not an object: every turn fails in 0.2.2.",
            )
        return ignored("the line is not an object")
    cursor, timestamp, content = value.get("cursor"), value.get("timestamp"), value.get("content")
    key = value.get("session_key")
    shown = content if isinstance(content, str) else line
    if isinstance(cursor, bool) or not isinstance(cursor, int) or cursor < 0:
        return ignored(f"its cursor is {_short(cursor)}", shown)
    if not isinstance(timestamp, str):
        return ignored("its timestamp is not a text", shown)
    if not isinstance(content, str):
        return ignored("its content is not a text", shown)
    if key is not None and not isinstance(key, str):
        return ignored("its session_key is not a text", shown)
    return HistoryEntry(number, cursor, timestamp, content, key)


def _short(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)[:30]


# ---- appending -----------------------------------------------------------------------------------


@dataclass
class HistoryFile:
    """The file as the turn's own appends leave it. ``now`` are minutes of the frozen clock."""

    inputs: NanobotInputs
    dialect: Dialect
    now: str
    session_key: str
    appended: list[HistoryEntry] = field(default_factory=list)
    _tail: str | None = None
    _counter: int | None = None

    def append(self, content: str) -> None:
        """One more entry, below the last line, or onto it where that has no line end.

        Raises:
            Crash: the entry holds a lone surrogate, or 0.2.2 cannot take what the file holds.
        """
        tail = self._end()
        cursor = self._next_cursor()
        record: dict[str, Json] = {"cursor": cursor, "timestamp": self.now, "content": content}
        if self.session_key:
            record["session_key"] = self.session_key
        line = dumps(record)
        _check_writable(line)
        last = tail.rpartition("\n")[2]
        if last:
            self.appended.append(self._glued(last, line))
        else:
            number = -1 - len(self.appended)
            self.appended.append(HistoryEntry(number, cursor, self.now, content, self.session_key or None))
        self._tail = f"{last}{line}\n"
        self._counter = cursor

    def _glued(self, last: str, line: str) -> HistoryEntry:
        number = (self.inputs.agent_files[HISTORY].text or "").count("\n") + 1
        entry = _entry(number, (last + line).strip(), self.dialect)
        if entry.problem != _NOT_JSON:
            return entry
        return replace(entry, problem="it had no line end, so the entry of this turn was written onto it")

    def _end(self) -> str:
        """The last line, with its end and all that is blank after it."""
        if self._tail is None:
            self._tail = self.inputs.agent_files[HISTORY].text or ""
        return self._tail

    def _next_cursor(self) -> int:
        """One above the counter's file and the last entry; above all where that one has no cursor."""
        counter = self._counter if self.appended else _stored_counter(self.inputs)
        last = _cursor(self._last_entry())
        if last is None:
            entries = {e.id: e for e in (*history_entries(self.inputs, self.dialect), *self.appended)}
            last = max((entry.cursor for entry in entries.values() if not entry.problem), default=0)
        return max(counter or 0, last) + 1

    def _last_entry(self) -> dict[str, Json]:
        """The last line as an object; empty where it is none, or is too long to be read whole."""
        end = self._end().encode("utf-8")[-_TAIL_BYTES:]
        try:
            lines = [line for line in end.decode("utf-8").split("\n") if line.strip()]
            value: Json = json.loads(lines[-1]) if lines else None
        except (json.JSONDecodeError, UnicodeDecodeError):
            return {}
        if isinstance(value, dict):
            return value
        if value and self.dialect.strict_rows:
            raise Crash(
                "AttributeError",
                f"'{type(value).__name__}' object has no attribute 'get'",
                "agent/memory.py::_next_cursor",
                "The last line of history.jsonl is not an object: nothing can be archived in 0.2.2.",
            )
        return {}


def _stored_counter(inputs: NanobotInputs) -> int | None:
    try:
        counter = int((inputs.agent_files[COUNTER].text or "").strip())
    except ValueError:
        return None
    return counter if counter >= 0 else None


def _cursor(entry: dict[str, Json]) -> int | None:
    value = entry.get("cursor")
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def _check_writable(line: str) -> None:
    try:
        line.encode("utf-8")
    except UnicodeEncodeError as error:
        meaning = "A lone surrogate in a row that is archived cannot be written: each turn fails."
        where = "agent/memory.py::append_history"
        raise Crash("UnicodeEncodeError", str(error), where, meaning) from error
