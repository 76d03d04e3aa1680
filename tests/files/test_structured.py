"""Structured files: values, lines of values, and problems with their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from promptdbg.files.structured import Parsed, read_structured


def read(folder: Path, name: str, text: str | bytes) -> Parsed:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_structured(path)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("a.json", '{"a": [1]}', {"a": [1]}),
        ("a.toml", "a = [1]", {"a": [1]}),
        ("a.yaml", "a: [1]", {"a": [1]}),
        ("a.yml", "at: 2026-03-14T09:26:53+00:00", {"at": "2026-03-14T09:26:53+00:00"}),
        ("a.jsonl", '{"a": 1}\n\n[2]\n', [{"a": 1}, [2]]),
        ("b.yaml", "", None),
        ("c.yaml", "\ufeffa: 1", {"a": 1}),
    ],
)
def test_values(tmp_path: Path, name: str, text: str, value: Any) -> None:
    parsed = read(tmp_path, name, text)
    assert parsed.ok
    assert parsed.value == value
    assert parsed.notices == ()


@pytest.mark.parametrize(
    ("name", "text", "line", "column"),
    [
        ("a.json", '{"a":\n 1,,}', 2, 4),
        ("a.toml", "a = \n", 1, 5),
        ("a.yaml", "a: 1\nb: [1\nc: 2", 3, 2),
        ("b.yaml", 'a: "\x01"', 1, 5),
        ("a.jsonl", '1\n{"a"', 2, 5),
        ("c.yaml", "a: !!python/object:os.system x", 1, 4),
    ],
)
def test_a_problem_has_its_place_once(tmp_path: Path, name: str, text: str, line: int, column: int) -> None:
    parsed = read(tmp_path, name, text)
    assert parsed.notices[0].message.startswith(f"column {column}: ")
    assert name not in parsed.notices[0].message
    assert parsed.notices[0].source is not None
    assert parsed.notices[0].source.start_line == line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "[" * 100_000),
        ("a.yaml", "[" * 20_000),
        ("b.yaml", "a: &a [*a]"),
        ("c.yaml", "a: &a [1]\nb: &b [" + "*a," * 1000 + "]\nc: &c [" + "*b," * 1000 + "]\nd: [*c]"),
        ("d.json", "1" * 10_000),
        ("a.toml", "a = " + "[" * 100_000),
        ("e.json", b'{"a": "\xff"}'),
    ],
)
def test_hostile_documents_are_refused(tmp_path: Path, name: str, text: str | bytes) -> None:
    parsed = read(tmp_path, name, text)
    assert not parsed.ok
    assert len(parsed.notices) == 1


def test_yaml_and_json_lines_keep_the_line_of_a_value(tmp_path: Path) -> None:
    parsed = read(tmp_path, "a.yaml", "top:\n  - name: x\n  - name: y\n")
    assert parsed.source("top", 1).start_line == 3
    assert parsed.source("top", 1, "name").start_line == 3
    assert parsed.source("top", 7, "unknown").start_line == 2
    assert read(tmp_path, "a.jsonl", '\n{"a": 1}').source(0).start_line == 2


def test_a_missing_file_is_not_a_problem(tmp_path: Path) -> None:
    parsed = read_structured(tmp_path / "none.yaml")
    assert not parsed.found
    assert parsed.notices == ()
