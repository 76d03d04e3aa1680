"""``why``: the life of one item through the stages, each decision with its rule and arithmetic,
what stood around it in the fill order, and where exactly it was cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from promptdbg.analysis.blocks import title
from promptdbg.analysis.cut import Cut, find_cut
from promptdbg.analysis.items import find_message
from promptdbg.errors import UsageError
from promptdbg.model import (
    LOSSES,
    Assembly,
    Decision,
    EngineInfo,
    Message,
    MessageStatus,
    Rule,
    Section,
    Source,
    Stage,
    StageKind,
    Unit,
)
from promptdbg.text import one_line

Presence: TypeAlias = Literal["absent", "kept", "merged", "rewritten", "inserted", "dropped"]

_NEIGHBOURS = 3


@dataclass(frozen=True, slots=True)
class Step:
    """The item in one stage. ``into`` is the message it was merged into there."""

    stage: str
    title: str
    presence: Presence
    tokens: int | None
    into: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision on the item, with the rule it follows."""

    decision: Decision
    rule: Rule | None

    @property
    def arithmetic(self) -> str:
        """The comparison that decided, with its unit; empty where there was none."""
        return arithmetic(self.decision)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item around this one in the fill order. ``running`` sums what was kept up to it."""

    item: str
    name: str
    status: str
    size: int
    running: int
    this: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """Everything known about one item.

    ``evidence`` says how it is known. ``around`` is the fill order around the item, in ``unit``
    (the framework's own measure where it has one). ``because`` is set where there is no decision that
    could say it: a file that the engine does not read. ``stand_in`` says what its text stands in for.
    """

    item: str
    name: str
    kind: str
    status: str
    tokens: int
    tokens_original: int
    evidence: str
    source: Source | None
    life: tuple[Step, ...]
    rulings: tuple[Ruling, ...]
    around: tuple[Neighbour, ...]
    unit: str
    cut: Cut | None = None
    because: str = ""
    stand_in: str = ""

    @property
    def lost(self) -> bool:
        """Whether any of it does not reach the model."""
        return self.status not in ("kept", "empty", "inserted", "merged") and not (
            self.status == "rewritten" and self.tokens >= self.tokens_original
        )

    @property
    def unknown(self) -> bool:
        """Whether it is not known what it holds (see ``Section.unknown``)."""
        return self.status == "empty" and self.evidence == "unknown"


def why(assembly: Assembly, item: str) -> Why:
    """Explain one item.

    Args:
        item: an item id (see ``items.find_item`` for what a person types).

    Raises:
        UsageError: the assembly has no such item.
    """
    section = assembly.section(item)
    if section is not None:
        return _why_section(assembly, section)
    message = find_message(assembly, item)
    if message is None:
        raise UsageError(f"no item {item!r}", hint="see: promptdbg inspect")
    return _why_message(assembly, message)


def _why_section(assembly: Assembly, section: Section) -> Why:
    return Why(
        item=section.id,
        name=section.name,
        kind=section.kind,
        status=section.status.value,
        tokens=section.tokens,
        tokens_original=section.tokens_original,
        evidence=section.evidence.value,
        source=section.source,
        life=(),
        rulings=_rulings(assembly, section.id),
        around=_around_section(assembly, section),
        unit=section.unit,
        cut=find_cut(section),
        stand_in=section.stand_in,
    )


def _why_message(assembly: Assembly, message: Message) -> Why:
    life = tuple(_life(assembly, message.id))
    return Why(
        item=message.id,
        name=title(message),
        kind="message",
        status=_end(reversed(life)),
        tokens=_tokens_at_end(life),
        tokens_original=next((step.tokens for step in life if step.tokens is not None), 0),
        evidence=message.evidence.value,
        source=message.source,
        life=life,
        rulings=_rulings(assembly, message.id),
        around=_around_message(assembly, message.id, life),
        unit="tokens",
    )


def _rulings(assembly: Assembly, item: str) -> tuple[Ruling, ...]:
    return tuple(Ruling(decision, assembly.rule(decision.rule)) for decision in _decisions(assembly, item))


def _decisions(assembly: Assembly, item: str) -> tuple[Decision, ...]:
    """Decisions on the item, and on its parts where it has none of its own."""
    own = assembly.decisions_on(item)
    if any(decision.action in LOSSES for decision in own):
        return own
    parts = {section.id for section in assembly.sections if section.parent == item}
    return own + tuple(d for d in assembly.decisions if d.item in parts and d.action in LOSSES)


def _life(assembly: Assembly, item: str) -> Iterator[Step]:
    for stage in assembly.stages:
        yield _step(stage, item)


def _step(stage: Stage, item: str) -> Step:
    for message in stage.messages:
        if message.id == item:
            return Step(stage.name, stage.title, stage.status_of(item).value, message.tokens)
    for message in stage.messages:
        if item in message.sources and stage.status_of(message.id) is MessageStatus.MERGED:
            return Step(stage.name, stage.title, "merged", message.tokens, into=message.id)
    if any(message.id == item for message in stage.dropped):
        return Step(stage.name, stage.title, "dropped", 0)
    return Step(stage.name, stage.title, "absent", None)


def what_became(assembly: Assembly, item: str) -> Presence:
    """What became of a message in the end, as ``why`` has it, looking no further back than it must."""
    return _end(_step(stage, item) for stage in reversed(assembly.stages))


def _end(back: Iterable[Step]) -> Presence:
    """What became of a message, by its life from the last list back."""
    was_there = False
    for number, step in enumerate(back):
        if step.presence in ("dropped", "merged") or (number == 0 and step.presence != "absent"):
            return step.presence
        was_there = was_there or step.presence != "absent"
    return "dropped" if was_there else "absent"


def _tokens_at_end(life: Sequence[Step]) -> int:
    return (life[-1].tokens or 0) if life else 0


def _around_section(assembly: Assembly, section: Section) -> tuple[Neighbour, ...]:
    """The fill order among the sections of the same parent and place."""
    pool = sorted(
        (s for s in assembly.sections if s.parent == section.parent and s.place == section.place),
        key=lambda s: s.order,
    )
    running = 0
    rows: list[Neighbour] = []
    for entry in pool:
        running += entry.size
        shown = entry.size if not entry.lost else entry.size_original
        rows.append(
            Neighbour(entry.id, entry.name, entry.status.value, shown, running, entry.id == section.id)
        )
    return _window(rows)


def _around_message(assembly: Assembly, item: str, life: Sequence[Step]) -> tuple[Neighbour, ...]:
    """The list in which the item was last whole: what stood around it there, and what of it stayed."""
    last = max(
        (
            index
            for index, step in enumerate(life)
            if step.presence not in ("absent", "dropped") and not step.into
        ),
        default=None,
    )
    if last is None:
        return ()
    after = assembly.stages[min(last + 1, len(assembly.stages) - 1)]
    there = {message.id for message in after.messages}
    running = 0
    rows: list[Neighbour] = []
    for message in assembly.stages[last].messages:
        kept = message.id in there
        running += message.tokens if kept else 0
        rows.append(
            Neighbour(
                message.id,
                title(message),
                "kept" if kept else "dropped",
                message.tokens,
                running,
                message.id == item,
            )
        )
    return _window(rows)


def _window(rows: list[Neighbour]) -> tuple[Neighbour, ...]:
    here = next((index for index, row in enumerate(rows) if row.this), 0)
    return tuple(rows[max(0, here - _NEIGHBOURS) : here + _NEIGHBOURS + 1])


class Compared(Protocol):
    """The comparison that decided something."""

    @property
    def measured(self) -> float | None: ...

    @property
    def limit(self) -> float | None: ...

    @property
    def unit(self) -> Unit | None: ...


def arithmetic(decision: Compared) -> str:
    """``measured`` against ``limit`` in words: ``3,410 tokens against a limit of 3,000 (410 over)``."""
    measured, limit = decision.measured, decision.limit
    unit = "" if decision.unit in (None, "count") else str(decision.unit)
    if measured is None and limit is None:
        return ""
    if limit is None:  # a bare count says nothing without what it counts, which the sentence does
        return _counted(measured, unit) if unit else ""
    if measured is None:
        return f"a limit of {_counted(limit, unit)}"
    gap = measured - limit
    tail = f"{number(gap)} over" if gap > 0 else f"{number(-gap)} below" if gap < 0 else "equal"
    return f"{_counted(measured, unit)} against a limit of {number(limit)} ({tail})"


def _counted(value: float | None, unit: str) -> str:
    return f"{number(value)} {unit.removesuffix('s') if value == 1 else unit}".strip()


def measured_by(engine: EngineInfo) -> str:
    """Whose measure budgets and sizes are in: the framework's own; empty for a record, which does not say."""
    return "" if engine.name == "given" else one_line(engine.title)


def number(value: float | None) -> str:
    """A number with thousands separators; whole where it is whole."""
    if value is None:
        return "?"
    return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"


def final_place(assembly: Assembly, item: str) -> tuple[int, Message] | None:
    """Where the item stands in the final list: the index and the message that holds it."""
    final = assembly.stage(StageKind.FINAL)
    if final is None:
        return None
    for index, message in enumerate(final.messages):
        if message.id == item or item in message.sources:
            return index, message
    return None
