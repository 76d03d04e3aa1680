"""Provider rules on message lists: one finding for one fault, none for a clean list."""

from __future__ import annotations

from typing import Any

import pytest

from promptdbg.analysis.lint import lint
from promptdbg.analysis.requests import Provider, messages_of


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks) or "go on"}


def use(call: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "grep", "input": {}}


def result(call: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": "ok"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "c2ln"}


CLEAN = [
    user(),
    assistant(thinking("let me see"), use("a"), use("b")),
    user(result("a"), result("b"), text("and now?")),
    assistant(text("done")),
]

# One fault each: (name, messages, code, index, call).
BROKEN = [
    ("call without result", [user(), assistant(use("a")), user(text("well?"))], "unanswered-call", 1, "a"),
    ("result without call", [user(), assistant(text("hm")), user(result("z"))], "orphan-result", 2, "z"),
    (
        "result in the wrong message",
        [user(), assistant(use("a")), user(text("wait")), assistant(text("…")), user(result("a"))],
        "misplaced-result",
        4,
        "a",
    ),
    (
        "id used in two turns",
        [user(), assistant(use("a")), user(result("a")), assistant(use("a")), user(text("and?"))],
        "id-used-twice",
        3,
        "a",
    ),
    (
        "two results for one id",
        [user(), assistant(use("a")), user(result("a"), result("a"))],
        "repeated-result",
        2,
        "a",
    ),
    ("user after user", [user(), user(text("more"))], "roles-in-a-row", 1, ""),
    (
        "empty thinking with a signature",
        [user(), assistant(thinking(""), use("a")), user(result("a"))],
        "empty-thinking",
        1,
        "",
    ),
    (
        "system in the middle",
        [user(), assistant(text("a")), {"role": "system", "content": "be brief"}, user(text("b"))],
        "system-in-the-middle",
        2,
        "",
    ),
]


@pytest.mark.parametrize(
    ("messages", "code", "index", "call"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN]
)
def test_one_fault_is_one_finding(messages: list[Any], code: str, index: int, call: str) -> None:
    found = lint(messages, "anthropic")
    assert [(f.code, f.index, f.call) for f in found] == [(code, index, call)]
    assert found[0].repair


def test_a_clean_list_has_no_finding() -> None:
    assert lint(CLEAN, "anthropic") == ()


def test_results_must_come_first_for_anthropic() -> None:
    late = [user(), assistant(use("a")), user(text("here:"), result("a"))]
    assert [f.code for f in lint(late, "anthropic")] == ["misplaced-result"]


def chat_call(*calls: str) -> dict[str, Any]:
    function = {"name": "grep", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": c, "type": "function", "function": function} for c in calls],
    }


def chat_result(call: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": "ok"}


def test_openai_chat_wants_every_result_right_behind_its_call() -> None:
    head = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert lint([*head, chat_call("a", "b"), chat_result("b"), chat_result("a")], "openai-chat") == ()
    late = [*head, chat_call("a"), {"role": "user", "content": "wait"}, chat_result("a")]
    assert [(f.code, f.index) for f in lint(late, "openai-chat")] == [("misplaced-result", 4)]


def test_responses_items_pair_by_call_id() -> None:
    items = [
        {"role": "user", "content": "u"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "function_call_output", "call_id": "c2", "output": "?"},
    ]
    assert [(f.code, f.index, f.call) for f in lint(items, "openai-responses")] == [
        ("orphan-result", 4, "c2")
    ]


def test_empty_messages_and_large_images() -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 5_000_001},
    }
    messages = [user(text("  ")), assistant(text("x")), user(image), assistant(text(""))]
    assert [(f.code, f.index) for f in lint(messages, "anthropic")] == [
        ("empty-content", 0),
        ("image-too-large", 2),
    ]


@pytest.mark.parametrize(
    ("body", "provider"),
    [
        ({"messages": [{"role": "user", "content": "x"}]}, "openai-chat"),
        ({"system": "s", "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
        ({"messages": CLEAN}, "anthropic"),
        ({"input": "hello"}, "openai-responses"),
        ({"input": [{"type": "function_call", "call_id": "a"}]}, "openai-responses"),
    ],
)
def test_the_shape_of_a_body_is_told_apart(body: Any, provider: Provider) -> None:
    messages, shape = messages_of(body)
    assert shape == provider
    assert messages


@pytest.mark.parametrize("junk", [[None], [1, "x"], [{}], [{"role": None}], [{"role": "user", "content": 3}]])
def test_junk_is_a_finding_not_a_crash(junk: list[Any]) -> None:
    for provider in ("openai-chat", "openai-responses", "anthropic"):
        lint(junk, provider)
