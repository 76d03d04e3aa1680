"""Where there is one of a thing, no line of the commands and of the UI speaks of several."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from promptdbg.cli import main
from tests.tui import sample
from tests.tui.conftest import idle, screen_text, settled

WORDS = (
    "tokens|rows|lines|messages|sections|characters|chars|bytes|items|places|changes|warnings|turns|hits"
    "|parts|lists|decisions|entries|files|texts|values|options|bits"
)
SEVERAL = re.compile(rf"(?<![\d,.:–-])1 (?:{WORDS})\b.*")

TRACE = {
    "schema": "promptdbg/trace/1",
    "sections": [{"name": "a", "text": "x"}, {"name": "b", "text": "x", "kept": []}],
    "stages": [
        {"name": "stored", "messages": [{"id": "m", "role": "user", "content": "x"}]},
        {"name": "sent", "messages": [{"id": "m", "role": "user", "content": "x"}]},
    ],
    "decisions": [
        {"item": "b", "action": "drop", "because": "It is too much.", "measured": 1, "limit": 0,
         "unit": "tokens", "before": 1, "after": 0},
    ],
}  # fmt: skip

COMMANDS = (
    "inspect FILE",
    "why FILE a",
    "why FILE b",
    "why FILE m",
    "trace FILE x",
    "FILE --plain",
    "lint FILE",
    "check FILE --no-drop a --max-tokens 9 --max-section a=1",
    "compare FILE --all",
    "duplicates FILE",
    "export FILE --format md --level full -o -",
    "export FILE --format html --level full -o -",
)


@pytest.mark.parametrize("words", COMMANDS)
def test_of_one_thing_a_command_says_one(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(TRACE))
    main([str(trace) if word == "FILE" else word for word in words.split()])
    out, err = capsys.readouterr()
    assert out, err
    assert not SEVERAL.findall(out), SEVERAL.findall(out)


DOCUMENT = """\
engine = "sample"
budget = 1

[[sections]]
name = "one"
text = "x"

[[sections]]
name = "two"
kind = "result"
text = "y"

[[messages]]
role = "user"
content = "x"
"""


async def test_of_one_thing_the_ui_says_one(tmp_path: Path) -> None:
    from promptdbg.tui.app import PromptdbgApp

    sample.install()
    folder = sample.write_workspace(tmp_path / "one", DOCUMENT)
    app = PromptdbgApp(sample.opener(folder), watch=False, show_times=False)
    seen: list[str] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        for keys in (
            "", "down", "f", "escape", "i", "escape", "t", "escape", "m", "i", "escape", "escape", "p",
            "down",
            "escape", "T", "escape", "c", "escape", "x", "right", "right", "escape", "B", "escape",
            "exclamation_mark", "escape", "space", "c", "escape", "F", "x", "enter", "escape", "y",
        ):  # fmt: skip
            if keys:
                await pilot.press(keys)
            await idle(pilot)
            seen += SEVERAL.findall(screen_text(app))
    assert not seen, set(seen)
