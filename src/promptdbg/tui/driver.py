"""The one place where the UI makes the debugger work: jobs in order, each in a thread.

The event loop never assembles, reads a file or counts. Changes that wait while another is being
assembled are folded into one when they are about the same thing, so holding a key down never
builds up a queue, and only the last result is drawn. Textual-free but for the messages posted.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from promptdbg.bulk import out_of_sight
from promptdbg.debug import Debugger
from promptdbg.errors import PromptdbgError
from promptdbg.model import Settings
from promptdbg.tui.changes import Change
from promptdbg.tui.messages import Pictured, Refused, Said, Stale
from promptdbg.tui.picture import Picture, changed_items, picture_of
from promptdbg.tui.sentences import effect, opened, reloaded

JOIN_SECONDS = 1.5
"""Turning the same knob again within this time is one step to undo."""

Opener = Callable[[], Debugger]


@dataclass(frozen=True, slots=True)
class _Act:
    """Anything else done with the debugger; returns the sentence, or ``None`` when there was
    nothing to do, and then ``nothing`` is said."""

    name: str
    act: Callable[[Debugger], str | None]
    nothing: str = ""
    asked: bool = True


class Driver:
    """Runs jobs on a debugger and posts what came of them."""

    def __init__(self, post: Callable[[Pictured | Refused | Said | Stale], object]) -> None:
        self._post = post
        self._jobs: deque[Change | _Act] = deque()
        self._wake = asyncio.Event()
        self._last_key = ""
        self._last_time = 0.0
        self.debugger: Debugger | None = None
        self.picture: Picture | None = None
        self.read_at = time.time_ns()
        """When it last began to read files, in nanoseconds."""
        self._drawn = False
        self._reread = True

    # -- from the event loop

    def change(self, change: Change) -> None:
        """Ask for a change of settings."""
        waiting = self._jobs[-1] if self._jobs else None
        if isinstance(waiting, Change) and waiting.key == change.key and change.turning:
            change = replace(change, change=_then(waiting.change, change.change))
            self._jobs.pop()
        self._jobs.append(change)
        self._wake.set()

    def undo(self) -> None:
        self._ask(_Act("undo", lambda d: _done("undid", d.undo()), "nothing to undo"))

    def redo(self) -> None:
        self._ask(_Act("redo", lambda d: _done("did again", d.redo()), "nothing to do again"))

    def reset(self) -> None:
        self._ask(_Act("reset", _reset, "nothing was changed"))

    def reload(self, *, asked: bool = False) -> None:
        """Read the files again. Unless it was asked for, finding nothing new is not worth a word."""
        if not any(isinstance(job, _Act) and job.name == "reload" for job in self._jobs):
            self._ask(_Act("reload", _reload, asked=asked))

    def _ask(self, job: _Act) -> None:
        self._jobs.append(job)
        self._wake.set()

    async def run(self, opener: Opener) -> None:
        """Open, then work for ever.

        Raises:
            PromptdbgError: the workspace cannot be opened.
        """
        self._show(await asyncio.to_thread(self._first, opener))
        while True:
            if not self._jobs:
                self._wake.clear()
                await self._wake.wait()
            await self._do(self._jobs.popleft())

    def _show(self, picture: Picture) -> None:
        self.picture, self._drawn = picture, False
        self._draw()

    def _draw(self) -> None:
        """Post the latest picture, once; not while a later result is coming."""
        if self.picture is not None and not self._drawn and not self._jobs:
            self._drawn = True
            self._post(Pictured(self.picture, reread=self._reread))
            self._reread = False

    async def _do(self, job: Change | _Act) -> None:
        try:
            picture = await asyncio.to_thread(self._rested, job)
        except PromptdbgError as error:
            self._draw()
            stale = isinstance(job, _Act) and job.name == "reload"
            self._post(Stale(error.line()) if stale else Refused(error.line()))
        except Exception as error:  # a fault of an engine must not take the picture away
            self._draw()
            line = f"{type(error).__name__}: {error}"
            stale = isinstance(job, _Act) and job.name == "reload"
            self._post(Stale(line) if stale else Refused(f"could not assemble: {line}"))
        else:
            if picture is not None:
                self._show(picture)
            else:
                self._draw()  # the result before waited for this one

    # -- in the thread

    def _first(self, opener: Opener) -> Picture:
        self.read_at = time.time_ns()
        with out_of_sight(self._many):
            self.debugger = opener()
            picture = picture_of(self.debugger)
        gc.freeze()  # the program itself, which every full collection would walk
        return replace(picture, sentence=opened(picture))

    def _many(self) -> bool:
        return self.debugger is not None and _size(self.debugger) > _MANY

    def _rested(self, job: Change | _Act) -> Picture | None:
        with out_of_sight(self._many):
            return self._work(job)

    def _work(self, job: Change | _Act) -> Picture | None:
        debugger, before = self.debugger, self.picture
        assert debugger is not None
        assert before is not None
        started = time.perf_counter()
        if isinstance(job, Change):
            wanted = job.change(debugger.settings)
            label = job.label(wanted) if callable(job.label) else job.label
            if wanted == debugger.settings:
                self._post(Said(f"{label} · nothing to change"))
                return None
            recent = time.monotonic() - self._last_time < JOIN_SECONDS
            joins = job.turning and recent and self._last_key == job.key
            debugger.apply(wanted, label, joins=joins)
            sentence = job.said + label
            self._last_key, self._last_time = job.key, time.monotonic()
        else:
            self._last_key = ""
            if job.name == "reload":
                self.read_at = time.time_ns()
            done = job.act(debugger)
            if done is None:
                self._post(Refused(job.nothing))
                return None
            sentence = done
            self._reread = self._reread or job.name == "reload"
        after = picture_of(debugger)
        if isinstance(job, _Act) and not job.asked and after.assembly == before.assembly:
            said = before.sentence, before.milliseconds
            if debugger.settings.texts:
                said = "reloaded · nothing changed; a text that is tried here hides what its file says", 0.0
            return replace(after, changed=before.changed, sentence=said[0], milliseconds=said[1])
        after = replace(after, changed=changed_items(before, after))
        milliseconds = (time.perf_counter() - started) * 1000
        words = reloaded if isinstance(job, _Act) and job.name == "reload" else effect
        return replace(after, sentence=words(before, after, sentence), milliseconds=milliseconds)


_MANY = 2_000
"""Sections, messages and decisions from which on the collector is kept away from an assembly."""


def _size(debugger: Debugger) -> int:
    assembly = debugger.assembly
    messages = sum(len(stage.messages) for stage in assembly.stages)
    return len(assembly.sections) + len(assembly.decisions) + messages


def _then(
    first: Callable[[Settings], Settings], second: Callable[[Settings], Settings]
) -> Callable[[Settings], Settings]:
    return lambda settings: second(first(settings))


def _done(verb: str, label: str | None) -> str | None:
    return None if label is None else f"{verb}: {label}"


def _reset(debugger: Debugger) -> str | None:
    before = debugger.settings
    debugger.reset()
    return None if debugger.settings == before else "back to the files"


def _reload(debugger: Debugger) -> str:
    debugger.reload()
    return "reloaded"
