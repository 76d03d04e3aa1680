"""The command palette: every action that works here, every section, message and knob, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from promptdbg.text import clip, one_line
from promptdbg.tui.glyphs import written
from promptdbg.tui.keys import Key
from promptdbg.tui.picture import messages_of
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.ways import to_knob

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptdbg.tui.app import PromptdbgApp

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


class ItemProvider(Provider):
    """Sections, messages and knobs by name, to go to."""

    async def search(self, query: str) -> Hits:
        app = cast("PromptdbgApp", self.app)
        picture = app.picture
        if picture is None:
            return
        matcher = self.matcher(query)
        for section in picture.assembly.sections:
            name = one_line(section.name)
            if (score := matcher.match(name)) > 0:
                yield _hit(score, f"Section {name}", partial(app.go_to, section.id))
        for message in messages_of(picture.assembly):
            title = message.content if isinstance(message.content, str) else ""
            name = f"{one_line(message.role)} {one_line(message.id)}: {clip(one_line(title), 60)}"
            if (score := matcher.match(name)) > 0:
                yield _hit(score * 0.8, f"Message {name}", partial(app.open_why, message.id))
        for knob in () if picture.recorded else picture.knobs:
            name = one_line(knob.title)
            if (score := matcher.match(name)) > 0:
                yield _hit(score, f"Knob {name}", partial(to_knob, app, knob.name))


def _hit(score: float, name: str, go: Callable[[], None]) -> Hit:
    return Hit(score, Content(name), go, text=name)
