"""The ways to each screen. A screen's module is imported when it is first gone to, because none of
them is needed for the first frame."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen


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
