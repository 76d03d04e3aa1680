"""Items switched off: what holds of every engine, said once.

An engine leaves an item out where its framework could. Beyond that, whatever the engine:

- A parent that the engine does not know as a whole is switched off by switching off its parts.
- What is switched off keeps its row: name, parent, place, priority, text and what it would cost are
  those of the prompt with nothing switched off, which is assembled too and compared with.
- What stays in the prompt all the same is told as such, and never shown as switched off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from promptdbg.engines.base import SWITCHED_OFF, AnyEngine, Inputs
from promptdbg.errors import UsageError
from promptdbg.model import (
    Action,
    Assembly,
    Decision,
    Message,
    Notice,
    Section,
    SectionStatus,
    Settings,
    Span,
    StageKind,
)
from promptdbg.text import one_line
from promptdbg.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Switched:
    """An assembly, and why some of what its settings switch off could not be."""

    assembly: Assembly
    refused: Mapping[str, str] = field(default_factory=dict)

    def check(self, items: Iterable[str]) -> None:
        """
        Raises:
            UsageError: some of these items cannot be switched off.
        """
        found = [item for item in items if item in self.refused]
        if found:
            names = ", ".join(_name(self.assembly, item) for item in found[:_MOST_NAMED])
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            raise UsageError(f"cannot be switched off: {names}{more}", hint=self.refused[found[0]])


_MOST_NAMED = 4


class Switching:
    """One engine on one workspace, with what is switched off seen to.

    The prompt with nothing switched off is kept: it is the same while items go off and on.
    """

    __slots__ = ("_engine", "_inputs", "_whole")

    def __init__(self, engine: AnyEngine, inputs: Inputs) -> None:
        self._engine = engine
        self._inputs = inputs
        self._whole: tuple[Settings, TokenCounter, Assembly] | None = None

    def assemble(self, settings: Settings, counter: TokenCounter) -> Switched:
        """
        Raises:
            UsageError: a setting does not fit.
        """
        if not settings.off:
            return Switched(self._all_on(settings, counter))
        plain = self._engine.assemble(self._inputs, settings, counter)
        if _only_messages(plain, settings.off):
            return Switched(plain)
        whole = self._all_on(settings.with_off(()), counter)
        if whole.failure is not None:  # there is no whole prompt to compare with
            return Switched(plain)
        kin = _Kin(whole)
        wider = {item: kin.parts(item) for item in _still_there(plain, settings.off)}
        wider = {item: parts for item, parts in wider.items() if parts}
        after = plain
        if wider:
            after = self._tried(settings, wider, counter)
            stuck = _still_there(after, settings.off) & wider.keys()
            if stuck:  # its parts must not go where it stays itself
                wider = {item: parts for item, parts in wider.items() if item not in stuck}
                after = self._tried(settings, wider, counter) if wider else plain
        refused = _refused(kin, after, settings.off)
        done = _restored(kin, after, settings.off - refused.keys())
        notices = [
            Notice(CODE, f"{_name(done, item)} cannot be switched off: {why}")
            for item, why in refused.items()
        ]
        done = replace(done, settings=settings, warnings=(*done.warnings, *notices))
        return Switched(done, refused)

    def _tried(
        self, settings: Settings, wider: Mapping[str, frozenset[str]], counter: TokenCounter
    ) -> Assembly:
        off = settings.off.union(*wider.values())
        return self._engine.assemble(self._inputs, settings.with_off(off), counter)

    def _all_on(self, settings: Settings, counter: TokenCounter) -> Assembly:
        kept = self._whole
        if kept is not None and kept[0] == settings and kept[1] is counter:
            return kept[2]
        whole = self._engine.assemble(self._inputs, settings, counter)
        self._whole = (settings, counter, whole)
        return whole


CODE = "settings.not-off"
"""The code of the notice for what is switched off in vain."""


class _Kin:
    """The prompt with nothing switched off: what belongs to what."""

    def __init__(self, whole: Assembly) -> None:
        self.whole = whole
        self.sections = {section.id: section for section in whole.sections}

    def parts(self, item: str) -> frozenset[str]:
        """Everything that is part of an item, or made from it alone."""
        if item in self.sections:
            return frozenset(name for name in self.sections if name != item and item in self.above(name))
        made = (message for stage in self.whole.stages for message in stage.messages)
        return frozenset(message.id for message in made if message.sources == (item,) and message.id != item)

    def above(self, item: str) -> tuple[str, ...]:
        """What an item is part of, the nearest first."""
        found: list[str] = []
        parent = self.sections[item].parent
        while parent is not None and parent in self.sections and parent not in found:
            found.append(parent)
            parent = self.sections[parent].parent
        return tuple(found)


def _only_messages(plain: Assembly, off: frozenset[str]) -> bool:
    """Whether nothing but stored messages is switched off, and all of it is gone: no section differs."""
    session = plain.stage(StageKind.SESSION)
    stored = {message.id for message in session.messages} if session else set()
    return off <= stored and not _still_there(plain, off)


# ---- what stays ----------------------------------------------------------------------------------


def _still_there(assembly: Assembly, off: frozenset[str]) -> set[str]:
    """What is switched off and in the prompt all the same, or was not heard of."""
    there = {section.id for section in assembly.sections if section.id in off and _is_in(section, assembly)}
    later = [stage for stage in assembly.stages if stage.kind is not StageKind.SESSION]
    for stage in later:
        there |= {message.id for message in stage.messages if message.id in off}
    sent = later[-1].messages if later else ()
    return there | {source for message in sent for source in message.sources if source in off}


def _is_in(section: Section, assembly: Assembly) -> bool:
    """Whether a section is in the prompt. One that is nothing but its parts goes with them, though
    each of them may leave its name: an import that is switched off stays as typed."""
    if section.status is SectionStatus.DISABLED or not (section.output or section.tokens):
        return False
    left = section.output
    for part in assembly.sections:
        if part.parent == section.id and part.status is SectionStatus.DISABLED and part.output:
            left = left.replace(part.output, "", 1)
    return bool(left.strip()) or left == section.output


def _refused(kin: _Kin, after: Assembly, off: frozenset[str]) -> dict[str, str]:
    """What could not be switched off, and why."""
    there = _still_there(after, off)
    told = {decision.item for decision in after.decisions if decision.rule == SWITCHED_OFF.id}
    messages = _messages(kin.whole)
    always = f"{after.engine.title} always sends it"
    refused = {}
    for item in sorted(off):
        section = kin.sections.get(item)
        if item in there:
            made = section is None and item in messages
            refused[item] = _MADE if made else always + _part_of(kin, section)
        elif section is not None:
            heard = told.intersection((item, *kin.parts(item))) or off.intersection(kin.above(item))
            if not heard and section.status is not SectionStatus.EMPTY:
                refused[item] = "it is not in the prompt"
        elif item in messages and item not in told and after.failure is None:
            refused[item] = _MADE
    return refused


_MADE = "it is no stored message; what is in the system prompt are sections"


def _part_of(kin: _Kin, section: Section | None) -> str:
    parent = kin.sections.get(section.parent or "") if section is not None else None
    return f" as a part of {one_line(parent.name)}" if parent is not None else ""


def _messages(assembly: Assembly) -> dict[str, Message]:
    return {message.id: message for stage in assembly.stages for message in stage.messages}


def _name(assembly: Assembly, item: str) -> str:
    section = assembly.section(item)
    return one_line(section.name if section is not None else item)


# ---- what is off keeps its row --------------------------------------------------------------------


def _restored(kin: _Kin, after: Assembly, off: frozenset[str]) -> Assembly:
    """The sections in the order and with the names they have with nothing switched off."""
    now = {section.id: section for section in after.sections}
    reasons = _reasons(kin, now, off)
    rows: list[Section] = []
    for section in kin.whole.sections:
        if section.id in reasons:
            rows.append(_off(section, now.get(section.id)))
        elif section.id in now:
            rows.append(replace(now[section.id], order=section.order))
    rows = _with_new(rows, [section for section in after.sections if section.id not in kin.sections])
    if all(section.order == place for place, section in enumerate(kin.whole.sections)):
        rows = [row if row.order == place else replace(row, order=place) for place, row in enumerate(rows)]
    return replace(after, sections=tuple(rows), decisions=_decided(rows, after, reasons))


def _reasons(kin: _Kin, now: Mapping[str, Section], off: frozenset[str]) -> dict[str, str]:
    """Every section that is off, and why: by itself, with what it is part of, or with all its parts."""
    reasons: dict[str, str] = {}
    emptied: set[str] = set()
    for item in kin.sections:
        above = kin.above(item)
        within = next((parent for parent in above if parent in off), None)
        if item in off:
            reasons[item] = "Switched off here."
        elif within is not None:
            reasons[item] = f"{one_line(kin.sections[within].name)} is switched off here."
        else:
            continue
        emptied |= {parent for parent in above if parent not in now}
    for parent in emptied - reasons.keys():
        reasons[parent] = "All of its parts are switched off here."
    return reasons


def _off(section: Section, now: Section | None) -> Section:
    """The row of a section that is switched off. An import can leave its own name in the prompt."""
    return replace(
        section,
        status=SectionStatus.DISABLED,
        output=now.output if now else "",
        tokens=now.tokens if now else 0,
        size=now.size if now else 0,
        offset=now.offset if now else None,
        spans=(Span(0, len(section.text), False),) if section.text else (),
    )


def _with_new(rows: list[Section], new: list[Section]) -> list[Section]:
    """The rows with those that are there only now, each behind what it is part of."""
    for section in new:
        within = [place for place, row in enumerate(rows) if section.parent in (row.id, row.parent)]
        place = within[-1] + 1 if section.parent and within else len(rows)
        rows.insert(place, section)
    return rows


def _decided(rows: Iterable[Section], after: Assembly, reasons: Mapping[str, str]) -> tuple[Decision, ...]:
    """The decisions, with one for each section that is off: it says what it would have cost."""
    by_id = {row.id: row for row in rows if row.id in reasons}
    kept: list[Decision] = []
    told: set[str] = set()
    for decision in after.decisions:
        row = by_id.get(decision.item)
        if row is None:
            kept.append(decision)
        elif decision.rule == SWITCHED_OFF.id and row.id not in told:
            told.add(row.id)
            kept.append(replace(decision, before=row.tokens_original, after=row.tokens))
    for item, row in by_id.items():
        if item not in told:
            stage = "tools" if row.place == "tools" else "system"
            kept.append(
                Decision(
                    "",
                    stage,
                    SWITCHED_OFF.id,
                    Action.DISABLE,
                    item,
                    reasons[item],
                    row.tokens_original,
                    row.tokens,
                )
            )
    return tuple(replace(decision, id=f"d{number}") for number, decision in enumerate(kept, 1))
