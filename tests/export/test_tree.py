"""The sections of a document from elsewhere: every one of them is reached, or the document is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.debug import Debugger, open_workspace
from promptdbg.errors import InputError
from promptdbg.examples import find
from promptdbg.export.document import document
from promptdbg.export.opening import document_assembly, opened_document
from promptdbg.export.tree import DEPTH_MAX, check_tree
from promptdbg.model import Section, SectionStatus


def trace(*sections: dict[str, Any]) -> dict[str, Any]:
    return {"schema": "promptdbg/trace/1", "sections": list(sections)}


def chain(length: int) -> list[dict[str, Any]]:
    first: list[dict[str, Any]] = [{"name": "s0", "text": "x"}]
    return first + [{"name": f"s{n}", "text": "x", "parent": f"s{n - 1}"} for n in range(1, length)]


@pytest.mark.parametrize(
    ("sections", "line"),
    [
        ([{"name": "a", "parent": "b"}], "section 'a' is part of 'b', which is no section"),
        ([{"name": "a", "parent": "a"}], "is one of its own"),
        ([{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}], "is one of its own"),
        ([{"name": "a", "id": "x"}, {"name": "b", "id": "x"}], "two sections have the id 'x'"),
        (chain(DEPTH_MAX + 2), "more than 100 parents"),
        (list(reversed(chain(5_000))), "more than 100 parents"),
    ],
)
def test_what_is_no_tree_is_refused(sections: list[dict[str, Any]], line: str) -> None:
    with pytest.raises(InputError, match=line):
        document_assembly(trace(*sections), None, "a.json")


def test_as_deep_as_it_may_be() -> None:
    assert len(document_assembly(trace(*chain(DEPTH_MAX + 1)), None).sections) == DEPTH_MAX + 1


def test_a_name_that_stands_twice_is_two_sections() -> None:
    assembly = document_assembly(trace({"name": "a", "text": "x"}, {"name": "a", "text": "y"}), None)
    assert [section.id for section in assembly.sections] == ["a", "a (2)"]


def test_a_document_of_our_own_that_was_changed_is_refused(tmp_path: Path) -> None:
    made = document(Debugger(open_workspace(find("bee-nearest-rule").path)).assembly)
    entry = next(section for section in made["sections"] if section["parent"])
    entry["parent"] = "nobody"
    path = tmp_path / "a.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(InputError, match="is part of 'nobody'"):
        opened_document(path, None)


def section(item: str, parent: str | None) -> Section:
    return Section(
        id=item, name=item, kind="k", order=0, text="", output="", status=SectionStatus.EMPTY, tokens=0,
        tokens_original=0, size=0, size_original=0, unit="chars", parent=parent,
    )  # fmt: skip


@given(st.lists(st.one_of(st.none(), st.integers(0, 7)), max_size=8))
def test_what_is_taken_is_reached_from_the_top(parents: list[int | None]) -> None:
    sections = [section(str(n), None if p is None else str(p)) for n, p in enumerate(parents)]
    reached: set[str] = set()
    left: list[str | None] = [None]
    while left:
        parent = left.pop()
        parts = [entry.id for entry in sections if entry.parent == parent]
        reached.update(parts)
        left += parts
    try:
        check_tree(sections)
    except ValueError:
        assert len(reached) < len(sections)
    else:
        assert len(reached) == len(sections)
