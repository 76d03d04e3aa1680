"""``cache``: what two requests share."""

from __future__ import annotations

import json

from promptdbg.analysis.cache import compare_prefix
from promptdbg.model import Settings
from promptdbg.tokens import tokenizer

from .conftest import Make

ROWS = [{"role": role, "content": f"{role} {n}"} for n in range(4) for role in ("user", "assistant")]


def test_a_turn_that_only_appends_keeps_the_whole_prefix(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "rules"}], messages=ROWS)
    first, second = made.assemble(Settings(turn=2)), made.assemble(Settings(turn=3))
    report = compare_prefix(first, second, tokenizer())
    assert report.broken is None
    final = first.stages[-1]
    assert report.shared_tokens == sum(m.tokens for m in final.messages)
    assert report.lost_tokens == sum(m.tokens for m in second.stages[-1].messages) - report.shared_tokens


def test_a_clock_breaks_it_at_its_byte(make: Make) -> None:
    lead = "ü" * 60
    texts = [f"{lead} Time: 10:00:0{n} " + "word " * 30 for n in (1, 2)]
    first, second = (make(sections=[{"name": "clock", "text": text}]).assemble() for text in texts)
    report = compare_prefix(first, second, tokenizer())
    assert report.broken is not None
    assert report.broken.item == "clock"
    assert report.broken.byte == 120 + len(" Time: 10:00:0")
    assert report.broken.cause.startswith("a clock")
    assert report.shared_tokens + report.lost_tokens == report.total_tokens
    assert report.lost_tokens > 25


def test_a_snipped_head_says_how_many_went(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "rules"}], messages=ROWS)
    first, second = made.assemble(), made.assemble(Settings().with_value("keep", 5))
    report = compare_prefix(first, second, tokenizer())
    assert report.broken is not None
    assert report.broken.item == "m0"
    assert report.broken.cause == "3 earlier entries were taken out here [fake.steps.trim]"


def test_what_is_gone_is_counted_where_a_new_text_stands_in_its_place(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "rules"}], messages=ROWS)
    # Of what the second turn had, nothing is left but the system prompt, and the row behind it is new.
    first, second = made.assemble(Settings(turn=2)), made.assemble(Settings(turn=3).with_value("keep", 2))
    report = compare_prefix(first, second, tokenizer())
    assert report.broken is not None
    assert report.broken.item == "m0"
    assert report.broken.cause == "3 earlier entries were taken out here [fake.steps.trim]"


def test_what_joins_sections_is_not_counted(make: Make) -> None:
    made = make(sections=[{"name": name, "text": f"text of {name}"} for name in "abc"])
    first, second = made.assemble(), made.assemble(Settings(off=frozenset({"a", "b"})))
    report = compare_prefix(first, second, tokenizer())
    assert report.broken is not None
    assert report.broken.cause == "2 earlier entries were taken out here [promptdbg.off]"


def test_a_text_that_was_both_moved_and_new_has_no_cause_it_does_not_have(make: Make) -> None:
    first = make(sections=[{"name": "a", "text": "one"}, {"name": "b", "text": "two"}]).assemble()
    second = make(sections=[{"name": "b", "text": "other"}, {"name": "a", "text": "new"}]).assemble()
    report = compare_prefix(first, second, tokenizer())
    assert report.broken is not None
    assert report.broken.cause == ""


def test_the_same_entries_in_another_order_were_not_taken_out(make: Make) -> None:
    first, second, fewer = (
        make(sections=[{"name": name, "text": f"text of {name}"} for name in names]).assemble()
        for names in ("abcd", "dabc", "db")
    )
    for before, now, cause in (
        (first, second, "the order is another: a stood here, now d does"),
        (second, first, "the order is another: d stood here, now a does"),
        # a is gone, and c, while b has only moved behind d
        (first, fewer, "2 earlier entries were taken out here"),
    ):
        report = compare_prefix(before, now, tokenizer())
        assert report.broken is not None
        assert report.broken.cause == cause


def test_what_moved_and_changed_as_well_did_move(make: Make) -> None:
    first = make(sections=[{"name": "a", "text": "one"}, {"name": "b", "text": "two"}]).assemble()
    second = make(sections=[{"name": "b", "text": "other"}, {"name": "a", "text": "one"}]).assemble()
    for before, now in ((first, second), (second, first)):
        report = compare_prefix(before, now, tokenizer())
        assert report.broken is not None
        assert report.broken.cause.startswith("the order is another")


def test_a_longer_earlier_request_and_the_same_one(make: Make) -> None:
    made = make(messages=ROWS)
    long, short = made.assemble(Settings(turn=3)), made.assemble(Settings(turn=2))
    report = compare_prefix(long, short, tokenizer())
    assert report.broken is not None
    assert report.shared_tokens == report.total_tokens
    assert compare_prefix(long, long, tokenizer()).broken is None


def test_bytes_count_from_the_start_of_the_request(make: Make) -> None:
    made = make(messages=ROWS)
    first = made.assemble()
    second = make(messages=[*ROWS[:-1], {"role": "assistant", "content": "assistant ?"}]).assemble()
    report = compare_prefix(first, second, tokenizer())
    assert report.broken is not None
    size = sum(len(json.dumps(m.to_json()).encode()) for m in first.stages[-1].messages[1:-1])
    assert report.broken.byte == size + report.broken.inside
