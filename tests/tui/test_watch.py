"""Watching real files: every kind of save, removal, new files and folders, bursts."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest

from promptdbg import watch
from promptdbg.debug import Debugger
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.screens.home import HomeScreen
from tests.tui import sample
from tests.tui.conftest import Run, drawn, home_status, screen_text, settled, the_app

SECONDS = 60.0
"""A change is seen within some 40 ms; this only bounds a failing test."""


class Watcher:
    """Follows some paths in the background; ``looked`` is set once it knows how they are."""

    def __init__(self, looked: threading.Event, *paths: Path) -> None:
        self._looked = looked
        self.seen: asyncio.Queue[frozenset[str]] = asyncio.Queue()
        self._task = asyncio.create_task(self._follow([str(path) for path in paths]))

    async def _follow(self, paths: list[str]) -> None:
        async for changed in watch.changes(paths):
            self.seen.put_nowait(changed)

    async def ready(self) -> None:
        """From then on changes are told; those before the watch begins are by the regular look."""
        while not self._looked.is_set():
            await asyncio.sleep(0.01)

    async def next(self) -> set[str]:
        changed = await asyncio.wait_for(self.seen.get(), SECONDS)
        return {Path(path).name for path in changed}

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@pytest.fixture
async def follow(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Watcher]]:
    started: list[Watcher] = []
    looked = threading.Event()
    look = watch.stamps

    def stamps(paths: Iterable[str]) -> dict[str, watch.Stamp]:
        found = look(paths)
        looked.set()
        return found

    monkeypatch.setattr(watch, "stamps", stamps)

    def start(*paths: Path) -> Watcher:
        started.append(Watcher(looked, *paths))
        return started[-1]

    yield start
    for watcher in started:
        await watcher.stop()


@pytest.mark.parametrize("act", ["write", "replace", "remove"])
async def test_what_changes_between_reading_and_watching_is_told(tmp_path: Path, act: str) -> None:
    path, other = tmp_path / "AGENTS.md", tmp_path / "other"
    path.write_text("before")
    other.write_text("long ago")
    await asyncio.sleep(0.02)  # a file's time is a tick of the system's clock
    since = time.time_ns()
    await asyncio.sleep(0.02)
    if act == "write":
        path.write_text("after")
    elif act == "replace":
        os.utime(other, (1, 1))
        other.replace(path)
    else:
        path.unlink()
    seen = watch.changes([str(path), str(tmp_path / "sub" / "none")], since=since)
    assert await asyncio.wait_for(anext(seen), SECONDS) == {str(path)}
    await seen.aclose()


async def test_a_file_that_changes_while_it_is_opened_is_read_again(workspace: Path) -> None:
    manifest = workspace / "promptdbg.toml"

    def opener() -> Debugger:
        debugger = sample.opener(workspace)()
        time.sleep(0.02)
        manifest.write_text(manifest.read_text().replace("budget = 200", "budget = 150"))
        return debugger

    async def read_again() -> None:
        while drawn(app).assembly.budget.limit != 150 + 34:
            await asyncio.sleep(0.01)

    app = PromptdbgApp(opener, show_times=False)
    async with app.run_test() as pilot:
        await settled(pilot)
        await asyncio.wait_for(read_again(), SECONDS)


def atomic(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    os.replace(temporary, path)


async def test_plain_and_atomic_saves_removal_and_return(
    tmp_path: Path, follow: Callable[..., Watcher]
) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("one")
    watcher = follow(file)
    await watcher.ready()
    file.write_text("two, longer")
    assert await watcher.next() == {"AGENTS.md"}
    atomic(file, "three")
    assert await watcher.next() == {"AGENTS.md"}
    atomic(file, "four!!")
    assert await watcher.next() == {"AGENTS.md"}
    os.rename(file, tmp_path / "AGENTS.md~")
    assert await watcher.next() == {"AGENTS.md"}
    file.write_text("five")
    assert await watcher.next() == {"AGENTS.md"}
    file.unlink()
    assert await watcher.next() == {"AGENTS.md"}


async def test_other_files_of_the_folder_say_nothing(tmp_path: Path, follow: Callable[..., Watcher]) -> None:
    file = tmp_path / "a.md"
    watcher = follow(file)
    await watcher.ready()
    (tmp_path / "noise.txt").write_text("x")
    file.write_text("y")
    assert await watcher.next() == {"a.md"}
    assert watcher.seen.empty()


async def test_a_file_in_a_folder_that_does_not_exist_yet(
    tmp_path: Path, follow: Callable[..., Watcher]
) -> None:
    file = tmp_path / "memory" / "deep" / "MEMORY.md"
    watcher = follow(file)
    await watcher.ready()
    file.parent.mkdir(parents=True)
    file.write_text("now")
    assert await watcher.next() == {"MEMORY.md"}
    file.write_text("later on")
    assert await watcher.next() == {"MEMORY.md"}


async def test_a_watched_folder_tells_of_its_entries(tmp_path: Path, follow: Callable[..., Watcher]) -> None:
    skills = tmp_path / "skills"
    skills.mkdir()
    watcher = follow(skills)
    await watcher.ready()
    (skills / "git").mkdir()
    assert await watcher.next() == {"skills"}


async def test_a_burst_is_few_changes(tmp_path: Path, follow: Callable[..., Watcher]) -> None:
    file = tmp_path / "session.jsonl"
    watcher = follow(file)
    await watcher.ready()
    for number in range(50):
        file.write_text("x" * (number + 1))
    await watcher.next()
    await asyncio.sleep(0.3)
    assert watcher.seen.qsize() <= 3


async def test_a_save_is_seen_on_screen(run: Run, workspace: Path) -> None:
    async with run(watch=True) as pilot:
        app = the_app(pilot)
        await pilot.pause(0.15)
        await pilot.press("down", "down", "down", "o", "o")
        before = app.picture
        atomic(workspace / "AGENTS.md", "Only one rule now.\n")
        await settled(pilot, before)
        assert home_status(pilot).startswith("reloaded · 213 → ")
        assert "AGENTS.md ^" in screen_text(app)
        assert isinstance(app.screen, HomeScreen)
        assert app.screen.view.sort == "priority"
        assert app.screen.section is not None
        assert app.screen.section.id == "context/AGENTS.md"
        await pilot.press("W")
        assert "PAUSED" in screen_text(app).splitlines()[0]


async def test_what_changed_before_is_not_told_again(run: Run, workspace: Path) -> None:
    manifest = workspace / "promptdbg.toml"
    good = manifest.read_text()
    async with run(watch=True) as pilot:
        app = the_app(pilot)
        manifest.write_text(good.replace("budget = 200", "budget = 150"))
        await settled(pilot, drawn(app))
        assert home_status(pilot).startswith("reloaded · ")
        app.say("something else")
        before = drawn(app)
        manifest.write_text(manifest.read_text() + "\n# a comment")
        await settled(pilot, before)
        assert home_status(pilot) == "something else"
        manifest.write_text("engine = [")
        while not app.stale:
            await pilot.pause(0.01)
        before = drawn(app)
        manifest.write_text(good.replace("budget = 200", "budget = 150"))
        await settled(pilot, before)
        assert home_status(pilot) == "reloaded · nothing changed"
