"""Where the files cannot be followed it is said, and can be tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from promptdbg import watch
from tests.tui.conftest import Run, home_status, the_app


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    for _ in range(6_000):
        await pilot.pause(0.01)
        if holds():
            return
    raise AssertionError("it never held")


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left"), RuntimeError("no watch\x1b left"), ImportError("broken")]
)
async def test_watching_that_fails_says_so_and_can_be_tried_again(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    real = watch.changes

    def failing(*paths: object, **since: object) -> None:
        raise error

    monkeypatch.setattr(watch, "changes", failing)
    async with run(watch=True) as pilot:
        app = the_app(pilot)
        await until(pilot, lambda: app.watching.state == "NOT WATCHING")
        await until(pilot, lambda: home_status(pilot).startswith("! cannot watch the files: "))
        assert "\x1b" not in home_status(pilot)
        monkeypatch.setattr(watch, "changes", real)
        await pilot.press("W")
        assert app.watching.state == "WATCHING"
        await until(pilot, lambda: any(w.group == "watch" and w.is_running for w in app.workers))
