"""Generation 3: candidates, the policy's plan, the final check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.engines.phronomy import rules
from promptdbg.engines.phronomy.applying import apply_plan
from promptdbg.engines.phronomy.budget import InputBudget
from promptdbg.engines.phronomy.estimate import Estimate, canonical_json
from promptdbg.engines.phronomy.inputs import PhronomyInputs, Tool
from promptdbg.engines.phronomy.items import Group, Item, PolicyInput, build_input, cost_of, flat
from promptdbg.engines.phronomy.knobs import estimate_of, input_budget
from promptdbg.engines.phronomy.manifest import check_final, check_manifest, final_estimate, segments
from promptdbg.engines.phronomy.outcome import Outcome
from promptdbg.engines.phronomy.plan_check import check_plan
from promptdbg.engines.phronomy.policy import PolicyResult, default_policy
from promptdbg.engines.stages import Stages, message_tokens
from promptdbg.model import (
    Action,
    Budget,
    Evidence,
    Json,
    Message,
    MessageStatus,
    Part,
    Section,
    SectionStatus,
    Settings,
    Span,
    Value,
)

_SECTION_REGIONS = ("instruction", "knowledge")
CURRENT = "current-input"


def assemble_policy(
    inputs: PhronomyInputs, settings: Settings, values: Mapping[str, Value], outcome: Outcome
) -> None:
    """Run the policy generation.

    Raises:
        PhronomyError: the candidates do not pair, or what is required does not fit.
    """
    estimate = estimate_of(inputs, values)
    items = _items(inputs, settings, values, outcome, estimate)
    messages = _messages(inputs, items, settings, outcome)
    outcome.begin(Stages(outcome.counter, messages), "Candidates as stored")
    _sections(items, settings, outcome)
    _tools(inputs, settings, outcome)
    outcome.where = "llm_context_window/token_budget.rb::initialize"
    budget = input_budget(inputs, values)
    given = _input(inputs, settings, values, items, budget, outcome, estimate)
    _initial(given, messages, settings, outcome)
    outcome.where = "context/default_policy.rb::call"
    share = values["share"]
    outcome.budget = _ledger(given.instruction, given.knowledge, given.tools, given.conversation, budget)
    result = default_policy(given, share=float(share) if isinstance(share, (int, float)) else 0.6)
    outcome.where = rules.PLAN.source
    plan = check_plan(given, result.plan)
    outcome.budget = _ledger(plan.instruction, plan.knowledge, plan.tools, plan.conversation, budget)
    apply_plan(given, result, budget, outcome)
    _final(result, budget, given, outcome, estimate)
    outcome.stages.final("What the provider gets")


# ---- the candidates -----------------------------------------------------------------------------


def _items(
    inputs: PhronomyInputs,
    settings: Settings,
    values: Mapping[str, Value],
    outcome: Outcome,
    estimate: Estimate,
) -> list[Item]:
    """The items in the chosen order, with the required flags of the knob and edited system texts."""
    order = {item: place for place, item in enumerate(_names(values["order"]))}
    required = set(_names(values["required"]))
    items = sorted(inputs.items, key=lambda item: order.get(item.key, len(order)))
    found = []
    for item in items:
        if item.required is not (item.key in required):
            item = replace(item, required=not item.required)
        text = settings.texts.get(item.key)
        if text is not None and item.region in _SECTION_REGIONS:
            item = _with_text(item, text, estimate)
            outcome.trace.decide(
                Action.NOTE, item.key, EDITED, stage="session", because="Its text was edited here."
            )
        found.append(item)
    return found


def _messages(
    inputs: PhronomyInputs, items: Sequence[Item], settings: Settings, outcome: Outcome
) -> list[Message]:
    key = ("items", outcome.counter)
    stored = inputs.memo.messages(inputs.items, key, lambda item: _message(item, outcome))
    by_id = {message.id: message for message in stored}
    return [
        _message(item, outcome)
        if item.key in settings.texts and item.region in _SECTION_REGIONS
        else by_id[item.key]
        for item in items
    ]


def _names(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _with_text(item: Item, text: str, estimate: Estimate) -> Item:
    return replace(item, content=text, content_format="text", tokens=estimate(text))


def _message(item: Item, outcome: Outcome) -> Message:
    """An item as the provider's message; a stored JSON message keeps its own calls."""
    content: Json = item.content
    calls: Json = None
    if item.region == "conversation" and isinstance(content, dict):
        content, calls = content.get("content"), content.get("tool_calls")
    wire = (
        "role",
        "content",
        *(("tool_calls",) if calls else ()),
        *(("tool_call_id",) if item.tool_call_id else ()),
    )
    return Message(
        id=item.key,
        role=item.role or "user",
        content="" if content is None else content,
        tokens=message_tokens(outcome.counter, content, calls),
        sources=(item.key,),
        tool_calls=calls,
        tool_call_id=item.tool_call_id,
        size=item.tokens,
        evidence=Evidence.UNKNOWN if item.content is None else Evidence.COMPUTED,
        wire=wire,
    )


