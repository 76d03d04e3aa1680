"""What became of a message, and how far into the request it stands: told the same everywhere."""

from __future__ import annotations

from promptdbg.analysis.room import final_room
from promptdbg.analysis.trace import trace
from promptdbg.analysis.tried import lost_items
from promptdbg.analysis.why import what_became, why
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.model import SectionStatus, Settings
from promptdbg.tokens import tokenizer

from .conftest import Make

ROWS = [
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": "yes"},
    {"role": "user", "content": "one"},
    {"role": "user", "content": "two"},
    {"role": "tool", "content": "long " * 100},
]


def test_what_became_of_a_message_is_what_why_says(make: Make) -> None:
    assembly = make(messages=ROWS).assemble(Settings().with_value("keep", 3))
    became = {m.id: what_became(assembly, m.id) for m in assembly.stages[0].messages}
    assert became == {item: why(assembly, item).status for item in became}
    assert became == {"m0": "dropped", "m1": "kept", "m2": "merged", "m3": "merged", "m4": "rewritten"}
    assert what_became(assembly, "nothing") == "absent"


def test_a_message_that_only_the_first_list_has_is_dropped() -> None:
    lists = [{"messages": [{"id": "a", "content": "x"}]}, {"messages": []}, {"messages": []}]
    assembly = assembly_from_trace({"schema": "promptdbg/trace/1", "stages": lists}, tokenizer())
    assert what_became(assembly, "a") == "dropped"


def test_the_room_before_a_message_counts_the_tools_and_the_messages(make: Make) -> None:
    assembly = make(messages=ROWS).assemble()
    room = final_room(assembly)
    tokens = [message.tokens for message in room.messages]
    assert list(room.before) == [sum(tokens[:index]) for index in range(len(tokens))]
    assert (room.whole, room.has_window) == (sum(tokens), False)
    (hit,) = trace(assembly, "yes").hits
    assert hit.seen_at is not None
    assert hit.seen_at.tokens_before == room.before[hit.seen_at.index]
    assert hit.seen_at.share == room.share(hit.seen_at.tokens_before)


def test_what_is_lost_is_what_a_section_calls_lost_but_for_what_was_switched_off() -> None:
    sections = [{"name": status.value, "text": "x", "status": status.value} for status in SectionStatus]
    assembly = assembly_from_trace({"schema": "promptdbg/trace/1", "sections": sections}, tokenizer())
    assert lost_items(assembly) == ("truncated", "dropped", "shadowed", "literal")
