"""Why an item is as it is: its decisions as paragraphs. Pure.

Every sentence and figure is the engine's; this only sets them out.
"""

from __future__ import annotations

from promptdbg.analysis.alignment import mark_of_message
from promptdbg.analysis.cut import find_cut
from promptdbg.analysis.undecided import undecided
from promptdbg.analysis.why import arithmetic, what_became, why
from promptdbg.marks import Mark, mark_of, mark_of_section
from promptdbg.model import (
    LOSSES,
    Decision,
    Evidence,
    Message,
    MessageStatus,
    Rule,
    Section,
    SectionStatus,
)
from promptdbg.text import named, one_line, plural, safe
from promptdbg.tui.changes import cap_of, value_text
from promptdbg.tui.life import around_lines, cut_lines, life_lines
from promptdbg.tui.picture import Picture
from promptdbg.tui.sentences import amount, signed
from promptdbg.tui.status import glyph_of, style_of
from promptdbg.tui.wrapping import BLANK, Paragraph, Piece, facts, say

_PARTS_SHOWN = 12
_CUT_AT_ONCE = 100_000
"""Characters of a text whose cut is looked at while the cursor moves."""


def section_report(
    picture: Picture, section: Section, *, ascii_only: bool, full: bool = False
) -> list[Paragraph]:
    """A section's life: what it is, every decision with its numbers, where it came from.

    Args:
        full: also what is only worth room on a whole screen: rule notes, measures, offsets.
    """
    lines = [_title(mark_of_section(section), style_of(section.status), section.name, ascii_only)]
    lines += _section_facts(picture, section, full)
    if section.stand_in:
        lines.append(say(("Shown here: ", "virtual--muted"), (section.stand_in, "virtual--warning"), hang=2))
    lines.append(BLANK)
    lines += _decisions(picture, section.id, full) or [say(_untouched(picture, section)), BLANK]
    if full or len(section.text) <= _CUT_AT_ONCE:
        lines += cut_lines(find_cut(section))
    lines += _parts(picture, section, ascii_only)
    lines += _cap(picture, section)
    if section.evidence is not Evidence.COMPUTED:
        lines.append(say(("Evidence  ", "virtual--muted"), _evidence(section.evidence)))
    if section.source is not None:
        lines.append(say(("From  ", "virtual--muted"), picture.where(section.source), hang=6))
    return lines


def _title(mark: Mark, style: str, name: str, ascii_only: bool) -> Paragraph:
    head = (f"{glyph_of(mark, ascii_only)} {mark.word}", style)
    return say(head, "  ", (one_line(name), "virtual--strong"), hang=len(head[0]) + 2)


def _section_facts(picture: Picture, section: Section, full: bool) -> list[Paragraph]:
    about = "" if picture.assembly.tokenizer.exact else "≈"
    cost = about + plural(section.tokens, "token")
    if section.tokens != section.tokens_original:
        cost = f"{about}{section.tokens:,} of {about}{plural(section.tokens_original, 'token')}"
    told = [cost, one_line(section.kind), _PLACES[section.place]]
    if section.priority is not None:
        told.append(f"priority {section.priority:g}")
    told.append(f"number {section.order + 1:,}")
    lines = [say((" · ".join(told), "virtual--muted"))]
    if full:
        size = amount(section.size_original, section.unit)
        if section.size != section.size_original:
            size = f"{section.size:,} of {size}"
        measure = f"{picture.assembly.engine.title} measures {size}"
        if section.offset is not None:
            measure += f" · begins at character {section.offset + 1:,}"
        lines.append(say((safe(measure, lines=False), "virtual--muted")))
    return lines


_PLACES = {"system": "system prompt", "tools": "tool schemas", "message": "a message"}


def _cap(picture: Picture, thing: Section | Message) -> list[Paragraph]:
    """The knob that bounds items of this kind, and that it is turned right here."""
    knob = cap_of(picture, thing)
    if knob is None:
        return []
    value = picture.knob_value(knob)
    unit = f" {knob.unit_word}" if knob.unit_word else ""
    shown = f"{value_text(value)}{unit}" if value or not knob.zero else knob.zero
    return [
        say(
            ("Cap  ", "virtual--muted"), f"{one_line(knob.title)}: {shown}  ",
            ("{ }", "virtual--key"), (" turn it", "virtual--muted"), hang=5,
        )
    ]  # fmt: skip


def _decisions(picture: Picture, item: str, full: bool) -> list[Paragraph]:
    """What was decided on an item. What settled it stands first, because that is what one asks for."""
    made, settled = picture.decisions.get(item, ()), picture.settled(item)
    if settled is None or settled.action not in LOSSES:
        return [line for decision in made for line in _decision(picture, decision, full)]
    lines = _decision(picture, settled, full)
    others = [decision for decision in made if decision is not settled]
    if others:
        lines.append(say(("Also decided on it", "virtual--strong")))
    return lines + [line for decision in others for line in _decision(picture, decision, full)]


