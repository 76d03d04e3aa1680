"""Construction through the framework's own interface: inputs the reference cases do not hold."""

from __future__ import annotations

from typing import Any

import pytest

from promptdbg.engines.agentos import (
    MemoryInput,
    ModelTargetInfo,
    PromptComponents,
    PromptEngine,
    PromptEngineResult,
    StubSummarizer,
    assemble_memory_context,
    memory_assembly,
)
from promptdbg.errors import UsageError
from promptdbg.model import SectionStatus, StageKind
from tests import invariants

PLAIN = ModelTargetInfo("plain-model", max_context_tokens=1000)
NO_CACHE = {"performance": {"enableCaching": False}}


def build(
    components: PromptComponents,
    model: ModelTargetInfo = PLAIN,
    context: dict[str, Any] | None = None,
    **options: Any,
) -> PromptEngineResult:
    engine = PromptEngine(NO_CACHE, options.pop("utility", None), **options)
    result = engine.construct_prompt(components, model, context)
    invariants.check(result.assembly())
    return result


def element(name: str, kind: str = "behavioral_guidance", **rest: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, "content": name.upper(), "criteria": {}, **rest}


def persona(*elements: dict[str, Any], **context: Any) -> dict[str, Any]:
    return {"activePersona": {"id": "p", "contextualPromptElements": list(elements)}, **context}


# ---- contextual elements ------------------------------------------------------------------------------


def test_mood_hint_and_signals_decide_which_elements_are_used() -> None:
    context = persona(
        element("mood", criteria={"mood": "calm"}),
        element("other-mood", criteria={"mood": "tense"}),
        element("hint", criteria={"taskHint": "bake"}),
        element("other-hint", criteria={"taskHint": "Bake"}),
        element("signals", criteria={"conversationSignals": ["a", "b"]}),
        element("more-signals", criteria={"conversationSignals": ["a", "c"]}),
        element("no-signals", criteria={"conversationSignals": []}),
        element("none", criteria=None),
        currentMood="calm",
        taskHint="to bake bread",
        conversationSignals=["b", "a"],
    )
    result = build(PromptComponents(user_input="Q"), context=context)
    assert result.selected_contextual_element_ids == ("mood", "hint", "signals", "no-signals")


def test_ten_elements_are_used_and_written_in_the_opposite_order() -> None:
    elements = [element(f"e{n}", priority=n) for n in range(1, 13)]
    result = build(PromptComponents(), context=persona(*elements))
    assert result.selected_contextual_element_ids == tuple(f"e{n}" for n in range(12, 2, -1))
    assert result.prompt[0]["content"].split("\n\n") == [f"E{n}" for n in range(3, 13)]


def test_an_element_of_priority_zero_gets_a_hundred() -> None:
    result = build(
        PromptComponents(), context=persona(element("zero", priority=0), element("one", priority=1))
    )
    assert result.prompt[0]["content"] == "ONE\n\nZERO"
    assembly = result.assembly()
    assert any("counts as none" in decision.because for decision in assembly.decisions_on("element/zero"))


def test_elements_for_custom_components_are_lost_with_a_decision() -> None:
    result = build(PromptComponents(user_input="Q"), context=persona(element("shot", "few_shot_example")))
    section = result.assembly().section("element/shot")
    assert section is not None
    assert section.status is SectionStatus.DROPPED
    assert result.assembly().decisions_on("element/shot")[0].rule == "agentos.elements.unused"


# ---- thinking and the environment ---------------------------------------------------------------------


def thinking_history() -> list[dict[str, Any]]:
    block = {"type": "thinking", "thinking": "t" * 420}
    return [
        {"id": f"a{n}", "role": "assistant", "content": "ok", "thinkingBlocks": [block]} for n in range(2)
    ]


@pytest.mark.parametrize(
    ("name", "strip", "tokens"),
    [
        ("claude-opus-4-6", None, 212),
        ("claude-opus-4-6", "1", 112),
        ("claude-opus-4-6", "true", 112),
        ("claude-opus-4-6", "yes", 212),
        ("claude-haiku-4-5", None, 112),
        ("claude-haiku-4-5", "0", 212),
        ("claude-haiku-4-5", "false", 212),
        ("claude-unheard-of", None, 212),
    ],
)
def test_the_environment_decides_about_earlier_thinking(name: str, strip: str | None, tokens: int) -> None:
    env = {} if strip is None else {"AGENTOS_ANTHROPIC_STRIP_PRIOR_THINKING": strip}
    model = ModelTargetInfo(name, "anthropic", max_context_tokens=2000)
    components = PromptComponents(conversation_history=thinking_history())
    newer = build(components, model, version="newer", env=env)
    assert newer.original_estimated_token_count == tokens
    assert build(components, model, env=env).original_estimated_token_count == 12


# ---- the budget ---------------------------------------------------------------------------------------


def test_a_turn_count_that_is_no_number_makes_everything_the_turn() -> None:
    history = [{"id": f"m{n}", "role": "user", "content": "e" * 400} for n in range(6)]
    components = {"conversationHistory": history, "currentTurnMessageCount": "all of it"}
    result = PromptEngine(NO_CACHE, version="newer").construct_prompt(components, PLAIN)
    assert result.history_messages_included == 6
    invariants.check(result.assembly())


def test_without_a_window_nothing_is_reduced() -> None:
    history = [{"id": "m0", "role": "user", "content": "e" * 9000}]
    result = PromptEngine(NO_CACHE).construct_prompt(
        {"conversationHistory": history}, {"modelId": "m", "toolSupport": {"supported": False}}
    )
    assert not result.was_truncated_or_summarized
    assert result.assembly().budget.limit is None


