"""Workspaces of any size: the small example of each engine with more messages in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from promptdbg.examples import find

_SENTENCE = "the river rises every spring and the lower path is closed until the water is gone again"
_WORDS = _SENTENCE.split()


def text(number: int, words: int = 40) -> str:
    """Some plain words, different for every number."""
    return " ".join([f"note {number}:", *(_WORDS[(number * 7 + i) % len(_WORDS)] for i in range(words))])


def messages(count: int) -> Iterator[dict[str, Any]]:
    """User and assistant in turn; every fifth answer calls a tool and gets a result."""
    number = 0
    while number < count:
        yield {"role": "user", "content": text(number)}
        if number % 10 == 0 and number + 3 < count:
            function = {"name": "grep", "arguments": json.dumps({"pattern": text(number, 3)})}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
            yield {"role": "tool", "tool_call_id": call["id"], "name": "grep", "content": text(number, 120)}
            number += 2
        yield {"role": "assistant", "content": text(number + 1)}
        number += 2


def plain(count: int) -> list[dict[str, Any]]:
    """Messages without tools, for frameworks whose files hold none."""
    return [{"role": ("user", "assistant")[n % 2], "content": text(n)} for n in range(count)]


def _json_lines(path: Path, rows: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _nanobot(folder: Path, count: int) -> None:
    head = (folder / "session.jsonl").read_text(encoding="utf-8").split("\n", 1)[0]
    rows = [json.loads(head), *messages(count)]
    _json_lines(folder / "session.jsonl", rows)


def _bee(folder: Path, count: int) -> None:
    _json_lines(folder / "messages.jsonl", messages(count))


def _phronomy(folder: Path, count: int) -> None:
    _json_lines(folder / "messages.jsonl", plain(count))


def _orbiter(folder: Path, count: int) -> None:
    path = folder / "state.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(state | {"history": plain(count)}), encoding="utf-8")


def _agentos(folder: Path, count: int) -> None:
    path = folder / "components.json"
    components = json.loads(path.read_text(encoding="utf-8"))
    components["conversationHistory"] = plain(count)
    path.write_text(json.dumps(components), encoding="utf-8")


GROWN: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "nanobot": ("nanobot-lost-rule", _nanobot),
    "orbiter": ("orbiter-order", _orbiter),
    "bee": ("bee-nearest-rule", _bee),
    "phronomy": ("phronomy-forgotten", _phronomy),
    "agentos": ("agentos-window", _agentos),
}


def grown(engine: str, count: int, folder: Path) -> Path:
    """A copy of an engine's example in ``folder`` with ``count`` messages."""
    example, grow = GROWN[engine]
    target = folder / f"{engine}-{count}"
    shutil.copytree(find(example).path, target)
    grow(target, count)
    return target
