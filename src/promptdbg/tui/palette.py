"""The command palette: every action that works here, every section, message and knob, by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from promptdbg.text import clip, one_line
from promptdbg.tui.glyphs import written
from promptdbg.tui.keys import Key
from promptdbg.tui.picture import Picture, messages_of
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.ways import to_knob

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp

_Item: TypeAlias = tuple[str, float, str, Callable[[], None]]
"""What it is, what a match of it is worth, its name, and the way to it."""

_MOVES = "list"
"""Moving the cursor by the palette would be silly."""


class ActionProvider(Provider):
    """The actions of the screen below, from the key table."""

    def _keys(self) -> Iterator[Key]:
        screen = self.screen
        if isinstance(screen, PictureScreen):
            for key in screen.promptdbg.config.here(*screen.places_now()):
                if key.place != _MOVES and key.id != "app.palette":
                    yield key

    def _run(self, key: Key) -> None:
        self.app.simulate_key(key.keys.split(",")[0])

    def _told(self, key: Key) -> tuple[str, str]:
        """The name of an action with its key, and what it does."""
        ascii_only = cast("PromptdbgApp", self.app).ascii_only
        return written(f"{key.words} ({key.shown})", ascii_only), written(key.tooltip, ascii_only)

    async def discover(self) -> Hits:
        for key in self._keys():
            name, about = self._told(key)
            yield DiscoveryHit(name, partial(self._run, key), text=name, help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for key in self._keys():
            name, about = self._told(key)
            score = max(matcher.match(name), matcher.match(about) * 0.9)
            if score > 0:
                yield Hit(score, matcher.highlight(name), partial(self._run, key), text=name, help=about)


_AT_ONCE = 100
"""Names that are matched before the event loop has its turn: some 2 ms."""

_TITLE = 600
"""Code points of a message that the cells of its name may be made of."""


class ItemProvider(Provider):
    """Sections, messages and knobs by name, to go to."""

    _items: Sequence[_Item] = ()

    async def startup(self) -> None:
        app = cast("PromptdbgApp", self.app)
        if app.picture is not None:
            self._items = await asyncio.to_thread(_items, app, app.picture)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for number, (kind, weight, name, go) in enumerate(self._items, 1):
            if (score := matcher.match(name)) > 0:
                text = f"{kind} {name}"
                yield Hit(score * weight, Content(text), go, text=text)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)


def _items(app: PromptdbgApp, picture: Picture) -> list[_Item]:
    """All there is to go to. Called in a thread: there may be fifty thousand messages."""
    items: list[_Item] = [
        ("Section", 1, name, partial(app.go_to, item)) for item, name in picture.names.items()
    ]
    for message in messages_of(picture.assembly):
        title = message.content if isinstance(message.content, str) else ""
        name = f"{one_line(message.role)} {one_line(message.id)}: {clip(one_line(title[:_TITLE]), 60)}"
        items.append(("Message", 0.8, name, partial(app.open_why, message.id)))
    for knob in () if picture.recorded else picture.knobs:
        items.append(("Knob", 1, one_line(knob.title), partial(to_knob, app, knob.name)))
    return items
