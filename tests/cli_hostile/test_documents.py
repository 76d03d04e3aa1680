"""Documents of strangers: any value in any place gives a picture or one line, in every command."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from promptdbg.tui.message_view import grid, window
from tests.cli_hostile.running import EXAMPLES, run

ODD: list[Any] = [
    None, 0, -1, 1.5, True, [], {}, "", "x", "\x1b]52;c;QQ==\x07\n\u202e[red][/]", [None], [{}], {"a": 1},
    10**30, 10**400, -(10**30), float("nan"), float("inf"), "\ud800", "x" * 20_000, [[[]]],
]  # fmt: skip
TRACE = {
    "schema": "promptdbg/trace/1",
    "engine": {"name": "mine", "version": "1"},
    "sections": [{"name": "a", "text": "hello there"}, {"name": "b", "text": "x", "status": "dropped"}],
    "stages": [
        {"name": "s", "messages": [{"id": "1", "role": "user", "content": "x"}]},
        {"name": "f", "messages": [{"role": "user", "content": "x"}]},
    ],
    "decisions": [{"item": "b", "rule": "r", "because": "why"}],
    "rules": [{"id": "r", "title": "t"}],
    "budget": {"limit": 10, "used": 5, "parts": [{"name": "p", "tokens": 5}]},
    "warnings": ["x"],
}
ROUNDS = 40


def documents() -> dict[str, Any]:
    assembly = json.loads(run("inspect", EXAMPLES / "orbiter-nasty", "--json")[1])
    return {"assembly": assembly, "trace": TRACE}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values stand in a document; of a list its first and its last."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        for index in sorted({0, len(value) - 1}):
            found += places(value[index], (*path, index))
    return found


def with_value(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = with_value(copy[path[0]], path[1:], value)
    return copy


COMMANDS = [
    ["inspect"],
    ["inspect", "--json"],
    ["compare"],
    ["lint"],
    ["trace", "hello"],
    ["why", "b"],
    ["check", "--max-tokens", "5", "--no-drop", "*"],
    ["fixes"],
    [],
]
EXPORTS = [["md", "structure"], ["html", "redacted"], ["svg", "full"], ["json", "structure"]]


@pytest.mark.parametrize("name", ["assembly", "trace"])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: "-".join(words[:2]) or "open")
def test_any_value_in_any_place(name: str, words: list[str], tmp_path: Path) -> None:
    random_ = random.Random(" ".join(words) + name)
    document = documents()[name]
    where = places(document)
    file = tmp_path / "document.json"
    for _ in range(ROUNDS):
        changed = with_value(document, random_.choice(where), random_.choice(ODD))
        file.write_text(json.dumps(changed))
        run(*words[:1], file, *words[1:])


@pytest.mark.parametrize(("form", "level"), EXPORTS)
def test_any_value_exports(form: str, level: str, tmp_path: Path) -> None:
    random_ = random.Random(form)
    document = documents()["assembly"]
    where = places(document)
    file, out = tmp_path / "document.json", tmp_path / "out"
    for _ in range(ROUNDS):
        changed = with_value(document, random_.choice(where), random_.choice(ODD))
        file.write_text(json.dumps(changed))
        words = ["--format", form, "--level", level, "--force"]
        code, _, said = run("export", file, "-o", out, *words, one_line=False)
        assert (code == 0) == ("wrote" in said), said


def test_the_place_is_named(tmp_path: Path) -> None:
    document = documents()["assembly"]
    file = tmp_path / "document.json"
    file.write_text(json.dumps(with_value(document, ("sections", 0, "tokens"), [1])))
    code, _, said = run("inspect", file)
    assert code == 2
    assert "sections.0.tokens must be a whole number" in said


def test_cut_short(tmp_path: Path) -> None:
    text = json.dumps(documents()["assembly"])
    file = tmp_path / "document.json"
    for end in range(0, len(text) - 1, len(text) // 40):
        file.write_text(text[:end])
        assert run("inspect", file)[0] == 2


def test_the_screens_of_sections_without_any_list() -> None:
    shown = window(0, 0, 3)
    assert grid(120, shown, 0).widths == ()
