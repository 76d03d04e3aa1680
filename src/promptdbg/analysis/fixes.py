"""``fixes``: the smallest single changes that would keep an item whole.

Nothing is guessed: every fix is found by assembling again with other settings, and says what else
it would push out. A number is the exact edge: it works, and one step less does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from promptdbg.model import (
    LOSSES,
    Assembly,
    Knob,
    MessageStatus,
    SectionStatus,
    Settings,
    StageKind,
    Value,
)
from promptdbg.text import one_line

Assemble: TypeAlias = Callable[[Settings], Assembly]
FixKind: TypeAlias = Literal["knob", "priority", "off", "on", "shorten"]


class Cancelled(Exception):
    """The caller asked to stop."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One change that keeps the item whole.

    ``settings`` are the whole settings with the change made. ``cost`` is what it takes, in the
    unit that ``text`` names (tokens of budget, tokens switched off, tokens to save), to order
    fixes of one kind. ``pushes_out`` are the items that are whole now and would not be then.
    """

    item: str
    kind: FixKind
    text: str
    settings: Settings
    cost: float
    pushes_out: tuple[str, ...] = ()


def lost_items(assembly: Assembly) -> tuple[str, ...]:
    """The items that do not reach the model whole and were not switched off here.

    Parts stand for their parents: a section with parts is not listed itself.
    """
    parents = {section.parent for section in assembly.sections if section.parent}
    found = [
        section.id
        for section in assembly.sections
        if section.status in (SectionStatus.TRUNCATED, SectionStatus.DROPPED) and section.id not in parents
    ]
    whole = whole_items(assembly)
    session = assembly.stage(StageKind.SESSION)
    found += [m.id for m in (session.messages if session else ()) if m.id not in whole]
    return tuple(dict.fromkeys(found))


def whole_items(assembly: Assembly) -> frozenset[str]:
    """The items that reach the model whole: kept sections, and messages no step took anything from."""
    kept = {section.id for section in assembly.sections if not section.lost}
    final = assembly.stage(StageKind.FINAL)
    if final is not None:
        spoiled = {d.item for d in assembly.decisions if d.action in LOSSES}
        for message in final.messages:
            rewritten = final.status_of(message.id) is MessageStatus.REWRITTEN
            kept.update(
                item for item in (*message.sources, message.id) if item not in spoiled and not rewritten
            )
    return frozenset(kept)


def fixes(
    assemble: Assemble,
    settings: Settings,
    knobs: tuple[Knob, ...],
    item: str,
    *,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Fix, ...]:
    """The smallest single changes that would keep ``item``, cheapest first within each kind.

    Args:
        assemble: assembles the same inputs with other settings.
        settings: the settings as they are.
        stop: asked before each assembly; when it says true, the search ends.

    Raises:
        Cancelled: ``stop`` said so.
    """
    search = _Search(assemble, settings, item, stop)
    if item in whole_items(search.base):
        return ()
    found = [
        *_switch_on(search),
        *_knob_fixes(search, knobs),
        *_priority_fixes(search),
        *_switch_off(search),
        *_shorter(search),
    ]
    return tuple(search.with_losses(fix) for fix in found)


class _Search:
    """Assembles candidate settings, each once, and asks whether the item is whole then."""

    def __init__(self, assemble: Assemble, settings: Settings, item: str, stop: Callable[[], bool]) -> None:
        self.settings = settings
        self.item = item
        self._assemble = assemble
        self._stop = stop
        self.base = assemble(settings)
        # How far the item was over the limits that took it, by the decisions' own numbers.
        gaps = [
            (d.measured - d.limit, d.unit)
            for d in self.base.decisions_on(item)
            if d.action in LOSSES and d.measured is not None and d.limit is not None and d.measured > d.limit
        ]
        self.gap = math.ceil(max((gap for gap, _ in gaps), default=0))
        self.tokens_short = max((gap for gap, unit in gaps if unit == "tokens"), default=0.0)

    def assembly(self, settings: Settings) -> Assembly:
        if self._stop():
            raise Cancelled
        return self._assemble(settings)

    def works(self, settings: Settings) -> bool:
        result = self.assembly(settings)
        return result.failure is None and self.item in whole_items(result)

    def with_losses(self, fix: Fix) -> Fix:
        after = whole_items(self.assembly(fix.settings))
        changed = fix.settings.off ^ self.settings.off
        out = tuple(
            section.id
            for section in self.base.sections
            if not section.lost and section.id not in after and section.id not in changed
        )
        session = self.base.stage(StageKind.SESSION)
        before = whole_items(self.base)
        out += tuple(
            m.id
            for m in (session.messages if session else ())
            if m.id in before and m.id not in after and m.id not in changed
        )
        return Fix(fix.item, fix.kind, fix.text, fix.settings, fix.cost, out)


def _switch_on(search: _Search) -> Iterator[Fix]:
    if search.item in search.settings.off:
        on = search.settings.toggled(search.item)
        if search.works(on):
            yield Fix(search.item, "on", f"switch {search.item} on again", on, 0)


# ---- knobs ---------------------------------------------------------------------------------------

# How far a knob without a bound is tried, as a multiple of its value, and how fast the search
# strides before it narrows down.
_FAR = 64
_GALLOP = 8


def _knob_fixes(search: _Search, knobs: tuple[Knob, ...]) -> Iterator[Fix]:
    found: list[Fix] = []
    for knob in knobs:
        now = search.settings.values.get(knob.name, knob.default)
        if knob.kind == "number":
            found += _number_fixes(search, knob, now)
        elif knob.kind in ("toggle", "choice"):
            others: tuple[Value, ...] = (not now,) if knob.kind == "toggle" else knob.choices
            for value in others:
                changed = search.settings.with_value(knob.name, value)
                if value != now and search.works(changed):
                    shown = ("on" if value else "off") if knob.kind == "toggle" else value
                    found.append(Fix(search.item, "knob", f"set {knob.title} to {shown}", changed, 0))
    yield from sorted(found, key=lambda fix: fix.cost)


def _number_fixes(search: _Search, knob: Knob, now: Value) -> Iterator[Fix]:
    if not isinstance(now, (int, float)):
        return
    for direction in (1, -1):
        value = _edge(search, knob, now, direction)
        if value is None:
            continue
        unit = f" {knob.unit}" if knob.unit else ""
        text = f"set {knob.title} to {value:,}{unit} ({value - now:+,})"
        yield Fix(
            search.item,
            "knob",
            text,
            search.settings.with_value(knob.name, value),
            abs(value - now) / knob.step,
        )


def _edge(search: _Search, knob: Knob, now: float, direction: int) -> int | float | None:
    """The value nearest to ``now`` in one direction that works, where one unit less does not.

    Whole numbers are searched to the unit; a knob with a fractional step to that step.
    """
    grain = knob.step if knob.step < 1 else 1
    bound = knob.maximum if direction > 0 else knob.minimum

    def at(steps: int) -> int | float:
        value = now + direction * steps * grain
        return round(value) if grain == 1 else round(value, 6)

    def works(steps: int) -> bool:
        return search.works(search.settings.with_value(knob.name, at(steps)))

    # The far end first: most knobs have nothing to do with the loss, and this tells in one try.
    far = _FAR * max(abs(now), 1000) if bound is None else abs(bound - now)
    reach = int(far / grain + 1e-9)
    if reach < 1 or not works(reach):
        return None
    low, high = 0, 1
    likely = math.ceil(search.gap / grain)  # what the decision lacks is mostly just what the knob needs
    if 1 < likely < reach:
        if not works(likely):
            low, high = likely, likely * 2
        elif not works(likely - 1):
            return at(likely)
        else:
            high = likely - 1
    while high < reach and not works(high):
        low, high = high, high * _GALLOP
    high = min(high, reach)
    while high - low > 1:
        middle = (low + high) // 2
        if works(middle):
            high = middle
        else:
            low = middle
    return at(high)


# ---- priorities ----------------------------------------------------------------------------------


def _priority_fixes(search: _Search) -> Iterator[Fix]:
    section = search.base.section(search.item)
    if section is None or section.priority is None:
        return
    now = section.priority
    ranks = sorted({s.priority for s in search.base.sections if s.priority is not None})
    # The engine may take high or low numbers first, so both directions are tried, nearest first.
    above = [p + 1 for p in ranks if p >= now]
    below = [p - 1 for p in reversed(ranks) if p <= now]
    for candidates in (above, below):
        for priority in candidates:
            changed = search.settings.with_priority(search.item, priority)
            if search.works(changed):
                text = f"set the priority of {section.name} to {priority:g} (now {now:g})"
                yield Fix(search.item, "priority", text, changed, abs(priority - now))
                break


# ---- switching other items off -------------------------------------------------------------------

_SINGLES_MAX = 48
_CULPRITS_MAX = 8
_SET_MAX = 8


def _switch_off(search: _Search) -> Iterator[Fix]:
    """The cheapest single item that makes room, else a small set from which none can be left out."""
    # What frees less than is missing cannot be enough; half is let pass, since tokenizers differ.
    short = search.tokens_short / 2
    pool = _removable(search)
    tried = [entry for entry in pool if entry[1] >= short]
    for item, tokens, name in [*_culprits(search), *tried[:_SINGLES_MAX]]:
        changed = search.settings.toggled(item)
        if search.works(changed):
            yield Fix(search.item, "off", f"switch {name} off ({tokens:,} tokens)", changed, tokens)
            return
    chosen: list[tuple[str, int, str]] = []
    if sum(entry[1] for entry in pool[-_SET_MAX:]) < short:
        return
    for entry in reversed(pool):  # the largest first: the fewest items
        if len(chosen) == _SET_MAX:
            return
        chosen.append(entry)
        if search.works(_without(search, chosen)):
            break
    else:
        return
    for entry in sorted(chosen, key=lambda e: -e[1]):
        fewer = [other for other in chosen if other is not entry]
        if fewer and search.works(_without(search, fewer)):
            chosen = fewer
    tokens = sum(entry[1] for entry in chosen)
    names = ", ".join(entry[2] for entry in chosen)
    yield Fix(search.item, "off", f"switch off {names} ({tokens:,} tokens)", _without(search, chosen), tokens)


def _culprits(search: _Search) -> list[tuple[str, int, str]]:
    """Items that the decisions on this one name: taking out a row that wiped others costs no room,
    so it would not be found among what takes room."""
    ids = {
        entry.id: (entry.tokens, f"{entry.role} {entry.id}")
        for stage in search.base.stages
        for entry in stage.messages
    }
    ids |= {section.id: (section.tokens, section.name) for section in search.base.sections}
    words = {
        word
        for decision in search.base.decisions_on(search.item)
        if decision.action in LOSSES
        for word in re.findall(r"[^\s,;()'\"]+", decision.because)
    }
    named = sorted(words & ids.keys() - {search.item} - search.settings.off)
    return [(item, *ids[item]) for item in named[:_CULPRITS_MAX]]


def _without(search: _Search, chosen: list[tuple[str, int, str]]) -> Settings:
    return search.settings.with_off({*search.settings.off, *(entry[0] for entry in chosen)})


def _removable(search: _Search) -> list[tuple[str, int, str]]:
    """Items that are in now and can be switched off: (id, tokens, name), the smallest first."""
    parents = {section.parent for section in search.base.sections if section.parent}
    pool = [
        (section.id, section.tokens, section.name)
        for section in search.base.sections
        if section.id != search.item and section.id not in parents and section.tokens > 0
    ]
    final = search.base.stage(StageKind.FINAL)
    session = search.base.stage(StageKind.SESSION)
    stored = {m.id for m in session.messages} if session else set()
    pool += [
        (m.id, m.tokens, f"{m.role} {m.id}")
        for m in (final.messages if final else ())
        if m.id in stored and m.id != search.item and m.tokens > 0
    ]
    return sorted(pool, key=lambda entry: entry[1])


# ---- a shorter text ------------------------------------------------------------------------------


def _shorter(search: _Search) -> Iterator[Fix]:
    """The longest beginning of the text, by whole lines, that would be kept whole."""
    section = search.base.section(search.item)
    if section is None or "\n" not in section.text.strip():
        return
    lines = section.text.splitlines(keepends=True)

    def works(count: int) -> bool:
        return search.works(search.settings.with_text(search.item, "".join(lines[:count])))

    low, high = 0, len(lines)  # low works or is 0, high does not
    while high - low > 1:
        middle = (low + high) // 2
        if works(middle):
            low = middle
        else:
            high = middle
    if low == 0:
        return
    changed = search.settings.with_text(search.item, "".join(lines[:low]))
    shorter = search.assembly(changed).section(search.item)
    saved = section.tokens_original - (shorter.tokens if shorter else 0)
    first = one_line(lines[low])[:40]
    text = (
        f"shorten {section.name} by {saved:,} tokens (to {low} of {len(lines)} lines, "
        f"for example before {first!r})"
    )
    yield Fix(search.item, "shorten", text, changed, saved)
