"""An item on which no decision is known is never said to be whole where it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptdbg.analysis.undecided import undecided
from promptdbg.analysis.why import why
from promptdbg.cli import main
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.tokens import tokenizer

TRACE: dict[str, Any] = {
    "schema": "promptdbg/trace/1",
    "sections": [
        {"name": "cut", "text": "You are a helpful bot. Never mention cats.", "kept": [[0, 22]]},
        {"name": "gone", "text": "All of it.", "kept": []},
        {"name": "off", "text": "All of it.", "status": "disabled"},
        {"name": "shadow", "text": "All of it.", "status": "shadowed"},
        {"name": "whole", "text": "Stays."},
        {"name": "empty"},
        {"name": "parent", "text": "x", "status": "truncated"},
        {"name": "child", "text": "y", "status": "dropped", "parent": "parent"},
    ],
    "stages": [
        {"name": "stored", "messages": [{"id": name, "content": name} for name in "abcd"]},
        {"name": "trimmed", "messages": [{"id": name, "content": name} for name in "bcd"]},
        {
            "name": "sent",
            "messages": [
                {"id": "b", "content": "b, shorter"},
                {"id": "c", "content": "c and d", "sources": ["c", "d"]},
                {"id": "new", "content": "put in"},
            ],
        },
    ],
}

SAID = {
    "cut": "A part of its text is cut; the file gives no reason.",
    "gone": "It is not in the prompt; the file gives no reason.",
    "off": "It is switched off; the file gives no reason.",
    "shadow": "It is shadowed; the file gives no reason.",
    "whole": "Nothing was taken from it.",
    "empty": "It produced nothing.",
    "parent": "Parts of it are out; they say why.",
    "child": "It is not in the prompt; the file gives no reason.",
    "a": "It is gone from trimmed on; the file gives no reason.",
    "b": "Its content is another from sent on; the file gives no reason.",
    "c": "It is merged from sent on; the file gives no reason.",
    "d": "It is merged into c from sent on; the file gives no reason.",
    "new": "Nothing was taken from it.",
}


@pytest.mark.parametrize(("item", "said"), SAID.items())
def test_what_is_said(item: str, said: str) -> None:
    assembly = assembly_from_trace(TRACE, tokenizer())
    assert undecided(assembly, why(assembly, item)) == said


def test_why_and_trace_say_that_there_is_no_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({**TRACE, "stages": TRACE["stages"][:2]}))
    assert main(["why", str(path), "a"]) == 0
    assert "It is gone from trimmed on; the file gives no reason." in capsys.readouterr().out
    assert main(["why", str(path), "cut"]) == 0
    output = capsys.readouterr().out
    assert "Nothing was taken" not in output
    assert "Cut at line 1, column 23" in output
    path.write_text(
        json.dumps(
            {
                "schema": "promptdbg/trace/1",
                "stages": [
                    {"name": "stored", "messages": [{"id": "a", "content": "a needle"}]},
                    {"name": "sent", "messages": []},
                ],
            }
        )
    )
    assert main(["trace", str(path), "needle"]) == 1
    assert "gone from sent on; the file gives no reason" in capsys.readouterr().out
