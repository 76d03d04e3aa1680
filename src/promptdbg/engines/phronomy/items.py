"""Generation 3's input: items routed into regions, conversation grouped, requirements marked.

Read from ``context/context_policy_input_builder.rb`` and ``context/context_policy_input.rb``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from promptdbg.engines.phronomy.budget import InputBudget
from promptdbg.engines.phronomy.errors import InvalidArgument
from promptdbg.engines.phronomy.estimate import Estimate, canonical_json, text_of
from promptdbg.model import Json

Region = Literal["instruction", "knowledge", "tools", "conversation"]

REGIONS: Mapping[str, Region] = MappingProxyType(
    {
        "instruction": "instruction",
        "handoff_responsibility": "instruction",
        "knowledge": "knowledge",
        "memory": "knowledge",
        "summary": "knowledge",
        "structured_state": "knowledge",
        "external_message": "conversation",
        "assistant_message": "conversation",
        "tool_message": "conversation",
        "current_input": "conversation",
        "current_request": "conversation",
    }
)
"""The region of each candidate category."""

SEMANTIC_CATEGORY = "context_policy_semantic_category"
"""The metadata key that names a region outright."""

_DEFAULT_ROLES: Mapping[str, str] = MappingProxyType({"instruction": "system", "knowledge": "user"})
_JSON_KINDS = ("assistant_message", "tool_message")
_NO_METADATA: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate, in its region. ``key`` tells items of one id apart; ``tokens`` is the declared or
    estimated cost; ``content`` is ``None`` where only a cost was given."""

    id: str
    kind: str
    region: Region
    tokens: int = 0
    content: Json = None
    role: str | None = None
    required: bool = False
    sequence: int | None = None
    tool_call_id: str | None = None
    tool_call_ids: tuple[str, ...] = ()
    origin: str = "unknown"
    execution_id: str | None = None
    delivery: str = "chat_message"
    content_format: str = "text"
    metadata: Mapping[str, Json] = field(default_factory=lambda: _NO_METADATA)
    key: str = ""

    @property
    def definition(self) -> Mapping[str, Json]:
        """A tool's definition."""
        return self.content if isinstance(self.content, dict) else {}

    @property
    def stored(self) -> str | None:
        """The content as the framework stores it, ``None`` where it is not known."""
        if self.content is None:
            return None
        return canonical_json(self.content) if self.content_format == "json" else text_of(self.content)


Group = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """What a policy chooses from. ``passed_over`` are items whose id stood before them."""

    instruction: tuple[Item, ...] = ()
    knowledge: tuple[Item, ...] = ()
    tools: tuple[Item, ...] = ()
    conversation: tuple[Group, ...] = ()
    budget: InputBudget | None = None
    call_mode: str = "ask"
    execution_id: str | None = None
    passed_over: tuple[Item, ...] = ()


def item_from(candidate: Mapping[str, Json], estimate: Estimate, default_category: str = "") -> Item:
    """A candidate as a workspace file or a case writes it.

    Raises:
        InvalidArgument: its category has no region, or its estimate is negative or no whole number.
    """
    metadata = candidate.get("metadata") or {}
    kind = str(candidate.get("category", default_category))
    region = _region(kind, metadata)
    content = candidate.get("content")
    form = str(metadata.get("content_format") or ("json" if kind in _JSON_KINDS else "text"))
    if not isinstance(content, str) and content is not None:
        form = "json"
    calls = metadata.get("tool_call_ids") or candidate.get("tool_call_ids") or ()
    declared = metadata.get("estimated_tokens", candidate.get("tokens"))
    item = Item(
        id=str(candidate["id"]),
        kind=kind,
        region=region,
        content=content,
        role=_text(candidate.get("role")) or _DEFAULT_ROLES.get(region),
        required=candidate.get("constraint") == "required" or candidate.get("required") is True,
        sequence=_whole(candidate.get("sequence"), str(candidate["id"])),
        tool_call_id=_text(candidate.get("tool_call_id")),
        tool_call_ids=tuple(str(call) for call in calls if call is not None),
        origin=str(candidate.get("source") or "unknown"),
        execution_id=_text(candidate.get("execution_id")),
        content_format=form,
        metadata=MappingProxyType(dict(metadata)),
    )
    return replace(item, tokens=_cost(item, declared, estimate))


def _cost(item: Item, declared: Json, estimate: Estimate) -> int:
    if declared is None:
        return estimate(item.stored or "")
    tokens = _whole(declared, item.id)
    assert tokens is not None
    if tokens < 0:
        raise InvalidArgument("negative_estimate", item.id)
    return tokens


