"""The default policy of generation 3 (``context/default_policy.rb``): what goes in, and why.

Every choice leaves a ``Verdict`` where it is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from promptdbg.engines.phronomy.errors import BudgetExceededError
from promptdbg.engines.phronomy.items import Group, Item, PolicyInput, any_required, cost_of
from promptdbg.model import Json

CONVERSATION_SHARE = 0.60
"""Share of what is left after the fixed items that the conversation is offered first."""

Pass = Literal["fixed", "first", "second", "none"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy decided on a knowledge item or a conversation group.

    ``cost`` was compared with ``room``, the tokens left at that moment, in pass ``tried``. A group
    behind the one that stopped the walk was never compared: ``blocked_by`` names the one that was.
    """

    taken: bool
    tried: Pass
    cost: int
    room: int | None = None
    blocked_by: str = ""


@dataclass(frozen=True, slots=True)
class FirstPass:
    """The two shares and what they took."""

    conversation: tuple[Group, ...] = ()
    knowledge: tuple[Item, ...] = ()
    conversation_budget: int = 0
    knowledge_budget: int = 0
    conversation_used: int = 0
    knowledge_used: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a policy answers with."""

    instruction: tuple[Item, ...] = ()
    knowledge: tuple[Item, ...] = ()
    tools: tuple[Item, ...] = ()
    conversation: tuple[Group, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """The plan, the first pass (``None`` without a budget), and a verdict for each group (by its first
    item's id) and knowledge item. ``ties`` are sequences that several groups share."""

    plan: Plan
    first_pass: FirstPass | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=lambda: MappingProxyType({}))
    ties: tuple[int, ...] = ()
    fixed: int = 0
    unused: int = 0


def default_policy(given: PolicyInput, *, share: float = CONVERSATION_SHARE) -> PolicyResult:
    """Choose within the budget.

    Args:
        share: the conversation's share; another than the framework's is a what-if.

    Raises:
        BudgetExceededError: the fixed items alone are over the limit.
    """
    if given.budget is None:
        plan = Plan(
            given.instruction, given.knowledge, given.tools, given.conversation, {"default_policy": True}
        )
        return PolicyResult(plan)
    choice = _Choice(given, given.budget.effective_input_limit, share)
    choice.fix()
    choice.first()
    choice.second()
    return choice.result()


def group_sequence(group: Group) -> int:
    """A group's place: the lowest sequence in it, 0 where none has one."""
    return min((item.sequence for item in group if item.sequence is not None), default=0)


def group_id(group: Group) -> str:
    """What a group is called: its first item's key, or id where that has none."""
    return group[0].key or group[0].id


def _item_id(item: Item) -> str:
    return item.key or item.id


class _Choice:
    """One run of the policy."""

    def __init__(self, given: PolicyInput, limit: int, share: float) -> None:
        self.given = given
        self.limit = limit
        self.share = share
        self.verdicts: dict[str, Verdict] = {}
        self.required_knowledge = [item for item in given.knowledge if item.required]
        self.required_groups = [group for group in given.conversation if any_required(group)]
        optional = [group for group in given.conversation if not any_required(group)]
        # Ruby's sort_by need not be stable; ours is, and ties are reported.
        self.optional_groups = sorted(optional, key=group_sequence)
        self.optional_knowledge = [item for item in given.knowledge if not item.required]

    def fix(self) -> None:
        """Instructions, tools and what is required."""
        self.fixed = (
            cost_of(self.given.instruction)
            + cost_of(self.given.tools)
            + cost_of(self.required_knowledge)
            + sum(map(cost_of, self.required_groups))
        )
        if self.fixed > self.limit:
            raise BudgetExceededError("required_over", self.fixed, self.limit)
        for item in self.required_knowledge:
            self.verdicts[_item_id(item)] = Verdict(True, "fixed", item.tokens)
        for group in self.required_groups:
            self.verdicts[group_id(group)] = Verdict(True, "fixed", cost_of(group))

    def first(self) -> None:
        """Each region within its share."""
        self.remaining = self.limit - self.fixed
        conversation = math.floor(self.remaining * self.share)
        knowledge = self.remaining - conversation
        groups, self.older, used = self._suffix(self.optional_groups, conversation, "first")
        items, self.left_out, spent = self._stable(self.optional_knowledge, knowledge, "first")
        self.groups, self.items = groups, items
        self.pass_one = FirstPass(tuple(groups), tuple(items), conversation, knowledge, used, spent)
        self.unused = self.remaining - used - spent

    def second(self) -> None:
        """The leftover: the conversation first, from the group that did not fit, then knowledge."""
        if self.unused > 0 and self.older:
            groups, _, used = self._suffix(self.older, self.unused, "second")
            self.groups = groups + self.groups
            self.unused -= used
        if self.unused > 0 and self.left_out:
            items, _, used = self._stable(self.left_out, self.unused, "second")
            self.items = self.items + items
            self.unused -= used

    def _suffix(
        self, groups: Sequence[Group], budget: int, tried: Pass
    ) -> tuple[list[Group], list[Group], int]:
        """The newest groups that fit, stopping at the first that does not; the older ones; the cost."""
        room = budget
        for index in range(len(groups) - 1, -1, -1):
            cost = cost_of(groups[index])
            if cost > room:
                self._block(groups[: index + 1], cost, room, tried)
                return list(groups[index + 1 :]), list(groups[: index + 1]), budget - room
            self.verdicts[group_id(groups[index])] = Verdict(True, tried, cost, room)
            room -= cost
        return list(groups), [], budget - room

    def _block(self, groups: Sequence[Group], cost: int, room: int, tried: Pass) -> None:
        blocker = group_id(groups[-1])
        self.verdicts[blocker] = Verdict(False, tried, cost, room)
        for group in groups[:-1]:
            self.verdicts[group_id(group)] = Verdict(False, tried, cost_of(group), None, blocker)

    def _stable(self, items: Sequence[Item], budget: int, tried: Pass) -> tuple[list[Item], list[Item], int]:
        """The items that fit, in order, passing over those that do not; the rest; the cost."""
        room = budget
        taken: list[Item] = []
        left: list[Item] = []
        for item in items:
            fits = item.tokens <= room
            self.verdicts[_item_id(item)] = Verdict(fits, tried, item.tokens, room)
            (taken if fits else left).append(item)
            room -= item.tokens if fits else 0
        return taken, left, budget - room

    def result(self) -> PolicyResult:
        chosen = sorted([*self.required_groups, *self.groups], key=group_sequence)
        ids = {item.id for item in [*self.required_knowledge, *self.items]}
        metadata: dict[str, Json] = {
            "default_policy": True,
            "estimated_fixed_tokens": self.fixed,
            "estimated_unused_tokens": self.unused,
        }
        plan = Plan(
            self.given.instruction,
            tuple(item for item in self.given.knowledge if item.id in ids),
            self.given.tools,
            tuple(chosen),
            MappingProxyType(metadata),
        )
        return PolicyResult(
            plan, self.pass_one, MappingProxyType(self.verdicts), _ties(chosen), self.fixed, self.unused
        )


def _ties(groups: Sequence[Group]) -> tuple[int, ...]:
    places = [group_sequence(group) for group in groups]
    return tuple(sorted({now for now, before in zip(places[1:], places, strict=False) if now == before}))
