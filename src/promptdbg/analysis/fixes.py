"""``fixes``: the smallest single changes that would keep an item whole.

Nothing is guessed: every fix is found by assembling again with other settings, and says what else
it would push out. A number is the exact edge: it works, and one step less does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from promptdbg.analysis.phrases import chosen, ranked, shortened, switched_off, turned
from promptdbg.analysis.tried import Assemble, Named, Outcome, Tried
from promptdbg.model import LOSSES, Knob, Settings, Value

FixKind: TypeAlias = Literal["knob", "choice", "priority", "off", "on", "shorten"]


class Cancelled(Exception):
    """The caller asked to stop."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One change that keeps the item whole.

    ``text`` follows "you" or "to". ``settings`` are the whole settings with the change made.
    ``cost`` is what it takes, in the unit that ``text`` names (tokens of budget, tokens switched
    off, tokens to save), to order fixes of one kind. ``pushes_out`` are the items that are whole now
    and would not be then.
    """

    item: str
    kind: FixKind
    text: str
    settings: Settings
    cost: float
    pushes_out: tuple[str, ...] = ()


def fixes(
    assemble: Assemble,
    settings: Settings,
    knobs: tuple[Knob, ...],
    item: str,
    *,
    stop: Callable[[], bool] = lambda: False,
    tried: Tried | None = None,
) -> tuple[Fix, ...]:
    """The smallest single changes that would keep ``item``: those that take nothing else out first,
    then by kind, from turning a number to choosing another way of working; the cheapest first.

    Args:
        assemble: assembles the same inputs with other settings.
        settings: the settings as they are.
        stop: asked before each assembly; when it says true, the search ends.
        tried: what was tried for other items under the same settings, so that it is not again.

    Raises:
        Cancelled: ``stop`` said so.
    """
    search = _Search(tried or Tried(assemble, settings), item, stop)
    if item in search.tried.now.whole:
        return ()
    found = [
        *_switch_on(search),
        *_knob_fixes(search, knobs),
        *_priority_fixes(search),
        *_switch_off(search),
        *_shorter(search),
    ]
    return tuple(sorted((search.with_losses(fix) for fix in found), key=_place))


_KINDS: tuple[FixKind, ...] = ("on", "knob", "off", "priority", "shorten", "choice")


def _place(fix: Fix) -> tuple[bool, int, float]:
    return bool(fix.pushes_out), _KINDS.index(fix.kind), fix.cost


class _Search:
    """Asks whether one item is whole under candidate settings."""

    def __init__(self, tried: Tried, item: str, stop: Callable[[], bool]) -> None:
        self.tried = tried
        self.settings = tried.settings
        self.base = tried.base
        self.item = item
        self._stop = stop
        # How far the item was over the limits that took it, by the decisions' own numbers.
        gaps = [
            (d.measured - d.limit, d.unit)
            for d in tried.decisions_on(item)
            if d.action in LOSSES and d.measured is not None and d.limit is not None and d.measured > d.limit
        ]
        self.gap = math.ceil(max((gap for gap, _ in gaps), default=0))
        self.tokens_short = max((gap for gap, unit in gaps if unit == "tokens"), default=0.0)

    def check(self) -> None:
        if self._stop():
            raise Cancelled

    def outcome(self, settings: Settings) -> Outcome:
        return self.tried.outcome(settings, self.check)

    def works(self, settings: Settings) -> bool:
        return self.item in self.outcome(settings).whole

    def with_losses(self, fix: Fix) -> Fix:
        out = self.tried.pushed_out(fix.settings, self.outcome(fix.settings).whole)
        return replace(fix, pushes_out=out)


def _switch_on(search: _Search) -> Iterator[Fix]:
    if search.item in search.settings.off:
        on = search.settings.toggled(search.item)
        if search.works(on):
            name = search.tried.named.get(search.item, (search.item, 0, search.item))[2]
            yield Fix(search.item, "on", f"switch {name} on again", on, 0)


# ---- knobs ---------------------------------------------------------------------------------------

# How far a knob without a bound is tried, as a multiple of its value, and how fast the search
# strides before it narrows down.
_FAR = 64
_GALLOP = 8


def _knob_fixes(search: _Search, knobs: tuple[Knob, ...]) -> Iterator[Fix]:
    for knob in knobs:
        now = search.settings.values.get(knob.name, knob.default)
        if knob.kind == "number":
            yield from _number_fixes(search, knob, now)
        elif knob.kind in ("toggle", "choice"):
            others: tuple[Value, ...] = (not now,) if knob.kind == "toggle" else knob.choices
            for value in others:
                changed = search.settings.with_value(knob.name, value)
                if value != now and search.works(changed):
                    yield Fix(search.item, "choice", chosen(knob, value), changed, 0)


def _number_fixes(search: _Search, knob: Knob, now: Value) -> Iterator[Fix]:
    if not isinstance(now, (int, float)):
        return
    for direction in (1, -1):
        value = _edge(search, knob, now, direction)
        if value is None:
            continue
        changed = search.settings.with_value(knob.name, value)
        yield Fix(search.item, "knob", turned(knob, now, value), changed, abs(value - now) / knob.step)


def _edge(search: _Search, knob: Knob, now: float, direction: int) -> int | float | None:
    """The value nearest to ``now`` in one direction that works, where one unit less does not.

    Whole numbers are searched to the unit; a knob with a fractional step to that step.
    """
    grain = knob.step if knob.step < 1 else 1
    bound = knob.maximum if direction > 0 else knob.minimum
    if direction < 0 and bound is None and now >= 0:
        bound = 0  # less than nothing is never what a person means

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
    turned = search.tried.turned[knob.name, direction]
    high = min(step for step in {*turned, reach} if works(step))
    low = max((step for step in turned if step < high and not works(step)), default=0)
    far_off = search.outcome(search.settings.with_value(knob.name, at(reach)))
    # Last, whether only the far end works: zero often stands for "no limit".
    for guess in (*_guesses(search, far_off, grain), reach - 1):
        if low < guess < high:  # the edge is there, or one off, or elsewhere
            low, high = (low, guess) if works(guess) else (guess, high)
            near = guess - 1 if high == guess else guess + 1
            if low < near < high:
                low, high = (low, near) if works(near) else (near, high)
    stride = 1
    while low + stride < high and not works(low + stride):
        low, stride = low + stride, stride * _GALLOP
    high = min(low + stride, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    turned |= {low, high} - {0}
    return at(high)


def _guesses(search: _Search, far_off: Outcome, grain: float) -> tuple[int, ...]:
    """Where the edge mostly is: what the decision lacks, or what the whole prompt does."""
    limit = search.base.budget.limit
    missing = 0 if limit is None else far_off.used - limit
    return tuple(math.ceil(gap / grain) for gap in (search.gap, missing))


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
                text = ranked(section.name, now, priority)
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
    pool = [entry for entry in search.tried.removable if entry[0] != search.item]
    culprits = _culprits(search)
    if not culprits:
        without_any = search.outcome(_without(search, pool))
        if not without_any.failed and search.item not in without_any.whole:
            return
    tried = [entry for entry in pool if entry[1] >= short]
    for item, tokens, name in [*culprits, *tried[:_SINGLES_MAX]]:
        changed = search.settings.toggled(item)
        if search.works(changed):
            yield Fix(search.item, "off", switched_off([name], tokens), changed, tokens)
            return
    taken: list[Named] = []
    if sum(entry[1] for entry in pool[-_SET_MAX:]) < short:
        return
    for entry in reversed(pool):  # the largest first: the fewest items
        if len(taken) == _SET_MAX:
            return
        taken.append(entry)
        if search.works(_without(search, taken)):
            break
    else:
        return
    for entry in sorted(taken, key=lambda e: -e[1]):
        fewer = [other for other in taken if other is not entry]
        if fewer and search.works(_without(search, fewer)):
            taken = fewer
    tokens = sum(entry[1] for entry in taken)
    text = switched_off([entry[2] for entry in taken], tokens)
    yield Fix(search.item, "off", text, _without(search, taken), tokens)


def _culprits(search: _Search) -> list[Named]:
    """Items that the decisions on this one name: taking out a row that wiped others costs no room,
    so it would not be found among what takes room."""
    named = search.tried.named
    words = {
        word
        for decision in search.tried.decisions_on(search.item)
        if decision.action in LOSSES
        for word in re.findall(r"[^\s,;()'\"]+", decision.because)
    }
    found = sorted(words & named.keys() - {search.item} - search.settings.off)
    return [named[item] for item in found[:_CULPRITS_MAX]]


def _without(search: _Search, chosen: list[Named]) -> Settings:
    return search.settings.with_off({*search.settings.off, *(entry[0] for entry in chosen)})


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
    search.check()
    shorter = search.tried.assemble(changed).section(search.item)
    saved = section.tokens_original - (shorter.tokens if shorter else 0)
    text = shortened(section.name, low, len(lines), saved)
    yield Fix(search.item, "shorten", text, changed, saved)
