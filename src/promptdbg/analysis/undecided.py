"""What is said of an item about which no decision is known: one sentence, the same in the commands and in
the UI. An engine records what it takes away; a recording may lack the reason, but that something is gone
is never kept quiet."""

from __future__ import annotations

from promptdbg.analysis.why import Why
from promptdbg.model import Assembly, Section, SectionStatus

_NO_REASON = "; the file gives no reason"


def undecided(assembly: Assembly, answer: Why) -> str:
    """The sentence about an item on which nothing was decided."""
    section = assembly.section(answer.item)
    return _message(answer) if section is None else _section(assembly, section)


def _section(assembly: Assembly, section: Section) -> str:
    if section.unknown:
        return "It is not known what it holds, nor what it costs."
    if section.status is SectionStatus.EMPTY:
        return "It produced nothing."
    if not section.lost:
        return "Nothing was taken from it."
    if any(part.lost for part in assembly.sections if part.parent == section.id):
        return "Parts of it are out; they say why."
    if section.status is SectionStatus.TRUNCATED:
        return f"A part of its text is cut{_NO_REASON}."
    return f"It is {_GONE.get(section.status, section.status.value)}{_NO_REASON}."


_GONE = {SectionStatus.DROPPED: "not in the prompt", SectionStatus.DISABLED: "switched off"}


def _message(answer: Why) -> str:
    here = [step for step in answer.life if step.presence != "absent"]
    changed = next((step for step in here if step.presence in ("rewritten", "merged")), None)
    if here and answer.status == "dropped":
        return f"It is gone from {gone_from(answer)} on{_NO_REASON}."
    if changed is not None and changed.presence == "merged":
        into = f" into {changed.into}" if changed.into else ""
        return f"It is merged{into} from {changed.stage} on{_NO_REASON}."
    if changed is not None:
        return f"Its content is another from {changed.stage} on{_NO_REASON}."
    return "Nothing was taken from it."


def gone_from(answer: Why) -> str:
    """The first list that a message is missing from, once it was in one."""
    seen = False
    for step in answer.life:
        if step.presence in ("absent", "dropped"):
            if seen:
                return step.stage
        else:
            seen = True
    return answer.life[-1].stage if answer.life else ""
