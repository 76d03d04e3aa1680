"""Steps that replace long tool results by a line: 0.2.2 always, main only when a request overflows.

``agent/runner.py::_microcompact`` and ``agent/context_governance.py::compact_inflight_overflow``.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import (
    COMPACTABLE_TOOLS,
    INFLIGHT_TARGET,
    MICROCOMPACT_KEEP,
    MICROCOMPACT_MIN_CHARS,
)
from promptdbg.engines.nanobot.events import Event, Step, rewritten
from promptdbg.engines.nanobot.governor import Governor
from promptdbg.engines.nanobot.rows import Row, Rows, answered_id
from promptdbg.model import Action


def microcompact(rows: Rows) -> Step:
    """0.2.2: results of listed tools, all but the newest ten, whatever the budget."""
    found = [i for i, row in enumerate(rows) if row.role == "tool" and _name(row) in COMPACTABLE_TOOLS]
    events: list[Event] = []
    out = list(rows)
    for behind, index in enumerate(found[: max(0, len(found) - MICROCOMPACT_KEEP)]):
        row = rows[index]
        content = row.content
        if not isinstance(content, str) or len(content) < MICROCOMPACT_MIN_CHARS:
            continue
        newer = len(found) - behind - 1
        out[index] = row.with_content(f"[{_name(row)} result omitted from context]")
        because = (
            f"{newer} newer results of listed tools follow, and only the newest {MICROCOMPACT_KEEP} stay"
        )
        events.append(
            rewritten(
                row,
                out[index],
                rules.MICROCOMPACT,
                because,
                action=Action.TRUNCATE,
                measured=newer + 1,
                limit=MICROCOMPACT_KEEP,
                unit="count",
            )
        )
    return Step(tuple(out), tuple(events)) if events else Step(rows)


def _name(row: Row) -> str:
    name = row.value.get("name", "tool")
    return name if isinstance(name, str) else str(name)


def compact_inflight(governor: Governor, rows: Rows) -> Step:
    """main: results of this turn, oldest first, down to 85 % of the budget."""
    if governor.budget <= 0 or not governor.compaction:
        return Step(rows)
    events: list[Event] = []
    out = list(rows)
    for index, row in enumerate(rows):
        if row.role == "tool" and answered_id(row.value) in governor.compacted:
            out[index] = _compacted(governor, row)
            if out[index].content != row.content:
                because = "it was compacted for an earlier request of this turn"
                events.append(rewritten(row, out[index], rules.INFLIGHT, because, action=Action.TRUNCATE))
    current = tuple(out) if events else rows
    estimate = governor.measure(current).tokens
    if estimate > governor.budget:
        current = _compact_candidates(governor, current, estimate, events)
    return Step(current, tuple(events)) if events else Step(rows)


def _compact_candidates(governor: Governor, rows: Rows, estimate: int, events: list[Event]) -> Rows:
    target = int(governor.budget * INFLIGHT_TARGET)
    candidates = list(_candidates(governor, rows))
    for number, index in enumerate(candidates):
        if number == len(candidates) - 1 and estimate <= governor.budget:
            break
        row = rows[index]
        if answered_id(row.value) in governor.compacted:
            continue
        after = _compacted(governor, row)
        governor.compacted.append(answered_id(row.value))
        because = f"the request is {estimate:,} tokens, over {governor.budget:,}; results go until {target:,}"
        events.append(
            rewritten(
                row,
                after,
                rules.INFLIGHT,
                because,
                action=Action.TRUNCATE,
                measured=estimate,
                limit=governor.budget,
                unit="tokens",
            )
        )
        rows = (*rows[:index], after, *rows[index + 1 :])
        estimate = governor.measure(rows).tokens
        if estimate <= target:
            break
    return rows


def _candidates(governor: Governor, rows: Rows) -> Iterator[int]:
    for index in range(governor.inflight_start, len(rows)):
        row = rows[index]
        content = row.content
        if (
            row.role == "tool"
            and row.value.get("name") in COMPACTABLE_TOOLS
            and answered_id(row.value)
            and answered_id(row.value) not in governor.compacted
            and isinstance(content, str)
            and len(content) >= MICROCOMPACT_MIN_CHARS
        ):
            yield index


def _compacted(governor: Governor, row: Row) -> Row:
    return row.with_content(governor.prose.about("compacted", _name(row)))
