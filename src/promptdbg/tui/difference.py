"""What differs between two prompts: their sections, and their messages side by side. Pure; engine
answers, set beside each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from promptdbg.analysis.align import align_assemblies
from promptdbg.analysis.alignment import Alignment
from promptdbg.analysis.why import number
from promptdbg.model import Assembly, MessageStatus, Section, SectionStatus
from promptdbg.tui.picture import Picture, differs
from promptdbg.tui.rows import why_short

Status = SectionStatus | MessageStatus


@dataclass(frozen=True, slots=True)
class Difference:
    """An item on both sides; a side without it has no status. ``why`` says why it is so now."""

    item: str
    name: str
    before: Status | None
    after: Status | None
    tokens_before: int
    tokens_after: int
    why: str = ""

    @property
    def change(self) -> int:
        return self.tokens_after - self.tokens_before


def section_differences(before: Assembly, after: Picture) -> list[Difference]:
    """The sections that are not the same, in the order of ``after``."""
    old = {section.id: section for section in before.sections}
    new = after.sections
    found = []
    for item in [*new, *(item for item in old if item not in new)]:
        left, right = old.get(item), new.get(item)
        if left is not None and right is not None and not differs(left, right):
            continue
        shown = right or left
        assert shown is not None
        found.append(
            Difference(
                item,
                shown.name,
                left.status if left else None,
                right.status if right else None,
                _tokens(left),
                _tokens(right),
                _words(left, right, after),
            )
        )
    return found


def _words(left: Section | None, right: Section | None, after: Picture) -> str:
    """What differs and why, in a few words; figures and states have columns of their own."""
    if right is None:
        return "not in it now"
    why = why_short(after, right)
    if left is None:
        return why
    words = []
    if left.priority != right.priority:
        words.append(f"priority {_or_none(left.priority)} → {_or_none(right.priority)}")
    if left.text != right.text:
        words.append("another text")
    elif left.output != right.output and left.tokens == right.tokens:
        words.append("another text in the prompt")
    parts = [why, *words] if left.status is not right.status else [*words, why]
    return " · ".join(part for part in parts if part)


def _or_none(priority: float | None) -> str:
    return "none" if priority is None else number(priority)


def _tokens(section: Section | None) -> int:
    return section.tokens if section else 0


def side_by_side(before: Assembly, after: Assembly, then: str) -> Alignment:
    """The final lists of two prompts aligned, the columns named for what they are.

    Raises:
        UsageError: one of them has no final list.
    """
    both = align_assemblies(before, after)
    columns = tuple(
        replace(column, stage=replace(column.stage, name=name))
        for column, name in zip(both.columns, (then, "now"), strict=True)
    )
    return replace(both, columns=columns)


NO_LISTS = Alignment((), (), (), b"")
"""Where there is nothing to align."""
