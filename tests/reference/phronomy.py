"""Phronomy's reference cases: one JSON file per case, made by its source, retyped, on two Rubies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from promptdbg.engines import phronomy
from promptdbg.engines.phronomy.errors import PhronomyError
from promptdbg.engines.phronomy.history import Element
from promptdbg.engines.phronomy.items import Group
from promptdbg.engines.phronomy.load import span_from
from promptdbg.engines.phronomy.manifest import segments
from promptdbg.engines.phronomy.policy import PolicyResult
from promptdbg.model import MessageStatus, StageKind
from tests import invariants
from tests.reference import Case, expanded, only_keys

Data = dict[str, Any]

_MODELS = {"small-model": phronomy.ModelInfo(1000, 200)}


def collect(folder: Path) -> list[Case]:
    return [Case(f"phronomy/{path.stem}", path) for path in sorted(folder.glob("*.json"))]


def check(case: Case) -> None:
    data = json.loads(case.path.read_text("utf-8"))
    operation = _OPERATIONS.get(data["operation"])
    assert operation is not None, f"unknown operation {data['operation']}"
    operation(expanded(data["inputs"]), data["expected"])


@contextmanager
def _tokenizer(inputs: Data) -> Iterator[None]:
    name = inputs.get("tokenizer")
    phronomy.TokenEstimator.tokenizer = None if name in (None, "default") else phronomy.TOKENIZERS[name]
    try:
        yield
    finally:
        phronomy.TokenEstimator.tokenizer = None


def _budget(values: Data) -> phronomy.TokenBudget:
    only_keys(values, "context_window", "max_output_tokens", "overhead", "model")
    return phronomy.TokenBudget(models=_MODELS, **values)


def _kept(given: list[Data], assembly: Any) -> list[bool]:
    final = assembly.stage(StageKind.FINAL)
    there = {message.id for message in final.messages}
    return [f"m{index}" in there for index in range(len(given))]


# ---- generations 1 and 2 ------------------------------------------------------------------------


def _builder(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "tokenizer", "budget", "systems", "knowledge", "messages", "messages_calls")
    only_keys(expected, "system", "system_tokens", "remaining", "message_tokens", "kept", "messages_out")
    with _tokenizer(inputs):
        budget = _budget(inputs["budget"])
        builder = phronomy.Builder(budget=budget)
        for text in inputs.get("systems", []):
            builder.add_system(text)
        for text in inputs.get("knowledge", []):
            builder.add_knowledge(text)
        calls = inputs.get("messages_calls", [inputs["messages"]] if "messages" in inputs else [])
        for messages in calls:
            builder.add_messages(messages)
        given = calls[-1] if calls else []
        result = builder.build()
        assembly = builder.assembly()
        invariants.check(assembly)
        assert result["system"] == expected["system"]
        used = phronomy.TokenEstimator.estimate(result["system"] or "")
        assert used == expected["system_tokens"]
        assert budget.available(used) == expected["remaining"]
        assert [phronomy.TokenEstimator.estimate(m) for m in given] == expected["message_tokens"]
        assert _kept(given, assembly) == expected["kept"]
        assert result["messages"] == expected["messages_out"]
        sizes = [message.size for message in assembly.stages[0].messages]
        assert sizes == expected["message_tokens"]


def _assembler(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "version", "budget", "instruction", "knowledge", "tools", "messages", "tokenizer")
    only_keys(
        expected,
        "system",
        "system_tokens",
        "message_tokens",
        "kept",
        "available_for_messages",
        "warning",
        "error",
        "detail",
    )
    variant = {1: "trims", 2: "raises"}[inputs["version"]]
    with _tokenizer(inputs):
        budget = _budget(inputs["budget"]) if inputs.get("budget") is not None else None
        assembler = phronomy.Assembler(budget=budget, variant=variant)  # type: ignore[arg-type]
        if inputs.get("instruction") is not None:
            assembler.add_instruction(inputs["instruction"])
        for chunk in inputs.get("knowledge", []):
            only_keys(chunk, "text", "type", "trusted", "source")
            assembler.add_knowledge(**chunk)
        for tool in inputs.get("tools", []):
            only_keys(tool, "description", "parameters", "instance", "name")
        assembler.add_capability(inputs.get("tools", []))
        given = inputs.get("messages", [])
        assembler.add_messages(given)
        assembly = assembler.assembly()
        invariants.check(assembly)
        assert [phronomy.TokenEstimator.estimate(m) for m in given] == expected["message_tokens"]
        if "available_for_messages" in expected:
            assert assembler.available_for_messages() == expected["available_for_messages"]
        if "error" in expected:
            only_keys(expected, "error", "detail", "message_tokens", "available_for_messages")
            _same_error(_error_of(assembler.build), expected)
            assert assembly.failure is not None
            assert assembly.failure.error == expected["error"]
            return
        result = assembler.build()
        assert result["system"] == expected["system"]
        used = phronomy.TokenEstimator.estimate(result["system"] or "")
        assert used == expected["system_tokens"]
        assert _kept(given, assembly) == expected["kept"]
        assert result["messages"] == [m for m, kept in zip(given, expected["kept"], strict=True) if kept]
        _same_warning(assembly, budget, used, expected.get("warning"))


def _same_warning(assembly: Any, budget: Any, used: int, wanted: Data | None) -> None:
    notices = [notice for notice in assembly.warnings if notice.code == "phronomy.all-dropped"]
    assert bool(notices) is (wanted is not None)
    if wanted is not None:
        only_keys(wanted, "dropped", "budget", "used_by_system")
        assert wanted == {
            "dropped": len(assembly.stage(StageKind.FINAL).dropped),
            "budget": budget.context_window,
            "used_by_system": used,
        }
        for number in wanted.values():
            assert str(number) in notices[0].message


# ---- errors -------------------------------------------------------------------------------------

_CODES = {
    "assembler_over",
    "call_without_result",
    "duplicate_result",
    "final_over",
    "limit_not_positive",
    "orphan_tool_message",
    "required_over",
    "unknown_category",
}
_DETAIL = re.compile(r"\{\{phronomy:error\.(\w+)(?::([^}]*))?\}\}")


def _error_of(call: Callable[[], Any]) -> PhronomyError:
    try:
        call()
    except PhronomyError as error:
        return error
    raise AssertionError("nothing was raised")


def _same_error(error: PhronomyError, expected: Data) -> None:
    """The class, and the sentence by its name and the values in it."""
    assert error.ruby == expected["error"]
    if "detail" not in expected:
        return
    match = _DETAIL.fullmatch(expected["detail"])
    assert match is not None, f"unknown detail {expected['detail']}"
    assert ",".join(map(str, error.values)) == (match[2] or "")
    # Of the framework's sentences only these names are known; one not listed must not be one of them.
    assert error.code == match[1] if match[1] in _CODES else error.code not in _CODES


# ---- generation 3 -------------------------------------------------------------------------------


def _policy(inputs: Data, expected: Data) -> None:
    only_keys(
        inputs,
        "limit",
        "instruction",
        "candidates",
        "current_input",
        "tools",
        "call_mode",
        "execution_id",
        "final_contents",
        "tokenizer",
    )
    known = (
        "groups",
        "knowledge_input",
        "instruction_input",
        "first_pass",
        "plan",
        "dropped",
        "segment_order",
    )
    only_keys(expected, *known, "final_check", "stage", "error", "detail")
    with _tokenizer(inputs):
        if "error" in expected:
            _policy_fails(inputs, expected)
            return
        builder = _policy_builder(inputs)
        given = builder.input()
        _same_input(given, expected)
        result = builder.select()
        builder.build()
        _same_result(given, result, expected)
        _same_final(builder, result, expected)
        _same_assembly(builder, result)


def _policy_fails(inputs: Data, expected: Data) -> None:
    """It fails in the stage that the case names; what comes before is as the case says."""
    assert expected["stage"] in ("input", "policy")
    if expected["stage"] == "input":
        _same_error(_error_of(lambda: _policy_builder(inputs).input()), expected)
        return
    builder = _policy_builder(inputs)
    _same_input(builder.input(), expected)
    _same_error(_error_of(builder.select), expected)
    assembly = builder.assembly()
    invariants.check(assembly)
    assert assembly.failure is not None
    assert assembly.failure.error == expected["error"]


def _policy_builder(inputs: Data) -> phronomy.PolicyBuilder:
    contents = inputs.get("final_contents", {})

    def filled(candidate: Data) -> Data:
        known = ("id", "category", "role", "tokens", "content", "sequence", "tool_call_id", "tool_call_ids")
        only_keys(candidate, *known, "source", "execution_id", "constraint", "metadata", "priority")
        return (
            {**candidate, "content": contents[candidate["id"]]} if candidate["id"] in contents else candidate
        )

    builder = phronomy.PolicyBuilder(
        max_input_tokens=inputs["limit"],
        call_mode=inputs.get("call_mode", "ask"),
        execution_id=inputs.get("execution_id"),
    )
    for item in inputs.get("instruction", []):
        builder.add_instruction(filled(item))
    builder.add_candidates([filled(candidate) for candidate in inputs["candidates"]])
    for tool in inputs.get("tools", []):
        only_keys(tool, "definition", "id", "tokens", "required")
    builder.add_tools(inputs.get("tools", []))
    if inputs.get("current_input") is not None:
        current = inputs["current_input"]
        only_keys(current, "tokens", "sequence", "content", "id")
        name = current.get("id", "current-input")
        builder.set_current_input({**current, "content": contents[name]} if name in contents else current)
    return builder


def _ids(group: Group) -> list[str]:
    return [item.id for item in group]


def _same_input(given: phronomy.PolicyInput, expected: Data) -> None:
    if "groups" in expected:
        assert [
            {
                "ids": _ids(group),
                "required": any(item.required for item in group),
                "tokens": sum(item.tokens for item in group),
            }
            for group in given.conversation
        ] == expected["groups"]
        assert [
            {"id": item.id, "required": item.required, "tokens": item.tokens} for item in given.knowledge
        ] == expected["knowledge_input"]
        assert [item.id for item in given.instruction] == expected["instruction_input"]


def _same_result(given: phronomy.PolicyInput, result: PolicyResult, expected: Data) -> None:
    first, plan = result.first_pass, result.plan
    assert expected["first_pass"] == (
        first
        and {
            "conversation": [_ids(group) for group in first.conversation],
            "knowledge": [item.id for item in first.knowledge],
            "conversation_budget": first.conversation_budget,
            "knowledge_budget": first.knowledge_budget,
            "conversation_used": first.conversation_used,
            "knowledge_used": first.knowledge_used,
        }
    )
    wanted = expected["plan"]
    only_keys(wanted, "instruction", "knowledge", "tools", "conversation", "metadata")
    assert [item.id for item in plan.instruction] == wanted["instruction"]
    assert [item.id for item in plan.knowledge] == wanted["knowledge"]
    assert [_ids(group) for group in plan.conversation] == wanted["conversation"]
    assert dict(plan.metadata) == wanted["metadata"]
    assert [_tool_form(item, form) for item, form in zip(plan.tools, wanted["tools"], strict=True)] == wanted[
        "tools"
    ]
    chosen = {item.id for item in plan.knowledge}
    groups = {tuple(_ids(group)) for group in plan.conversation}
    assert expected["dropped"] == {
        "knowledge": [item.id for item in given.knowledge if item.id not in chosen],
        "conversation": [_ids(group) for group in given.conversation if tuple(_ids(group)) not in groups],
    }
    assert [item.id for item in segments(plan)] == expected["segment_order"]


def _tool_form(item: phronomy.Item, form: Any) -> Any:
    """A tool as a case names it: by its id, its name, or its definition."""
    if isinstance(form, dict):
        known = {"id": item.id, "tokens": item.tokens, "definition": dict(item.definition)}
        return {key: known[key] for key in form} if set(form) <= set(known) else dict(item.definition)
    return item.id if str(form).startswith("tool:") else item.definition["name"]


def _same_final(builder: phronomy.PolicyBuilder, result: PolicyResult, expected: Data) -> None:
    if "final_check" not in expected:
        return
    wanted = expected["final_check"]
    only_keys(wanted, "estimated", "error", "detail")
    if "error" in wanted:
        _same_error(_error_of(lambda: builder.final_check(result.plan)), wanted)
    else:
        found = builder.final_check(result.plan)
        assert not found.unknown
        assert (0 if builder.budget is None else found.total) == wanted["estimated"]


def _same_assembly(builder: phronomy.PolicyBuilder, result: PolicyResult) -> None:
    """The assembly keeps and drops what the plan does."""
    assembly = builder.assembly()
    invariants.check(assembly)
    last = assembly.stages[-1]
    planned = [item.id for item in segments(result.plan)]
    if assembly.failure is None:
        assert [message.id for message in last.messages] == planned
        assert all(
            last.status_of(m.id) in (MessageStatus.KEPT, MessageStatus.INSERTED) for m in last.messages
        )


# ---- tables -------------------------------------------------------------------------------------


def _budget_rows(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "rows")
    for row, wanted in zip(inputs["rows"], expected["rows"], strict=True):
        only_keys(row, "budget", "used")
        if "error" in wanted:
            assert _error_of(lambda row=row: _budget(row["budget"])).ruby == wanted["error"]  # type: ignore[misc]
            continue
        budget = _budget(row["budget"])
        assert wanted == {
            "effective_input_limit": budget.effective_input_limit,
            "available": budget.available(row["used"]),
            "context_window": budget.context_window,
            "max_output_tokens": budget.max_output_tokens,
            "overhead": budget.overhead,
        }


def _estimate(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "texts", "tokenizer", "messages")
    with _tokenizer(inputs):
        for text, wanted in zip(inputs.get("texts", []), expected["rows"], strict=True):
            found = {
                "chars": len(text),
                "bytes": len(text.encode()),
                "tokens": phronomy.TokenEstimator.estimate(text),
            }
            assert wanted == {key: found[key] for key in wanted}
            assert "tokens" in wanted
        if "messages" in inputs:
            assert phronomy.TokenEstimator.estimate(inputs["messages"]) == expected["total"]
    only_keys(expected, "rows", "total")


def _template(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "rows")
    for row, wanted in zip(inputs["rows"], expected["rows"], strict=True):
        only_keys(row, "template", "system", "input")
        only_keys(wanted, "prompt", "system", "variables", "error")
        template = phronomy.PromptTemplate(template=row["template"], system_template=row.get("system"))
        assert list(template.variables) == wanted["variables"]
        if "error" in wanted:
            with pytest.raises(phronomy.MissingVariable) as caught:
                template.invoke(row["input"])
            assert caught.value.ruby == wanted["error"]
            continue
        found = template.invoke(row["input"])
        assert found["prompt"] == wanted["prompt"]
        assert found.get("system") == wanted["system"]


def _trim(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "messages", "removals", "tokenizer")
    with _tokenizer(inputs):
        context = phronomy.TrimContext(phronomy.number(inputs["messages"]))
        steps: list[Data] = [{"total": context.total_tokens}]
        for removed in inputs["removals"]:
            context.remove(removed)
            left = [element.seq for element in context.message_elements]
            steps.append({"removed": removed, "total": context.total_tokens, "left": left})
        assert steps == expected["steps"]


def _compact(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "messages", "calls")

    def summary(elements: list[Element]) -> str:
        return f"S({','.join(str(element.seq) for element in elements)})"

    for calls, wanted in zip(inputs["calls"], expected["rows"], strict=True):
        context = phronomy.CompactionContext(phronomy.number(inputs["messages"]))
        for call in calls:
            span = span_from(call)
            assert span is not None, f"unknown span {call}"
            context.compact(span, summary)
        assert wanted == {
            "calls": calls,
            "result": [message["content"] for message in context.result_messages],
            "saved": [[saved.start_seq, saved.end_seq, saved.summary_text] for saved in context.saved],
        }


_OPERATIONS: dict[str, Callable[[Data, Data], None]] = {
    "assembler": _assembler,
    "budget": _budget_rows,
    "builder": _builder,
    "compact": _compact,
    "estimate": _estimate,
    "policy": _policy,
    "template": _template,
    "trim": _trim,
}
