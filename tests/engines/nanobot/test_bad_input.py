"""Damaged and hostile input: one clear line each, and everything else still works."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from promptdbg.model import StageKind
from promptdbg.records import Record, SessionRef
from promptdbg.sessions import nanobot as sessions
from tests.engines.nanobot.making import (
    DIALECTS,
    assembled,
    assistant,
    codes,
    final_ids,
    loaded,
    settings,
    stored,
    user,
    write_session,
)

_HEAD = '{"_type": "metadata", "key": "cli:direct", "metadata": {}, "last_consolidated": 0}\n'
_ROW = '{"role": "user", "content": "kept"}\n'


def _from_file(tmp_path: Path, data: bytes, dialect: str = "main"):  # type: ignore[no-untyped-def]
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    inputs = loaded(tmp_path, sessions.read(SessionRef(str(path), sessions.FORMAT, "cli:direct")))
    return assembled(inputs, settings(dialect))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"role": "assistant", "content": "cut of', "not JSON"),
        ("[1, 2]", "a list, not an object"),
        ('"text"', "a text, not an object"),
        ("null", "a null, not an object"),
        ("\ufeff{}", "BOM"),
    ],
)
def test_a_damaged_line_is_skipped_and_named(tmp_path: Path, line: str, said: str) -> None:
    assembly = _from_file(tmp_path, (_HEAD + line + "\n" + _ROW).encode())
    notice = next(n for n in assembly.warnings if n.code == "session.line-skipped")
    assert said in notice.message
    assert notice.source is not None
    assert notice.source.start_line == 2
    assert "m0" in final_ids(assembly)


def test_a_line_that_is_no_object_hides_the_whole_session_in_the_oldest(tmp_path: Path) -> None:
    assembly = _from_file(tmp_path, (_HEAD + "[1]\n" + _ROW).encode(), "0.2.2")
    assert final_ids(assembly) == ["system", "current"]
    assert "session.absent" in codes(assembly)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_byte_order_mark_costs_the_metadata_line(tmp_path: Path, dialect: str) -> None:
    assembly = _from_file(tmp_path, b"\xef\xbb\xbf" + (_HEAD + _ROW).encode(), dialect)
    assert "m0" in final_ids(assembly)
    assert "session.line-skipped" in codes(assembly)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_invalid_utf8_makes_the_session_absent(tmp_path: Path, dialect: str) -> None:
    assembly = _from_file(tmp_path, _HEAD.encode() + b'{"role": "user", "content": "\xe9"}\n', dialect)
    notice = next(n for n in assembly.warnings if n.code == "session.not-utf8")
    assert "overwrites" in notice.message
    assert notice.source is not None
    assert notice.source.start_line == 2
    assert final_ids(assembly) == ["system", "current"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_lone_surrogate_loads_but_cannot_be_saved(tmp_path: Path, dialect: str) -> None:
    assembly = _from_file(tmp_path, (_HEAD + '{"role": "user", "content": "\\ud83d"}\n').encode(), dialect)
    assert assembly.failure is not None
    assert assembly.failure.error.startswith("UnicodeEncodeError")
    assert assembly.stage(StageKind.SESSION) is not None
    assert assembly.stage(StageKind.FINAL) is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_row_without_a_role_kills_every_turn(tmp_path: Path, dialect: str) -> None:
    row = '{"_type": "note", "content": "x"}\n'
    assembly = _from_file(tmp_path, (_HEAD + _ROW + row).encode(), dialect)
    assert assembly.failure is not None
    assert assembly.failure.error == "KeyError: 'role'"
    assert assembly.failure.where == "session/manager.py::get_history"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_very_long_line_and_half_a_last_line(tmp_path: Path, dialect: str) -> None:
    long = '{"role": "user", "content": "' + "x" * 5_000_000 + '"}\n'
    assembly = _from_file(tmp_path, (_HEAD + long + _ROW + '{"role": "us').encode(), dialect)
    assert assembly.failure is None
    assert "session.line-skipped" in codes(assembly)


@pytest.mark.parametrize("dialect", ["main", "0.3.5"])
def test_nesting_that_no_parser_takes_is_a_crash(tmp_path: Path, dialect: str) -> None:
    assembly = _from_file(tmp_path, (_HEAD + "[" * 100_000 + "]" * 100_000 + "\n" + _ROW).encode(), dialect)
    assert assembly.failure is not None
    assert assembly.failure.error.startswith("RecursionError")


def test_a_number_too_long_to_parse_makes_the_session_absent(tmp_path: Path) -> None:
    assembly = _from_file(tmp_path, (_HEAD + '{"role": "user", "n": ' + "9" * 5_000 + "}\n" + _ROW).encode())
    assert "session.absent" in codes(assembly)


def test_calls_that_cannot_be_iterated_are_a_crash(tmp_path: Path) -> None:
    rows = [user("hi"), {"role": "assistant", "content": "x", "tool_calls": 5}]
    assembly = assembled(loaded(tmp_path, stored(rows)), settings("main"))
    assert assembly.failure is not None
    assert assembly.failure.error == "TypeError: 'int' object is not iterable"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_odd_roles_and_values_pass_through(tmp_path: Path, dialect: str) -> None:
    rows = [user(5), {"role": "odd", "content": None}, {"role": 7, "content": {"a": 1}}, assistant(None)]
    assembly = assembled(loaded(tmp_path, stored(rows)), settings(dialect))
    assert assembly.failure is None
    assert "m1" in final_ids(assembly)


@pytest.mark.parametrize(
    "name", ["SOUL.md", "memory/MEMORY.md", "skills/one/SKILL.md", "memory/history.jsonl"]
)
def test_a_workspace_file_that_is_not_utf8_stops_the_turn(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\xe9")
    assembly = assembled(loaded(tmp_path, stored([user("hi")])), settings("main"))
    assert assembly.failure is not None
    assert assembly.failure.error.startswith("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are not files everywhere")
def test_a_pipe_or_a_folder_in_the_session_s_place(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "session.jsonl")
    read = sessions.read(SessionRef(str(tmp_path / "session.jsonl"), sessions.FORMAT, "cli:direct"))
    assert read.problem is not None
    assert read.problem.code == "session.not-regular"
    assert "session.not-regular" in codes(assembled(loaded(tmp_path, read), settings("main")))
    folder = sessions.read(SessionRef(str(tmp_path), sessions.FORMAT, "cli:direct"))
    assembly = assembled(loaded(tmp_path, folder), settings("main"))
    assert assembly.failure is not None
    assert assembly.failure.error.startswith("IsADirectoryError")


def test_separators_inside_strings_do_not_end_a_line(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", [user("a\u2028b\u2029c\x85d"), assistant("ok")])
    read = sessions.read(SessionRef(str(path), sessions.FORMAT, "x"))
    assert [record.error for record in read.records] == ["", "", ""]


def test_a_fatal_record_is_told_from_a_broken_one() -> None:
    assert Record(1, error="x").fatal is False
