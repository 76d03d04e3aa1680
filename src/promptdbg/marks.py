"""How a status is shown: a mark, a word and a colour, always all three, from this one table.

The colour is never alone: take it away and the mark and the word still tell. Marks are one
terminal cell wide; ``ascii`` stands in for them where the output cannot show them.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptdbg.model import MessageStatus, Section, SectionStatus


@dataclass(frozen=True, slots=True)
class Mark:
    """How one status looks. ``tone`` names a meaning, which each shell gives a colour of its own:
    ``plain``, ``warning`` (in, but not whole), ``muted`` (out), ``accent`` (made or moved here).
    ``means`` is a line for the legend."""

    mark: str
    ascii: str
    word: str
    tone: str
    means: str


SECTION_MARKS: dict[SectionStatus, Mark] = {
    SectionStatus.KEPT: Mark("●", "+", "KEEP", "plain", "in the prompt, whole"),
    SectionStatus.TRUNCATED: Mark("◐", "~", "CUT", "warning", "in the prompt, shortened"),
    SectionStatus.DROPPED: Mark("○", "-", "DROP", "muted", "left out by a rule"),
    SectionStatus.EMPTY: Mark("∅", ".", "EMPTY", "muted", "produced nothing"),
    SectionStatus.DISABLED: Mark("×", "x", "OFF", "muted", "switched off here"),
    SectionStatus.SHADOWED: Mark("◇", "<", "SHADOW", "muted", "another file took its place"),
    SectionStatus.LITERAL: Mark("≡", "=", "LITERAL", "warning", "an import left as typed"),
}

UNKNOWN = Mark("?", "?", "UNKNOWN", "warning", "what it holds is not known")
"""In place of ``EMPTY`` where a section is ``unknown``; no status, for documents have none of it."""

MESSAGE_MARKS: dict[MessageStatus, Mark] = {
    MessageStatus.KEPT: Mark("●", "+", "KEEP", "plain", "in the list, unchanged"),
    MessageStatus.MERGED: Mark("◆", "&", "MERGE", "accent", "joined with its neighbour"),
    MessageStatus.REWRITTEN: Mark("◐", "~", "EDIT", "warning", "in the list with another content"),
    MessageStatus.INSERTED: Mark("▶", ">", "ADD", "accent", "not stored: put in here"),
    MessageStatus.DROPPED: Mark("○", "-", "DROP", "muted", "left out by a rule"),
}


def mark_of(status: SectionStatus | MessageStatus) -> Mark:
    """The mark of either kind of status."""
    if isinstance(status, SectionStatus):
        return SECTION_MARKS[status]
    return MESSAGE_MARKS[status]


def mark_of_section(section: Section) -> Mark:
    """The mark of a section: that of its status, where it is known what it holds."""
    return UNKNOWN if section.unknown else SECTION_MARKS[section.status]
