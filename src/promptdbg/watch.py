"""Watching the files an assembly depends on: every kind of save, and files that are not there yet.

The folders are watched, not the files: an editor that saves by renaming would lose the watch on
the file. What changed is told by the files' own stamps, so that noise in the same folders, and
changes that fell between two watches, are both dealt with.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

DEBOUNCE_MS = 200
STEP_MS = 30
"""A burst of writes within a step is one change; it is told after the debounce at the latest."""

RECHECK_MS = 2_000
"""How often the files are looked at even when the system reports nothing."""

Stamp = tuple[int, int, int] | None
"""Time of change in nanoseconds, size, inode; ``None`` where there is nothing."""


def stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    """What each path is now. A folder's stamp changes when an entry appears or goes."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def folders(paths: Iterable[str]) -> frozenset[str]:
    """The folders to watch: of each path the nearest one above that exists, and the path itself
    where it is a folder."""
    found = set()
    for path in paths:
        here = Path(path)
        if os.path.isdir(here):
            found.add(str(here))
        above = here.parent
        while not os.path.isdir(above) and above != above.parent:
            above = above.parent
        found.add(str(above))
    return frozenset(found)


def _changed_since(path: str, since: int) -> bool:
    """Whether something was written there, put there or taken away since, by the system's clock."""
    for place in (path, os.path.dirname(path)):  # what is gone has left its time in the folder
        try:
            status = os.stat(place)
        except (OSError, ValueError):
            continue
        return max(status.st_mtime_ns, status.st_ctime_ns) >= since
    return False


async def changes(paths: Iterable[str], *, since: int | None = None) -> AsyncGenerator[frozenset[str], None]:
    """The paths that changed, appeared or went, each time some did; for ever.

    Args:
        since: nanoseconds of the system's clock; what changed between then and now is told at once. It is
            when one began to read the files, which takes as long as they are large.

    Raises:
        OSError: the system cannot watch (too many watches, a file system without them).
    """
    from watchfiles import awatch  # 30 ms, and only where something is watched

    wanted = tuple(dict.fromkeys(paths))
    known = await asyncio.to_thread(stamps, wanted)
    if since is not None and (missed := {path for path in wanted if _changed_since(path, since)}):
        yield frozenset(missed)
    while wanted:
        watched = await asyncio.to_thread(folders, wanted)
        stop = asyncio.Event()
        waiting = awatch(
            *watched,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            recursive=False,
            stop_event=stop,
            rust_timeout=RECHECK_MS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        try:
            async for _ in waiting:
                now = await asyncio.to_thread(stamps, wanted)
                changed = frozenset(path for path in wanted if now[path] != known[path])
                known = now
                if changed:
                    yield changed
                if await asyncio.to_thread(folders, wanted) != watched:
                    break  # a folder came or went: watch the right ones
        except FileNotFoundError:
            await asyncio.sleep(STEP_MS / 1000)  # a folder went between looking and watching
        finally:
            stop.set()
            await waiting.aclose()
