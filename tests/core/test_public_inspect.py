"""``promptdbg.inspect`` and ``promptdbg FILE.json`` take what a program has at hand: its messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import promptdbg
from promptdbg.cli import main
from promptdbg.errors import InputError
from promptdbg.export.opening import document_assembly
from promptdbg.model import StageKind
from promptdbg.program import as_assembly
from promptdbg.tokens import tokenizer
from tests import invariants

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "x", "id": 7, "tokens": "many"},
]
TOOLS = [{"type": "function", "function": {"name": "f"}}]
ANTHROPIC = {
    "model": "claude",
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
}
RESPONSES = {
    "model": "gpt",
    "input": [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ],
}


@pytest.mark.parametrize(
    ("prompt", "roles", "sections"),
    [
        (MESSAGES, ["system", "user", "assistant", "tool"], ["system"]),
        (tuple(MESSAGES), ["system", "user", "assistant", "tool"], ["system"]),
        (
            {"messages": MESSAGES, "tools": TOOLS},
            ["system", "user", "assistant", "tool"],
            ["system", "tools"],
        ),
        (ANTHROPIC, ["system", "user"], ["system"]),
        (RESPONSES, ["user", "assistant", "tool"], []),
        ({"input": "hi"}, ["user"], []),
        (
            [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}],
            2 * ["system"],
            ["system", "system 2"],
        ),
    ],
)
def test_messages_are_the_final_list_of_an_assembly(
    prompt: Any, roles: list[str], sections: list[str]
) -> None:
    assembly = as_assembly(prompt)
    invariants.check(assembly)
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    assert [message.role for message in final.messages] == roles
    assert [section.name for section in assembly.sections] == sections
    assert assembly.budget.used > 0


def test_what_a_message_holds_is_kept_and_a_request_s_own_figures_count() -> None:
    body = {"model": "m", "messages": MESSAGES, "usage": {"prompt_tokens": 33}}
    assembly = document_assembly(body, tokenizer())
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    assert final.messages[2].to_json() == MESSAGES[2]
    assert assembly.engine.title == "a request to m"
    assert assembly.budget.counted is not None
    assert assembly.budget.counted.tokens == 33


class Answer:
    """An answer as a provider's library has it."""

    def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
        assert exclude_none
        return {"role": "assistant", "content": "hello"}


def test_an_answer_of_a_library_may_stand_among_the_messages() -> None:
    final = as_assembly([*MESSAGES, Answer()]).stage(StageKind.FINAL)
    assert final is not None
    assert final.messages[-1].content == "hello"


def test_it_is_printed_and_the_commands_work_on_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert promptdbg.inspect(MESSAGES) == 0
    assert "● KEEP  system (recorded)" in capsys.readouterr().out
    for body in (MESSAGES, {"messages": MESSAGES}):
        path = tmp_path / "req.json"
        path.write_text(json.dumps(body))
        for words in (["inspect"], ["lint"], ["why", "m1"], ["trace", "brief"], ["compare"]):
            command, *rest = words
            assert main([command, str(path), *rest]) == 0, words
            assert capsys.readouterr().out


@pytest.mark.parametrize(
    "body", [[], [1, 2], ["hi"], [{"name": "f", "description": "a tool"}], {"messages": []}, {}, 3]
)
def test_what_is_none_of_these_says_what_is_due(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: Any
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(body))
    assert main(["inspect", str(path)]) == 2
    assert "docs/trace-format.md" in capsys.readouterr().err
    with pytest.raises((InputError, TypeError), match=r"docs/trace-format\.md"):
        promptdbg.inspect(body)
