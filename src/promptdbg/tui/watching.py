"""Following the files of a picture: each change on disk asks for a reload."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptdbg.text import safe
from promptdbg.tui.ahead import WATCHING, imported

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp

_GROUP = "watch"


class Watching:
    """Follows the files of the latest picture, unless it is paused.

    ``state`` is the word for it in the header.
    """

    def __init__(self, app: PromptdbgApp, *, on: bool) -> None:
        self._app = app
        self._paths: tuple[str, ...] = ()
        self.state = "WATCHING" if on else "PAUSED"

    def follow(self, paths: Sequence[str], since: int) -> None:
        """Look at these files from now on, and at no others. ``since`` is when one began to read them, in
        nanoseconds."""
        if self.state == "WATCHING" and tuple(paths) != self._paths:
            self._paths = tuple(paths)
            self._app.run_worker(
                self._changes(self._paths, since),
                exclusive=True,
                group=_GROUP,
                exit_on_error=False,
                description="watch",
            )

    def switch(self, paths: Sequence[str]) -> None:
        """Pause, or go on with these files: what happened to them meanwhile is read."""
        if self.state == "WATCHING":
            self.state = "PAUSED"
            self._paths = ()
            self._app.workers.cancel_group(self._app, _GROUP)
            self._app.say("the files are not followed: r reads them again, W follows them")
        else:
            self.state = "WATCHING"
            self.follow(paths, time.time_ns())
            self._app.driver.reload(asked=True)

    async def _changes(self, paths: Sequence[str], since: int) -> None:
        await imported(*WATCHING)  # longer than a frame, and not before the first
        try:
            from promptdbg.watch import changes

            async for _ in changes(paths, since=since):
                self._app.driver.reload()
        except Exception as error:  # watchfiles is a library of another language, with errors of its own
            self.state = "NOT WATCHING"
            self._paths = ()  # W tries again
            self._app.reframe()
            reason = getattr(error, "strerror", None) or error
            self._app.refuse(f"cannot watch the files: {safe(str(reason), lines=False)}; r reloads")
