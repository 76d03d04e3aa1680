"""Themes of our own beside Textual's: one with the strongest contrasts."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#ffd500",
    secondary="#00d7ff",
    accent="#5fd7ff",
    warning="#ffaf00",
    error="#ff8787",
    success="#87ff87",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    boost="#303030",
    dark=True,
    variables={
        "block-cursor-background": "#ffd500",
        "block-cursor-foreground": "#000000",
        "text-muted": "#d0d0d0",
        "text-disabled": "#b0b0b0",
    },
)

DEFAULT = "textual-dark"

NAMES = (*sorted(BUILTIN_THEMES), HIGH_CONTRAST.name)
"""Every theme there is."""
