"""The ways to each screen, and back to one that is open. A screen's module is imported when it is
first gone to, because none of them is needed for the first frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp
    from promptdbg.tui.screens.home import HomeScreen


def messages() -> Screen[Any]:
    """The message lists."""
    from promptdbg.tui.screens.messages import MessagesScreen

    return MessagesScreen()


def why(item: str) -> Screen[Any]:
    """An item's life, in full."""
    from promptdbg.tui.screens.why import WhyScreen

    return WhyScreen(item)


def text(item: str, needle: str = "") -> Screen[Any]:
    """An item's whole text, at the first place where ``needle`` stands."""
    from promptdbg.tui.screens.text import TextScreen

    return TextScreen(item, needle=needle)


def search() -> Screen[Any]:
    """The search over everything loaded."""
    from promptdbg.tui.screens.search import SearchScreen

    return SearchScreen()


def compare() -> Screen[Any]:
    """What was changed, and the scenarios."""
    from promptdbg.tui.screens.compare import CompareScreen

    return CompareScreen()


def findings() -> Screen[Any]:
    """Provider rules broken, the cached prefix, and what is there twice."""
    from promptdbg.tui.screens.findings import FindingsScreen

    return FindingsScreen()


def turns(item: str | None) -> Screen[Any]:
    """Every turn of the session, and the life of an item."""
    from promptdbg.tui.screens.turns import TurnsScreen

    return TurnsScreen(item)


def export() -> Screen[Any]:
    """Writing the prompt to a file."""
    from promptdbg.tui.screens.export import ExportScreen

    return ExportScreen()


def go_or_back(app: PromptdbgApp, about: str, way: Callable[[], Screen[Any] | str]) -> None:
    """To a screen; where it is open already, back to it."""
    open_now = [getattr(screen, "about", "") for screen in app.screen_stack]
    if about not in open_now:
        app.push_screen(way())
    while about in open_now and open_now.pop() != about:
        app.pop_screen()


def go_to_item(app: PromptdbgApp, about: str, way: Callable[[], Screen[Any]]) -> None:
    """To an item; back to it where one has just come from there."""
    if [getattr(screen, "about", "") for screen in app.screen_stack[-2:-1]] == [about]:
        app.pop_screen()
    else:
        app.push_screen(way())


def to_turns(app: PromptdbgApp) -> None:
    """To the turns, with the life of the item under the cursor."""
    from promptdbg.tui.changes import NO_TURNS

    picture, debugger = app.picture, app.driver.debugger
    item = getattr(app.screen, "item_here", None)
    if picture is None or debugger is None or not picture.assembly.turns:
        app.refuse(NO_TURNS)
    elif debugger.opened.recorded:
        app.refuse("this is a recording: it holds one turn")
    else:
        go_to_item(app, f"turns {item}" if item else "turns", lambda: turns(item))


def to_message(app: PromptdbgApp, item: str) -> None:
    """To the message lists, with the cursor on a message."""
    from promptdbg.tui.screens.messages import MessagesScreen

    if not isinstance(app.screen, MessagesScreen):
        app.action_messages()
    if isinstance(app.screen, MessagesScreen):
        app.screen.go_to(item)


def to_section(app: PromptdbgApp, item: str) -> None:
    """Back to the sections, with the cursor on one."""
    _home(app).go_to(item)


def to_budget(app: PromptdbgApp) -> None:
    """Back to the sections, with the budget to turn."""
    _home(app).action_budget()


def to_knobs(app: PromptdbgApp) -> HomeScreen:
    """Back to the sections, with the knobs open."""
    screen = _home(app)
    if not screen.has_class("knobs"):
        screen.action_knobs()
    return screen


def to_knob(app: PromptdbgApp, name: str) -> None:
    """Back to the sections, with the knobs open and the cursor on one."""
    from promptdbg.tui.widgets.knobs import KnobPanel

    panel = to_knobs(app).query_one(KnobPanel)
    panel.focus()
    panel.go_to(name)


def _home(app: PromptdbgApp) -> HomeScreen:
    from promptdbg.tui.screens.home import HomeScreen

    while not isinstance(app.screen, HomeScreen):
        app.pop_screen()
    return app.screen