def _sections(items: Sequence[Item], settings: Settings, outcome: Outcome) -> None:
    """Instructions and knowledge as sections; the policy decides on them later."""
    for order, item in enumerate(item for item in items if item.region in _SECTION_REGIONS):
        text = item.stored or ""
        tokens = message_tokens(outcome.counter, item.content)
        off = item.key in settings.off
        outcome.sections.append(
            Section(
                id=item.key,
                name=item.id,
                kind=item.region,
                order=order,
                text=text,
                output="" if off else text,
                status=SectionStatus.DISABLED if off else SectionStatus.KEPT,
                tokens=0 if off else tokens,
                tokens_original=tokens,
                size=0 if off else item.tokens,
                size_original=item.tokens,
                unit="tokens",
                place="message",
                spans=(Span(0, len(text), False),) if off and text else (),
                evidence=Evidence.UNKNOWN if item.content is None else Evidence.COMPUTED,
            )
        )


def _tools(inputs: PhronomyInputs, settings: Settings, outcome: Outcome) -> None:
    for item in inputs.tool_items:
        if item.key in settings.off:
            before = outcome.counter.count(canonical_json(item.content))
            outcome.trace.decide(
                Action.DISABLE, item.key, SWITCHED_OFF, stage="tools", because="Switched off here.",
                before=before, after=0,
            )  # fmt: skip
    tools = tuple(
        Tool(item.key, str(item.definition.get("name")), definition=item.definition)
        for item in inputs.tool_items
    )
    outcome.add_tools(tools, {item.key: item.tokens for item in inputs.tool_items}, settings.off)


def _input(
    inputs: PhronomyInputs,
    settings: Settings,
    values: Mapping[str, Value],
    items: Sequence[Item],
    budget: InputBudget | None,
    outcome: Outcome,
    estimate: Estimate,
) -> PolicyInput:
    outcome.where = rules.GROUP.source
    mode = str(values["call_mode"])
    current = inputs.current_input if mode == "ask" else None
    if current is not None and CURRENT in settings.texts:
        current = _with_text(current, settings.texts[CURRENT], estimate)
    edited = (
        _with_text(item, settings.texts[item.key], estimate) if item.key in settings.texts else item
        for item in items
    )
    execution = values["execution_id"]
    return build_input(
        (item for item in edited if item.key not in settings.off),
        tools=[item for item in inputs.tool_items if item.key not in settings.off],
        current=None if current is None or CURRENT in settings.off else current,
        budget=budget,
        call_mode=mode,
        execution_id=None if execution is None else str(execution),
    )


