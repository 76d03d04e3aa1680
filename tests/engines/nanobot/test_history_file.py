"""memory/history.jsonl as a turn that archives leaves it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptdbg.engines.nanobot.dialects import DIALECTS
from promptdbg.engines.nanobot.historyfile import HistoryFile
from promptdbg.model import Action
from tests.engines.nanobot.making import (
    assembled,
    assistant,
    loaded,
    settings,
    stored,
    turn_of,
    user,
)

ARCHIVING = ("main", "0.2.2")
ROWS = [row for n in range(36) for row in (user(f"{n} " + "tide " * 60), assistant("ok"))]
SMALL = {
    "context_window": 3_500,
    "max_output": 200,
    "consolidation": "succeeds",
    "summary": "All about tides.",
}


def _write(folder: Path, data: str, counter: str | None = None, dream: str | None = None) -> None:
    memory = folder / "memory"
    memory.mkdir(exist_ok=True)
    (memory / "history.jsonl").write_text(data, "utf-8")
    if counter is not None:
        (memory / ".cursor").write_text(counter)
    if dream is not None:
        (memory / ".dream_cursor").write_text(dream)


def _line(cursor: Any, content: str = "old") -> str:
    entry = {"cursor": cursor, "timestamp": "2026-08-01 10:00", "content": content}
    return json.dumps(entry | {"session_key": "cli:direct"})


def _recent(folder: Path, dialect: str) -> str:
    assembly = assembled(loaded(folder, stored(ROWS)), settings(dialect, **SMALL))
    section = assembly.section("recent_history")
    assert section is not None
    return section.output


@pytest.mark.parametrize("dialect", ARCHIVING)
def test_an_entry_is_appended_below_the_last_line(tmp_path: Path, dialect: str) -> None:
    _write(tmp_path, _line(4) + "\n")
    assert _recent(tmp_path, dialect).splitlines()[2:4] == [
        "- [2026-08-01 10:00] old",
        "- [2026-08-20 09:30] All about tides.",
    ]


@pytest.mark.parametrize("dialect", ARCHIVING)
def test_without_a_line_end_the_first_entry_spoils_the_last_line(tmp_path: Path, dialect: str) -> None:
    _write(tmp_path, _line(3, "older") + "\n" + _line(4))
    assembly = assembled(loaded(tmp_path, stored(ROWS)), settings(dialect, **SMALL))
    section = assembly.section("recent_history")
    assert section is not None
    assert "- [2026-08-01 10:00] older" in section.output
    assert "] old\n" not in section.output
    lost = next(d for d in assembly.decisions if d.item == "recent_history/2")
    assert lost.action is Action.DROP
    assert "no line end" in lost.because


@pytest.mark.parametrize("dialect", ARCHIVING)
@pytest.mark.parametrize(
    ("data", "counter", "cursor"),
    [
        ("", None, 1),
        (_line(4) + "\n", None, 5),
        (_line(9) + "\n" + _line(4) + "\n", None, 5),
        (_line(9) + "\n" + _line("x") + "\n", None, 10),
        (_line(9) + "\n" + _line(4, "x" * 5_000) + "\n", None, 10),
        (_line(4) + "\n", "7\n", 8),
        (_line(4) + "\n", "2", 5),
        (_line(4) + "\n", "-3", 5),
        (_line(4) + "\n", "seven", 5),
        ("", "7", 8),
        (_line(4), "2", 5),
    ],
)
def test_the_next_cursor(tmp_path: Path, dialect: str, data: str, counter: str | None, cursor: int) -> None:
    _write(tmp_path, data, counter)
    file = HistoryFile(loaded(tmp_path), DIALECTS[dialect], "2026-08-20 09:30", "cli:direct")
    file.append("first")
    file.append("second")
    assert file.appended[1].cursor == cursor + 1
    if not data or data.endswith("\n"):
        assert file.appended[0].cursor == cursor


@pytest.mark.parametrize("dialect", ARCHIVING)
def test_an_entry_that_dream_has_passed_is_not_shown(tmp_path: Path, dialect: str) -> None:
    _write(tmp_path, "", counter="2", dream="99")
    assert _recent(tmp_path, dialect) == ""


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"timestamp": 5}, "TypeError: 'int' object is not subscriptable"),
        ({"timestamp": None}, "TypeError: 'NoneType' object is not subscriptable"),
        ({"tools_used": [1]}, "TypeError: sequence item 0: expected str instance, int found"),
        ({"role": 5}, "AttributeError: 'int' object has no attribute 'upper'"),
    ],
)
@pytest.mark.parametrize("outcome", ["fails", "succeeds"])
def test_the_oldest_cannot_archive_a_row_of_odd_values(
    tmp_path: Path, row: dict[str, Any], error: str, outcome: str
) -> None:
    rows = [user("a", **row), *ROWS]
    given = settings("0.2.2", max_messages=10, consolidation=outcome)
    failure = assembled(loaded(tmp_path, stored(rows)), given).failure
    assert failure is not None
    assert (failure.error, failure.where) == (error, "agent/memory.py::_format_messages")


def test_later_versions_archive_odd_times_and_roles(tmp_path: Path) -> None:
    rows = [user("a", timestamp=5), {"role": None, "content": "b"}, *ROWS]
    given = settings("main", **(SMALL | {"consolidation": "fails"}))
    section = assembled(loaded(tmp_path, stored(rows)), given).section("recent_history")
    assert section is not None
    assert "[5] USER: a\n[?] UNKNOWN: b" in section.output


@pytest.mark.parametrize("dialect", ARCHIVING)
def test_a_lone_surrogate_cannot_be_archived_as_it_is(tmp_path: Path, dialect: str) -> None:
    given = settings(dialect, **(SMALL | {"consolidation": "fails"}))
    failure = assembled(loaded(tmp_path, stored([user("\ud83d"), *ROWS])), given).failure
    assert failure is not None
    assert failure.where == "agent/memory.py::append_history"


@pytest.mark.parametrize(
    ("dialect", "reply", "entry"),
    [
        ("0.2.2", "", "[no summary]"),
        ("0.2.2", " ", ""),
        ("0.2.2", "(nothing)", "(nothing)"),
        ("main", " ", "[RAW] "),
    ],
)
def test_a_summary_that_says_nothing(tmp_path: Path, dialect: str, reply: str, entry: str) -> None:
    given = settings(dialect, **(SMALL | {"summary": reply, "max_messages": 60}))
    consolidated = turn_of(loaded(tmp_path, stored(ROWS)), given).consolidated
    assert consolidated is not None
    first = consolidated.entries[0].content
    assert first.startswith(entry) if dialect == "main" else first == entry
