"""The JSON document is a contract: exactly these keys, whatever the assembly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.engines.base import LoadRequest
from promptdbg.export.document import SCHEMA, document
from promptdbg.model import Assembly, Settings
from promptdbg.tokens import tokenizer
from promptdbg.workspace import MANIFEST_NAME, open_folder
from tests.fake_engine import ENGINE, FakeInputs

MANIFEST = """
engine = "fake"
[[sections]]
name = "identity"
text = "one two three four five"
priority = 2
[[sections]]
name = "gone"
file = "missing.md"
[[messages]]
role = "user"
content = "opening words"
[[messages]]
role = "user"
content = "second"
[[messages]]
role = "tool"
content = "123456789 123456789"
"""

# The contract. Keys may be added here, none may go.
DOCUMENT = {
    "schema", "engine", "tokenizer", "workspace", "session", "turn", "settings", "budget", "sections",
    "stages", "decisions", "rules", "warnings", "failure", "turns",
}  # fmt: skip
SECTION = {
    "id", "name", "kind", "parent", "order", "priority", "source", "place", "status", "evidence", "tokens",
    "tokens_original", "size", "size_original", "unit", "offset", "spans", "decisions",
}  # fmt: skip
SECTION_TEXT = {"text", "output"}
STAGE = {"name", "kind", "title", "tokens", "size", "unit", "measured_by", "messages", "dropped"}
MESSAGE = {
    "id", "sources", "role", "tool_call_id", "name", "tokens", "size", "status", "evidence", "source",
    "decisions",
}  # fmt: skip
MESSAGE_TEXT = {"content", "tool_calls", "extra"}
DECISION = {
    "id", "stage", "rule", "action", "item", "before", "after", "measured", "limit", "unit", "because",
}  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> FakeInputs:
    folder = tmp_path_factory.mktemp("w")
    (folder / MANIFEST_NAME).write_text(MANIFEST)
    return ENGINE.load(open_folder(folder), LoadRequest())


def assembled(inputs: FakeInputs, tried: Settings | None = None) -> Assembly:
    return ENGINE.assemble(inputs, tried or Settings(), tokenizer())


TRIED = (
    Settings()
    .with_value("cap", 7)
    .with_value("tool_cap", 9)
    .with_value("keep", 1)
    .with_text("identity", "edited text")
    .with_priority("gone", 5)
    .with_off({"m0"})
)


@pytest.mark.parametrize("text", [True, False])
def test_keys(inputs: FakeInputs, text: bool) -> None:
    found = document(assembled(inputs, TRIED), text=text)
    assert set(found) == DOCUMENT
    assert found["schema"] == SCHEMA == "promptdbg/assembly/1"
    assert set(found["engine"]) == {"name", "title", "version", "fidelity"}
    assert set(found["tokenizer"]) == {"name", "exact", "note"}
    assert set(found["settings"]) == {"values", "off", "priorities", "texts"}
    assert set(found["budget"]) == {"limit", "used", "unit", "parts", "window", "reserved"}
    assert all(set(part) == {"name", "tokens"} for part in found["budget"]["parts"])
    assert {frozenset(entry) for entry in found["sections"]} == {
        frozenset(SECTION | (SECTION_TEXT if text else set()))
    }
    assert {frozenset(entry) for entry in found["stages"]} == {frozenset(STAGE)}
    messages = [m for stage in found["stages"] for m in (*stage["messages"], *stage["dropped"])]
    assert {frozenset(entry) for entry in messages} == {
        frozenset(MESSAGE | (MESSAGE_TEXT if text else set()))
    }
    assert {frozenset(entry) for entry in found["decisions"]} == {frozenset(DECISION)}
    assert {frozenset(entry) for entry in found["rules"]} == {
        frozenset({"id", "title", "framework", "version", "source", "note"})
    }
    assert found["warnings"][0]["code"] == "fake.file"
    assert found["warnings"][0]["source"] == {"path": "missing.md", "start_line": None, "end_line": None}
    assert {frozenset(entry) for entry in found["turns"]} == {frozenset({"number", "title", "row", "time"})}


def test_figures_are_the_assemblys(inputs: FakeInputs) -> None:
    assembly = assembled(inputs, TRIED)
    found = document(assembly)
    parts = found["budget"]["parts"]
    assert sum(part["tokens"] for part in parts) == found["budget"]["used"]
    assert [stage["kind"] for stage in found["stages"]][:2] == ["session", "initial"]
    assert found["stages"][-1]["kind"] == "final"
    ids = {decision["id"] for decision in found["decisions"]}
    named = {d for section in found["sections"] for d in section["decisions"]}
    named |= {
        d
        for stage in found["stages"]
        for m in (*stage["messages"], *stage["dropped"])
        for d in m["decisions"]
    }
    assert named == ids, "every decision is reachable from its item"
    identity = found["sections"][0]
    assert (identity["text"], identity["output"]) == ("edited text", "edited [cut]")
    assert [(s["start"], s["end"], s["kept"]) for s in identity["spans"]] == [(0, 7, True), (7, 11, False)]


def test_output_is_null_where_it_is_the_text(inputs: FakeInputs) -> None:
    assert document(assembled(inputs))["sections"][0]["output"] is None


def test_without_texts_no_text_is_left(inputs: FakeInputs) -> None:
    said = json.dumps(document(assembled(inputs, TRIED), text=False))
    for text in ("one two", "edited text", "opening", "second", "123456789"):
        assert text not in said
    assert "identity" in said


def test_failure(inputs: FakeInputs) -> None:

    found = document(assembled(replace(inputs, fails="it breaks")))
    assert found["failure"] == {
        "error": "FakeError",
        "where": "fake_engine.py::assemble",
        "message": "it breaks",
    }
    assert document(assembled(inputs))["failure"] is None


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "budget": st.one_of(st.none(), st.integers(0, 100)),
        "cap": st.integers(0, 100),
        "keep": st.integers(1, 5),
        "style": st.sampled_from(["plain", "loud"]),
    },
)


@given(values=VALUES, off=st.frozensets(st.sampled_from(["identity", "gone", "m0", "m1"])))
@settings(max_examples=60)
def test_every_assembly_is_one_json_document(
    inputs: FakeInputs, values: dict[str, Any], off: frozenset[str]
) -> None:
    found = document(assembled(inputs, Settings(values=values, off=off)))
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found


def test_golden(inputs: FakeInputs) -> None:
    """The whole document of one small assembly, as it was when the contract was made."""
    found = document(assembled(inputs, TRIED))
    found["workspace"] = "W"
    path = Path(__file__).parent / "document.json"
    assert found == json.loads(path.read_text(encoding="utf-8"))
