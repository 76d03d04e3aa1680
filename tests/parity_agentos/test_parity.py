"""Our engine against the real package: random inputs, equal answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptdbg.engines.agentos import PromptEngine, StubSummarizer, assemble_memory_context, js
from promptdbg.engines.agentos.config import merged
from promptdbg.engines.agentos.memory import MemoryInput
from promptdbg.engines.agentos.texts import Texts
from promptdbg.errors import UsageError
from tests import invariants
from tests.parity_agentos import strategies
from tests.parity_agentos.real import RealAgentos

RUNS = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
_THROWN = ["error", "UNHANDLED_CONSTRUCTION_ERROR"]
_SURE = ("prompt", "template", "key", "thrown")
_OVER = re.compile(r"\(([^/)]*)/([^)]*)\)")


class Recorder:
    """The stub summarizer, with its calls noted as the node driver notes them."""

    def __init__(self, utility: dict[str, Any]) -> None:
        self.utility = utility
        self.calls: list[dict[str, Any]] = []
        self.stub = StubSummarizer(
            history_text=utility["historyText"],
            history_tokens=utility["historyTokens"],
            rag_text=utility["ragText"],
            rag_tokens=utility["ragTokens"],
            history_fails=utility.get("history") == "fail",
            rag_fails=utility.get("rag") == "fail",
        )

    def summarize_conversation_history(
        self, messages: Sequence[Any], target: float, model: Any, preserve_important: Any
    ) -> tuple[Sequence[Any], float]:
        ids = [js.get(message, "id") or None for message in messages]
        call = {"what": "history", "ids": ids, "target": _number(target), "preserve": preserve_important}
        self.calls.append(call)
        return self.stub.summarize_conversation_history(messages, target, model, preserve_important)

    def summarize_rag_context(
        self, context: Any, target: float, model: Any, preserve_sources: Any
    ) -> tuple[str, float]:
        self.calls.append({"what": "rag", "target": _number(target), "preserve": preserve_sources})
        return self.stub.summarize_rag_context(context, target, model, preserve_sources)


def _number(value: float | None) -> float | None:
    """A number as JSON carries it."""
    return value if value is not None and math.isfinite(value) else None


def _ours(request: dict[str, Any], texts: Texts) -> dict[str, Any]:
    recorder = Recorder(request["utility"]) if request["utility"] else None
    engine = PromptEngine(request["config"], recorder, texts=texts)
    if request["setCurrentContext"]:
        engine.set_current_execution_context(request["executionContext"])
    try:
        result = engine.construct_prompt(
            request["components"], request["model"], request["executionContext"], request["templateName"]
        )
    except UsageError:
        return {"thrown": True}
    invariants.check(result.assembly())
    return {
        "prompt": result.prompt,
        "modified": result.was_truncated_or_summarized,
        "truncated": list(result.truncated_components),
        "summarized": list(result.summarized_components),
        "original": _number(result.original_estimated_token_count),
        "estimated": _number(result.estimated_token_count),
        "issues": [[i.type, i.code, *_numbers(i.tokens, i.budget)] for i in result.issues],
        "template": result.template_used,
        "elements": list(result.selected_contextual_element_ids),
        "system": result.total_system_prompts_applied,
        "history": result.history_messages_included,
        "retrieved": _number(result.rag_context_tokens_used),
        "tools": None if result.formatted_tool_schemas is None else list(result.formatted_tool_schemas),
        "key": result.cache_key,
        "calls": recorder.calls if recorder else [],
    }


def _numbers(*numbers: float | None) -> list[str]:
    return [] if numbers[0] is None else [js.number_text(number or 0) for number in numbers]


def _theirs(answer: dict[str, Any]) -> dict[str, Any]:
    if "thrown" in answer:
        return {"thrown": True}
    result, calls = answer["ok"]["result"], answer["ok"]["calls"]
    details = result.get("modificationDetails") or {}
    metadata = result["metadata"]
    return {
        "prompt": result["prompt"],
        "modified": result["wasTruncatedOrSummarized"],
        "truncated": details.get("truncatedComponents", []),
        "summarized": details.get("summarizedComponents", []),
        "original": details.get("originalEstimatedTokenCount"),
        "estimated": result.get("estimatedTokenCount"),
        "issues": [_issue(issue) for issue in result["issues"]],
        "template": metadata["templateUsed"],
        "elements": metadata["selectedContextualElementIds"],
        "system": metadata["totalSystemPromptsApplied"],
        "history": metadata["historyMessagesIncluded"],
        "retrieved": metadata.get("ragContextTokensUsed"),
        "tools": result.get("formattedToolSchemas"),
        "key": result.get("cacheKey"),
        "calls": calls,
    }


def _issue(issue: dict[str, Any]) -> list[Any]:
    found = _OVER.search(issue["message"]) if issue["code"] == "TOKEN_BUDGET_EXCEEDED_POST_OPT" else None
    return [issue["type"], issue["code"], *(found.groups() if found else ())]


def _compare(request: dict[str, Any], real: RealAgentos, texts: Texts, *, odd: bool = False) -> None:
    theirs = _theirs(real.ask("construct", **{**request, "config": merged(request["config"])}))
    ours = _ours(request, texts)
    if odd:  # a budget that is no number is printed as it was given
        for side in (ours, theirs):
            side["issues"] = [issue[:2] for issue in side.get("issues", [])]
        if _THROWN in ours["issues"]:  # how far it came before it threw is not compared
            assert any(kind == "error" for kind, _ in theirs["issues"])
            ours, theirs = ({key: side.get(key) for key in _SURE} for side in (ours, theirs))
    different = {
        key: {"ours": ours.get(key), "theirs": theirs.get(key)}
        for key in ours | theirs
        if ours.get(key) != theirs.get(key)
    }
    assert not different


@RUNS
@given(request=strategies.requests())
def test_constructs_the_same_prompt(real: RealAgentos, texts: Texts, request: dict[str, Any]) -> None:
    _compare(request, real, texts)


@RUNS
@given(request=strategies.requests(odd=True))
def test_constructs_the_same_from_odd_values(
    real: RealAgentos, texts: Texts, request: dict[str, Any]
) -> None:
    _compare(request, real, texts, odd=True)


@RUNS
@given(memory=strategies.memories(), now=st.integers(0, 10**10))
def test_writes_the_same_memory_text(
    real: RealAgentos, texts: Texts, memory: dict[str, Any], now: int
) -> None:
    theirs = real.ask("memory", now=now, input=memory)["ok"]
    ours = assemble_memory_context(
        MemoryInput(
            budget=memory["totalTokenBudget"],
            traits=memory["traits"],
            working=memory["workingMemoryText"],
            persistent=memory["persistentMemoryText"],
            traces=memory["retrievedTraces"],
            prospective=memory["prospectiveAlerts"],
            graph=memory["graphContext"],
            observations=memory["observationNotes"],
            allocation=memory["allocation"],
        ),
        now=now,
        texts=texts,
    )
    assert ours.text == theirs["contextText"]
    assert ours.tokens_used == theirs["tokensUsed"]
    assert list(ours.included_ids) == theirs["includedMemoryIds"]
    assert dict(ours.allocation) == theirs["allocation"]


@RUNS
@given(request=strategies.requests())
def test_checks_the_same(real: RealAgentos, request: dict[str, Any]) -> None:
    theirs = real.ask("validate", **{**request, "config": merged(request["config"])})["ok"]
    ours = PromptEngine(request["config"]).validate_prompt_configuration(
        request["components"], request["model"], request["executionContext"]
    )
    assert [[i.type, i.code] for i in ours.issues] == [[i["type"], i["code"]] for i in theirs["issues"]]
    assert len(ours.recommendations) == len(theirs["recommendations"])
    assert ours.is_valid == theirs["isValid"]


@RUNS
@given(values=st.lists(strategies.json_values(), min_size=1, max_size=8))
def test_writes_the_same_texts(real: RealAgentos, values: list[Any]) -> None:
    answers = real.ask("text", values=values)["ok"]
    for value, (written, text, fixed, trimmed) in zip(values, answers, strict=True):
        value = js.plain(value)
        assert js.stringify(value) == written
        assert js.paired(js.to_string(value)) == text
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            assert js.fixed(value, 2) == fixed
        if isinstance(value, str):
            assert js.paired(js.trim(value)) == trimmed


@pytest.mark.parametrize("length", [*range(90), 4095, 4096, 10_001])
def test_estimates_the_same(real: RealAgentos, length: int) -> None:
    models = ("plain", "gpt-4o", "claude-x", "GPT-4", "a-gpt-4-claude", "")
    rows = [("x" * length, model) for model in models]
    config = json.loads(json.dumps(merged({})))
    theirs = real.ask("estimate", config=config, rows=rows)["ok"]
    assert [PromptEngine().estimate_token_count(text, model) for text, model in rows] == theirs
