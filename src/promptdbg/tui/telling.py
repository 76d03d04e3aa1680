"""Boxes that tell something: the keys, the warnings, the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptdbg.tui.glyphs import glyphs
from promptdbg.tui.ledger import ledger_lines
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.screens.boxes import ProseBox, help_lines, warning_lines

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp


def tell_keys(app: PromptdbgApp) -> None:
    """The keys that work where the person is."""
    screen = app.screen
    if isinstance(screen, PictureScreen):
        lines = help_lines(screen.places_now(), app.config, ascii_only=app.ascii_only)
        app.push_screen(ProseBox("Keys", lines))


def tell_warnings(app: PromptdbgApp) -> None:
    """Every warning, with file and line."""
    picture = app.picture
    count = len(app.complaints) + (len(picture.assembly.warnings) if picture else 0)
    lines = warning_lines(picture, app.complaints, app.config.path)
    app.push_screen(ProseBox(f"Warnings: {count:,}", lines))


def tell_ledger(app: PromptdbgApp) -> None:
    """What the prompt costs, part by part."""
    if app.picture is not None:
        lines = ledger_lines(app.picture.assembly.budget, app.recorded, glyphs(app.ascii_only))
        app.push_screen(ProseBox("Ledger: what the prompt costs", lines))
