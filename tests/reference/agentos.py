"""AgentOS's reference cases: one JSON file per case, each for the published and the newer version."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from promptdbg.engines.agentos import (
    MemoryInput,
    PromptEngine,
    PromptEngineResult,
    StubSummarizer,
    assemble_memory_context,
)
from promptdbg.engines.agentos import rules as agentos_rules
from promptdbg.engines.agentos.estimate import DEFAULT_DIVISOR, estimate
from promptdbg.engines.agentos.summarizer import from_settings
from promptdbg.engines.agentos.texts import STAND_INS
from promptdbg.lengths import utf16_length
from tests import invariants
from tests.reference import Case

PUBLISHED_KEY, NEWER_KEY = "published_0_9_164", "newer"
DOCUMENTED = "documented"
_MODEL: dict[str, Any] = {
    "modelId": "plain-model",
    "providerId": "demo",
    "maxContextTokens": 1000,
    "toolSupport": {"supported": False},
}
_NOW = 1_700_000_000_000
_PLACEHOLDER = re.compile(r"\{\{agentos:([^}:]+)(?::([^}]*))?\}\}")


def collect(folder: Path) -> list[Case]:
    found = []
    for path in sorted(folder.glob("*.json")):
        expected = json.loads(path.read_text("utf-8"))["expected"]
        if PUBLISHED_KEY in expected:
            found += [Case(f"agentos/{path.stem}[{v}]", path, v) for v in agentos_rules.VERSIONS]
        elif "history_kept_ids" in expected:
            found.append(Case(f"agentos/{path.stem}[{DOCUMENTED}]", path, DOCUMENTED))
        else:
            found.append(Case(f"agentos/{path.stem}", path))
    return found


def check(case: Case) -> None:
    document = json.loads(case.path.read_text("utf-8"))
    _check_constants(document.get("constants", {}))
    operation = _OPERATIONS.get(document["operation"])
    assert operation is not None, f"unknown operation {document['operation']!r}"
    operation(expand(document["inputs"]), expand(document["expected"]), case.variant)


def expand(value: Any) -> Any:
    """A value with shortened texts written out and placeholders replaced by our stand-ins."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(_stand_in, value)
    if isinstance(value, list):
        return [expand(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$repeat"}:
        text, count = value["$repeat"]
        return str(expand(text)) * count
    if set(value) == {"$concat"}:
        return "".join(expand(value["$concat"]))
    return {key: expand(entry) for key, entry in value.items()}


def _stand_in(match: re.Match[str]) -> str:
    return STAND_INS.named(match[1], match[2] or "")


def _check_constants(constants: Mapping[str, Any]) -> None:
    """Our stand-ins must have the sizes of the texts they stand in for."""
    for name, sizes in constants.items():
        key = name.removeprefix("agentos:")
        if key == "memory.preamble":
            _check_preambles(sizes)
        elif key == "memory.heading.*":
            assert all(text.strip() and text[-1] == "\n" for text in STAND_INS.memory_headings.values())
        else:
            _check_sizes(name, STAND_INS.named(key), sizes)


def _check_sizes(name: str, text: str, sizes: Mapping[str, int]) -> None:
    measures = {
        "utf16_length": utf16_length(text),
        "utf16_length_without_value": utf16_length(text),
        "json_length": len(json.dumps(text, ensure_ascii=False)) - 2,
    }
    for size, number in sizes.items():
        assert measures[size] == number, f"{size} of {name}"


def _check_preambles(sizes: Mapping[str, Any]) -> None:
    assert set(sizes) == {"utf16_length", "tokens", "present_when"}
    for style, text in STAND_INS.memory_preambles.items():
        assert utf16_length(text) == sizes["utf16_length"][style]
        assert estimate(text, DEFAULT_DIVISOR) == sizes["tokens"][style]


def _known(inputs: Mapping[str, Any], *keys: str) -> None:
    assert set(inputs) <= set(keys), f"unknown inputs: {set(inputs) - set(keys)}"


def _versioned(expected: Mapping[str, Any], variant: str) -> Mapping[str, Any]:
    known = {"same_in_both", PUBLISHED_KEY, NEWER_KEY, "newer_numbers"}
    assert set(expected) <= known, f"unknown expectations: {set(expected) - known}"
    assert expected["same_in_both"] == (NEWER_KEY not in expected)
    key = NEWER_KEY if variant == agentos_rules.NEWER and NEWER_KEY in expected else PUBLISHED_KEY
    found: Mapping[str, Any] = expected[key]
    return found


class Recorder:
    """A stub summarizer that notes how it was called."""

    def __init__(self, stub: StubSummarizer) -> None:
        self.stub = stub
        self.calls: list[dict[str, Any]] = []

    def summarize_conversation_history(
        self, messages: Sequence[Any], target: float, model: Any, preserve_important: Any
    ) -> tuple[Sequence[Any], float]:
        self.calls.append(
            {
                "what": "history",
                "ids": [message.get("id") for message in messages],
                "target": target,
                "preserveImportant": preserve_important,
            }
        )
        return self.stub.summarize_conversation_history(messages, target, model, preserve_important)

    def summarize_rag_context(
        self, context: Any, target: float, model: Any, preserve_sources: Any
    ) -> tuple[str, float]:
        self.calls.append({"what": "rag", "target": target, "preserveSources": preserve_sources})
        return self.stub.summarize_rag_context(context, target, model, preserve_sources)


# ---- construct --------------------------------------------------------------------------------------


def _construct(inputs: Mapping[str, Any], expected: Mapping[str, Any], variant: str) -> None:
    _known(
        inputs,
        "components",
        "model",
        "config",
        "executionContext",
        "setCurrentContext",
        "templateName",
        "utility",
        "env",
    )
    recorder = Recorder(from_settings(inputs["utility"])) if "utility" in inputs else None
    engine = PromptEngine(
        {**inputs.get("config", {}), "performance": {"enableCaching": False}},
        recorder,
        version=agentos_rules.PUBLISHED if variant == agentos_rules.PUBLISHED else agentos_rules.NEWER,
        env=inputs.get("env"),
        keep_tool_rounds=variant == DOCUMENTED,
    )
    if inputs.get("setCurrentContext"):
        engine.set_current_execution_context(inputs["executionContext"])
    result = engine.construct_prompt(
        inputs["components"],
        {**_MODEL, **inputs.get("model", {})},
        inputs.get("executionContext"),
        inputs.get("templateName"),
    )
    invariants.check(result.assembly())
    if variant == DOCUMENTED:
        _compare_documented(result, expected)
        return
    _compare(_facts(result, recorder, inputs["components"]), _versioned(expected, variant))
    if variant == agentos_rules.NEWER and "newer_numbers" in expected:
        assert _numbers(result) == expected["newer_numbers"]


def _facts(
    result: PromptEngineResult, recorder: Recorder | None, components: Mapping[str, Any]
) -> dict[str, Any]:
    made = result.construction
    outcome, augmented = made.outcome, made.augmented
    kept = [message.id for message in (outcome.history or ())] if outcome else []
    given = [message.get("id") for message in components.get("conversationHistory") or []]
    facts: dict[str, Any] = {
        "prompt": result.prompt,
        "estimated_token_count": result.estimated_token_count,
        "was_modified": result.was_truncated_or_summarized,
        "modification": {
            "truncatedComponents": list(result.truncated_components),
            "summarizedComponents": list(result.summarized_components),
            "removedComponents": [],
            "originalEstimatedTokenCount": result.original_estimated_token_count,
        },
        "issues": [_issue(issue) for issue in result.issues],
        "template": result.template_used,
        "system_prompts": result.total_system_prompts_applied,
        "history_included": result.history_messages_included,
        "rag_tokens": result.rag_context_tokens_used,
        "contextual_ids": list(result.selected_contextual_element_ids),
        "history_kept_ids": kept,
        "history_dropped_ids": [name for name in given if name not in kept],
        "system_prompt_order": [
            {"priority": prompt.priority, "source": prompt.source, "content": prompt.content}
            for prompt in (augmented.system if augmented else ())
        ],
    }
    if result.formatted_tool_schemas is not None:
        facts["tool_schemas"] = list(result.formatted_tool_schemas)
    if "retrievedContext" in components and outcome is not None:
        facts["retrieved_context_after"] = outcome.retrieved
    if recorder is not None and recorder.calls:
        facts["summarizer_calls"] = recorder.calls
    return facts


def _issue(issue: Any) -> dict[str, Any]:
    facts = {"type": issue.type, "code": issue.code}
    return facts if issue.tokens is None else {**facts, "tokens": issue.tokens, "budget": issue.budget}


def _compare(facts: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for key in expected:
        assert key in facts, f"unknown or missing expectation {key!r}"
        assert facts[key] == expected[key], key
    assert set(facts) == set(expected), f"not expected: {set(facts) - set(expected)}"


def _numbers(result: PromptEngineResult) -> dict[str, Any] | None:
    numbers = result.construction.outcome.numbers if result.construction.outcome else None
    if numbers is None:
        return None
    return {
        "historyTokens": numbers.history_tokens,
        "turnCount": numbers.turn_count,
        "turnTokens": numbers.turn_tokens,
        "earlierTokens": numbers.earlier_tokens,
        "earlierTarget": numbers.earlier_target,
        "minEarlierKept": numbers.min_earlier_kept,
    }


def _compare_documented(result: PromptEngineResult, expected: Mapping[str, Any]) -> None:
    history = result.construction.request.prepared.history or ()
    outcome = result.construction.outcome
    assert outcome is not None
    kept = [message.id for message in outcome.history or ()]
    numbers = _numbers(result) or {}
    numbers["turnCount_after_extension"] = numbers.get("turnCount")
    facts = {
        "history_kept_ids": kept,
        "history_dropped_ids": [message.id for message in history if message.id not in kept],
        "numbers": {key: numbers.get(key) for key in expected.get("numbers", {})},
    }
    assert facts == dict(expected)


# ---- the other operations ---------------------------------------------------------------------------


def _estimate(inputs: Mapping[str, Any], expected: Mapping[str, Any], variant: str) -> None:
    _known(inputs, "rows")
    engine = PromptEngine(version=variant)
    rows = [
        {
            "chars_utf16": utf16_length(row["text"]),
            "model": row["model"],
            "tokens": engine.estimate_token_count(row["text"], row["model"]),
        }
        for row in inputs["rows"]
    ]
    assert {"rows": rows} == _versioned(expected, variant)


def _messages(inputs: Mapping[str, Any], expected: Mapping[str, Any], variant: str) -> None:
    _known(inputs, "messages", "model", "env")
    engine = PromptEngine(version=variant, env=inputs.get("env"))
    model = {**_MODEL, **inputs.get("model", {})}
    tokens = [engine.calculate_tokens_for_messages([message], model) for message in inputs["messages"]]
    assert {"tokens": tokens} == _versioned(expected, variant)


def _validate(inputs: Mapping[str, Any], expected: Mapping[str, Any], variant: str) -> None:
    _known(inputs, "components", "model", "executionContext", "config", "env")
    engine = PromptEngine(inputs.get("config"), version=variant, env=inputs.get("env"))
    found = engine.validate_prompt_configuration(
        inputs["components"], {**_MODEL, **inputs.get("model", {})}, inputs.get("executionContext")
    )
    assert {
        "isValid": found.is_valid,
        "codes": [[issue.type, issue.code] for issue in found.issues],
        "recommendations": len(found.recommendations),
    } == _versioned(expected, variant)


def _cache(inputs: Mapping[str, Any], expected: Mapping[str, Any], variant: str) -> None:
    _known(inputs, "config", "sequence", "model", "executionContext")
    engine = PromptEngine(inputs["config"], version=variant, clock=lambda: 0.0)
    model = {**_MODEL, **inputs.get("model", {})}
    results = [
        engine.construct_prompt(components, model, inputs.get("executionContext"))
        for components in inputs["sequence"]
    ]
    groups: dict[str | None, int] = {}
    assert {
        "same_key_groups": [groups.setdefault(result.cache_key, len(groups)) for result in results],
        "prompts": [result.prompt for result in results],
        "hits": engine.hits,
        "misses": engine.misses,
    } == _versioned(expected, variant)


_TRACE_OPTIONS = ("tags", "ageMin", "conf", "score", "linked", "entities", "valence", "intensity", "mood")


def _trace(row: Sequence[Any]) -> dict[str, Any]:
    name, kind, content, *rest = row
    options: Mapping[str, Any] = rest[0] if rest else {}
    _known(options, *_TRACE_OPTIONS)
    confidence = options.get("conf", 0.9)
    trace = {
        "id": name,
        "type": kind,
        "content": content,
        "createdAt": _NOW - options.get("ageMin", 0) * 60_000,
        "provenance": {"confidence": confidence},
        "tags": options.get("tags", []),
        "associatedTraceIds": options.get("linked", []),
        "entities": options.get("entities", []),
        "emotionalContext": {
            "valence": options.get("valence", 0),
            "intensity": options.get("intensity", 0),
            "gmiMood": options.get("mood", ""),
        },
    }
    return {**trace, "retrievalScore": options["score"]} if "score" in options else trace


def _memory(inputs: Mapping[str, Any], expected: Mapping[str, Any], variant: str) -> None:
    _known(
        inputs,
        "budget",
        "traits",
        "working",
        "persistent",
        "traces",
        "prospective",
        "graph",
        "observations",
        "allocation",
    )
    given = MemoryInput(
        budget=inputs["budget"],
        traits=inputs.get("traits", {}),
        working=inputs.get("working", ""),
        persistent=inputs.get("persistent", ""),
        traces=[_trace(row) for row in inputs.get("traces", [])],
        prospective=inputs.get("prospective", []),
        graph=inputs.get("graph", []),
        observations=inputs.get("observations", []),
        allocation=inputs.get("allocation", {}),
    )
    found = assemble_memory_context(given, now=_NOW)
    known = {"sections", "tokens_used", "included_ids", "total_chars", "allocation"}
    assert set(expected) <= known, f"unknown expectations: {set(expected) - known}"
    assert [name for name, _ in found.groups] == [section["id"] for section in expected["sections"]]
    for (name, body), section in zip(found.groups, expected["sections"], strict=True):
        assert set(section) <= {"id", "text"}
        if "text" in section:
            _same_text(name, body, section["text"])
    assert found.tokens_used == expected["tokens_used"]
    assert list(found.included_ids) == expected["included_ids"]
    assert utf16_length(found.text) == expected["total_chars"]
    if "allocation" in expected:
        assert dict(found.allocation) == expected["allocation"]


def _same_text(name: str, body: str, expected: Any) -> None:
    if isinstance(expected, str):
        assert body == expected, name
        return
    assert set(expected) <= {"chars", "starts", "ends"}, f"{name}: unknown description of a text"
    assert utf16_length(body) == expected["chars"], name
    assert body.startswith(expected.get("starts", "")), name
    assert body.endswith(expected.get("ends", "")), name


_OPERATIONS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any], str], None]] = {
    "construct": _construct,
    "estimate": _estimate,
    "messages": _messages,
    "validate": _validate,
    "cache": _cache,
    "memory_assembly": _memory,
}
