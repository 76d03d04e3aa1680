"""The guided tour in the running app: looks at what is in front of the person and says the next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.timer import Timer

from promptdbg.tui.keys import keys_of
from promptdbg.tui.wrapping import Piece

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp
    from promptdbg.tui.tour import Seen, Tour

LOOKS = 0.1
"""Seconds between two looks at the screen. Only while a tour is taken: so no screen has to tell it
anything, and nothing is looked at for those who take none."""


class Guide:
    """Whether a tour is taken, and how far it is."""

    def __init__(self, app: PromptdbgApp) -> None:
        self._app = app
        self._timer: Timer | None = None
        self.tour: Tour | None = None
        self.words: Sequence[Piece] = ()

    def switch(self) -> None:
        """Begin the tour, or leave it."""
        if self.tour is not None:
            self._leave()
            return
        from promptdbg.tui.tour import begin

        seen = self.seen()
        if seen is None:
            self._app.refuse("still opening")
            return
        self.tour = begin(seen)
        self._timer = self._app.set_interval(LOOKS, self.look)
        self._app.reframe()
        self.look()

    def skip(self) -> None:
        """To the next step, whether this one was done or not."""
        from promptdbg.tui.tour import skipped

        seen = self.seen()
        if self.tour is None or seen is None:
            self._app.refuse(f"no tour is taken: {self.key} begins one")
            return
        if self.tour.at_end:
            self._leave()
            return
        self.tour = skipped(self.tour, seen)
        self.look()

    def look(self) -> None:
        """Go on where the person did what was asked, and say what comes next."""
        from promptdbg.tui.tour import looked, pieces

        seen = self.seen()
        if self.tour is None or seen is None:
            return
        self.tour = looked(self.tour, seen)
        self._say(pieces(self.tour, seen, self._app.config))

    def _leave(self) -> None:
        self.tour = None
        if self._timer is not None:
            self._timer.stop()
        self._say(())
        self._app.reframe()
        self._app.say(f"the tour is closed; {self.key} begins it again")

    @property
    def key(self) -> str:
        """The key of the tour, as this person has it."""
        (key,) = (key for key in keys_of("app") if key.id == "app.tour")
        return self._app.config.named(key).shown.split(" ")[0]

    def _say(self, words: Sequence[Piece]) -> None:
        self.words = words
        if screen := self._app.on_top:
            screen.show_tour()

    def seen(self) -> Seen | None:
        """What is in front of the person; ``None`` before anything is."""
        from promptdbg.tui.screens.home import HomeScreen
        from promptdbg.tui.screens.item import ItemScreen
        from promptdbg.tui.screens.why import WhyScreen
        from promptdbg.tui.tour import Seen

        screen = self._app.on_top
        if screen is None or screen.picture is None:
            return None
        return Seen(
            place=screen.places[0],
            picture=screen.picture,
            item=screen.item_here if isinstance(screen, ItemScreen) else None,
            offered=screen.offered if isinstance(screen, WhyScreen) else None,
            narrowed=isinstance(screen, HomeScreen) and screen.view.narrowed,
        )
