"""The message to come: the user's own, or one that stands for it, and then that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.debug import Debugger, OpenRequest, open_workspace


@pytest.mark.parametrize("manifest", ["", 'message = "What now?"'])
@pytest.mark.parametrize("asked", [None, "And then?"])
def test_a_message_of_ours_is_marked(tmp_path: Path, manifest: str, asked: str | None) -> None:
    (tmp_path / "SOUL.md").write_text("Be kind.", encoding="utf-8")
    (tmp_path / "promptdbg.toml").write_text(f'engine = "nanobot"\n{manifest}\n', encoding="utf-8")
    debugger = Debugger(open_workspace(tmp_path, OpenRequest(message=asked)))
    invented = not manifest and asked is None
    for item in ("current", "current/text"):
        section = debugger.assembly.section(item)
        assert section is not None
        assert bool(section.stand_in) == invented
    debugger.set_knob("message", "Something of mine")
    section = debugger.assembly.section("current/text")
    assert section is not None
    assert not section.stand_in
