"""The system prompt: neurons in order, formatted, fitted, joined.

``build`` follows ``PromptBuilder.build`` step by step and keeps, for every neuron and every entry of a
list neuron, what it prints, whether that is in the prompt, and where.
"""

from __future__ import annotations

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.engines.orbiter import rules
from promptdbg.engines.orbiter.drafts import STAGE, Build, BuildError, Draft, Part
from promptdbg.engines.orbiter.inputs import Condition, Entry
from promptdbg.engines.orbiter.joining import join
from promptdbg.engines.orbiter.neurons import LISTINGS, NOTHING, Fragment, fragment
from promptdbg.engines.orbiter.state import ContextState
from promptdbg.engines.orbiter.variables import VariableResolveError, walk
from promptdbg.model import Action, SectionStatus


def build(job: Build, *, order: str, separator: str, budget: int | None) -> tuple[list[Draft], str]:
    """The neurons in order, and the prompt.

    Raises:
        BuildError: the framework fails: an unknown name, priorities that cannot be sorted, an entry of
            the wrong kind, a resolver that raises.
    """
    drafts = _sorted(job, order)
    for draft in drafts:
        _format(job, draft)
    if budget is not None:
        _fit(job, drafts, separator, budget, high_first=order == "documented")
    return drafts, join(job, drafts, separator)


def otherwise_ordered(drafts: list[Draft], order: str) -> bool:
    """Whether the framework's own code would put what is printed into another order."""
    return order == "documented" and len({draft.priority for draft in drafts if draft.output}) > 1


def _sorted(job: Build, order: str) -> list[Draft]:
    """The entries by priority; ties keep the order in which they were added."""
    drafts = [
        Draft(entry, job.settings.priorities.get(entry.id, entry.priority), entry.id)
        for entry in job.inputs.entries
    ]
    try:
        drafts.sort(key=lambda draft: draft.priority, reverse=order == "documented")
    except TypeError as error:
        raise BuildError(error, "context/prompt_builder.py::PromptBuilder.build") from error
    rule = rules.ORDER_DOCUMENTED if order == "documented" else rules.ORDER_CODED
    first = "high numbers first" if order == "documented" else "low numbers first"
    total = f"of {len(drafts)}, {first}."
    for place, draft in enumerate(drafts):
        draft.order = place
        job.trace.decide(
            Action.NOTE,
            draft.id,
            rule,
            stage=STAGE,
            because=f"Priority {draft.priority}: place {place + 1} {total}",
        )
    return drafts


# ---- one neuron ---------------------------------------------------------------------------------


def _format(job: Build, draft: Draft) -> None:
    entry, off = draft.entry, draft.id in job.settings.off
    edited = job.settings.texts.get(draft.id)
    if edited is not None:
        draft.whole, draft.text, draft.original = Fragment(edited), edited, edited
        job.trace.decide(Action.NOTE, draft.id, EDITED, stage=STAGE, because="Its text was edited here.")
    else:
        try:
            draft.whole = _fragment(job, entry)
            draft.parts = _parts(job, draft)
            draft.text = _render(draft)
        except Exception as error:
            if not off:
                raise BuildError(error, f"neuron {entry.name}::format") from error
            draft.whole, draft.parts = NOTHING, []
        draft.original = _original(draft)
    if off:
        job.lose(draft, SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "Switched off here.")
    elif not draft.text:
        _empty(job, draft)
    elif draft.text.isspace():
        message = f"neuron {draft.id} prints only white space, which stays"
        job.trace.warn("orbiter.blank-fragment", message, entry.source)


def _fragment(job: Build, entry: Entry) -> Fragment:
    if entry.error is not None:
        raise entry.error
    if entry.fragment is not None:
        return entry.fragment
    if entry.builtin:
        return fragment(entry.builtin, job.context)
    if entry.condition is not None and not holds(entry.condition, job.context.state):
        return NOTHING
    return Fragment(entry.text)


def holds(condition: Condition, state: ContextState) -> bool:
    """Whether a custom neuron's condition is met; a path that leads nowhere counts as not set."""
    try:
        value = walk(condition.path, state)
    except VariableResolveError:
        value = None
    met = bool(value) if condition.equals is None else value == condition.equals
    return met is not condition.negated


