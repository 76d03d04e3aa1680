"""What alignment says of every thing an engine may do to a message, and the decisions it names."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from promptdbg.analysis.adopt import adopt
from promptdbg.analysis.align import align, align_assemblies, align_assembly, same
from promptdbg.analysis.alignment import Alignment, CellKind
from promptdbg.errors import UsageError
from promptdbg.model import (
    Action,
    Assembly,
    Budget,
    Decision,
    EngineInfo,
    Message,
    MessageStatus,
    Settings,
    Stage,
    StageKind,
    TokenizerInfo,
)


def message(name: str, text: str = "", *, role: str = "user", sources: tuple[str, ...] = ()) -> Message:
    return Message(id=name, role=role, content=text or name, tokens=10, sources=sources or (name,))


def stage(
    name: str,
    *messages: Message,
    kind: StageKind = StageKind.STEP,
    statuses: dict[str, MessageStatus] | None = None,
    dropped: tuple[Message, ...] = (),
) -> Stage:
    return Stage(
        name,
        kind,
        name.title(),
        messages,
        dropped=dropped,
        statuses=MappingProxyType(statuses or {}),
        tokens=sum(m.tokens for m in messages),
    )


def decision(number: int, where: str, action: Action, item: str, rule: str = "r") -> Decision:
    return Decision(f"d{number}", where, rule, action, item, f"because {number}")


def kinds(alignment: Alignment) -> list[str]:
    """Every row as the kinds of its cells."""
    return [" ".join(cell.kind.value for cell in alignment.cells(row)) for row in range(alignment.length)]


SYSTEM = message("system", "be good", role="system")
A, B, C, D = (message(name) for name in "abcd")


def test_the_system_message_goes_on_top_and_the_current_one_to_the_end() -> None:
    current = message("current")
    both = align(
        [
            stage("session", A, B, C, kind=StageKind.SESSION),
            stage("initial", SYSTEM, C, current, statuses={"system": MessageStatus.INSERTED}, dropped=(A, B)),
        ]
    )
    assert [c.message.id if c.message else "" for c in (both.cell(row, 1) for row in range(5))] == [
        "system",
        "",
        "",
        "c",
        "current",
    ]
    assert kinds(both) == [
        "absent inserted",
        "listed dropped",
        "listed dropped",
        "listed same",
        "absent inserted",
    ]


def test_a_backfilled_result_stands_behind_its_call() -> None:
    call = message("call", role="assistant")
    result = message("backfill:1", role="tool", sources=("call",))
    both = align(
        [
            stage("one", call, A, B),
            stage("two", call, result, B, statuses={"backfill:1": MessageStatus.INSERTED}, dropped=(A,)),
        ]
    )
    assert kinds(both) == ["listed same", "absent inserted", "listed dropped", "listed same"]


def test_a_summary_has_a_row_of_its_own_behind_what_it_sums_up() -> None:
    summary = message("summary", sources=("a", "b"))
    both = align(
        [
            stage("one", SYSTEM, A, B, C),
            stage("two", SYSTEM, summary, C, statuses={"summary": MessageStatus.INSERTED}, dropped=(A, B)),
        ]
    )
    assert kinds(both) == [
        "listed same",
        "listed dropped",
        "listed dropped",
        "absent inserted",
        "listed same",
    ]


@pytest.mark.parametrize(("name", "home"), [("a", 0), ("b", 1), ("ab", 0)])
def test_a_merged_message_stands_with_a_source_and_the_other_points_at_it(name: str, home: int) -> None:
    joined = message(name, "ab", sources=("a", "b"))
    steps = [
        stage("one", A, B, C),
        stage("two", joined, C, statuses={name: MessageStatus.MERGED}),
    ]
    made = [decision(1, "two", Action.MERGE, name, "engine.merge")]
    both = align(steps, made)
    cell, other = both.cell(home, 1), both.cell(1 - home, 1)
    assert (cell.kind, cell.word, cell.message) == (CellKind.MERGED, "MERGE", joined)
    assert (other.kind, other.word, other.other) == (CellKind.ELSEWHERE, "MERGE", home)
    assert [d.id for d in other.decisions] == ["d1"]
    assert both.length == 3


def test_a_merged_away_message_that_a_stage_calls_dropped_is_dropped() -> None:
    joined = message("ab", sources=("a", "b"))
    both = align([stage("one", A, B), stage("two", joined, dropped=(B,))])
    assert kinds(both) == ["listed merged", "listed dropped"]


def test_a_message_that_changed_places_points_both_ways() -> None:
    both = align([stage("one", A, B, C), stage("two", B, C, A)])
    assert kinds(both) == ["listed elsewhere", "listed same", "listed same", "absent moved"]
    assert both.cell(0, 1).other == 3
    assert both.cell(3, 1).other == 0
    assert both.cell(0, 1).word == both.cell(3, 1).word == "MOVE"


def test_decisions_are_those_made_between_the_columns() -> None:
    short, shorter = replace(A, content="long", tokens=5), replace(A, content="lo", tokens=2)
    path = [
        stage("session", A, B, kind=StageKind.SESSION),
        stage("initial", A, B, kind=StageKind.INITIAL),
        stage("cut", short, B, statuses={"a": MessageStatus.REWRITTEN}),
        stage("cut again", shorter, statuses={"a": MessageStatus.REWRITTEN}, dropped=(B,)),
        stage("final", shorter, kind=StageKind.FINAL, statuses={"a": MessageStatus.REWRITTEN}, dropped=(B,)),
    ]
    made = [
        decision(1, "cut", Action.TRUNCATE, "a"),
        decision(2, "cut again", Action.REWRITE, "a"),
        decision(3, "cut again", Action.DISABLE, "b"),
    ]
    whole = align([path[0], path[1], path[4]], made, path)
    assert [d.id for d in whole.cell(0, 2).decisions] == ["d1", "d2"]
    assert whole.cell(0, 2).word == "CUT"
    assert whole.cell(1, 2).word == "OFF"
    assert whole.cell(0, 1).decisions == ()
    late = align([path[2], path[3]], made, path)
    assert [d.id for d in late.cell(0, 1).decisions] == ["d2"]
    assert late.cell(0, 1).word == "EDIT"


def test_what_is_gone_stays_gone_and_can_come_back() -> None:
    three = align([stage("one", A, B), stage("two", A, dropped=(B,)), stage("three", A), stage("four", A, B)])
    assert kinds(three) == ["listed same same same", "listed dropped gone inserted"]


def test_totals_and_counts() -> None:
    both = align([stage("one", A, B), stage("two", SYSTEM, replace(A, content="x", tokens=4), dropped=(B,))])
    assert [column.length for column in both.columns] == [2, 2]
    assert [column.tokens for column in both.columns] == [20, 14]
    assert [column.delta for column in both.columns] == [0, -6]
    assert both.columns[1].counts == {CellKind.INSERTED: 1, CellKind.REWRITTEN: 1, CellKind.DROPPED: 1}


def test_neighbours_that_changed_alike_are_one_change() -> None:
    rows = [message(f"m{n}") for n in range(12)]
    made = [decision(n, "two", Action.DROP, f"m{n}", "x" if n < 3 else "y") for n in range(5)]
    both = align([stage("one", *rows), stage("two", *rows[5:], dropped=tuple(rows[:5]))], made)
    assert [(run.start, run.end) for run in both.changes] == [(0, 3), (3, 5)]
    assert [(fold.start, fold.end) for fold in both.folds()] == [(6, 11)]
    assert both.folds(least=6) == ()


def test_only_a_long_run_that_changed_alike_folds() -> None:
    rows = [message(f"m{n}") for n in range(40)]
    gone = align([stage("one", *rows), stage("two", dropped=tuple(rows))])
    assert [(fold.start, fold.end, fold.changed) for fold in gone.folds(alike=30)] == [(1, 39, True)]
    assert gone.folds() == ()
    few = align([stage("one", *rows[:20]), stage("two", dropped=tuple(rows[:20]))])
    assert few.folds(alike=30) == ()
    assert align([stage("one", A), stage("two")]).folds(alike=30) == ()


def test_equal_lists_fold_whole_but_for_their_ends() -> None:
    rows = [message(f"m{n}") for n in range(9)]
    both = align([stage("one", *rows), stage("two", *rows)])
    assert [(fold.start, fold.end) for fold in both.folds()] == [(1, 8)]
    assert both.changes == ()


def test_no_lists_and_empty_lists() -> None:
    assert align([]).length == 0
    nothing = align([stage("one"), stage("two")])
    assert (nothing.length, nothing.runs) == (0, ())


def test_the_row_of_a_message() -> None:
    both = align([stage("one", A, B, C), stage("two", B, C, A)])
    assert both.row_of("a") == 3
    assert both.row_of("nobody") is None


def test_same_compares_every_key_on_the_wire() -> None:
    assert same(A, replace(A, tokens=99, size=4))
    changes: list[dict[str, Any]] = [
        {"role": "tool"},
        {"tool_call_id": "x"},
        {"tool_calls": []},
        {"name": "n"},
        {"content": None},
    ]
    for change in changes:
        assert not same(A, replace(A, **change))
    extra = replace(A, extra={"reasoning_content": "r"}, wire=("role", "content", "reasoning_content"))
    assert not same(A, extra)


def test_content_nested_too_deep_is_different_and_no_crash() -> None:
    def nested(depth: int) -> list[object]:
        deep: list[object] = []
        for _ in range(depth):
            deep = [deep]
        return deep

    left, right = replace(A, content=nested(100_000)), replace(A, content=nested(100_001))
    assert not same(left, right)
    assert len(adopt([left], [right])) == 1


# ---- lists whose ids do not speak of each other ---------------------------------------------------


def assembly(session: str, *stages: Stage, decisions: tuple[Decision, ...] = ()) -> Assembly:
    return Assembly(
        engine=EngineInfo("fake", "Fake", "1"),
        tokenizer=TokenizerInfo("none", exact=True),
        workspace="/w",
        session=session,
        settings=Settings(),
        budget=Budget(None, 0, "tokens"),
        sections=(),
        stages=stages,
        decisions=decisions,
        rules=(),
    )


def final(*messages: Message) -> Stage:
    return stage("final", *messages, kind=StageKind.FINAL)


def test_turn_against_turn_goes_by_id_and_carries_the_right_sides_decisions() -> None:
    left = assembly("s", final(SYSTEM, A, B))
    right = assembly(
        "s",
        stage("initial", SYSTEM, A, B, kind=StageKind.INITIAL),
        stage("snip", SYSTEM, B, dropped=(A,)),
        final(SYSTEM, B, message("current")),
        decisions=(decision(1, "snip", Action.DROP, "a"),),
    )
    both = align_assemblies(left, right)
    assert kinds(both) == ["listed same", "listed dropped", "listed same", "absent inserted"]
    assert [d.id for d in both.cell(1, 1).decisions] == ["d1"]


def test_the_current_message_of_a_turn_is_a_stored_row_of_the_next() -> None:
    left = assembly("s", final(A, message("current", "what is this?")))
    right = assembly("s", final(A, message("m7", "what is this?"), B))
    assert kinds(align_assemblies(left, right)) == ["listed same", "listed same", "absent inserted"]


def test_two_sessions_go_by_content_and_not_by_id() -> None:
    left = assembly("one", final(message("m0", "hello"), message("m1", "bye")))
    right = assembly("two", final(message("m0", "bye"), message("m1", "new")))
    both = align_assemblies(left, right)
    assert kinds(both) == ["listed dropped", "listed same", "absent inserted"]
    assert both.cell(0, 1).decisions == ()


def test_comparing_needs_the_list() -> None:
    with pytest.raises(UsageError, match="no final list"):
        align_assemblies(assembly("s", final(A)), assembly("s", stage("session", A, kind=StageKind.SESSION)))


def test_a_recorded_request_is_a_column_of_its_own() -> None:
    recorded = stage(
        "recorded",
        message("r0", "be good", role="system"),
        message("r1", "a" * 60 + " with a cache mark"),
        message("r2", "something else"),
    )
    prompt = assembly("s", final(SYSTEM, replace(A, content="a" * 60), B))
    both = align_assembly(prompt, ("final",), recorded=recorded)
    assert [column.stage.name for column in both.columns] == ["final", "recorded"]
    assert kinds(both) == ["listed same", "listed rewritten", "listed dropped", "absent inserted"]
    assert align_assembly(prompt, recorded=recorded).length == 4


def test_answers_are_found_by_their_call() -> None:
    def answer(name: str, call: str, text: str) -> Message:
        return replace(message(name, text, role="tool"), tool_call_id=call)

    left = [answer("a", "c1", "one"), answer("b", "c2", "two")]
    right = [answer("x", "c2", "cut"), answer("y", "c3", "three")]
    assert adopt(left, right) == ("b", "right:1")
    calls = replace(message("q", role="assistant"), tool_calls=[{"id": "c1"}])
    assert adopt([calls], [replace(calls, id="z", content="other")]) == ("q",)


def test_a_request_in_another_providers_shape_is_matched() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    sent = [
        message("m0", "what is here?"),
        replace(message("m1", role="assistant"), content=None, tool_calls=[call]),
        replace(message("m2", "a.txt", role="tool"), tool_call_id="c1", name="ls"),
    ]
    recorded = [
        replace(message("r0"), content=[{"type": "text", "text": "what is here?"}]),
        replace(
            message("r1", role="assistant"),
            content=[{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}],
        ),
        replace(message("r2"), content=[{"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}]),
    ]
    assert adopt(sent, recorded) == ("m0", "m1", "m2")