def _whole(value: Json, item: str) -> int | None:
    """Ruby's ``Integer``: a whole number, or a text that is one."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    try:
        if isinstance(value, (str, float)):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise InvalidArgument("invalid_estimate", item)


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def _region(kind: str, metadata: Mapping[str, Json]) -> Region:
    explicit = metadata.get(SEMANTIC_CATEGORY)
    if explicit:
        for region in ("instruction", "knowledge", "conversation"):
            if explicit == region:
                return region
        raise InvalidArgument("unknown_semantic_category", str(explicit))
    if kind not in REGIONS:
        raise InvalidArgument("unknown_category", kind)
    return REGIONS[kind]


def tool_from(value: Mapping[str, Json], estimate: Estimate) -> Item:
    """A tool from its definition; it costs its canonical JSON unless a cost is given.

    Raises:
        InvalidArgument: the definition has no name, or the cost is not valid.
    """
    definition = value.get("definition", value)
    name = definition.get("name") if isinstance(definition, dict) else None
    if name in (None, ""):
        raise InvalidArgument("tool_without_name")
    item = Item(
        str(value.get("id", f"tool:{name}")),
        "tool",
        "tools",
        content=definition,
        required=value.get("required") is True,
        origin="agent_configuration",
        content_format="json",
    )
    return replace(item, tokens=_cost(item, value.get("tokens"), estimate))


def current_input(value: Json, execution_id: str | None, estimate: Estimate) -> Item:
    """The question of ask mode, from a text or from ``content``, ``tokens`` and ``sequence``.

    Raises:
        InvalidArgument: its cost or sequence is not valid.
    """
    table: Mapping[str, Json] = value if isinstance(value, dict) else {"content": value}
    item = item_from(
        {
            "id": "current-input",
            "category": "current_input",
            "role": "user",
            "required": True,
            "source": "working",
            "execution_id": execution_id,
            **table,
        },
        estimate,
    )
    return replace(item, delivery="ask_argument", key="current-input")


# ---- building the input -------------------------------------------------------------------------


def build_input(
    items: Iterable[Item],
    *,
    tools: Sequence[Item] = (),
    current: Item | None = None,
    budget: InputBudget | None = None,
    call_mode: str = "ask",
    execution_id: str | None = None,
) -> PolicyInput:
    """Route the items, group the conversation, and mark what the framework itself requires.

    ``current`` is the ask-mode input; without a sequence it gets the highest plus one.

    Raises:
        InvalidArgument: calls and results do not pair.
    """
    if call_mode not in ("ask", "complete"):
        raise InvalidArgument("invalid_call_mode", call_mode)
    regions: dict[str, list[Item]] = {"instruction": [], "knowledge": [], "conversation": []}
    for item in items:
        regions[item.region].append(item)
    conversation = regions["conversation"]
    if current is not None:
        highest = max((i.sequence for i in conversation if i.sequence is not None), default=0)
        sequence = highest + 1 if current.sequence is None else current.sequence
        conversation.append(replace(current, sequence=sequence))
    groups, passed_over = conversation_groups(conversation)
    return PolicyInput(
        tuple(regions["instruction"]),
        tuple(regions["knowledge"]),
        tuple(tools),
        _mark_required(groups, call_mode, execution_id),
        budget,
        call_mode,
        execution_id,
        tuple(passed_over),
    )


def _order(item: Item) -> tuple[int, str]:
    return (item.sequence or 0, item.id)


def conversation_groups(items: Sequence[Item]) -> tuple[list[Group], list[Item]]:
    """The groups in order, and the items passed over because their id stood before.

    Raises:
        InvalidArgument: calls and results do not pair.
    """
    ordered = sorted(items, key=_order)
    results = _results(ordered)
    callers = _callers(ordered)
    claimed: set[str] = set()
    groups: list[Group] = []
    for item in ordered:
        if item.id not in claimed:
            group = _group(item, results, callers)
            claimed.update(member.id for member in group)
            groups.append(group)
    members = {id(member) for group in groups for member in group}
    return groups, [item for item in ordered if id(item) not in members]


def _results(ordered: Sequence[Item]) -> dict[str, Item]:
    found: dict[str, list[Item]] = {}
    for item in ordered:
        if item.kind == "tool_message":
            found.setdefault(item.tool_call_id or "", []).append(item)
    for call, messages in found.items():
        if not call:
            raise InvalidArgument("tool_message_without_id")
        if len(messages) > 1:
            raise InvalidArgument("duplicate_result", call)
    return {call: messages[0] for call, messages in found.items()}


def _callers(ordered: Sequence[Item]) -> dict[str, Item]:
    found: dict[str, Item] = {}
    for item in ordered:
        if item.kind == "assistant_message":
            for call in item.tool_call_ids:
                if call in found:
                    raise InvalidArgument("duplicate_call", call)
                found[call] = item
    return found


def _group(item: Item, results: Mapping[str, Item], callers: Mapping[str, Item]) -> Group:
    if item.kind == "tool_message":
        assistant = callers.get(item.tool_call_id or "")
        if assistant is None:
            raise InvalidArgument("orphan_tool_message", item.tool_call_id or "")
    elif item.kind == "assistant_message" and item.tool_call_ids:
        assistant = item
    else:
        return (item,)
    members = [assistant]
    for call in assistant.tool_call_ids:
        if call not in results:
            raise InvalidArgument("call_without_result", call)
        members.append(results[call])
    unique = {id(member): member for member in members}
    return tuple(sorted(unique.values(), key=_order))


def _mark_required(groups: list[Group], call_mode: str, execution_id: str | None) -> tuple[Group, ...]:
    """In complete mode: this execution's working requests, and its latest tool group."""
    if call_mode != "complete":
        return tuple(groups)

    def working(item: Item) -> bool:
        return item.origin == "working" and (item.execution_id or "") == (execution_id or "")

    latest: Group = ()
    for group in groups:
        tools = any(item.kind == "tool_message" for item in group)
        if tools and any(working(item) and item.kind in _JSON_KINDS for item in group):
            # The first of equals stays, as with Ruby's max_by.
            latest = group if not latest or _highest(group) > _highest(latest) else latest
    wanted = {item.id for item in latest}
    return tuple(
        tuple(
            replace(item, required=True)
            if item.id in wanted or (item.kind == "external_message" and working(item))
            else item
            for item in group
        )
        for group in groups
    )


def _highest(group: Group) -> int:
    return max((item.sequence for item in group if item.sequence is not None), default=0)


def any_required(group: Group) -> bool:
    return any(item.required for item in group)


def cost_of(items: Iterable[Item]) -> int:
    return sum(item.tokens for item in items)


def flat(groups: Iterable[Group]) -> list[Item]:
    """The items of all groups, in order."""
    return [item for group in groups for item in group]
