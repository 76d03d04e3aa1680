"""Rows of an alignment, by property: every column reads exactly as its list, in order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from promptdbg.analysis.align import align
from promptdbg.analysis.alignment import CHANGES, PRESENT, CellKind
from promptdbg.analysis.matching import longest_increasing, match
from promptdbg.model import Message, MessageStatus, Stage, StageKind
from tests.analysis.long_lists import long_session, message, stage
from tests.steps import LINEAR, growth


@st.composite
def lists(draw: st.DrawFn) -> list[Stage]:
    """Lists that grow out of each other by everything an engine may do, and by shuffling."""
    fresh = iter(f"n{i}" for i in range(10_000))
    current = [message(next(fresh), draw(st.text(max_size=3))) for _ in range(draw(st.integers(0, 8)))]
    stages = [stage("s0", current, StageKind.SESSION)]
    for number in range(draw(st.integers(0, 4))):
        current = list(current)
        statuses: dict[str, MessageStatus] = {}
        dropped: list[Message] = []
        for _ in range(draw(st.integers(0, 4))):
            act = draw(st.sampled_from(["drop", "insert", "merge", "edit", "shuffle", "double"]))
            place = draw(st.integers(0, max(len(current) - 1, 0)))
            if act == "insert":
                new = message(
                    next(fresh), "new", *draw(st.lists(st.sampled_from(["n0", "n1", "x"]), max_size=2))
                )
                current.insert(place, new)
                statuses[new.id] = MessageStatus.INSERTED
            elif not current:
                continue
            elif act == "drop":
                dropped.append(current.pop(place))
            elif act == "edit":
                current[place] = replace(current[place], content=draw(st.text(max_size=3)))
            elif act == "merge" and place + 1 < len(current):
                a, b = current[place], current.pop(place + 1)
                name = draw(st.sampled_from([a.id, b.id, next(fresh)]))
                current[place] = replace(
                    a, id=name, content=f"{a.content}{b.content}", sources=a.sources + b.sources
                )
                statuses[name] = MessageStatus.MERGED
            elif act == "shuffle":
                current = draw(st.permutations(current))
            elif act == "double":
                current.append(current[place])
        here = {m.id for m in current}
        stages.append(
            replace(
                stage(f"s{number + 1}", current),
                statuses=MappingProxyType({k: v for k, v in statuses.items() if k in here}),
                dropped=tuple(dropped),
            )
        )
    return stages


@given(lists())
def test_every_column_reads_as_its_list(stages: list[Stage]) -> None:
    alignment = align(stages)
    for column in alignment.columns:
        assert len(column.messages) == len(column.kinds) == alignment.length
        assert tuple(m for m in column.messages if m is not None) == column.stage.messages
        for message_, kind in zip(column.messages, column.kinds, strict=True):
            assert (message_ is not None) == (kind in PRESENT)


@given(lists())
def test_no_row_is_empty_and_runs_cover_all_rows(stages: list[Stage]) -> None:
    alignment = align(stages)
    for row in range(alignment.length):
        assert any(column.messages[row] is not None for column in alignment.columns)
    assert [row for run in alignment.runs for row in range(run.start, run.end)] == list(
        range(alignment.length)
    )
    for run in alignment.runs:
        assert all(alignment.changed(row) == run.changed for row in range(run.start, run.end))


@given(lists())
def test_cells_agree_with_their_neighbours(stages: list[Stage]) -> None:
    alignment = align(stages)
    for row in range(alignment.length):
        for number, cell in enumerate(alignment.cells(row)):
            left = alignment.columns[number - 1].messages[row] if number else None
            assert cell.before is left
            if cell.kind is CellKind.SAME:
                assert cell.message is not None
                assert left is not None
                assert cell.message.to_json() == left.to_json()
            if cell.kind is CellKind.DROPPED:
                assert left is not None
            if cell.kind in CHANGES - {CellKind.ELSEWHERE}:
                assert bool(cell.word)
            if cell.kind is CellKind.ELSEWHERE:
                assert cell.other is not None
                assert alignment.columns[number].messages[cell.other] is not None


@given(lists())
def test_a_list_beside_itself_has_no_changes(stages: list[Stage]) -> None:
    twice = align([stages[-1], stages[-1]])
    assert not twice.changes
    assert twice.length == len(stages[-1].messages)


@given(st.lists(st.integers(-20, 20), max_size=12))
def test_the_longest_increasing_run_is_longest(values: list[int]) -> None:
    chosen = [values[index] for index in longest_increasing(values)]
    assert chosen == sorted(set(chosen))
    best = [1] * len(values)
    for index, value in enumerate(values):
        best[index] = 1 + max((best[j] for j in range(index) if values[j] < value), default=0)
    assert len(chosen) == max(best, default=0)


@given(st.text("ab c", max_size=15), st.text("ab c", max_size=15))
def test_matches_are_increasing_and_equal(left: str, right: str) -> None:
    pairs = match(left, right, [lambda c: c if c == "c" else None, lambda c: c])
    assert pairs == sorted(pairs)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert all(left[i] == right[j] for i, j in pairs)
    assert [j for _, j in pairs] == sorted(j for _, j in pairs)


def test_a_long_session_aligns() -> None:
    # A walk that compares every row with every other takes minutes.
    alignment = align(long_session(50_000))
    assert alignment.length == 50_001
    assert len(alignment.changes) > 10_000


def test_ten_times_the_messages_are_about_ten_times_the_work() -> None:
    assert growth(lambda count: partial(align, long_session(count)), 500) < LINEAR
