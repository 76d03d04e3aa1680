"""Which sections the list shows, in which order, and how wide its columns are. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from promptdbg.analysis.why import number
from promptdbg.marks import SECTION_MARKS
from promptdbg.model import LOSSES, Decision, Section, SectionStatus
from promptdbg.text import one_line
from promptdbg.tui.picture import Picture


class Sort(StrEnum):
    """What the rows are ordered by; ``order`` is as the engine takes them."""

    ORDER = "order"
    TOKENS = "tokens"
    PRIORITY = "priority"
    STATE = "state"
    NAME = "name"


class States(StrEnum):
    """Which rows are shown."""

    ALL = "all"
    LOST = "lost"
    CUT = "cut"
    OFF = "off"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class View:
    """How the sections are looked at: this survives every new picture."""

    filter: str = ""
    states: States = States.ALL
    sort: Sort = Sort.ORDER
    reverse: bool = False
    folded: frozenset[str] = frozenset()

    @property
    def narrowed(self) -> bool:
        return bool(self.filter) or self.states is not States.ALL


@dataclass(frozen=True, slots=True)
class Row:
    """One visible section: how deep it is in the tree, and how many parts it has."""

    id: str
    depth: int
    parts: int
    folded: bool


_STATE_ORDER = {status: number for number, status in enumerate(SECTION_MARKS)}

_SORT_KEYS: dict[Sort, Callable[[Section], Any]] = {
    Sort.TOKENS: lambda section: -shown_tokens(section),
    Sort.PRIORITY: lambda section: -(section.priority or 0),
    Sort.STATE: lambda section: -_STATE_ORDER[section.status],
    Sort.NAME: lambda section: section.name.casefold(),
}

_IN = frozenset({SectionStatus.KEPT, SectionStatus.TRUNCATED, SectionStatus.LITERAL})


def in_prompt(section: Section) -> bool:
    """Whether something of the section stands in the prompt."""
    return section.status in _IN


def shown_tokens(section: Section) -> int:
    """What the list shows: what it costs, or what it would cost where it is not in."""
    return section.tokens if in_prompt(section) else section.tokens_original


def section_rows(picture: Picture, view: View) -> list[Row]:
    """The rows to show. A section that does not match stays when one of its parts does."""
    rows: list[Row] = []
    _add(rows, picture, view, "", 0, _matcher(picture, view))
    return rows


def _add(
    rows: list[Row], picture: Picture, view: View, parent: str, depth: int, match: Callable[[Section], bool]
) -> bool:
    """Add the parts of a parent; whether any was added."""
    added = False
    for item in _sorted(picture, view, picture.parts.get(parent, ())):
        parts = picture.parts.get(item, ())
        place = len(rows)
        folded = item in view.folded and not view.narrowed
        rows.append(Row(item, depth, len(parts), folded))
        inside = bool(parts) and not folded and _add(rows, picture, view, item, depth + 1, match)
        if inside or match(picture.sections[item]):
            added = True
        else:
            del rows[place]
    return added


def _sorted(picture: Picture, view: View, items: tuple[str, ...]) -> tuple[str, ...]:
    key = _SORT_KEYS.get(view.sort)
    if key is not None:
        items = tuple(sorted(items, key=lambda item: key(picture.sections[item])))
    return items[::-1] if view.reverse else items


def _matcher(picture: Picture, view: View) -> Callable[[Section], bool]:
    needle = view.filter.casefold()

    def match(section: Section) -> bool:
        if needle and needle not in section.name.casefold() and needle not in section.id.casefold():
            return False
        match view.states:
            case States.ALL:
                return True
            case States.LOST:
                return section.lost
            case States.CUT:
                return section.status is SectionStatus.TRUNCATED
            case States.OFF:
                return section.status is SectionStatus.DISABLED
            case States.CHANGED:
                return section.id in picture.changed

    return match


def place_of(rows: list[Row], item: str | None, near: int) -> int:
    """The row of an item; where it is not shown, the row nearest to where it was."""
    for place, row in enumerate(rows):
        if row.id == item:
            return place
    return max(0, min(near, len(rows) - 1))


def why_short(picture: Picture, section: Section) -> str:
    """The reason in a few words, for the last column."""
    if section.status is SectionStatus.DISABLED:
        return "you"
    settled = picture.settled(section.id)
    decision = settled if settled and settled.action in LOSSES else None
    rule = picture.rules.get(settled.rule) if settled else None
    said = one_line(rule.title) if rule else ""
    title = said if decision else ""
    if section.status is SectionStatus.TRUNCATED:
        if not title and picture.parts.get(section.id):
            title = "parts are out"
        return f"of {section.tokens_original:,}" + (f" · {title}" if title else "")
    if title:
        return f"{over} · {title}" if decision and (over := _over(decision)) else title
    return " · ".join(filter(None, ("stand-in" if section.stand_in else "", said)))


def _over(decision: Decision) -> str:
    """By how much a limit was passed, in the framework's own unit."""
    if decision.measured is None or decision.limit is None or decision.measured <= decision.limit:
        return ""
    unit = "" if decision.unit in (None, "count", "tokens") else f" {decision.unit}"
    return f"{number(decision.measured - decision.limit)}{unit} over"


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of the columns in cells; 0 hides one. A gap of one cell or two is part of each."""

    state: int
    name: int
    rank: int
    tokens: int
    share: int
    sum: int
    why: int
    source: int = 0


@lru_cache(maxsize=64)
def columns(width: int, *, numbers: int = 8, names: int = 0) -> Columns:
    """How a list of so many cells is divided. Columns give way in the order SOURCE, SHARE, SUM, PRIO or
    ORDER; then the reason and the name get shorter.

    Args:
        numbers: cells of the widest token figure with its gap.
        names: cells of the widest name with its indent; 0 where not known.
    """
    state = 10
    tokens = max(numbers, 8)
    rank = 7 if width >= 66 else 0
    total = tokens if width >= 72 else 0
    share = 7 if width >= 80 else 0
    source = max(width // 5, 26) if width >= 120 else 0
    rest = max(width - state - rank - tokens - share - total - source, 16)
    name = max(rest * 12 // 20, 12)
    if names:
        name = min(name, max(names + 2, 16))
    return Columns(state, name, rank, tokens, share, total, max(rest - name, 0), source)
