"""Assembly documents and traces, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.debug import Debugger, opened_assembly
from promptdbg.errors import InputError, UsageError
from promptdbg.export.document import document
from promptdbg.export.load import assembly_from, is_assembly, read_json
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.model import MessageStatus, SectionStatus, Settings, StageKind
from promptdbg.tokens import tokenizer
from tests.analysis.conftest import Made
from tests.invariants import check

TRACE: dict[str, Any] = {
    "schema": "promptdbg/trace/1",
    "program": {"name": "my-agent", "version": "2.1"},
    "budget": {"limit": 60, "unit": "tokens", "window": 100},
    "sections": [
        {"name": "identity", "text": "You are careful."},
        {
            "name": "rules",
            "text": "Be brief.\nNever use tabs.\n",
            "kept": [[0, 10]],
            "path": "RULES.md",
            "line": 3,
        },
        {"name": "memory", "text": "old", "status": "dropped", "priority": 2},
    ],
    "stages": [
        {
            "name": "history",
            "messages": [
                {"id": "u1", "role": "user", "content": "hello"},
                {"id": "a1", "role": "assistant", "content": "hi"},
                {"id": "u2", "role": "user", "content": "again"},
            ],
        },
        {
            "name": "sent",
            "messages": [
                {"id": "sys", "role": "system", "content": "You are careful.\nBe brief.\n"},
                {"id": "a1", "role": "assistant", "content": "hi!"},
                {"id": "u2", "role": "user", "content": "again"},
            ],
        },
    ],
    "decisions": [
        {
            "item": "rules",
            "action": "truncate",
            "rule": "cap",
            "because": "Over the cap.",
            "measured": 26,
            "limit": 10,
            "unit": "chars",
        },
        {"item": "u1", "stage": "sent", "action": "drop", "rule": "window", "because": "Too old."},
    ],
}


def test_a_document_reads_back_as_the_same_assembly(tmp_path: Path) -> None:
    made = Made(
        tmp_path,
        {
            "sections": [{"name": "a", "text": "x" * 900, "priority": 2}, {"name": "b", "text": "y"}],
            "messages": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}],
        },
    )
    assembly = made.assemble(Settings().with_value("keep", 1).toggled("b"))
    written = json.loads(json.dumps(document(assembly)))
    assert is_assembly(written)
    again = assembly_from(written)
    check(again)
    assert document(again) == document(assembly)


def test_a_document_without_texts_reads_back_too(tmp_path: Path) -> None:
    assembly = Made(tmp_path, {"sections": [{"name": "a", "text": "x"}]}).assemble()
    bare = document(assembly, text=False)
    again = document(assembly_from(bare), text=False)
    assert again == bare


def test_a_recording_opens_and_nothing_in_it_can_be_changed(tmp_path: Path) -> None:
    assembly = Made(tmp_path, {"sections": [{"name": "a", "text": "x"}]}).assemble()
    debugger = Debugger(opened_assembly(assembly))
    assert debugger.assembly == assembly
    with pytest.raises(UsageError, match="recording"):
        debugger.toggle("a")
    assert debugger.settings == Settings()


def test_a_trace_is_filled_in() -> None:
    assembly = assembly_from_trace(TRACE, tokenizer())
    assert [s.status for s in assembly.sections] == [
        SectionStatus.KEPT,
        SectionStatus.TRUNCATED,
        SectionStatus.DROPPED,
    ]
    rules = assembly.sections[1]
    assert rules.output == "Be brief.\n"
    assert [(s.start, s.end, s.kept) for s in rules.spans] == [(0, 10, True), (10, 26, False)]
    assert str(rules.source) == "RULES.md:3"
    session, final = assembly.stages
    assert (session.kind, final.kind) == (StageKind.SESSION, StageKind.FINAL)
    assert [m.id for m in final.dropped] == ["u1"]
    assert final.statuses == {"sys": MessageStatus.INSERTED, "a1": MessageStatus.REWRITTEN}
    assert sum(part.tokens for part in assembly.budget.parts) == assembly.budget.used
    assert [rule.id for rule in assembly.rules] == ["cap", "window"]
    assert assembly_from(document(assembly)) == assembly


def test_the_smallest_trace_is_enough() -> None:
    assembly = assembly_from_trace({"schema": "promptdbg/trace/1"}, tokenizer())
    assert assembly.sections == ()
    assert assembly.budget.used == 0


BROKEN: list[tuple[str, Any, str]] = [
    ("sections", 3, "sections must be a list"),
    ("sections", [{"name": 1}], r"sections\[0\].name must be a text"),
    ("sections", [{"name": "a", "text": "abc", "kept": [[2, 9]]}], r"kept\[0\] must be in order"),
    ("sections", [{"name": "a", "status": "lost"}], "must be one of kept, truncated"),
    ("stages", [{"messages": [{"id": "a"}, {"id": "a"}]}], "ids of their own"),
    ("decisions", [{"action": "explode"}], r"decisions\[0\].action must be one of"),
    ("budget", {"limit": "many"}, "budget.limit must be a whole number"),
]


@pytest.mark.parametrize(("key", "value", "line"), BROKEN)
def test_a_broken_trace_names_the_place(key: str, value: Any, line: str) -> None:
    with pytest.raises(InputError, match=line):
        assembly_from_trace({**TRACE, key: value}, tokenizer(), "run.json")


def test_a_broken_document_is_one_line(tmp_path: Path) -> None:
    good = document(Made(tmp_path, {"sections": [{"name": "a", "text": "x"}]}).assemble())
    with pytest.raises(InputError, match="the key 'sections' is missing"):
        assembly_from({key: value for key, value in good.items() if key != "sections"})
    with pytest.raises(InputError, match="unknown schema"):
        assembly_from({"schema": "other/9"})
    path = tmp_path / "x.json"
    path.write_text('{"schema": \n oops}')
    with pytest.raises(InputError, match=r"x\.json:2:2: is not JSON"):
        read_json(path)


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(key=st.sampled_from(["program", "budget", "sections", "stages", "decisions", "rules"]), value=JSONISH)
def test_no_trace_crashes_the_reader(key: str, value: Any) -> None:
    try:
        check_like = assembly_from_trace({**TRACE, key: value}, tokenizer())
    except InputError:
        return
    assert sum(part.tokens for part in check_like.budget.parts) == check_like.budget.used
