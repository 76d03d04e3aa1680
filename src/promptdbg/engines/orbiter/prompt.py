"""The system prompt: neurons in order, formatted, joined, their variables replaced.

``build`` follows ``PromptBuilder.build`` step by step and keeps, for every neuron and every entry of a
list neuron, what it prints, whether that is in the prompt, and where.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from promptdbg.engines.base import EDITED, SWITCHED_OFF, Trace
from promptdbg.engines.orbiter import rules
from promptdbg.engines.orbiter.config import AnyConfig
from promptdbg.engines.orbiter.inputs import Condition, Entry, OrbiterInputs
from promptdbg.engines.orbiter.neurons import LISTINGS, NOTHING, Fragment, Line, fragment
from promptdbg.engines.orbiter.state import ContextState
from promptdbg.engines.orbiter.variables import (
    DynamicVariableRegistry,
    Replacement,
    VariableResolveError,
    apply,
    walk,
)
from promptdbg.model import Action, Failure, Rule, SectionStatus, Settings
from promptdbg.tokens import TokenCounter

STAGE = "system"


class BuildError(Exception):
    """The framework fails here: what it raises, where."""

    def __init__(self, error: Exception, where: str) -> None:
        super().__init__(str(error))
        self.failure = Failure(type(error).__name__, where, str(error) or type(error).__name__)


@dataclass(slots=True)
class Part:
    """One entry of a list neuron: its line, whether it is kept, where it begins in the prompt."""

    id: str
    line: Line
    text: str
    status: SectionStatus = SectionStatus.KEPT
    before: int = 0
    start: int = 0
    output: str = ""


@dataclass(slots=True)
class Draft:
    """One neuron on its way into the prompt. ``text`` is what it prints, before variables."""

    entry: Entry
    priority: Any
    order: int = 0
    whole: Fragment = NOTHING
    text: str = ""
    parts: list[Part] = field(default_factory=list)
    status: SectionStatus = SectionStatus.KEPT
    original: str = ""
    original_tokens: int = 0
    start: int = 0
    output: str = ""

    @property
    def id(self) -> str:
        return self.entry.id

    @property
    def kept_parts(self) -> list[Part]:
        return [part for part in self.parts if part.status is SectionStatus.KEPT]


@dataclass(frozen=True, slots=True)
class NeuronContext:
    """What the built-in neurons read."""

    task_id: str
    state: ContextState
    config: AnyConfig
    clock: str | None
    platform: str | None


@dataclass(slots=True)
class Build:
    """One build: what goes in, and the decisions so far."""

    inputs: OrbiterInputs
    settings: Settings
    context: NeuronContext
    registry: DynamicVariableRegistry | None
    counter: TokenCounter
    trace: Trace

    def resolved(self, text: str) -> str:
        """A text alone with its variables replaced; as it is where a resolver fails."""
        if self.registry is None or "${" not in text:
            return text
        try:
            return self.registry.resolve_template(text, self.context.state)
        except Exception:
            return text

    def lose(
        self, draft: Draft, status: SectionStatus, action: Action, rule: Rule, because: str, **numbers: Any
    ) -> None:
        """A neuron that would print something does not reach the prompt, nor do its parts."""
        draft.status = status
        before = draft.original_tokens
        self.trace.decide(
            action, draft.id, rule, stage=STAGE, because=because, before=before, after=0, **numbers
        )
        for part in draft.kept_parts:
            part.status = status
            self.trace.decide(
                action, part.id, rule, stage=STAGE, because=f"Its neuron {draft.id} is not in the prompt.",
                before=part.before, after=0,
            )  # fmt: skip


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
    return drafts, _join(job, drafts, separator)


def _sorted(job: Build, order: str) -> list[Draft]:
    """The entries by priority; ties keep the order in which they were added."""
    drafts = [
        Draft(entry, job.settings.priorities.get(entry.id, entry.priority)) for entry in job.inputs.entries
    ]
    try:
        drafts.sort(key=lambda draft: draft.priority, reverse=order == "documented")
    except TypeError as error:
        raise BuildError(error, "context/prompt_builder.py::PromptBuilder.build") from error
    rule = rules.ORDER_DOCUMENTED if order == "documented" else rules.ORDER_CODED
    first = "high numbers first" if order == "documented" else "low numbers first"
    for place, draft in enumerate(drafts):
        draft.order = place
        job.trace.decide(
            Action.NOTE,
            draft.id,
            rule,
            stage=STAGE,
            because=f"Priority {draft.priority}: place {place + 1} of {len(drafts)}, {first}.",
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
    draft.original_tokens = job.counter.count(job.resolved(draft.original)) if draft.original else 0
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
        _last_rounds(job, draft.entry, [part for part in parts if part.status is SectionStatus.KEPT])
    return parts


def _last_rounds(job: Build, entry: Entry, parts: list[Part]) -> None:
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
    while kept and total - _last_separator(job, kept[-1], costs) > budget:
        draft = kept.pop()
        measured = total - _last_separator(job, draft, costs)
        total -= costs[draft.id]
        job.lose(
            draft,
            SectionStatus.DROPPED,
            Action.DROP,
            rules.BUDGET,
            f"The neurons cost {measured:,} tokens, over the budget of {budget:,}; priority {draft.priority} "
            f"is the {'lowest' if high_first else 'highest number, which comes last'} of those left.",
            measured=measured,
            limit=budget,
            unit="tokens",
        )


def _last_separator(job: Build, draft: Draft, costs: Mapping[str, int]) -> int:
    return costs[draft.id] - job.counter.count(job.resolved(draft.text))


# ---- joining and variables ----------------------------------------------------------------------


def _join(job: Build, drafts: list[Draft], separator: str) -> str:
    kept = [draft for draft in drafts if draft.text and draft.status is SectionStatus.KEPT]
    start = 0
    for draft in kept:
        draft.start = start
        start += len(draft.text) + len(separator)
    joined = separator.join(draft.text for draft in kept)
    replacements: list[Replacement] = []
    if job.registry is not None and joined:
        try:
            replacements = job.registry.replacements(joined, job.context.state)
        except Exception as error:
            raise BuildError(error, "context/variables.py::DynamicVariableRegistry.resolve") from error
    place = _Places(replacements)
    text = apply(joined, replacements)
    for draft in kept:
        _place(draft, place, text)
    _record_variables(job, kept, replacements)
    return text


def _place(draft: Draft, place: _Places, text: str) -> None:
    """Where the neuron and its parts stand once the variables are replaced."""
    begin, end = draft.start, draft.start + len(draft.text)
    draft.start, after = place(begin), place(end)
    draft.output = text[draft.start : after]
    begin += len(draft.whole.opening or "") + 1
    for part in draft.kept_parts:
        finish = begin + len(part.text)
        part.start, stop = place(begin), place(finish)
        part.output = text[part.start : stop]
        begin = finish + 1
    if len(draft.kept_parts) < len(draft.parts):
        draft.status = SectionStatus.TRUNCATED


class _Places:
    """Offsets before the replacement to offsets after it. One inside a placeholder goes to its end,
    so a placeholder that spans two fragments belongs to the first."""

    def __init__(self, replacements: list[Replacement]) -> None:
        self._starts = [entry.start for entry in replacements]
        self._ends: list[tuple[int, int]] = []
        shift = 0
        for entry in replacements:
            shift += len(entry.text) - (entry.end - entry.start)
            self._ends.append((entry.end, entry.end + shift))

    def __call__(self, offset: int) -> int:
        index = bisect_left(self._starts, offset)
        if index == 0:
            return offset
        end, moved = self._ends[index - 1]
        return moved if offset < end else moved + offset - end


_RULE_OF = {
    "registered": rules.VARIABLE_REGISTERED,
    "state": rules.VARIABLE_STATE,
    "missing": rules.VARIABLE_MISSING,
}


def _record_variables(job: Build, kept: list[Draft], replacements: list[Replacement]) -> None:
    """A note on the item that holds each placeholder, and warnings for the surprising ones."""
    if not replacements:
        return
    marks = _marks(kept)
    warned: set[tuple[str, str]] = set()
    starts = [start for start, _, _ in marks]
    place = _Places(replacements)
    for entry in replacements:
        where = bisect_left(starts, place(entry.start) + 1) - 1
        _, item, draft = marks[max(where, 0)]
        path = entry.path if len(entry.path) <= 80 else entry.path[:79] + "…"
        because = {
            "registered": f"${{{path}}} is registered and gives {_shown(entry.text)}.",
            "state": f"${{{path}}} is found in the state and gives {_shown(entry.text)}.",
            "missing": f"${{{path}}} is neither registered nor in the state; it stays as typed.",
        }[entry.origin]
        job.trace.decide(Action.NOTE, item, _RULE_OF[entry.origin], stage=STAGE, because=because)
        if (draft.id, entry.path) not in warned:
            warned.add((draft.id, entry.path))
            _warn_variable(job, entry, path, draft)


def _marks(kept: list[Draft]) -> list[tuple[int, str, Draft]]:
    """Where each item begins in the final text, in order."""
    marks = []
    for draft in kept:
        marks.append((draft.start, draft.id, draft))
        marks += [(part.start, part.id, draft) for part in draft.kept_parts]
    return marks


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _warn_variable(job: Build, entry: Replacement, path: str, draft: Draft) -> None:
    source = draft.entry.source
    if entry.origin == "missing":
        job.trace.warn(
            "orbiter.variable-unresolved", f"${{{path}}} in {draft.id} resolves to nothing", source
        )
    elif draft.parts:
        message = f"${{{path}}} inside the data of {draft.id} is replaced like one of the author's own"
        job.trace.warn("orbiter.variable-in-data", message, source)
    elif entry.text == "None":
        job.trace.warn("orbiter.variable-none", f"${{{path}}} in {draft.id} prints None", source)
