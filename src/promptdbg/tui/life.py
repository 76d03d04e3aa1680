"""Where exactly a text was cut, and the life of a message through the lists, as paragraphs. Pure."""

from __future__ import annotations

from collections.abc import Collection

from promptdbg.analysis.alignment import mark_of_message
from promptdbg.analysis.cut import Cut
from promptdbg.analysis.room import Room, final_room
from promptdbg.analysis.why import Neighbour, Step, Why, final_place, measured_by
from promptdbg.marks import mark_of
from promptdbg.model import Action, MessageStatus, SectionStatus
from promptdbg.text import clip, clip_middle, one_line, pad, plural, safe, share, width
from promptdbg.tui.picture import Picture
from promptdbg.tui.status import glyph_of, style_of
from promptdbg.tui.wrapping import BLANK, Paragraph, say

_HEADINGS_SHOWN = 6
_LINE_SHOWN = 120
_NAME = 26
_TITLE = 40


def cut_lines(cut: Cut | None) -> list[Paragraph]:
    """The first place at which text is lost, what the cut falls inside of, and what went with it."""
    if cut is None:
        return []
    at = f"line {cut.line:,}, column {cut.column:,}, byte {cut.byte:,}"
    edge = f"inside a {', a '.join(cut.inside)}" if cut.inside else "at the edge of a line"
    style = "virtual--warning" if cut.inside else ""
    lost = (
        f"{cut.lost_lines:,} of {plural(cut.total_lines, 'line')}, {plural(cut.lost_chars, 'character')}, "
        f"{plural(cut.lost_bytes, 'byte')}"
    )
    first = clip(one_line(cut.first_lost_part.strip()), _LINE_SHOWN) or "(blank)"
    lines = [
        say(("Cut at  ", "virtual--muted"), f"{at}, ", (edge, style), hang=8),
        say(("Lost    ", "virtual--muted"), lost, hang=8),
        say(("First   ", "virtual--muted"), (first, "virtual--lost"), hang=8),
    ]
    if cut.lost_headings:
        shown = " · ".join(one_line(heading) for heading in cut.lost_headings[:_HEADINGS_SHOWN])
        more = len(cut.lost_headings) - _HEADINGS_SHOWN
        tail = f" and {more:,} more" if more > 0 else ""
        lines.append(say(("Headings  ", "virtual--muted"), shown + tail, hang=10))
    return [*lines, BLANK]


def life_lines(picture: Picture, why: Why, ascii_only: bool) -> list[Paragraph]:
    """A message from list to list, where the model gets it, and what stood around it when it went."""
    lines = [say(("Through the lists", "virtual--strong"))]
    titles = [safe(step.title, lines=False) for step in why.life]
    room = min(max(map(width, titles), default=0), _TITLE)
    done = {ruling.decision.action for ruling in why.rulings}
    lines += [_step(step, room, done, ascii_only) for step in why.life]
    place = final_place(picture.assembly, why.item)
    if place is not None:
        index, holder = place
        inside = f", as part of {one_line(holder.id)}" if holder.id != why.item else ""
        before = _share_before(final_room(picture.assembly), index)
        lines.append(say(f"The model gets it as message {index:,}{inside}; {before}.", indent=2))
    return [*lines, BLANK, *around_lines(picture, why, ascii_only)]


def _step(step: Step, room: int, done: Collection[Action], ascii_only: bool) -> Paragraph:
    title = pad(clip_middle(safe(step.title, lines=False), room), room + 2)
    tokens = "" if step.tokens is None else f"{step.tokens:>9,}"
    into = f" into {one_line(step.into)}" if step.into else ""
    known = {status.value: status for status in MessageStatus}
    if step.presence not in known:
        return say((f"{title}not in it", "virtual--muted"), indent=2)
    status = known[step.presence]
    mark = mark_of_message(status, done)
    state = f"{glyph_of(mark, ascii_only)} {pad(mark.word + into, 14)}"
    return say((title, "virtual--muted"), (state, style_of(status)), tokens, indent=2)


def _share_before(room: Room, index: int) -> str:
    """What stands before a message of the final list, as tokens and a share of the window."""
    before = room.before[index]
    of = "window" if room.has_window else "request"
    return f"{plural(before, 'token')} before it, {share(room.share(before))} into the {of}"


def around_lines(picture: Picture, why: Why, ascii_only: bool) -> list[Paragraph]:
    """What stood around an item in the order things are taken, with the running sum of what stayed."""
    if len(why.around) < 2:
        return []
    head = f"{pad('', _NAME + 5)}{pad(why.unit.upper(), 9, right=True)}{pad('KEPT SO FAR', 13, right=True)}"
    message = why.kind == "message"
    title = "In the order they are taken"
    if message:
        title = "Around it, where it was last whole" if why.lost else "Around it, in what is sent"
    by = measured_by(picture.assembly.engine)
    whose = f", as {by} counts" if by else ""
    lines = [say((title, "virtual--strong"), whose), say((head, "virtual--muted"))]
    return [*lines, *(_neighbour(entry, message, ascii_only) for entry in why.around), BLANK]


def _neighbour(entry: Neighbour, message: bool, ascii_only: bool) -> Paragraph:
    known = {status.value: status for status in SectionStatus}
    status = known[entry.status]
    name = f"{entry.name} {entry.item}" if message and entry.name != entry.item else entry.name
    figures = f"{pad(f'{entry.size:,}', 9, right=True)}{pad(f'{entry.running:,}', 13, right=True)}"
    return say(
        (">" if entry.this else " ", "virtual--key"),
        (f" {glyph_of(mark_of(status), ascii_only)} ", style_of(status)),
        (pad(clip_middle(one_line(name), _NAME), _NAME + 1), "virtual--strong" if entry.this else ""),
        figures,
    )
