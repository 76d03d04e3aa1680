"""What is not a framework's own text is marked where it is, and only that; an edited text is one's own."""

from __future__ import annotations

import pytest

from promptdbg.debug import Debugger, open_workspace
from promptdbg.examples import folder_of

MARKED = {
    "nanobot-lost-rule": {"identity", "tool_contract", "skills"},
    "nanobot-archived": {"identity", "tool_contract"},
    "bee-nearest-rule": {"identity"},
    "bee-nasty": {"identity", "rules"},
    "agentos-nasty": {"preference/verbosity", "preference/format", "retrieved/memory"},
    "orbiter-clock": set(),
    "phronomy-forgotten": set(),
}


@pytest.mark.parametrize("example", MARKED)
def test_stand_ins_are_marked(example: str) -> None:
    debugger = Debugger(open_workspace(folder_of(example)))
    marked = {section.id: section.stand_in for section in debugger.assembly.sections if section.stand_in}
    assert set(marked) == MARKED[example]
    assert all(" own" in clause for clause in marked.values()), "whose words they stand for"
    assert bool(marked) <= ("stand-in" in debugger.assembly.engine.fidelity)
    for item in marked:
        edited = debugger.preview(debugger.settings.with_text(item, "words of the person")).section(item)
        assert edited is None or not edited.stand_in or edited.output != "words of the person"


def test_how_much_a_stand_in_leaves_out_is_said() -> None:
    identity = Debugger(open_workspace(folder_of("nanobot-lost-rule"))).assembly.section("identity")
    assert identity is not None
    assert identity.stand_in == "a stand-in for about 218 tokens (cl100k) of nanobot's own"