def _initial(given: PolicyInput, stored: Sequence[Message], settings: Settings, outcome: Outcome) -> None:
    """The candidates in the order of the input, grouped; the current input comes in here."""
    before = {message.id: message for message in stored}
    messages: list[Message] = []
    statuses: dict[str, MessageStatus] = {}
    for item in (*given.instruction, *given.knowledge, *flat(given.conversation)):
        old = before.pop(item.key, None)
        edited = item.key in settings.texts and item.region == "conversation"
        message = old if old is not None and not edited else _message(item, outcome)
        messages.append(message)
        if old is None:
            statuses[item.key] = MessageStatus.INSERTED
            outcome.trace.decide(
                Action.INSERT, item.key, rules.CURRENT_INPUT, stage="initial",
                because=f"The current input is added with sequence {item.sequence}.",
                before=0, after=message.tokens,
            )  # fmt: skip
        elif edited and old.content != message.content:
            statuses[item.key] = MessageStatus.REWRITTEN
            outcome.trace.decide(
                Action.REWRITE, item.key, EDITED, stage="initial", because="Its text was edited here.",
                before=old.tokens, after=message.tokens,
            )  # fmt: skip
    _note_groups(given.conversation, outcome)
    gone = list(before.values())
    for message in gone:
        off = message.id in settings.off
        outcome.trace.decide(
            Action.DISABLE if off else Action.DROP,
            message.id,
            SWITCHED_OFF if off else rules.DUPLICATE,
            stage="initial",
            because="Switched off here." if off else "An item of the same id stands before it.",
            before=message.tokens,
            after=0,
        )
    if any(message.id not in settings.off for message in gone):
        outcome.trace.warn(
            "phronomy.duplicate-id", "conversation items share an id; the later ones are passed over"
        )
    outcome.stages.initial("Candidates in order, grouped", messages, gone, statuses)


def _note_groups(groups: Sequence[Group], outcome: Outcome) -> None:
    for group in groups:
        if len(group) > 1:
            names = ", ".join(item.key for item in group)
            outcome.trace.decide(
                Action.NOTE, group[0].key, rules.GROUP, stage="initial",
                because=f"One group: {names}.", measured=cost_of(group), unit="tokens",
            )  # fmt: skip


# ---- the last check -------------------------------------------------------------------------------


def _final(
    result: PolicyResult, budget: InputBudget | None, given: PolicyInput, outcome: Outcome, estimate: Estimate
) -> None:
    """Estimate what is stored, with the tool list; then the manifest's own rules."""
    found = final_estimate(result.plan, estimate)
    messages = outcome.stages.messages
    if budget is not None and messages:
        limit = budget.effective_input_limit
        fits = "within" if found.total <= limit else "over"
        outcome.trace.decide(
            Action.NOTE,
            messages[-1].id,
            rules.FINAL,
            stage="policy",
            because=f"Contents are estimated at {found.contents} and the tool list at {found.tools}: "
            f"{found.total}, {fits} the limit of {limit}.",
            measured=found.total,
            limit=limit,
            unit="tokens",
        )
    if found.unknown:
        outcome.trace.warn(
            "phronomy.content-unknown",
            f"{len(found.unknown)} item(s) have no content here; the final check counts what they declare",
        )
    outcome.where = rules.FINAL.source
    check_final(budget, found)
    if given.call_mode == "complete" or any(
        item.delivery == "ask_argument" for item in segments(result.plan)
    ):
        outcome.where = "context/llm_input_manifest.rb::validate!"
        check_manifest(segments(result.plan), given.call_mode)
    outcome.stages.unchanged("final-check", "Final check")


def _ledger(
    instruction: Sequence[Item],
    knowledge: Sequence[Item],
    tools: Sequence[Item],
    conversation: Sequence[Group],
    budget: InputBudget | None,
) -> Budget:
    """In declared or estimated tokens, as the policy counts."""
    parts = [
        Part("instruction", cost_of(instruction)),
        Part("tools", cost_of(tools)),
        Part("knowledge", cost_of(knowledge)),
        Part("conversation", sum(map(cost_of, conversation))),
    ]
    used = sum(part.tokens for part in parts)
    limit = None if budget is None else budget.effective_input_limit
    return Budget(limit, used, "tokens", tuple(part for part in parts if part.tokens), limit)
