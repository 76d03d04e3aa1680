"""From the policy's verdicts to decisions, statuses and the planned list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from promptdbg.engines.phronomy import rules
from promptdbg.engines.phronomy.budget import InputBudget
from promptdbg.engines.phronomy.items import Item, PolicyInput, flat
from promptdbg.engines.phronomy.manifest import segments
from promptdbg.engines.phronomy.outcome import Outcome
from promptdbg.engines.phronomy.policy import PolicyResult, Verdict, group_id
from promptdbg.model import Action, Message, Rule, Section, SectionStatus, Span


def apply_plan(
    given: PolicyInput, result: PolicyResult, budget: InputBudget | None, outcome: Outcome
) -> None:
    """Drop what is not in the plan, with the policy's own numbers."""
    planned = segments(result.plan)
    kept = {item.key for item in planned}
    now = {message.id: message for message in outcome.stages.messages}
    gone = []
    for group in reversed(given.conversation):  # as the walk goes: the one that ends it first
        verdict = result.verdicts.get(group_id(group))
        for item in group:
            gone += _judge(item, verdict, item.key in kept, rules.CONVERSATION, len(group), now, outcome)
    for item in given.knowledge:
        verdict = result.verdicts.get(item.key)
        gone += _judge(item, verdict, item.key in kept, rules.KNOWLEDGE, 1, now, outcome)
    _note_fixed(given, result, budget, outcome)
    dropped = {message.id for message in gone}
    outcome.sections[:] = [_dropped(s) if s.id in dropped else s for s in outcome.sections]
    if result.ties:
        outcome.trace.warn(
            "phronomy.sequence-ties",
            f"groups share the sequence {', '.join(map(str, result.ties))}; Ruby's sort may swap them",
        )
    order = [now[item.key] for item in planned]
    if gone or order != list(outcome.stages.messages):
        in_order = [message for message in outcome.stages.messages if message.id in dropped]
        outcome.stages.change("policy", "The policy's plan", order, in_order)
    else:
        outcome.stages.unchanged("policy", "The policy's plan")


def _judge(
    item: Item,
    verdict: Verdict | None,
    kept: bool,
    rule: Rule,
    members: int,
    now: Mapping[str, Message],
    outcome: Outcome,
) -> list[Message]:
    """Record what the policy decided on an item; the message when it goes."""
    if verdict is None:
        return []
    message = now[item.key]
    if kept and verdict.tried == "fixed":
        rule = rules.REQUIRED
    outcome.trace.decide(
        Action.KEEP if kept else Action.DROP,
        item.key,
        rule,
        stage="policy",
        because=_because(verdict, members),
        before=message.tokens,
        after=message.tokens if kept else 0,
        measured=verdict.cost,
        limit=verdict.room,
        unit="tokens",
    )
    return [] if kept else [message]


def _because(verdict: Verdict, members: int) -> str:
    what = f"Its group costs {verdict.cost} tokens" if members > 1 else f"It costs {verdict.cost} tokens"
    if verdict.tried == "fixed":
        return f"{what} and is required."
    if verdict.blocked_by:
        return f"{what}, but it is older than {verdict.blocked_by}, which did not fit; it is not tried."
    where = "in its share" if verdict.tried == "first" else "of the leftover"
    word = "fits" if verdict.taken else "does not fit"
    return f"{what} and {word}: {verdict.room} are left {where}."


def _note_fixed(
    given: PolicyInput, result: PolicyResult, budget: InputBudget | None, outcome: Outcome
) -> None:
    first = next((item for item in (*given.instruction, *given.knowledge, *flat(given.conversation))), None)
    if budget is None or first is None or result.first_pass is None:
        return
    shares = result.first_pass
    outcome.trace.decide(
        Action.NOTE,
        first.key,
        rules.REQUIRED,
        stage="policy",
        because=f"Fixed items cost {result.fixed}; the conversation is offered {shares.conversation_budget}, "
        f"knowledge {shares.knowledge_budget}; {result.unused} stay unused.",
        measured=result.fixed,
        limit=budget.effective_input_limit,
        unit="tokens",
    )


def _dropped(section: Section) -> Section:
    lost = (Span(0, len(section.text), False),) if section.text else ()
    return replace(section, output="", status=SectionStatus.DROPPED, tokens=0, size=0, spans=lost)
