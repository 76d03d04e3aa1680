"""A source leads to the file on disk, whatever path the agent itself has for it: the file is opened by
it, and told from those that the engine does not read."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from promptdbg.analysis.trace import trace
from promptdbg.analysis.unread import workspace_files
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.examples import Example, examples
from promptdbg.model import Assembly, SectionStatus, Source

# The source of what is not there (an import left as typed) is where it was looked for.
_LOOKED_FOR = (SectionStatus.EMPTY, SectionStatus.LITERAL)


def _sources(assembly: Assembly) -> list[tuple[str, Source]]:
    messages = chain.from_iterable((*stage.messages, *stage.dropped) for stage in assembly.stages)
    placed = [(s.id, s.source) for s in assembly.sections if s.status not in _LOOKED_FOR]
    placed += [(message.id, message.source) for message in messages]
    placed += [(notice.code, notice.source) for notice in assembly.warnings]
    return [(name, source) for name, source in placed if source is not None]


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_source_of_an_example_is_on_disk(example: Example) -> None:
    assembly = Debugger(open_workspace(example.path)).assembly
    placed = [(name, Path(source.path)) for name, source in _sources(assembly)]
    assert [(name, path) for name, path in placed if not path.is_absolute() or not path.exists()] == []


def test_a_skill_of_a_mapped_workspace_is_seen_where_it_lies(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "ferry" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: ferries\n---\nSay which days.\n")
    (tmp_path / "promptdbg.toml").write_text(
        'engine = "nanobot"\ndialect = "0.2.2"\n[paths]\nworkspace = "/home/mara/ws"\n'
    )
    debugger = Debugger(open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home"))))
    result = trace(debugger.assembly, "Say which days", workspace_files(debugger.opened))
    assert [(hit.verdict, str(hit.source)) for hit in result.hits] == [("seen", f"{skill}:4")]
    listed = debugger.assembly.section("skills/ferry")
    assert listed is not None
    assert "/home/mara/ws/skills/ferry/SKILL.md" in listed.output


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_a_warning_does_not_repeat_the_name_of_its_file(example: Example) -> None:
    for notice in Debugger(open_workspace(example.path)).assembly.warnings:
        if notice.source is not None:
            assert not notice.message.startswith(Path(notice.source.path).name), notice


def test_a_text_of_a_file_that_is_read_and_not_sent_is_found(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "ferry.md").write_text(
        "---\nname: ferry\ndescription: boats\n---\nSay which days.\n"
    )
    (tmp_path / "bee.toml").write_text('profile = "normal"\n')
    opened = open_workspace(tmp_path, OpenRequest(engine="bee", home=str(tmp_path / "home")))
    result = trace(Debugger(opened).assembly, "Say which days", workspace_files(opened))
    assert [(hit.item, hit.verdict, hit.because) for hit in result.hits] == [
        ("skills/ferry.md", "not read", "bee reads this file, but puts no such text of it into a prompt")
    ]
