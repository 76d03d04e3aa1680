"""What is gone without a known reason, or not known at all, is told as that in the UI too."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.debug import Debugger, OpenRequest, open_workspace, opened_assembly
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.tokens import tokenizer
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.picture import picture_of
from promptdbg.tui.why import report
from promptdbg.tui.wrapping import plain_text
from tests.analysis.test_undecided import SAID, TRACE
from tests.tui.conftest import screen_text, settled


@pytest.mark.parametrize(("item", "said"), [(i, s) for i, s in SAID.items() if "Nothing was taken" not in s])
def test_the_report_says_what_the_command_says(item: str, said: str) -> None:
    picture = picture_of(Debugger(opened_assembly(assembly_from_trace(TRACE, tokenizer()))))
    assert said in plain_text(report(picture, item, ascii_only=False))


async def test_tool_schemas_that_are_not_known_are_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("promptdbg.engines.nanobot.inputs.find_installed", lambda home: None)
    (tmp_path / "SOUL.md").write_text("Be kind.")

    def opener() -> Debugger:
        return Debugger(open_workspace(tmp_path, OpenRequest(home=str(tmp_path))))

    text = plain_text(report(picture_of(opener()), "tools", ascii_only=False))
    assert text.startswith("? UNKNOWN  tool schemas")
    assert "the tool schemas are not known" in text
    assert "produced nothing" not in text
    app = PromptdbgApp(opener, watch=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        row = next(line for line in screen_text(app).splitlines() if "tool schemas" in line)
        assert "? UNKNOWN tool schemas" in row
        assert "EMPTY" not in row