def _decision(picture: Picture, decision: Decision, full: bool) -> list[Paragraph]:
    lines = [say(safe(decision.because, lines=False))]
    if figures := _figures(decision):
        lines.append(say((figures, "virtual--accent")))
    rule = picture.rules.get(decision.rule)
    if rule is None:
        lines.append(say(("Rule  ", "virtual--muted"), decision.rule))
    else:
        lines.append(say(("Rule  ", "virtual--muted"), one_line(rule.title), hang=6))
        lines.append(say((rule_facts(rule), "virtual--muted"), indent=6))
        if rule.note:
            lines.append(say((safe(rule.note, lines=False), "virtual--muted"), indent=6))
    if full:
        lines.append(say((f"Stage  {decision.stage} · {decision.id}", "virtual--muted")))
    lines.append(BLANK)
    return lines


def rule_facts(rule: Rule) -> str:
    """Which rule it is, and where it was read."""
    return facts(*(one_line(part) for part in (rule.id, f"{rule.framework} {rule.version}", rule.source)))


def _figures(decision: Decision) -> str:
    parts = [arithmetic(decision)]
    if decision.before is not None and decision.after is not None and decision.before != decision.after:
        difference = signed(decision.after - decision.before)
        parts.append(f"{decision.before:,} → {plural(decision.after, 'token')} ({difference})")
    return facts(*(part for part in parts if part))


def _untouched(picture: Picture, section: Section) -> str:
    if section.lost or section.status is SectionStatus.EMPTY:
        return undecided(picture.assembly, why(picture.assembly, section.id))
    left = picture.assembly.budget.left
    tail = f" {left:,} {picture.assembly.budget.unit} are free." if left is not None and left >= 0 else ""
    return f"No rule touched it: it is in, whole.{tail}"


def _parts(picture: Picture, section: Section, ascii_only: bool) -> list[Paragraph]:
    parts = [picture.sections[item] for item in picture.parts.get(section.id, ())]
    if not parts:
        return []
    out = [part for part in parts if part.lost]
    head = plural(len(parts), "part") + (f", {len(out):,} not whole" if out else "")
    lines = [say((head, "virtual--strong"))]
    for part in (out or parts)[:_PARTS_SHOWN]:
        mark = mark_of(part.status)
        pieces: tuple[Piece, ...] = (
            (f"{glyph_of(mark, ascii_only)} ", style_of(part.status)),
            (one_line(part.name), ""),
            (f"  {part.tokens:,}", "virtual--muted"),
        )
        lines.append(Paragraph(pieces, indent=2, hang=2))
    hidden = len(out or parts) - _PARTS_SHOWN
    if hidden > 0:
        lines.append(say((f"and {hidden:,} more", "virtual--muted"), indent=2))
    return [*lines, BLANK]


def _evidence(evidence: Evidence) -> str:
    if evidence is Evidence.RECORDED:
        return "recorded: read from a log"
    return "unknown: the log cannot tell"


def message_report(
    picture: Picture, message: Message, *, ascii_only: bool, full: bool = False
) -> list[Paragraph]:
    """A message's life: in which lists it is, what each step did to it, and why."""
    status = MessageStatus(what_became(picture.assembly, message.id))
    done = {decision.action for decision in picture.decisions.get(message.id, ())}
    lines = [
        _title(mark_of_message(status, done), style_of(status), named(message.role, message.id), ascii_only),
        say((plural(message.tokens, "token"), "virtual--muted")),
        BLANK,
    ]
    lines += _decisions(picture, message.id, full) or [
        say(undecided(picture.assembly, why(picture.assembly, message.id))),
        BLANK,
    ]
    others = [source for source in message.sources if source != message.id]
    if others:
        lines.append(say(("Made from  ", "virtual--muted"), ", ".join(others), hang=2))
    lines += _cap(picture, message)
    if message.source is not None:
        lines.append(say(("From  ", "virtual--muted"), picture.where(message.source), hang=6))
    return lines


def report(picture: Picture, item: str, *, ascii_only: bool, full: bool = False) -> list[Paragraph]:
    """The report on a section or a message."""
    section = picture.sections.get(item)
    if section is not None:
        return section_report(picture, section, ascii_only=ascii_only, full=full)
    message = picture.message(item)
    if message is None:
        return [say("It is not there any more.")]
    return message_report(picture, message, ascii_only=ascii_only, full=full)


def surroundings(picture: Picture, item: str, *, ascii_only: bool) -> list[Paragraph]:
    """What stood around an item, and of a message its life through the lists."""
    if item not in picture.sections and picture.message(item) is None:
        return []
    told = why(picture.assembly, item)
    if item in picture.sections:  # whose kind may be "message", too
        return around_lines(picture, told, ascii_only)
    return life_lines(picture, told, ascii_only)
