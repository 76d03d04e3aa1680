"""A structure export holds nothing that came from disk but numbers and well-known names."""

from __future__ import annotations

import base64
import json
import os
import random
import string
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.debug import Debugger, OpenRequest, open_workspace, opened_assembly
from promptdbg.export.html import html
from promptdbg.export.levels import export
from promptdbg.export.load import assembly_from
from promptdbg.export.markdown import markdown
from promptdbg.export.structure import structure
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.model import Assembly
from promptdbg.tokens import tokenizer

EXAMPLES = Path(__file__).parents[2] / "src" / "promptdbg" / "examples"
SALT = b"0" * 32
COUNT = int(os.environ.get("PROMPTDBG_CANARIES", "500"))
"""Random inputs with canaries; the long run is 10,000."""


class Canaries:
    """Random strings to plant, some of them shaped like secrets, remembered to be looked for."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.planted: list[str] = []

    def __call__(self, shape: str = "") -> str:
        body = "".join(self._random.choices(string.ascii_letters + string.digits, k=14))
        shape = shape or self._random.choice(["word", "key", "mail", "path", "odd"])
        canary = {
            "word": body,
            "key": f"sk-ant-{body}{body}",
            "mail": f"{body}@example.org",
            "path": f"/home/{body}/x",
            "odd": f"é\u202e{body}\"'<\\",
        }[shape]
        self.planted.append(body)
        return canary

    def found_in(self, text: str) -> list[str]:
        """The planted strings that stand in ``text``, in any usual encoding, whatever their case."""
        folded = text.casefold()
        return [
            body
            for body in self.planted
            for form in (
                body.casefold(),
                body[::-1].casefold(),
                quote(body).casefold(),
                body.encode().hex(),
                base64.b64encode(body.encode()).decode().rstrip("=").casefold(),
            )
            if form in folded
        ]


def message(plant: Canaries, ident: str) -> dict[str, Any]:
    return {
        "id": ident,
        "role": plant(),
        "content": [{"type": plant(), "text": plant()}, plant()],
        "name": plant(),
        "tool_call_id": plant(),
        "tool_calls": [{"id": plant(), "function": {"name": plant(), "arguments": plant()}}],
        plant("word"): plant(),
        "path": plant("path"),
    }


def trace_with(plant: Canaries) -> dict[str, Any]:
    """A trace with a canary in every field that may hold a text."""
    name, section, gone = plant(), plant(), plant()
    return {
        "schema": "promptdbg/trace/1",
        "program": {"name": plant(), "version": plant()},
        "workspace": plant("path"),
        "warnings": [plant()],
        "sections": [
            {
                "id": section,
                "name": name,
                "kind": plant(),
                "text": plant() * 3,
                "kept": [[0, 4]],
                "path": plant(),
            },
            {"name": plant(), "parent": section, "text": plant(), "output": plant(), "priority": 3},
        ],
        "stages": [
            {"name": plant(), "title": plant(), "messages": [message(plant, gone), message(plant, "m1")]},
            {"name": plant(), "messages": [message(plant, "m1"), message(plant, plant())]},
        ],
        "decisions": [
            {"item": section, "stage": plant(), "rule": plant(), "because": plant(), "action": "drop"}
        ],
        "rules": [{"id": plant(), "title": plant(), "source": plant(), "note": plant()}],
    }


def every_form(assembly: Assembly) -> str:
    made = export(assembly, "structure", SALT)
    again = assembly_from(json.loads(json.dumps(made.document)))
    return (
        json.dumps(made.document, ensure_ascii=False) + markdown(made.document, made.report()) + html(again)
    )


@settings(max_examples=COUNT * 9 // 10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_canary_of_a_trace_gets_through(seed: int) -> None:
    plant = Canaries(seed)
    written = every_form(assembly_from_trace(trace_with(plant), tokenizer()))
    assert plant.found_in(written) == []


def plant_nanobot(folder: Path, plant: Canaries) -> None:
    """A nanobot workspace and session with a canary wherever a text may be."""
    call = {"id": plant(), "function": {"name": plant(), "arguments": plant()}}
    rows: list[dict[str, Any]] = [
        {"_type": "metadata", "key": plant(), "created_at": plant(), "metadata": {plant(): plant()}},
        {"role": "user", "content": plant(), "timestamp": plant(), "media": [plant("path")]},
        {"role": "assistant", "content": plant(), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": plant(), "name": plant(), "content": plant() * 2000},
        {"role": plant(), "content": plant(), plant(): plant()},
        {"role": "user", "content": [{"type": plant(), "text": plant()}]},
    ]
    (folder / "session.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n" + plant() + "\n")
    for name in ("AGENTS.md", "SOUL.md", "USER.md"):
        (folder / name).write_text(f"# {plant()}\n{plant()}\n")
    skill = folder / "skills" / plant("word")
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        f"---\nname: {plant('word')}\ndescription: {plant('word')}\n---\n{plant()}\n"
    )
    memory = folder / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text(plant())
    entry = {"cursor": 3, "timestamp": plant(), "content": plant(), "session_key": plant()}
    (memory / "history.jsonl").write_text(json.dumps(entry) + "\n")
    tools = [{"name": plant("word"), "description": plant(), "parameters": {plant("word"): plant()}}]
    (folder / "tools.json").write_text(json.dumps(tools))
    (folder / "promptdbg.toml").write_text(
        f'engine = "nanobot"\nsession = "session.jsonl"\n[settings]\nmessage = "{plant("word")}"\n'
    )


@settings(max_examples=COUNT // 10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_canary_of_a_workspace_gets_through(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    plant = Canaries(seed)
    folder = tmp_path_factory.mktemp("ws") / plant("word")
    folder.mkdir()
    plant_nanobot(folder, plant)
    assembly = Debugger(open_workspace(folder, OpenRequest(now="2026-03-01T09:30"))).assembly
    assert plant.found_in(every_form(assembly)) == []


@pytest.mark.parametrize("name", sorted(p.parent.name for p in EXAMPLES.glob("*/promptdbg.toml")))
def test_a_structure_keeps_the_shape_of_every_example(name: str) -> None:
    assembly = Debugger(open_workspace(EXAMPLES / name, OpenRequest(now="2026-03-01T09:30"))).assembly
    document = structure(assembly, SALT)
    again = Debugger(opened_assembly(assembly_from(json.loads(json.dumps(document))))).assembly
    assert [s.status for s in again.sections] == [s.status for s in assembly.sections]
    assert [s.tokens for s in again.sections] == [s.tokens for s in assembly.sections]
    assert [len(s.messages) for s in again.stages] == [len(s.messages) for s in assembly.stages]
    assert [d.rule for d in again.decisions] == [d.rule for d in assembly.decisions]
    assert [s.name for s in again.stages] == [s.name for s in assembly.stages], "a stage name is not known"
    assert len({s.id for s in again.sections}) == len(again.sections)
    ids = {s.id for s in again.sections} | {
        m.id for stage in again.stages for m in (*stage.messages, *stage.dropped)
    }
    assert {d.item for d in again.decisions} <= ids


def test_hashes_tell_equal_texts_on_one_machine_only() -> None:
    trace = {
        "schema": "promptdbg/trace/1",
        "sections": [
            {"name": "a", "text": "same"},
            {"name": "b", "text": "same"},
            {"name": "c", "text": "other"},
        ],
    }
    assembly = assembly_from_trace(trace, tokenizer())
    one, two, three = (entry["hash"] for entry in structure(assembly, SALT)["sections"])
    assert one == two != three
    assert structure(assembly, b"1" * 32)["sections"][0]["hash"] != one
