"""Joining the fragments and replacing variables, with the place of every neuron and entry."""

from __future__ import annotations

from bisect import bisect_left

from promptdbg.engines.orbiter import rules
from promptdbg.engines.orbiter.drafts import STAGE, Build, BuildError, Draft
from promptdbg.engines.orbiter.variables import Replacement, apply
from promptdbg.model import Action, SectionStatus


def join(job: Build, drafts: list[Draft], separator: str) -> str:
    kept = [draft for draft in drafts if draft.text and draft.status is SectionStatus.KEPT]
    start = 0
    for draft in kept:
        draft.start = start
        start += len(draft.text) + len(separator)
    joined = separator.join(draft.text for draft in kept)
    replacements: list[Replacement] = []
    if job.registry is not None and joined:
        try:
            replacements = job.registry.replacements(joined, job.context.state)
        except Exception as error:
            raise BuildError(error, "context/variables.py::DynamicVariableRegistry.resolve") from error
    place = _Places(replacements)
    text = apply(joined, replacements)
    for draft in kept:
        _place(draft, place, text)
        if draft.status is SectionStatus.TRUNCATED:
            job.measure(draft)
    _record_variables(job, kept, replacements, place)
    return text


def _place(draft: Draft, place: _Places, text: str) -> None:
    """Where the neuron and its parts stand once the variables are replaced."""
    begin, end = draft.start, draft.start + len(draft.text)
    draft.start, after = place(begin), place(end)
    draft.output = text[draft.start : after]
    if not draft.parts:
        return
    begin += len(draft.whole.opening or "") + 1
    for part in draft.kept_parts:
        finish = begin + len(part.text)
        part.start, stop = place(begin), place(finish)
        part.output = text[part.start : stop]
        begin = finish + 1
    if len(draft.kept_parts) < len(draft.parts):
        draft.status = SectionStatus.TRUNCATED


class _Places:
    """Offsets before the replacement to offsets after it. One inside a placeholder goes to its end,
    so a placeholder that spans two fragments belongs to the first."""

    def __init__(self, replacements: list[Replacement]) -> None:
        self._starts = [entry.start for entry in replacements]
        self._ends: list[tuple[int, int]] = []
        shift = 0
        for entry in replacements:
            shift += len(entry.text) - (entry.end - entry.start)
            self._ends.append((entry.end, entry.end + shift))

    def __call__(self, offset: int) -> int:
        index = bisect_left(self._starts, offset)
        if index == 0:
            return offset
        end, moved = self._ends[index - 1]
        return moved if offset < end else moved + offset - end


_TOLD = {
    "registered": (rules.VARIABLE_REGISTERED, "{0} is registered and gives {1}."),
    "state": (rules.VARIABLE_STATE, "{0} is found in the state and gives {1}."),
    "missing": (rules.VARIABLE_MISSING, "{0} is neither registered nor in the state; it stays as typed."),
}


def _record_variables(job: Build, kept: list[Draft], replacements: list[Replacement], place: _Places) -> None:
    """A note on the item that holds each placeholder, and warnings for the surprising ones."""
    if not replacements:
        return
    marks = _marks(kept)
    warned: set[tuple[str, str]] = set()
    starts = [start for start, _, _ in marks]
    for entry in replacements:
        where = bisect_left(starts, place(entry.start) + 1) - 1
        _, item, draft = marks[max(where, 0)]
        path = _shown(entry.path)[1:-1]
        rule, said = _TOLD[entry.origin]
        because = said.format(f"${{{path}}}", _shown(entry.text))
        job.trace.decide(Action.NOTE, item, rule, stage=STAGE, because=because)
        if (draft.id, entry.path) not in warned:
            warned.add((draft.id, entry.path))
            _warn_variable(job, entry, path, draft)


def _marks(kept: list[Draft]) -> list[tuple[int, str, Draft]]:
    """Where each item begins in the final text, in order."""
    marks = []
    for draft in kept:
        marks.append((draft.start, draft.id, draft))
        marks += [(part.start, part.id, draft) for part in draft.kept_parts]
    return marks


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _warn_variable(job: Build, entry: Replacement, path: str, draft: Draft) -> None:
    source = draft.entry.source
    if entry.origin == "missing":
        job.trace.warn(
            "orbiter.variable-unresolved", f"${{{path}}} in {draft.id} resolves to nothing", source
        )
    elif draft.parts:
        message = f"${{{path}}} inside the data of {draft.id} is replaced like one of the author's own"
        job.trace.warn("orbiter.variable-in-data", message, source)
    elif entry.text == "None":
        job.trace.warn("orbiter.variable-none", f"${{{path}}} in {draft.id} prints None", source)