def test_a_cut_may_split_a_character_and_the_lost_stretch_says_so() -> None:
    # 1003 characters are 251 tokens, over the share of 200.2: floor(1003 * 200.2 / 251) = 800 stay.
    text = "." + "🍵" * 501
    result = build(PromptComponents(retrieved_context=text), ModelTargetInfo("m", max_context_tokens=1001))
    section = result.assembly().section("retrieved/0")
    assert section is not None
    assert section.output == "." + "🍵" * 399 + "\ud83c"
    assert [(span.start, span.end, span.kept) for span in section.spans] == [
        (0, 400, True),
        (400, 502, False),
    ]


def test_a_summarizer_that_works_and_one_that_fails() -> None:
    history = [{"id": f"m{n}", "role": "user", "content": "e" * 400} for n in range(8)]
    components = PromptComponents(conversation_history=history, user_input="Q")
    works = build(components, utility=StubSummarizer(history_text="in short"))
    assert works.prompt[0]["content"].endswith("in short")
    stage = works.assembly().stages[2]
    assert [message.id for message in stage.messages] == ["summary/0", "current"]
    fails = build(components, utility=StubSummarizer(history_fails=True))
    assert fails.truncated_components == ("conversationHistory",)
    assert [issue.code for issue in fails.issues] == ["HISTORY_SUMMARIZATION_FAILED"]


# ---- failures, the cache, wrong calls -----------------------------------------------------------------


def test_an_unknown_template_is_an_issue_and_no_prompt() -> None:
    engine = PromptEngine(NO_CACHE)
    result = engine.construct_prompt(PromptComponents(user_input="Q"), PLAIN, None, "google_gemini")
    assert result.prompt == []
    assert [issue.code for issue in result.issues] == ["TEMPLATE_NOT_FOUND"]
    assembly = result.assembly()
    invariants.check(assembly)
    assert assembly.failure is not None
    assert assembly.stage(StageKind.FINAL) is None
    newer = PromptEngine(NO_CACHE, version="newer")
    assert newer.construct_prompt(PromptComponents(user_input="Q"), PLAIN, None, "google_gemini").prompt


def test_what_javascript_throws_on_is_an_issue_and_no_prompt() -> None:
    result = PromptEngine(NO_CACHE).construct_prompt({"systemPrompts": [None]}, PLAIN)
    assert result.prompt == []
    assert [issue.code for issue in result.issues] == ["UNHANDLED_CONSTRUCTION_ERROR"]
    invariants.check(result.assembly())


def test_a_cached_prompt_is_served_until_it_is_too_old() -> None:
    now = [0.0]
    engine = PromptEngine({"performance": {"cacheTimeoutSeconds": 10}}, clock=lambda: now[0])
    first = engine.construct_prompt(PromptComponents(user_input="Q", retrieved_context="tea"), PLAIN)
    second = engine.construct_prompt(PromptComponents(user_input="Q", retrieved_context="coffee"), PLAIN)
    assert second.from_cache
    assert second.prompt == first.prompt
    now[0] = 10.0
    third = engine.construct_prompt(PromptComponents(user_input="Q", retrieved_context="coffee"), PLAIN)
    assert not third.from_cache
    assert (engine.hits, engine.misses) == (1, 2)


def test_the_newer_key_tells_prompts_apart() -> None:
    engine = PromptEngine(version="newer")
    keys = {
        engine.construct_prompt(PromptComponents(user_input="Q", retrieved_context=text), PLAIN).cache_key
        for text in ("tea", "coffee")
    }
    assert len(keys) == 2


def test_wrong_calls_are_refused_with_a_line() -> None:
    with pytest.raises(UsageError, match="unknown version"):
        PromptEngine(version="1.0")
    with pytest.raises(UsageError, match="components cannot be used"):
        PromptEngine().construct_prompt({"userInput": object()}, PLAIN)
    with pytest.raises(UsageError, match="cache key"):
        PromptEngine().construct_prompt({"systemPrompts": [{"content": 5}]}, PLAIN)


# ---- memory -------------------------------------------------------------------------------------------


def test_the_allocation_changes_the_shares() -> None:
    given = MemoryInput(budget=100, working="w" * 80, allocation={"workingMemory": 0.2})
    found = assemble_memory_context(given, now=0)
    assert found.groups == (("working", "w" * 80),)
    assert found.tokens_used == 20
    assert found.allocation["workingMemory"] == 0.2
    assert found.allocation["semanticRecall"] == 0.40
    assert assemble_memory_context(MemoryInput(budget=100, working="w" * 80), now=0).groups == ()


def test_memories_can_be_looked_at_one_by_one() -> None:
    given = MemoryInput(budget=100, working="w" * 80, observations=["short", "o" * 90])
    assembly = memory_assembly(given, now=0)
    invariants.check(assembly)
    statuses = {s.id: s.status for s in assembly.sections if s.kind == "memory"}
    assert statuses == {
        "memory/preamble": SectionStatus.DROPPED,
        "memory/working": SectionStatus.DROPPED,
        "memory/observations/0": SectionStatus.KEPT,
        "memory/observations/1": SectionStatus.DROPPED,
    }
    assert assembly.decisions_on("memory/working")[0].rule == "agentos.memory.working"


def test_half_a_character_goes_through() -> None:
    history = [{"role": "user", "content": "\ud83c", "name": "\udf75"}]
    components = PromptComponents(conversation_history=history, user_input="\ud800")
    result = build(components)
    assert result.prompt[0]["content"] == "\ud83c"
    assert result.estimated_token_count == 22  # as node says: a lone half is six characters of JSON


def test_a_memory_without_what_its_style_prints_is_refused() -> None:
    given = MemoryInput(budget=100, traces=[{"id": "t", "type": "semantic", "content": "c"}])
    with pytest.raises(UsageError, match="memory text"):
        assemble_memory_context(given, now=0)