def _parts(job: Build, draft: Draft) -> list[Part]:
    """The entries of a list neuron, with those switched off, edited or outside the window marked."""
    if not draft.whole.parts:
        return []
    texts, off, count = job.settings.texts, job.settings.off, job.counter.count
    parts = []
    for index, line in enumerate(draft.whole.lines):
        part_id = f"{draft.id}/{index}"
        part = Part(part_id, line, texts.get(part_id, line.text))
        part.before = count(job.resolved(part.text)) if part.text else 0
        if part_id in texts:
            job.trace.decide(Action.NOTE, part_id, EDITED, stage=STAGE, because="Its text was edited here.")
        if part_id in off:
            part.status = SectionStatus.DISABLED
            job.trace.decide(
                Action.DISABLE, part_id, SWITCHED_OFF, stage=STAGE, because="Switched off here.",
                before=part.before, after=0,
            )  # fmt: skip
        parts.append(part)
    if draft.entry.builtin == "history":
        _last_rounds(job, [part for part in parts if part.status is SectionStatus.KEPT])
    return parts


def _last_rounds(job: Build, parts: list[Part]) -> None:
    rounds = job.context.config.history_rounds
    limit = rounds * 2
    for part in parts[: max(len(parts) - limit, 0)]:
        part.status = SectionStatus.DROPPED
        job.trace.decide(
            Action.DROP,
            part.id,
            rules.HISTORY,
            stage=STAGE,
            because=f"Too old: {len(parts)} messages are more than history_rounds {rounds} × 2 = {limit}.",
            before=part.before,
            after=0,
            measured=len(parts),
            limit=limit,
            unit="messages",
        )


def _render(draft: Draft) -> str:
    if not draft.whole.parts:
        return draft.whole.render()
    kept = draft.kept_parts
    for part in kept:
        if part.line.error is not None:
            raise part.line.error
    return _wrapped(draft.whole, [part.text for part in kept]) if kept else ""


def _original(draft: Draft) -> str:
    """What the neuron prints without any loss."""
    if not draft.parts:
        return draft.text or draft.whole.text
    return _wrapped(draft.whole, [part.text for part in draft.parts])


def _wrapped(whole: Fragment, lines: list[str]) -> str:
    return "\n".join([whole.opening or "", *lines, whole.closing])


def _empty(job: Build, draft: Draft) -> None:
    entry = draft.entry
    draft.status = SectionStatus.EMPTY
    if draft.parts:  # every entry was switched off or is too old
        draft.status = SectionStatus.DROPPED
        job.measure(draft)
        return
    rule = rules.EMPTY
    if entry.kind == "unknown":
        because = "It is defined by Python of this workspace, which is run only with --trust."
    elif entry.condition is not None:
        rule, because = rules.CONDITION, f"Its condition is not met: {entry.condition}."
    elif entry.builtin in LISTINGS:
        because = f"The state has no {LISTINGS[entry.builtin].key}, or nothing in it."
    else:
        because = "It gives an empty text."
    job.trace.decide(Action.EMPTY, draft.id, rule, stage=STAGE, because=because)


# ---- the budget, which is ours ------------------------------------------------------------------


def _fit(job: Build, drafts: list[Draft], separator: str, budget: int, *, high_first: bool) -> None:
    """Drop whole neurons, the lowest priority first, until what is left costs at most the budget.

    The measure is the sum over the kept fragments, each but the last with its separator.
    """
    kept = [draft for draft in drafts if draft.status is SectionStatus.KEPT and draft.text]
    costs = {draft.id: job.counter.count(job.resolved(draft.text) + separator) for draft in kept}
    total = sum(costs.values())
    # In either order the least important comes last, and of equals the last added.
    word = "lowest" if high_first else "highest number, which comes last"
    while kept:
        draft = kept[-1]
        measured = total - costs[draft.id] + job.counter.count(job.resolved(draft.text))
        if measured <= budget:
            return
        kept.pop()
        total -= costs[draft.id]
        job.lose(
            draft,
            SectionStatus.DROPPED,
            Action.DROP,
            rules.BUDGET,
            f"The neurons cost {measured:,} tokens, over the budget of {budget:,}; priority {draft.priority} "
            f"is the {word} of those left.",
            measured=measured,
            limit=budget,
            unit="tokens",
        )
