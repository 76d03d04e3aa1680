"""The keyboard: what is typed is looked at in its order, one key at a time, and nothing is lost.

Textual hands every key to whatever has the focus when the key is read. Of keys that come faster
than the focus moves (pasted, sent by a script, typed while something opens) the later ones would go
to the wrong place: after ``/`` the text of the filter would be taken for keys of the list. Here a
key waits until the one before has done what it does, screens it opened included, and until the
workspace has been opened.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from textual import events
from textual.dom import DOMNode
from textual.message_pump import MessagePump

from promptdbg.tui.keys import KEYS

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp

_PATIENCE = 1.0
"""Seconds for a widget to answer: one that never does must not stop the keyboard."""

_MAKING = 10.0
"""Seconds that a key waits for a screen at the most."""

_LOOK = 0.01

_ROUNDS = 2
"""How often to ask along the way of a key: its action may post a message that takes the same way."""

_ALWAYS = frozenset({"ctrl+c", "ctrl+q", "ctrl+z"})
"""Keys of Textual's own that never wait."""

_QUIT = next(key for key in KEYS if key.id == "app.quit")

Typed = events.Key | events.Paste


class Keyboard:
    """Keeps what is typed until its turn has come."""

    def __init__(self, app: PromptdbgApp) -> None:
        self._app = app
        self._typed: asyncio.Queue[Typed] = asyncio.Queue()
        self._passing: Typed | None = None
        self._open = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether there is something to work on, so that keys need not wait for it."""
        return self._open.is_set()

    async def done(self) -> None:
        """Wait until everything that was typed has had its turn."""
        await self._typed.join()

    def open(self) -> None:
        """There is: what was typed until now has its turn."""
        self._open.set()

    def keeps(self, event: events.Event) -> bool:
        """Take an event that has to wait; ``False`` for one whose turn it is, or that never waits."""
        if not isinstance(event, Typed) or event.is_forwarded or event is self._passing:
            return False
        if isinstance(event, events.Key) and not self.is_open and event.key in self._leaving():
            return False
        self._typed.put_nowait(event)
        return True

    def _leaving(self) -> frozenset[str]:
        """The keys that leave the program, also while it opens."""
        return _ALWAYS.union(self._app.config.named(_QUIT).keys.split(","))

    async def run(self) -> None:
        """Hand on what is typed, for as long as the app runs."""
        while True:
            event = await self._typed.get()
            await self._open.wait()
            await self._made(event)
            if self._app.screen_stack and not self._unseen(event):  # none is left once it closes
                for part in self._meant(event):
                    await self._hand_on(part)
            self._typed.task_done()

    async def _made(self, event: Typed) -> None:
        """Wait while the screen on top is still making what its keys are about; not to leave it."""
        end = time.monotonic() + _MAKING
        while not self._leaves(event) and time.monotonic() < end:
            top = self._app.screen if self._app.screen_stack else None
            if not getattr(top, "is_making", False):
                return
            await asyncio.sleep(_LOOK)

    def _unseen(self, event: Typed) -> bool:
        """Whether it would change something that cannot be seen."""
        return self._app.room.too_small and not self._leaves(event)

    def _leaves(self, event: Typed) -> bool:
        return isinstance(event, events.Key) and event.key in self._leaving() | {"escape"}

    def _meant(self, event: Typed) -> tuple[Typed, ...]:
        """What a person pressed: a terminal tells escape and a letter at once as alt and the letter."""
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            letter = event.character or ""
            if letter.isalnum() and event.key not in self._app.screen.active_bindings:
                return events.Key("escape", "\x1b"), events.Key(letter, letter)
        return (event,)

    async def _hand_on(self, event: Typed) -> None:
        app = self._app
        target: DOMNode = app.focused or app.screen
        way = [node for node in target.ancestors_with_self if node is not app]
        self._passing = event
        app.post_message(event)
        await _caught_up(app)
        for _ in range(_ROUNDS):
            for node in (*way, app):
                await _caught_up(node)
        if app.is_running:
            await _caught_up(app.screen)  # a new one is ready when it has done what came before


async def _caught_up(pump: MessagePump) -> None:
    """Wait until a widget has dealt with everything that it had been told before."""
    done = asyncio.Event()
    if pump.call_later(done.set):
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), _PATIENCE)
