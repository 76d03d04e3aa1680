"""A prompt that was written to a file and opened again aligns as it did."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from promptdbg.analysis.align import align_assembly
from promptdbg.analysis.alignment import Alignment
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.examples import FOLDER, examples
from promptdbg.export.document import document
from promptdbg.export.load import assembly_from
from promptdbg.export.structure import structure
from promptdbg.model import Assembly

NAMES = [example.name for example in examples()]


def _assemblies(name: str) -> Iterator[Assembly]:
    """An example as its files say, with each of its scenarios, and at its first turn."""
    opened = open_workspace(FOLDER / name, OpenRequest(now="2026-01-01T00:00:00+00:00"))
    debugger = Debugger(opened)
    yield debugger.assembly
    for scenario in opened.workspace.manifest.scenarios if opened.workspace.manifest else ():
        yield debugger.preview(opened.scenario(scenario))
    if opened.turns:
        yield debugger.preview(debugger.settings.with_turn(1))


def _seen(alignment: Alignment) -> list[object]:
    """What a person sees of it: what each row is in each list, the words, the rules, the sums."""
    rows = [[(cell.kind, cell.word) for cell in alignment.cells(row)] for row in range(alignment.length)]
    return [rows, [dict(column.counts) for column in alignment.columns], [c.delta for c in alignment.columns]]


def _reopened(written: object) -> Assembly:
    return assembly_from(json.loads(json.dumps(written)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("steps", [False, True])
def test_a_full_recording_aligns_as_the_workspace_does(name: str, steps: bool) -> None:
    for assembly in _assemblies(name):
        again = _reopened(document(assembly))
        columns = [stage.name for stage in assembly.stages] if steps else ()
        assert _seen(align_assembly(again, columns)) == _seen(align_assembly(assembly, columns))
        assert [[m.to_json() for m in s.messages] for s in again.stages] == [
            [m.to_json() for m in s.messages] for s in assembly.stages
        ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("level", ["structure", "no-text"])
def test_without_texts_it_still_aligns_by_what_the_stages_did(name: str, steps: bool, level: str) -> None:
    for assembly in _assemblies(name):
        structured = level == "structure"
        again = _reopened(structure(assembly, b"0" * 32) if structured else document(assembly, text=False))
        assert again.without_texts
        columns = [stage.name for stage in assembly.stages] if steps else []
        names = [again.stages[assembly.stages.index(s)].name for s in assembly.stages if s.name in columns]
        assert _seen(align_assembly(again, names)) == _seen(align_assembly(assembly, columns))


def test_what_was_left_out_stays_left_out_when_it_is_written_again() -> None:
    assembly = next(_assemblies("nanobot-lost-rule"))
    again = _reopened(document(_reopened(document(assembly, text=False))))
    assert again.without_texts
    assert not _reopened(document(assembly)).without_texts


def test_a_recording_without_texts_of_an_edited_section_can_be_opened() -> None:
    opened = open_workspace(FOLDER / "nanobot-lost-rule", OpenRequest(now="2026-01-01T00:00:00+00:00"))
    debugger = Debugger(opened)
    edited = debugger.preview(debugger.settings.with_text("memory", "Another."))
    assert _reopened(document(edited, text=False)).settings.texts == {"memory": ""}
