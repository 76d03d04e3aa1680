"""What goes wrong beside the event loop is said in one line, and takes no screen away."""

from __future__ import annotations

import pytest

from promptdbg.errors import UsageError
from tests.tui.conftest import Run, home_status, idle, screen_text, the_app, until

_TUI = "promptdbg.tui"
_CASES = [
    ("p", f"{_TUI}.screens.findings._found", "looking for findings", {}),
    ("c", f"{_TUI}.screens.compare._compared", "comparing", {}),
    ("i", f"{_TUI}.screens.why.report", "telling why", {}),
    ("x", f"{_TUI}.screens.export._made", "looking for what must be hidden", {}),
    ("m", f"{_TUI}.screens.messages._aligned", "aligning", {f"{_TUI}.screens.messages.ALIGN_AT_ONCE": 0}),
    ("m", f"{_TUI}.widgets.message_columns.plan_of", "laying out",
     {f"{_TUI}.widgets.message_columns.AT_ONCE_ROWS": 0}),
    ("t", f"{_TUI}.widgets.text_view.shown", "laying out", {f"{_TUI}.widgets.text_view._INLINE_CHARS": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "place", "what", "limits"), _CASES)
@pytest.mark.parametrize("own", [False, True], ids=["defect", "error"])
async def test_a_fault_in_a_worker_is_said(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    place: str,
    what: str,
    limits: dict[str, int],
    own: bool,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise UsageError("no\x1bgood") if own else RuntimeError("bro\x1bken")

    async with run() as pilot:
        await idle(pilot)
        monkeypatch.setattr(place, broken)
        for name, value in limits.items():
            monkeypatch.setattr(name, value)
        await pilot.press(key)
        said = "! no␛good" if own else f"! {what} failed: RuntimeError: bro␛ken"
        await until(pilot, lambda: home_status(pilot) == said, said)
        await pilot.press("escape")
        assert not the_app(pilot).on_top.about  # type: ignore[union-attr]


async def test_findings_do_not_look_for_ever(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async with run() as pilot:
        monkeypatch.setattr(f"{_TUI}.screens.findings._found", lambda *_: 1 / 0)
        await pilot.press("p")
        await until(pilot, lambda: "ZeroDivisionError" in home_status(pilot), "a fault")
        assert "looking …" not in screen_text(the_app(pilot))
        assert "It could not be found out." in screen_text(the_app(pilot))


async def test_an_export_that_cannot_be_made_says_why_when_it_is_to_be_written(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run() as pilot:
        monkeypatch.setattr(f"{_TUI}.screens.export._made", lambda *_: 1 / 0)
        await pilot.press("x")
        await until(pilot, lambda: "ZeroDivisionError" in home_status(pilot), "a fault")
        await pilot.press("enter")
        assert "ZeroDivisionError" in home_status(pilot)
