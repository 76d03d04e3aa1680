"""How what is drawn stands out from the text around it, by name.

Not component classes of Textual's: it styles each of them again, for every widget, whenever a screen
opens or a focus or a size changes, which took half of the time that a screen needs to appear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.style import Style as RichStyle
from textual.color import Color
from textual.style import Style

CURSOR = "virtual--cursor"


@dataclass(frozen=True, slots=True)
class Look:
    """Colours are variables of the theme, with a percentage where they are mixed with what is behind
    them. ``words`` is how the text is written; ``plain`` the same where there is no colour."""

    color: str = ""
    background: str = ""
    words: str = ""
    plain: str | None = None


LOOKS: Mapping[str, Look] = {
    "virtual--head": Look("text-muted", words="bold"),
    CURSOR: Look("foreground", "panel", plain="bold"),
    "virtual--muted": Look("text-muted", plain="dim"),
    "virtual--strong": Look(words="bold"),
    "virtual--accent": Look("text-accent"),
    "virtual--lost": Look("text-warning", words="strike"),
    "virtual--match": Look("background", "warning", plain="reverse"),
    "virtual--error": Look("text-error", words="bold", plain="bold reverse"),
    "virtual--warning": Look("text-warning", words="bold"),
    "virtual--key": Look("text-accent", words="bold"),
    "status--keep": Look(),
    "status--cut": Look("text-warning", plain="underline"),
    "status--drop": Look("text-muted", plain="dim"),
    "status--off": Look("text-muted", words="strike"),
    "status--empty": Look("text-muted", plain="dim"),
    "status--add": Look("text-primary", plain="bold"),
    "bar--0": Look("primary"),
    "bar--1": Look("success"),
    "bar--2": Look("accent"),
    "bar--3": Look("primary-lighten-3"),
    "bar--4": Look("error-lighten-2"),
    "bar--5": Look("foreground 50%"),
}

_NOTHING = Color(0, 0, 0, 0)

FOCUSED = Look("block-cursor-foreground", "block-cursor-background", words="bold", plain="reverse")
"""The cursor of the widget that has the focus."""


def style_from(look: Look, base: Style, variables: Mapping[str, str], *, monochrome: bool) -> RichStyle:
    """A look on top of the style of the text around it. Never a partial style: that loses mixed colours."""
    background, color = base.background or _NOTHING, base.foreground or _NOTHING
    if look.background:
        background += _color(look.background, variables, background)
    if look.color:
        color = _color(look.color, variables, background)
    words = look.plain if monochrome and look.plain is not None else look.words
    colors = RichStyle.from_color(
        (background + color).rich_color if background.a or color.a else None,
        background.rich_color if background.a else None,
    )
    return base.rich_style + RichStyle.parse(words) + colors


def _color(name: str, variables: Mapping[str, str], behind: Color) -> Color:
    """A variable's colour; ``auto`` is the one that is read best on what is behind it."""
    variable, *mixed = name.split()
    alpha = 1.0
    color: Color | None = None
    for part in (*variables[variable].split(), *mixed):
        if part.endswith("%"):
            alpha *= float(part.removesuffix("%")) / 100
        elif part != "auto":
            color = Color.parse(part)
    return behind.get_contrast_text(alpha) if color is None else color.multiply_alpha(alpha)
