"""What differs between two assemblies, item by item. Pure; engine answers, set side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from promptdbg.analysis.blocks import title
from promptdbg.model import Assembly, Message, MessageStatus, Section, SectionStatus, StageKind
from promptdbg.tui.picture import differs

Status = SectionStatus | MessageStatus


@dataclass(frozen=True, slots=True)
class Difference:
    """An item on both sides; a side without it has no status."""

    item: str
    name: str
    before: Status | None
    after: Status | None
    tokens_before: int
    tokens_after: int

    @property
    def change(self) -> int:
        return self.tokens_after - self.tokens_before


def differences(before: Assembly, after: Assembly) -> list[Difference]:
    """Sections and messages of the final lists that are not the same, in the order of ``after``."""
    return [*_sections(before, after), *_messages(before, after)]


def _sections(before: Assembly, after: Assembly) -> list[Difference]:
    old = {section.id: section for section in before.sections}
    new = {section.id: section for section in after.sections}
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
            )
        )
    return found


def _tokens(section: Section | None) -> int:
    return section.tokens if section else 0


def _messages(before: Assembly, after: Assembly) -> list[Difference]:
    old, old_status = _final(before)
    new, new_status = _final(after)
    found = []
    for item in [*new, *(item for item in old if item not in new)]:
        left, right = old.get(item), new.get(item)
        if left == right:
            continue
        shown = right or left
        assert shown is not None
        found.append(
            Difference(
                item,
                f"{title(shown)} {item}" if item != shown.role else f"{item} message",
                old_status.get(item, MessageStatus.KEPT) if left else None,
                new_status.get(item, MessageStatus.KEPT) if right else None,
                left.tokens if left else 0,
                right.tokens if right else 0,
            )
        )
    return found


def _final(assembly: Assembly) -> tuple[Mapping[str, Message], Mapping[str, MessageStatus]]:
    stage = assembly.stage(StageKind.FINAL)
    if stage is None:
        return {}, {}
    return {message.id: message for message in stage.messages}, stage.statuses
