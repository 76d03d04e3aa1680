"""The Python interface, and forms that the visible cases do not show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from promptdbg.engines import phronomy
from promptdbg.engines.phronomy.policy import Plan
from tests import invariants
from tests.reference import phronomy as reference


def test_it_reads_like_the_framework_and_gives_back_the_callers_own_messages() -> None:
    budget = phronomy.TokenBudget(context_window=10)
    messages = [SimpleNamespace(role="user", content="x" * 40), SimpleNamespace(role="user", content="hi")]
    builder = phronomy.Builder(budget=budget).add_system("Be brief.").add_knowledge("k")
    result = builder.add_messages(messages).build()
    assert result == {"system": "Be brief.\n\nk", "messages": [messages[1]]}
    assembly = builder.assembly()
    invariants.check(assembly)
    assert assembly.budget.limit == 10


def test_a_system_message_of_the_conversation_is_no_system_text() -> None:
    builder = phronomy.Builder(budget=phronomy.TokenBudget(context_window=10))
    messages = [{"role": "system", "content": "s"}]
    assert builder.add_messages(messages).build() == {"system": None, "messages": messages}


def test_a_tokenizer_of_the_program_is_used_by_all() -> None:
    phronomy.TokenEstimator.tokenizer = len
    try:
        builder = phronomy.Builder(budget=phronomy.TokenBudget(context_window=3))
        builder.add_messages([{"role": "user", "content": "abcd"}, {"role": "user", "content": "abc"}])
        assert [message["content"] for message in builder.build()["messages"]] == ["abc"]
        assert builder.assembly().budget.used == 3
    finally:
        phronomy.TokenEstimator.tokenizer = None


def test_sources_and_trust_in_the_tag() -> None:
    inputs = {
        "version": 1,
        "knowledge": [
            {"text": "a'b\"", "type": "x<y", "source": "", "trusted": True},
            {"text": "", "type": "t", "source": "f&g"},
        ],
        "messages": [],
    }
    tags = (
        '<context type="x&lt;y" source="" trusted="true">\na&#39;b&quot;\n</context>\n\n'
        '<context type="t" source="f&amp;g" trusted="false">\n\n</context>'
    )
    expected = {"system": tags, "system_tokens": -(-len(tags) // 4), "message_tokens": [], "kept": []}
    reference._assembler(inputs, expected)


@pytest.mark.parametrize(("tokenizer", "tokens"), [("bytes", 6), ("words", 2)])
def test_other_tokenizers_in_a_case(tokenizer: str, tokens: int) -> None:
    rows = [{"chars": 5, "bytes": 6, "tokens": tokens}]
    reference._estimate({"tokenizer": tokenizer, "texts": ["ab éd"]}, {"rows": rows})


def policy(**more: Any) -> dict[str, Any]:
    return {"limit": 40, "candidates": [], **more}


def test_tools_and_metadata_in_a_policy_case() -> None:
    definition = {"name": "stock", "parameters": {"b": 1, "a": 2}}
    inputs = policy(
        tools=[{"definition": definition}],
        candidates=[
            {"id": "k", "category": "external_message", "tokens": 3,
             "metadata": {"context_policy_semantic_category": "knowledge"}},
            {"id": "u", "category": "external_message", "tokens": 2, "sequence": 1, "constraint": "required"},
        ],
        final_contents={"k": "x" * 12, "u": "y" * 8},
    )  # fmt: skip
    result = reference._policy_builder(inputs).select()
    # {"name":"stock","parameters":{"a":2,"b":1}} is 43 code points.
    assert [(item.id, item.tokens) for item in result.plan.tools] == [("tool:stock", 11)]
    assert [item.id for item in result.plan.knowledge] == ["k"]
    assert dict(result.plan.metadata)["estimated_fixed_tokens"] == 13
    found = reference._policy_builder(inputs).final_check(result.plan)
    assert (found.contents, found.tools) == (5, 12)


@pytest.mark.parametrize(
    ("candidates", "code"),
    [
        ([{"id": "r", "category": "tool_message", "tokens": 1}], "tool_message_without_id"),
        ([{"id": "n", "category": "knowledge", "tokens": -1}], "negative_estimate"),
        ([{"id": "n", "category": "knowledge", "tokens": "many"}], "invalid_estimate"),
        (
            [{"id": "n", "category": "knowledge", "metadata": {"context_policy_semantic_category": "x"}}],
            "unknown_semantic_category",
        ),
        (
            [
                {"id": i, "category": "assistant_message", "tokens": 1, "tool_call_ids": ["c"]}
                for i in ("a", "b")
            ],
            "duplicate_call",
        ),
    ],
)
def test_what_the_input_refuses(candidates: list[dict[str, Any]], code: str) -> None:
    with pytest.raises(phronomy.InvalidArgument) as caught:
        reference._policy_builder(policy(candidates=candidates)).input()
    assert caught.value.code == code


def test_a_group_stands_where_its_first_member_does() -> None:
    candidates = [
        {"id": "r", "category": "tool_message", "tokens": 1, "sequence": 1, "tool_call_id": "c"},
        {"id": "u", "category": "external_message", "tokens": 1, "sequence": 2},
        {"id": "a", "category": "assistant_message", "tokens": 1, "sequence": 3, "tool_call_ids": ["c"]},
    ]
    given = reference._policy_builder(policy(candidates=candidates)).input()
    assert [[item.id for item in group] for group in given.conversation] == [["r", "a"], ["u"]]


def test_the_current_input_gets_the_highest_sequence_plus_one() -> None:
    builder = phronomy.PolicyBuilder(max_input_tokens=100)
    builder.add_candidates([{"id": "u", "category": "external_message", "content": "a", "sequence": 7}])
    given = builder.set_current_input("now?").input()
    assert given.conversation[-1][0].sequence == 8
    assembly = builder.assembly()
    invariants.check(assembly)
    assert [message.id for message in assembly.stages[-1].messages] == ["u", "current-input"]


def _generated(base: phronomy.Item, **values: Any) -> phronomy.Item:
    from dataclasses import replace

    return replace(base, id="made", key="made", origin="policy_generated", required=False, **values)


def test_a_policy_of_ones_own_may_add_but_not_change() -> None:
    builder = phronomy.PolicyBuilder(max_input_tokens=100).add_instruction("Be brief.")
    builder.add_candidates([{"id": "k", "category": "knowledge", "content": "text"}])

    def adds(given: phronomy.PolicyInput) -> Plan:
        return Plan(given.instruction, (*given.knowledge, _generated(given.knowledge[0])))

    def changes(given: phronomy.PolicyInput) -> Plan:
        from dataclasses import replace

        return Plan(given.instruction, (replace(given.knowledge[0], content="other"),))

    def repeats(given: phronomy.PolicyInput) -> Plan:
        return Plan(given.instruction, (*given.knowledge, *given.knowledge))

    assert [item.id for item in builder.build(adds).knowledge] == ["k", "made"]
    for wrong, code in ((changes, "item_changed"), (repeats, "duplicate_ids")):
        with pytest.raises(phronomy.InvalidArgument) as caught:
            builder.build(wrong)
        assert caught.value.code == code


def test_a_plan_may_not_leave_out_or_split_what_belongs_together() -> None:
    candidates: list[dict[str, Any]] = [
        {"id": "a", "category": "assistant_message", "tokens": 1, "sequence": 1, "tool_call_ids": ["c"]},
        {"id": "r", "category": "tool_message", "tokens": 1, "sequence": 2, "tool_call_id": "c"},
        {"id": "u", "category": "external_message", "tokens": 1, "sequence": 3, "constraint": "required"},
    ]
    builder = reference._policy_builder(policy(candidates=candidates))

    def splits(given: phronomy.PolicyInput) -> Plan:
        return Plan(conversation=((given.conversation[0][0],), given.conversation[1]))

    with pytest.raises(phronomy.InvalidArgument, match="splits"):
        builder.build(splits)
    with pytest.raises(phronomy.BudgetExceededError, match="required: u"):
        builder.build(lambda given: Plan(conversation=given.conversation[:1]))


def test_a_manifest_wants_its_question_in_ask_mode() -> None:
    builder = (
        phronomy.PolicyBuilder(max_input_tokens=100).add_instruction("Be brief.").set_current_input("now?")
    )
    made = phronomy.manifest(builder.build(), call_mode="ask")
    assert [segment["position"] for segment in made["segments"]] == [0, 1]
    assert [segment["delivery"] for segment in made["segments"]] == ["chat_message", "ask_argument"]
    with pytest.raises(phronomy.InvalidArgument, match="complete mode with 1"):
        phronomy.manifest(builder.build(), call_mode="complete")
