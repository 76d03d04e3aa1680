"""The two estimators, against tiktoken on the whole text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from promptdbg.engines.nanobot.dialects import DIALECTS
from promptdbg.engines.nanobot.estimate import Estimator, tool_set, truncate_to_tokens
from promptdbg.engines.nanobot.rows import Row
from promptdbg.tokens import load_encoding

_MAIN, _OLD = DIALECTS["main"], DIALECTS["0.2.2"]
_TOOL = {"type": "function", "function": {"name": "exec", "description": "é", "parameters": {}}}
texts = st.text(alphabet="ab1 \n\t/.'é漢👩\u2028", max_size=12)
values = st.fixed_dictionaries(
    {"role": st.just("user"), "content": texts | st.none()},
    optional={
        "name": texts,
        "tool_call_id": texts,
        "reasoning_content": texts,
        "tool_calls": st.just([{"id": "a"}]),
    },
)


def _whole(contents: list[dict[str, object]]) -> int:
    """The formula of section 7.1, written down once more, on one joined text."""
    parts: list[str] = []
    for value in contents:
        if isinstance(value["content"], str):
            parts.append(value["content"])
        if value.get("tool_calls"):
            parts.append(json.dumps(value["tool_calls"], ensure_ascii=False))
        parts += [str(value[k]) for k in ("reasoning_content", "name", "tool_call_id") if value.get(k)]
    encode = load_encoding("cl100k_base").encode_ordinary
    tools = ("\n" if parts else "") + json.dumps([_TOOL], ensure_ascii=False)
    return len(encode("\n".join(parts))) + len(encode(tools)) + 4 * len(contents)


@given(st.lists(values, max_size=8))
@run(max_examples=300, deadline=None)
def test_the_incremental_estimate_is_that_of_the_joined_text(contents: list[dict[str, object]]) -> None:
    rows = tuple(Row(f"m{index}", value) for index, value in enumerate(contents))
    estimate = Estimator(_MAIN).prompt(rows, tool_set((_TOOL,)))
    assert estimate.tokens == _whole(contents)
    assert estimate.source == "tiktoken"


def test_without_a_tokenizer_bytes_count_or_nothing_does() -> None:
    rows = (Row("a", {"role": "user", "content": "né"}), Row("b", {"role": "user", "content": ""}))
    tools = tool_set((_TOOL,))
    expected = len("né\n\n" + tools.text.encode().decode()) + 2 + 8  # two characters of two bytes
    assert Estimator(_MAIN, available=False).prompt(rows, tools) == (expected, "heuristic", None)
    assert Estimator(_OLD, available=False).prompt(rows, tools) == (0, "none", None)
    assert Estimator(_MAIN, available=False).message(rows[0]) == 3 + 4
    assert Estimator(_OLD, available=False).message(Row("c", {"content": "abcdefgh"})) == 2 + 4


def test_a_message_costs_four_at_least() -> None:
    assert Estimator(_MAIN).message(Row("a", {"role": "user", "content": ""})) == 4
    assert Estimator(_MAIN).message(Row("a", {"role": "user", "content": None})) == 4


def test_no_rows_and_no_tools_estimate_to_none() -> None:
    assert Estimator(_MAIN).prompt((), tool_set(())) == (0, "none", None)


@pytest.mark.parametrize("limit", [3, 8, 20])
def test_a_cut_text_fits_with_its_mark(limit: int) -> None:
    encode = load_encoding("cl100k_base").encode_ordinary
    cut = truncate_to_tokens("tide 漢字 " * 50, limit, _MAIN, True)
    assert len(encode(cut)) <= limit
    assert len(truncate_to_tokens("é" * 50, limit + 20, _MAIN, False).encode()) <= limit + 20
    assert len(truncate_to_tokens("é" * 500, limit, _OLD, False)) <= 4 * limit


def test_a_text_that_fits_is_left_alone() -> None:
    assert truncate_to_tokens("tide", 5, _MAIN, True) == "tide"
