"""The checks on a plan (``context/context_plan_validator.rb``). They matter for a policy of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from promptdbg.engines.phronomy.errors import BudgetExceededError, InvalidArgument
from promptdbg.engines.phronomy.items import REGIONS, Group, Item, PolicyInput, any_required
from promptdbg.engines.phronomy.policy import Plan

GENERATED = "policy_generated"
"""The origin of items that a policy makes itself."""

RESERVED_METADATA = frozenset(
    {
        "phronomy_origin",
        "context_policy_origin",
        "context_policy_item_id",
        "context_policy_semantic_category",
        "context_policy_content_format",
        "context_policy_conversation_group_id",
        "handoff_policy_category",
        "handoff_provenance",
        "selection_candidate_id",
        "selection_unit_id",
        "selection_unit_kind",
        "journal_record_id",
        "source_agent_id",
        "source_execution_id",
        "llm_call_id",
    }
)
_RESERVED_KINDS = {**REGIONS, "conversation": "conversation", "tool_result": "conversation"}


def check_plan(given: PolicyInput, plan: Plan) -> Plan:
    """The plan itself, when it is valid.

    Raises:
        InvalidArgument: it changes, invents or repeats something it must not.
        BudgetExceededError: it leaves out something required.
    """
    _flat("instruction", given.instruction, plan.instruction)
    _flat("knowledge", given.knowledge, plan.knowledge)
    _flat("tools", given.tools, plan.tools)
    _conversation(given.conversation, plan.conversation)
    flattened = (item for group in plan.conversation for item in group)
    ids = Counter(item.id for item in [*plan.instruction, *plan.knowledge, *plan.tools, *flattened])
    twice = [name for name, count in ids.items() if count > 1]
    if twice:
        raise InvalidArgument("duplicate_ids", ", ".join(twice))
    return plan


def _flat(label: str, given: Sequence[Item], planned: Sequence[Item]) -> None:
    sources = {item.id: item for item in given}
    for item in planned:
        if item.region != label:
            raise InvalidArgument("invalid_item", label, item.id)
        _kind(label, item)
        source = sources.get(item.id)
        if source is not None:
            if source != item:
                raise InvalidArgument("item_changed", item.id)
        elif label == "tools" or item.origin != GENERATED:
            raise InvalidArgument("unknown_item", label, item.id)
        else:
            _metadata(item)
    planned_ids = {item.id for item in planned}
    missing = [item.id for item in given if item.required and item.id not in planned_ids]
    if missing:
        raise BudgetExceededError("required_omitted", ", ".join(missing))


def _kind(label: str, item: Item) -> None:
    if label != "tools" and _RESERVED_KINDS.get(item.kind, label) != label:
        raise InvalidArgument("invalid_item", label, item.id)


def _metadata(item: Item) -> None:
    reserved = sorted(RESERVED_METADATA & {str(key) for key in item.metadata})
    if reserved:
        raise InvalidArgument("reserved_metadata", item.id, ", ".join(reserved))


def _conversation(given: Sequence[Group], planned: Sequence[Group]) -> None:
    by_ids = {tuple(item.id for item in group): group for group in given}
    known = {item.id for group in given for item in group}
    chosen: set[str] = set()
    for group in planned:
        if not group or any(item.region != "conversation" for item in group):
            raise InvalidArgument("invalid_item", "conversation", _names(group))
        for item in group:
            _kind("conversation", item)
        ids = tuple(item.id for item in group)
        if ids in by_ids:
            if by_ids[ids] != group:
                raise InvalidArgument("item_changed", _names(group))
            chosen.update(ids)
        elif known.intersection(ids):
            raise InvalidArgument("group_changed", _names(group))
        elif any(item.origin != GENERATED for item in group):
            raise InvalidArgument("unknown_item", "conversation", _names(group))
        else:
            _generated_group(group)
    missing = [g for g in given if any_required(g) and not any(item.id in chosen for item in g)]
    if missing:
        raise BudgetExceededError("required_omitted", "; ".join(map(_names, missing)))


def _names(group: Iterable[Item]) -> str:
    return ", ".join(item.id for item in group)


# ---- groups that a policy makes itself ------------------------------------------------------------


def _generated_group(group: Group) -> None:
    """A made-up exchange must pair its calls and results, each result after its call."""
    for item in group:
        _metadata(item)
        _generated_item(item)
    assistants = [item for item in group if item.kind == "assistant_message"]
    tools = [item for item in group if item.kind == "tool_message"]
    if (assistants or tools) and len(assistants) + len(tools) != len(group):
        _invalid("only assistant and tool messages may stand in it")
    counts = Counter(item.tool_call_id for item in tools)
    if any(not call or count != 1 for call, count in counts.items()):
        _invalid("a call needs exactly one result")
    place = {id(item): index for index, item in enumerate(group)}
    results = {item.tool_call_id: item for item in tools}
    calls: set[str] = set()
    for assistant in assistants:
        for call in assistant.tool_call_ids:
            if call in calls:
                _invalid(f"the call {call} is made twice")
            calls.add(call)
            if call not in results:
                _invalid(f"the call {call} has no result")
            if place[id(results[call])] < place[id(assistant)]:
                _invalid(f"the result of {call} comes before it")
    for item in tools:
        if item.tool_call_id not in calls:
            _invalid(f"the result {item.tool_call_id} answers no call")


def _invalid(what: str) -> None:
    raise InvalidArgument("generated_invalid", what)


def _generated_item(item: Item) -> None:
    if item.kind == "assistant_message":
        content = _message(item, "assistant")
        calls = content.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            _invalid("tool_calls must be a list")
        if tuple(map(_call_id, calls or [])) != item.tool_call_ids:
            _invalid(f"the calls of {item.id} differ from its content")
        if item.tool_call_id:
            _invalid(f"{item.id} must not answer a call")
    elif item.kind == "tool_message":
        content = _message(item, "tool")
        if not item.tool_call_id or str(content.get("tool_call_id")) != item.tool_call_id:
            _invalid(f"the call of {item.id} differs from its content")
        if item.tool_call_ids:
            _invalid(f"{item.id} must not make calls")
    elif item.kind == "tool_result":
        _invalid("raw tool results may not stand in it")
    elif item.tool_call_id or item.tool_call_ids:
        _invalid(f"{item.id} is no tool exchange and names calls")


def _message(item: Item, role: str) -> dict[str, Any]:
    content = item.content
    if item.content_format != "json" or not isinstance(content, dict):
        raise InvalidArgument("generated_invalid", f"{item.id} must hold a message as JSON")
    if item.role != role or content.get("role") != role:
        raise InvalidArgument("generated_invalid", f"the role of {item.id} differs from its content")
    return content


def _call_id(call: Any) -> str:
    if not isinstance(call, dict):
        raise InvalidArgument("generated_invalid", "a call must be an object")
    if not call.get("id") or not call.get("name") or not isinstance(call.get("arguments", {}), dict):
        raise InvalidArgument("generated_invalid", "a call needs id, name and arguments")
    return str(call["id"])
