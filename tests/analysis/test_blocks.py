"""What a message holds: every shape of content, named; data of images never shown."""

from __future__ import annotations

import base64
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.analysis.blocks import block_label, blocks, full_text, preview, title
from promptdbg.model import Message

_DATA = base64.b64encode(b"\x89PNG" + b"x" * 12_341).decode()


def message(content: Any, role: str = "user", **more: Any) -> Message:
    return Message(id="m", role=role, content=content, tokens=0, **more)


@pytest.mark.parametrize(
    ("content", "label", "text"),
    [
        ("hello", "", "hello"),
        ([{"type": "text", "text": "hello"}], "", "hello"),
        ([{"type": "input_text", "text": "hello"}], "", "hello"),
        (["hello"], "", "hello"),
        (
            [
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{_DATA}"},
                    "_meta": {"path": "/a.png"},
                }
            ],
            "image, image/png, 12.3 kB, /a.png",
            "",
        ),
        ([{"type": "image_url", "image_url": {"url": "https://x/y.png"}}], "image, https://x/y.png", ""),
        (
            [{"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AAAA"}}],
            "image, image/gif, 3 bytes",
            "",
        ),
        (
            [{"type": "input_image", "image_url": "data:image/webp;base64,AAA="}],
            "image, image/webp, 2 bytes",
            "",
        ),
        (
            [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}],
            "audio, wav, 3 bytes",
            "",
        ),
        (
            [{"type": "file", "file": {"filename": "a.pdf", "file_data": "data:x;base64,AAAA"}}],
            "file, a.pdf, 3 bytes",
            "",
        ),
        ([{"type": "thinking", "thinking": "hmm"}], "thinking", "hmm"),
        ([{"type": "redacted_thinking", "data": "abcd"}], "thinking, redacted, 4 bytes", ""),
        ([{"type": "tool_use", "id": "t1", "name": "grep", "input": {"q": 1}}], "call grep t1", '{"q": 1}'),
        ([{"type": "tool_result", "tool_use_id": "t1", "content": "found"}], "result of t1", "found"),
        (
            [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "found"}]}],
            "result of t1",
            "found",
        ),
        ([{"type": "novel", "x": "é"}], "novel", '{"type": "novel", "x": "é"}'),
        ([7], "not a block", "7"),
        (7, "not text", "7"),
        ({"a": 1}, "a block without a type", '{"a": 1}'),
    ],
)
def test_shapes(content: Any, label: str, text: str) -> None:
    (block,) = blocks(message(content))
    assert (block.label, block.text) == (label, text)
    assert _DATA not in full_text(message(content))


def test_nothing_is_nothing() -> None:
    empty: tuple[Any, ...] = (None, "", [])
    for content in empty:
        assert blocks(message(content)) == ()
        assert full_text(message(content)) == preview(message(content), 100) == ""


def test_thinking_comes_first_and_calls_last() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q": "x"}'}}
    made = message(
        "I look.",
        "assistant",
        tool_calls=[call],
        extra=MappingProxyType(
            {"reasoning_content": "where?", "thinking_blocks": [{"type": "thinking", "thinking": "here"}]}
        ),
    )
    assert [(b.kind, block_label(b)) for b in blocks(made)] == [
        ("thinking", "[thinking]"),
        ("thinking", "[thinking]"),
        ("text", ""),
        ("call", "[call grep c1]"),
    ]
    assert full_text(made) == '[thinking]\nwhere?\n[thinking]\nhere\nI look.\n[call grep c1]\n{"q": "x"}'
    assert preview(made, 100) == '[thinking] where?\n[thinking] here\nI look.\n{"q": "x"}'
    assert title(made) == "assistant → grep"


def test_titles() -> None:
    assert title(message("x", "tool", name="grep")) == "tool grep"
    assert title(message("x", "tool", name=5)) == "tool"
    assert title(message("x")) == "user"
    calls = [{"function": {"name": f"t{n}"}} for n in range(5)]
    assert title(message("", "assistant", tool_calls=calls)) == "assistant → t0, t1, t2 +2"
    assert title(message("", "assistant", tool_calls=[None])) == "assistant → ?"
    assert title(message([{"type": "tool_use", "name": "ls"}], "assistant")) == "assistant → ls"


def test_a_preview_is_short() -> None:
    assert len(preview(message("x" * 1_000_000), 50)) == 50
    many = message([{"type": "text", "text": "word"}] * 10_000)
    assert len(preview(many, 50)) < 100


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "image_url", "source", "url", "data", "content", "function", "id", "name"]
            )
            | st.text(max_size=3),
            inner | st.sampled_from(["image_url", "image", "thinking", "tool_use", "tool_result", "text"]),
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(_JSON, _JSON, _JSON)
def test_no_json_is_too_strange(content: Any, calls: Any, extra: Any) -> None:
    strange = message(
        content, "assistant", tool_calls=calls, extra=MappingProxyType({"thinking_blocks": extra})
    )
    assert isinstance(full_text(strange), str)
    assert isinstance(preview(strange, 20), str)
    assert title(strange).startswith("assistant")


def test_nesting_without_end() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert "too deep" in full_text(message([{"type": "x", "y": deep}]))
