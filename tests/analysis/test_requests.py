"""Requests of every provider's shape as chat messages: nothing that was sent is lost on the way."""

from __future__ import annotations

from promptdbg.analysis.requests import request_rows
from promptdbg.export.opening import document_assembly
from promptdbg.export.requests import is_request, trace_of_request
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.tokens import tokenizer

ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look for it"}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I search"}]},
    {"type": "function_call", "call_id": "c1", "name": "grep", "arguments": '{"for": "it"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "three hits"},
    {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}},
    {"type": "local_shell_call_output", "call_id": "c2", "output": "a b c"},
    {"type": "item_reference", "id": "x"},
]
RESPONSES = {"model": "m", "instructions": "Be careful.", "input": ITEMS}


def test_items_of_responses_are_chat_messages() -> None:
    rows = request_rows(RESPONSES)
    assert [row["role"] for row in rows] == [
        *("system", "user", "assistant", "assistant", "tool", "assistant", "tool", "item_reference"),
    ]
    (called,) = rows[3]["tool_calls"]
    assert (called["id"], called["function"]) == ("c1", {"name": "grep", "arguments": '{"for": "it"}'})
    assert (rows[4]["tool_call_id"], rows[4]["content"]) == ("c1", "three hits")
    assert rows[5]["tool_calls"][0]["function"]["arguments"] == '{"command": ["ls"]}'
    assert request_rows(ITEMS) == rows[1:]


def test_every_text_of_a_request_of_responses_is_loaded_and_costs_something() -> None:
    assert is_request(RESPONSES)
    assembly = assembly_from_trace(trace_of_request(RESPONSES), tokenizer())
    (section,) = assembly.sections
    assert section.text == "Be careful."
    messages = assembly.stages[-1].messages
    assert [message.id for message in messages if not message.tokens] == []
    assert "three hits" in [message.content for message in messages]


def test_other_requests_stay_as_they_are() -> None:
    messages = [{"role": "user", "content": "hello"}]
    assert request_rows({"messages": messages}) == messages
    system = {"role": "system", "content": "Be brief."}
    assert request_rows({"system": "Be brief.", "messages": messages}) == [system, *messages]
    assert request_rows({"input": "hello"}) == messages
    assert request_rows({"instructions": "Be brief.", "input": "hello"}) == [system, *messages]


def test_a_request_is_counted_by_the_tokenizer_of_its_model() -> None:
    messages = [{"role": "user", "content": "hello"}]

    def counted_by(model: object) -> tuple[str, bool]:
        info = document_assembly({"model": model, "messages": messages}, None).tokenizer
        return info.name, info.exact

    assert counted_by("gpt-4") == ("cl100k_base", True)
    assert counted_by("gpt-4o") == ("o200k_base", True)
    assert counted_by("claude-sonnet-4") == ("o200k_base", False)
    assert counted_by(None) == ("o200k_base", True)
    given = document_assembly({"model": "gpt-4", "messages": messages}, tokenizer("o200k_base"))
    assert given.tokenizer.name == "o200k_base"
