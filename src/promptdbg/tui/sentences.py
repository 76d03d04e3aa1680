"""The sentences of the status line: what a change or a reload did, in numbers.

Pure. Names come from disk, so they are made safe and short here.
"""

from __future__ import annotations

from collections.abc import Iterable

from promptdbg.model import Assembly, Budget, Message, Section, SectionStatus, Unit
from promptdbg.text import clip_middle, one_line, plural, shared_start
from promptdbg.tui.picture import Picture, final_messages

_OUT = frozenset(SectionStatus) - {SectionStatus.KEPT, SectionStatus.TRUNCATED}
"""What is left as it was typed is out, too: the model gets the reference and not the text."""

NAMES_SHOWN = 2


def amount(number: int, unit: Unit) -> str:
    """``1 token``, ``2 tokens``."""
    return f"{number:,} {unit.removesuffix('s') if number == 1 else unit}"


def signed(number: int) -> str:
    """``+12``, ``−3``, ``±0``: with a real minus sign."""
    return f"+{number:,}" if number > 0 else f"−{-number:,}" if number < 0 else "±0"


def names(items: Iterable[str]) -> str:
    """A few names, and how many more there are."""
    all_names = list(items)
    shown = [clip_middle(one_line(name), 24) for name in all_names[:NAMES_SHOWN]]
    more = len(all_names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def opened(picture: Picture) -> str:
    """What stands there when a workspace has just been opened; what is lost first, for the end of the line
    may not fit and the budget has a line of its own."""
    assembly = picture.assembly
    lost = sum(1 for section in assembly.sections if section.lost)
    if assembly.failure is not None:
        return f"{assembly.engine.title} fails on this input; what it had built until then is shown"
    parts = [plural(len(assembly.sections), "section")]
    if assembly.sections:
        parts[0] += f", {lost:,} not whole" if lost else ", all whole"
    if picture.messages_lost:
        parts.append(f"{plural(picture.messages_lost, 'message')} not whole (m)")
    if assembly.warnings:
        parts.append(f"{plural(len(assembly.warnings), 'warning')} (!)")
    left = assembly.budget.left
    if left is not None and left < 0:  # else the line of the budget says all there is to say of it
        parts.insert(1, f"over the budget by {amount(-left, assembly.budget.unit)}")
    return " · ".join(parts)


def effect(before: Picture, after: Picture, sentence: str) -> str:
    """What happened between two pictures: figures first, then what came in and what fell out."""
    parts = [sentence]
    if used := _used(before.assembly.budget, after.assembly.budget):
        parts.append(used)
    came, fell = moves(before, after)
    if came:
        parts.append(f"in: {names(came)}")
    if fell:
        parts.append(f"out: {names(fell)}")
    sections = sum(1 for item in after.changed if item in after.sections)
    if sections:
        parts.append(f"{sections:,} changed ^")
    if messages := _changed_messages(after):
        parts.append(f"{plural(messages, 'message')} changed (m)")
    if len(parts) == 1 and not after.changed:
        parts.append("no item changed")
    return " · ".join(parts)


def reloaded(before: Picture, after: Picture, sentence: str) -> str:
    """What a reload found, and up to where the prompt is the same as before."""
    if before.assembly == after.assembly:
        return f"{sentence} · nothing changed"
    line = effect(before, after, sentence)
    if end := stable_prefix(before.assembly, after.assembly):
        line += f" · {end}"
    # A figure in its sentence may be another one; it is the same warning.
    old = {(notice.code, notice.source) for notice in before.assembly.warnings}
    new = sum(1 for notice in after.assembly.warnings if (notice.code, notice.source) not in old)
    return line + (f" · {plural(new, 'new warning')} (!)" if new else "")


def _changed_messages(after: Picture) -> int:
    """How many messages differ. Of the system message the sections tell."""
    system = {message.id for message in final_messages(after.assembly) if message.role == "system"}
    told = system if after.changed & after.sections.keys() else frozenset()
    return sum(1 for item in after.changed if item not in after.sections and item not in told)


def moves(before: Picture, after: Picture) -> tuple[list[str], list[str]]:
    """Names of what came into the prompt and of what fell out of it: sections, and messages of
    the final list."""
    came = [s.name for i, s in after.sections.items() if _in(s) and not _in(before.sections.get(i))]
    fell = [s.name for i, s in before.sections.items() if _in(s) and not _in(after.sections.get(i))]
    old, new = final_messages(before.assembly), final_messages(after.assembly)
    if old is not new:
        there, here = {m.id for m in old}, {m.id for m in new}
        came += [_title(m) for m in new if m.id not in there]
        fell += [_title(m) for m in old if m.id not in here]
    return came, fell


def _in(section: Section | None) -> bool:
    return section is not None and section.status not in _OUT


def _title(message: Message) -> str:
    return f"{message.id} ({message.role})"


def _used(before: Budget, after: Budget) -> str:
    if before.used == after.used and before.limit == after.limit:
        return ""
    if before.used == after.used:
        limits = ["none" if limit is None else f"{limit:,}" for limit in (before.limit, after.limit)]
        return f"limit {limits[0]} → {limits[1]} {after.unit}"
    return f"{before.used:,} → {after.used:,} {after.unit} ({signed(after.used - before.used)})"


def stable_prefix(before: Assembly, after: Assembly) -> str:
    """Where the system prompt stops being what it was, as a clause; empty when it is the same."""
    old, new = before.system_text, after.system_text
    if old == new:
        return ""
    end = shared_start(old, new)
    for section in after.sections:
        if section.offset is None or section.place != "system" or section.parent is not None:
            continue
        if section.offset <= end < section.offset + len(section.output):
            return f"prefix the same up to {clip_middle(one_line(section.name), 24)}"
    return f"prefix the same for {plural(end, 'character')}"
