"""Generations 1 and 2: a system text, and the messages that fit beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.engines.phronomy import rules
from promptdbg.engines.phronomy.budget import TokenBudget
from promptdbg.engines.phronomy.chunks import BLANK_LINE, join
from promptdbg.engines.phronomy.errors import ContextLengthError, NoMethodError
from promptdbg.engines.phronomy.estimate import Estimate, canonical_json, text_of
from promptdbg.engines.phronomy.fitting import fit
from promptdbg.engines.phronomy.history import CompactionContext, TrimContext, number
from promptdbg.engines.phronomy.inputs import PhronomyInputs
from promptdbg.engines.phronomy.knobs import estimate_of, token_budget, with_trust
from promptdbg.engines.phronomy.outcome import Outcome, tool_cost
from promptdbg.engines.rows import Added, Row, message_of, start
from promptdbg.engines.stages import Stages
from promptdbg.model import (
    Action,
    Budget,
    Message,
    MessageStatus,
    Part,
    Section,
    SectionStatus,
    Settings,
    Source,
    Span,
    Value,
)

SYSTEM = "system"


def assemble_direct(
    inputs: PhronomyInputs, settings: Settings, values: Mapping[str, Value], outcome: Outcome
) -> None:
    """Run the Builder or one of the Assemblers.

    Raises:
        PhronomyError: the framework refuses the budget, or the messages do not fit.
    """
    generation = str(values["generation"])
    estimate = estimate_of(inputs, values)
    inputs = with_trust(inputs, values)
    key = (outcome.counter, estimate)
    stored = inputs.memo.messages_at(
        inputs.rows, settings.turn, key, lambda row: _message(row, outcome, estimate)
    )
    outcome.begin(Stages(outcome.counter, stored), "Messages as stored")
    outcome.where = "context/token_budget.rb::initialize"
    budget = token_budget(inputs, values)
    system = _system(inputs, settings, generation, estimate, outcome)
    costs = {tool.id: tool_cost(tool, estimate) for tool in inputs.tools} if generation == "2-raises" else {}
    _decide_tools(inputs, settings, costs, outcome)
    outcome.add_tools(inputs.tools, costs, settings.off)
    tools = sum(cost for tool, cost in costs.items() if tool not in settings.off)
    first = None
    if system:
        made = outcome.stages.make(SYSTEM, system, tuple(s.id for s in outcome.sections if s.output))
        because = "System text and knowledge come first, joined by blank lines."
        first = Added(_sized(made, estimate(system)), rules.JOIN, because)
    start(outcome.stages, outcome.trace, settings, "Before the budget", first=first)
    if generation != "1":
        _prepare(inputs, outcome, estimate)
    used = estimate(system or "") + tools
    outcome.budget = _ledger(budget, used - tools, tools, outcome)
    _fit(generation, budget, used, outcome, estimate)
    _ask(inputs, settings, outcome, estimate)
    outcome.stages.final("What the provider gets")
    outcome.budget = _ledger(budget, used - tools, tools, outcome)


def _message(row: Row, outcome: Outcome, estimate: Estimate) -> Message:
    return message_of(row, outcome.counter, estimate(text_of(row.value.get("content"))))


def _sized(message: Message, size: int) -> Message:
    return replace(message, size=size)


# ---- the system text ----------------------------------------------------------------------------


def _system(
    inputs: PhronomyInputs, settings: Settings, generation: str, estimate: Estimate, outcome: Outcome
) -> str | None:
    """Join what is there, and make a section of each piece. Never cut, never checked."""
    pieces: list[tuple[str, str, str, str, str, Source | None]] = []
    if inputs.instruction is not None:
        text = _edited("instruction", inputs.instruction, settings, outcome)
        pieces.append(("instruction", "instruction", "instruction", text, text, inputs.instruction_source))
    for entry in inputs.knowledge:
        text = _edited(entry.id, entry.chunk.text, settings, outcome)
        output = text
        if generation != "1":
            output = replace(entry.chunk, text=text).tag()
        pieces.append((entry.id, entry.name, "knowledge", text, output, entry.source))
    offset = 0
    kept: list[str] = []
    for order, (item, name, kind, text, output, source) in enumerate(pieces):
        there = item not in settings.off
        if not there:
            outcome.trace.decide(
                Action.DISABLE, item, SWITCHED_OFF, stage="system", because="Switched off here.",
                before=outcome.counter.count(output), after=0,
            )  # fmt: skip
        outcome.sections.append(
            _section(
                item, name, kind, order, text, output, source, offset if there else None, outcome, estimate
            )
        )
        if there:
            kept.append(output)
            offset += len(output) + len(BLANK_LINE)
            _note_escape(item, text, output, generation, outcome, estimate)
    return join(kept)


def _edited(item: str, text: str, settings: Settings, outcome: Outcome) -> str:
    if item not in settings.texts:
        return text
    outcome.trace.decide(Action.NOTE, item, EDITED, stage="system", because="Its text was edited here.")
    return settings.texts[item]


def _note_escape(
    item: str, text: str, output: str, generation: str, outcome: Outcome, estimate: Estimate
) -> None:
    if generation == "1" or item == "instruction":
        return
    before, after = estimate(text), estimate(output)
    outcome.trace.decide(
        Action.NOTE,
        item,
        rules.ESCAPE,
        stage="system",
        because=f"Its tag and escaping take it from {before} to {after} estimated tokens.",
        measured=after,
        limit=before,
        unit="tokens",
    )


def _section(
    item: str,
    name: str,
    kind: str,
    order: int,
    text: str,
    output: str,
    source: Source | None,
    offset: int | None,
    outcome: Outcome,
    estimate: Estimate,
) -> Section:
    there = offset is not None
    tokens, size = outcome.counter.count(output), estimate(output)
    return Section(
        id=item,
        name=name,
        kind=kind,
        order=order,
        text=text,
        output=output if there else "",
        status=SectionStatus.KEPT if there else SectionStatus.DISABLED,
        tokens=tokens if there else 0,
        tokens_original=tokens,
        size=size if there else 0,
        size_original=size,
        unit="tokens",
        source=source,
        offset=offset,
        spans=() if there or not text else (Span(0, len(text), False),),
    )


def _decide_tools(
    inputs: PhronomyInputs, settings: Settings, costs: Mapping[str, int], outcome: Outcome
) -> None:
    """What is switched off, and what the others cost where tools are counted."""
    for tool in inputs.tools:
        if tool.id in settings.off:
            before = outcome.counter.count(canonical_json(dict(tool.definition)))
            outcome.trace.decide(
                Action.DISABLE, tool.id, SWITCHED_OFF, stage="tools", because="Switched off here.",
                before=before, after=0,
            )  # fmt: skip
        elif tool.id in costs:
            because = (
                "It is an instance, which costs nothing."
                if tool.instance
                else "It is a class, which costs its description and the names of its parameters."
            )
            cost = costs[tool.id]
            outcome.trace.decide(
                Action.NOTE,
                tool.id,
                rules.TOOLS,
                stage="tools",
                because=because,
                measured=cost,
                unit="tokens",
            )


# ---- the history, before the budget ---------------------------------------------------------------


def _conversation(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.id != SYSTEM]


def _prepare(inputs: PhronomyInputs, outcome: Outcome, estimate: Estimate) -> None:
    """The callbacks of an agent, as the workspace states what they do: trim, then compact."""
    if inputs.trim:
        elements = number(_conversation(outcome.stages.messages), estimate)
        left = {message.id for message in TrimContext(elements).remove(inputs.trim).messages}
        gone = [element for element in elements if element.message.id not in left]
        for element in gone:
            outcome.trace.decide(
                Action.DROP,
                element.message.id,
                rules.TRIM,
                stage="trim",
                because=f"The callback removes number {element.seq}.",
                before=element.message.tokens,
                after=0,
            )
        outcome.stages.drop("trim", "on_trim", [element.message for element in gone])
    if inputs.compact:
        _compact(inputs, outcome, estimate)


def _compact(inputs: PhronomyInputs, outcome: Outcome, estimate: Estimate) -> None:
    elements = number(_conversation(outcome.stages.messages), estimate)
    context = CompactionContext(elements)
    for entry in inputs.compact:
        context.compact(entry.span, lambda _selected, text=entry.summary: text)  # type: ignore[misc]
    result = context.result_messages
    if not context.saved:
        outcome.stages.unchanged("compact", "on_compact")
        return
    kept = result[1:]
    ids = {message.id for message in kept}
    gone = [element.message for element in elements if element.message.id not in ids]
    saved = context.saved[-1]
    covered = [e.message.id for e in elements if saved.start_seq <= e.seq <= saved.end_seq]
    summary = outcome.stages.make("compaction", saved.summary_text, tuple(covered))
    summary = _sized(summary, estimate(saved.summary_text))
    for element in elements:
        if element.message.id in ids:
            continue
        inside = saved.start_seq <= element.seq <= saved.end_seq
        what = "is replaced by the summary" if inside else "stands before the range and is lost with it"
        outcome.trace.decide(
            Action.DROP, element.message.id, rules.COMPACT, stage="compact",
            because=f"Number {element.seq} {what}.", before=element.message.tokens, after=0,
        )  # fmt: skip
    outcome.trace.decide(
        Action.INSERT, summary.id, rules.COMPACT, stage="compact",
        because=f"A summary of numbers {saved.start_seq} to {saved.end_seq} goes first.",
        before=0, after=summary.tokens,
    )  # fmt: skip
    if len(context.saved) > 1:
        outcome.trace.warn(
            "phronomy.compact-twice", "each compact call starts again: only the last one counts"
        )
    outcome.stages.replace("compact", "on_compact", gone, summary, before=kept)


# ---- the budget -----------------------------------------------------------------------------------


def _fit(
    generation: str, budget: TokenBudget | None, used: int, outcome: Outcome, estimate: Estimate
) -> None:
    conversation = _conversation(outcome.stages.messages)
    costs = [estimate(text_of(message.content)) for message in conversation]
    if generation == "2-raises":
        _check(budget, used, costs, conversation, outcome)
        return
    if budget is None:
        if generation == "1":
            outcome.where = rules.FIT.source
            raise NoMethodError("no_conversion", "a budget that is nil")
        outcome.stages.unchanged("fit", "Messages (no budget)")
        return
    remaining = budget.available(used)
    found = fit(costs, remaining)
    for index in range(found.start - 1, -1, -1):  # as the walk goes: the one that ends it first
        message, cost = conversation[index], costs[index]
        if index == found.blocked:
            because = (
                f"Its {cost} tokens on top of {found.used} are more than the {remaining} left: the walk ends."
            )
            measured = found.used + cost
        else:
            because = f"Older than the message that ended the walk; its {cost} tokens are not tried."
            measured = cost
        outcome.trace.decide(
            Action.DROP, message.id, rules.FIT, stage="fit", because=because, before=message.tokens, after=0,
            measured=measured, limit=remaining, unit="tokens",
        )  # fmt: skip
    if conversation and found.start == len(conversation) and generation == "2-trims":
        outcome.trace.warn(
            "phronomy.all-dropped",
            f"all {len(conversation)} messages are dropped: the system text takes {used} of a window of "
            f"{budget.context_window}",
        )
    outcome.stages.drop("fit", "Messages that fit", conversation[: found.start])


def _check(
    budget: TokenBudget | None, used: int, costs: list[int], conversation: list[Message], outcome: Outcome
) -> None:
    if budget is not None and conversation:
        needed, available = sum(costs), budget.available(used)
        fits = needed <= available
        word = "they fit" if fits else "it raises"
        outcome.trace.decide(
            Action.NOTE,
            conversation[-1].id,
            rules.CHECK,
            stage="initial",
            because=f"The messages need {needed} tokens, {available} are left: {word}.",
            measured=needed,
            limit=available,
            unit="tokens",
        )
        if not fits:
            outcome.where = rules.CHECK.source
            raise ContextLengthError("assembler_over", needed, available, budget.context_window, used)
    outcome.stages.unchanged("check", "Messages checked")


def _ask(inputs: PhronomyInputs, settings: Settings, outcome: Outcome, estimate: Estimate) -> None:
    if inputs.current is None or settings.turn is not None:
        return
    row = Row("current", {"role": "user", "content": inputs.current})
    message = _message(row, outcome, estimate)
    outcome.trace.decide(
        Action.INSERT, message.id, rules.ASK, stage="ask", because="The question is sent last.",
        before=0, after=message.tokens,
    )  # fmt: skip
    outcome.stages.insert_last("ask", "The question", message, MessageStatus.INSERTED)


def _ledger(budget: TokenBudget | None, system: int, tools: int, outcome: Outcome) -> Budget:
    """In the framework's estimate: the joined system text, the tools it counts, each message kept."""
    kept = [message for message in outcome.stages.messages if message.id not in (SYSTEM, "current")]
    messages = sum(message.size or 0 for message in kept)
    parts = [Part("system", system), Part("tools", tools), Part("messages", messages)]
    if budget is None:
        return Budget(None, system + tools + messages, "tokens", tuple(p for p in parts if p.tokens))
    reserved = (Part("output reserve", budget.max_output_tokens), Part("overhead", budget.overhead))
    return Budget(
        budget.effective_input_limit,
        system + tools + messages,
        "tokens",
        tuple(part for part in parts if part.tokens),
        budget.context_window,
        tuple(part for part in reserved if part.tokens),
    )
