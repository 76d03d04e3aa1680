"""The driver without a screen: order, folding of waiting changes, failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from promptdbg.debug import with_knob
from promptdbg.model import Settings
from promptdbg.tui.changes import Change
from promptdbg.tui.driver import Driver
from promptdbg.tui.messages import Pictured, Refused, Said, Stale
from promptdbg.tui.picture import Picture
from tests.tui import sample
from tests.tui.conftest import PATIENCE


class Heard:
    """Collects what a driver posts."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.driver = Driver(self.messages.append)

    @property
    def last(self) -> Any:
        return self.messages[-1]

    @property
    def picture(self) -> Picture:
        assert isinstance(self.last, Pictured)
        return self.last.picture

    async def quiet(self, count: int) -> None:
        for _ in range(PATIENCE):
            if len(self.messages) >= count and not self.driver._jobs:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(self.messages)


@pytest.fixture
async def heard(workspace: Path) -> AsyncIterator[Heard]:
    heard = Heard()
    task = asyncio.create_task(heard.driver.run(sample.opener(workspace)))
    await heard.quiet(1)
    yield heard
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def budget(driver: Driver, change: int) -> None:
    assert driver.debugger is not None
    knob = driver.debugger.knob("budget")

    def step(settings: Settings) -> Settings:
        value = settings.values.get("budget", knob.default)
        assert isinstance(value, int)
        return with_knob(settings, knob, value + change)

    driver.change(Change("knob:budget", lambda s: f"budget {s.values.get('budget')}", step, turning=True))


async def test_the_first_picture_says_what_is_there(heard: Heard) -> None:
    assert isinstance(heard.last, Pictured)
    assert heard.last.picture.sentence == "14 sections, 5 not whole"


async def test_steps_of_a_knob_that_wait_are_one_assembly_and_one_undo(heard: Heard) -> None:
    assembled = []
    sample.ENGINE.before_assemble = lambda: assembled.append(1)
    try:
        for _ in range(20):
            budget(heard.driver, -1)
        await heard.quiet(2)
    finally:
        sample.ENGINE.before_assemble = lambda: None
    assert len(assembled) == 1
    assert heard.last.picture.assembly.settings.values["budget"] == 180
    assert heard.last.picture.sentence.startswith("budget 180")
    heard.driver.undo()
    await heard.quiet(3)
    assert not heard.last.picture.assembly.settings.changed


async def test_switches_do_not_fold(heard: Heard) -> None:
    heard.driver.change(Change("toggle:identity", "identity", lambda s: s.toggled("identity")))
    heard.driver.change(Change("toggle:MEMORY.md", "MEMORY.md", lambda s: s.toggled("MEMORY.md")))
    await heard.quiet(2)
    assert heard.last.picture.assembly.settings.off == {"identity", "MEMORY.md"}
    assert heard.last.picture.undo == "MEMORY.md"
    heard.driver.undo()
    await heard.quiet(3)
    assert heard.last.picture.assembly.settings.off == {"identity"}
    assert heard.last.picture.redo == "MEMORY.md"


async def test_refusals(heard: Heard) -> None:
    heard.driver.undo()
    await heard.quiet(2)
    assert isinstance(heard.last, Refused)
    assert heard.last.line == "nothing to undo"
    heard.driver.change(Change("x", "x", lambda s: s.with_value("no such knob", 1)))
    await heard.quiet(3)
    assert isinstance(heard.last, Refused)
    assert "unknown knob 'no such knob'" in heard.last.line
    heard.driver.change(Change("same", "the same", lambda s: s))
    await heard.quiet(4)
    assert isinstance(heard.last, Said)


async def test_a_broken_file_is_stale_and_the_picture_stays(heard: Heard, workspace: Path) -> None:
    before = heard.driver.picture
    manifest = workspace / "promptdbg.toml"
    good = manifest.read_text()
    manifest.write_text("engine = [")
    heard.driver.reload()
    await heard.quiet(2)
    assert isinstance(heard.last, Stale)
    assert "promptdbg.toml" in heard.last.line
    assert heard.driver.picture is before
    manifest.write_text(good.replace("budget = 200", "budget = 150", 1))
    heard.driver.reload()
    await heard.quiet(3)
    assert "prefix the same" in heard.picture.sentence
    assert heard.picture.sentence.startswith("reloaded · 213 → 136 tokens (−77) · out: retrieved: ")


async def test_a_fault_of_an_engine_keeps_the_picture(heard: Heard) -> None:
    def fault() -> None:
        raise ZeroDivisionError("oops")

    sample.ENGINE.before_assemble = fault
    try:
        budget(heard.driver, -1)
        await heard.quiet(2)
    finally:
        sample.ENGINE.before_assemble = lambda: None
    assert heard.last.line == "could not assemble: ZeroDivisionError: oops"
    budget(heard.driver, -1)
    await heard.quiet(3)
    assert isinstance(heard.last, Pictured)
