"""Measuring what keeps the event loop waiting, for the tests and the benchmarks."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from asyncio.events import Handle
from collections.abc import Iterator
from contextlib import contextmanager

_TICK = 0.005
"""Seconds; more often and the watching itself would be what the machine does."""


class Watchdog:
    """Measures the longest pause of the event loop: the longest time between two ticks of a task.

    Without what other processes took: only while this process used the processor, and not while the
    loop's thread was ready to run and had to wait for one.
    """

    def __init__(self) -> None:
        self.worst = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Watchdog:
        self._task = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _tick(self) -> None:
        waiting = _Waiting()
        try:
            while True:
                wall, used, waited = time.perf_counter(), time.process_time(), waiting()
                await asyncio.sleep(_TICK)
                passed = time.perf_counter() - wall - (waiting() - waited)
                self.worst = max(self.worst, min(passed, time.process_time() - used))
        finally:
            waiting.close()


class Causes:
    """The two things a pause is made of, each in its own thread's processor time, so that they are the
    same on a busy machine. ``step`` is the longest step of the loop itself; ``hold`` the longest time
    that another thread kept the interpreter without a break."""

    def __init__(self) -> None:
        self.step = 0.0
        self.hold = 0.0


@contextmanager
def causes() -> Iterator[Causes]:
    """Look for them from the loop's own thread, while the block runs."""
    found = Causes()
    run = Handle._run
    done = threading.Event()

    def timed(handle: Handle) -> None:
        started = time.thread_time()
        run(handle)
        found.step = max(found.step, time.thread_time() - started)

    def watch() -> None:
        before, last = _used_by_threads(), False
        while not last:
            last = done.wait(_TICK)  # what ended with the block is looked at too
            now = _used_by_threads()
            for thread, used in now.items():
                found.hold = max(found.hold, used - before.get(thread, 0.0))
            before = now

    watcher = threading.Thread(target=watch, daemon=True)
    Handle._run = timed  # type: ignore[assignment, method-assign] # there is no hook around a step
    watcher.start()
    try:
        yield found
    finally:
        Handle._run = run  # type: ignore[method-assign]
        done.set()
        watcher.join()


def slowness() -> float:
    """How many times as long as an ordinary machine this one takes for some work of Python's, just now."""

    def work() -> float:
        started, number = time.thread_time(), 0
        for step in range(50_000):
            number += step
        return time.thread_time() - started

    return max(min(work() for _ in range(9)) / 0.0015, 1.0)


def _used_by_threads() -> dict[int, float]:
    """Seconds of processor time of every thread but the main one and this."""
    used: dict[int, float] = {}
    for thread in threading.enumerate():
        if thread is threading.main_thread() or thread is threading.current_thread() or not thread.ident:
            continue
        try:
            used[thread.ident] = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
        except (OSError, AttributeError):  # it has just ended, or the system cannot tell
            continue
    return used


class _Waiting:
    """Seconds that the thread which makes this was ready to run and others had the processor."""

    def __init__(self) -> None:
        try:
            self._file: int | None = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:  # a system that does not tell
            self._file = None

    def __call__(self) -> float:
        return int(os.pread(self._file, 100, 0).split()[1]) / 1e9 if self._file is not None else 0.0

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
