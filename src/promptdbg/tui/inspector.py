"""The words of the first screen: titles, what an empty list says, an item in one line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from promptdbg.analysis.fixes import Fix
from promptdbg.marks import mark_of_section
from promptdbg.model import Knob, Section
from promptdbg.text import clip, one_line, plural, safe, width
from promptdbg.tui.changes import value_text
from promptdbg.tui.picture import Picture
from promptdbg.tui.rows import Sort, States, View
from promptdbg.tui.status import glyph_of, style_of
from promptdbg.tui.wrapping import Paragraph, say


def list_title(view: View) -> str:
    """How the list is looked at: the order, the states, the filter."""
    title = f"1 Sections · by {view.sort}" + (" reversed" if view.reverse else "")
    if view.states is not States.ALL:
        title += f" · only {view.states}"
    if view.filter:
        title += f" · filter: {one_line(view.filter)}"
    return title


def rows_shown(rows: int, whole: int) -> str:
    """How many rows there are, and of how many; empty when there are none at all."""
    if rows != whole:
        return f"{rows:,} of {whole:,}"
    return plural(rows, "row") if rows else ""


def rows_found(view: View, rows: int) -> str:
    """What a filter left, for the status line."""
    what = "all sections" if not view.narrowed else plural(rows, "row")
    return what + (f" · only {view.states}" if view.states is not States.ALL else "")


def empty_word(picture: Picture, view: View) -> str:
    """What stands where the rows would be."""
    if picture.assembly.failure is not None and not picture.assembly.sections:
        return "No sections: the framework fails before it has any."
    if not picture.assembly.sections:
        return "No sections: this prompt is messages only. m shows them."
    if view.filter:
        return f'No section matches "{one_line(view.filter)}". esc clears the filter.'
    return f"No section is {view.states}. f shows others."


def summary(
    picture: Picture, section: Section, fixes: Sequence[Fix], room: int, *, ascii_only: bool
) -> list[Paragraph]:
    """Why in two lines, for windows without room for the pane: the reason, and what would keep it.

    Args:
        fixes: what would keep it, as far as it was found; without any the reason has both lines.
        room: the cells of a line.
    """
    mark = mark_of_section(section)
    head = f"{glyph_of(mark, ascii_only)} {mark.word} {one_line(section.name)}"
    settled = picture.settled(section.id)
    told = settled.because if settled else section.stand_in or "no rule touched it"
    reason = f": {safe(told, lines=False)}"
    if not fixes:
        return [say((head, style_of(section.status)), reason)]
    more = f" · {len(fixes) - 1:,} more (i)" if len(fixes) > 1 else ""
    change = clip(fixes[0].text, max(room - len(KEPT_IF) - len(more), 0))
    return [
        say((head, style_of(section.status)), clip(reason, max(room - width(head), 0))),
        say((KEPT_IF, "virtual--key"), change, (more, "virtual--muted")),
    ]


STAND_IN = " · stand-in"
"""Behind the title of a text that is not the framework's own."""

KEPT_IF = "Whole if you "
"""What stands before the change that would keep an item."""


def knob_help(knob: Knob) -> str:
    """What a knob does, and what it is without a change."""
    about = f": {one_line(knob.help).rstrip('.')}" if knob.help else ""
    return f"{one_line(knob.title)}{about} · default {value_text(knob.default)}"


RANGE_CELLS = 36
"""Cells for what a knob takes, in the frame of the narrowest panel."""


def knob_range(knob: Knob) -> str:
    """What a knob takes, short enough for the frame of the knobs."""
    text = one_line(knob.range_text())
    if knob.kind == "choice" and width(text) > RANGE_CELLS:
        return f"one of {len(knob.choices):,}: enter shows them"
    return text


def next_sort(sort: Sort, step: int, *, priorities: bool) -> Sort:
    """The column to order by next; not by priority where the engine has none."""
    sorts = [one for one in Sort if one is not Sort.PRIORITY or priorities]
    place = sorts.index(sort) if sort in sorts else 0
    return sorts[(place + step) % len(sorts)]
