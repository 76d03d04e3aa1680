"""The last estimate, and the manifest of one call (``context/final_budget_validator.rb``,
``context/assembly.rb::store``, ``context/llm_input_manifest.rb``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promptdbg.engines.phronomy.budget import InputBudget
from promptdbg.engines.phronomy.errors import BudgetExceededError, InvalidArgument
from promptdbg.engines.phronomy.estimate import Estimate, canonical_json
from promptdbg.engines.phronomy.items import Item
from promptdbg.engines.phronomy.policy import Plan
from promptdbg.model import Json

VERSION = "0.1"
ASSEMBLY_POLICY_VERSION = 9


@dataclass(frozen=True, slots=True)
class FinalEstimate:
    """Tokens of the stored contents and of the tool list; ``unknown`` are ids without content."""

    contents: int
    tools: int
    unknown: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return self.contents + self.tools


def segments(plan: Plan) -> tuple[Item, ...]:
    """Instructions, knowledge, then the conversation groups flattened: the order of the input."""
    flattened = (item for group in plan.conversation for item in group)
    return (*plan.instruction, *plan.knowledge, *flattened)


def final_estimate(plan: Plan, estimate: Estimate) -> FinalEstimate:
    """Every stored content for itself, and the canonical JSON of the list of tool definitions.

    An item without content counts what it declares.
    """
    total, unknown = 0, []
    for item in segments(plan):
        stored = item.stored
        if stored is None:
            unknown.append(item.key or item.id)
        total += item.tokens if stored is None else estimate(stored)
    definitions = canonical_json([item.definition for item in plan.tools])
    return FinalEstimate(total, estimate(definitions), tuple(unknown))


def check_final(budget: InputBudget | None, found: FinalEstimate) -> int:
    """The estimate; 0 without a budget, for then nothing is counted.

    Raises:
        BudgetExceededError: it is over the limit.
    """
    if budget is None:
        return 0
    if found.total > budget.effective_input_limit:
        raise BudgetExceededError("final_over", found.total, budget.effective_input_limit)
    return found.total


def manifest(
    plan: Plan, *, call_mode: str, call_sequence: int = 1, model_config: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """The manifest of a call, contents in place of references.

    Raises:
        InvalidArgument: the call is not numbered from 1, or not exactly the ask argument of ask mode is
            there.
    """
    listed = segments(plan)
    check_manifest(listed, call_mode, call_sequence)
    groups = {
        id(item): f"conversation:{call_sequence}:{number}"
        for number, group in enumerate(plan.conversation)
        for item in group
    }
    return {
        "version": VERSION,
        "call_sequence": call_sequence,
        "call_mode": call_mode,
        "assembly_policy_version": ASSEMBLY_POLICY_VERSION,
        "segments": [_segment(position, item, groups) for position, item in enumerate(listed)],
        "model_config": dict(model_config or {}),
        "tool_definitions": [dict(item.definition) for item in plan.tools],
    }


def check_manifest(listed: Sequence[Item], call_mode: str, call_sequence: int = 1) -> None:
    """What the manifest itself demands.

    Raises:
        InvalidArgument: it does not hold.
    """
    if call_sequence < 1:
        raise InvalidArgument("manifest_invalid", "call_sequence must be 1 or more")
    asked = sum(item.delivery == "ask_argument" for item in listed)
    if asked != (1 if call_mode == "ask" else 0):
        raise InvalidArgument("manifest_invalid", f"{call_mode} mode with {asked} ask arguments")


def _segment(position: int, item: Item, groups: Mapping[int, str]) -> dict[str, Json]:
    metadata = {
        "context_policy_item_id": item.id,
        "context_policy_origin": item.origin,
        "context_policy_semantic_category": item.region,
        "context_policy_content_format": item.content_format,
    }
    if group := groups.get(id(item)):
        metadata["context_policy_conversation_group_id"] = group
    segment = {
        "position": position,
        "category": item.kind,
        "role": item.role,
        "content": item.content,
        "delivery": item.delivery,
        "tool_call_id": item.tool_call_id,
        "metadata": metadata,
    }
    return {key: value for key, value in segment.items() if value is not None}
