"""The inspector: sections, why, text, budget. (Filled in steps.)"""

from __future__ import annotations

from promptdbg.tui.screens.base import PictureScreen


class HomeScreen(PictureScreen):
    """The first screen."""

    places = ("home",)
