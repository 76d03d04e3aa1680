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
    them. ``words`` is how the text is written; ``plain`` the same where there is no colour. A ``fill`` is
    a part of a bar: it is seen and not read."""

    color: str = ""
    background: str = ""
    words: str = ""
    plain: str | None = None
    fill: bool = False


LOOKS: Mapping[str, Look] = {
    "virtual--head": Look("text-muted", words="bold"),
    CURSOR: Look("foreground", "panel", plain="bold"),
    "virtual--muted": Look("text-muted", plain="dim"),
    "virtual--strong": Look(words="bold"),
    "virtual--accent": Look("text-accent"),
    "virtual--lost": Look("text-warning", words="strike"),
    "virtual--match": Look("background", "warning", plain="underline reverse"),
    "virtual--error": Look("text-error", words="bold", plain="bold reverse"),
    "virtual--warning": Look("text-warning", words="bold"),
    "virtual--key": Look("text-accent", words="bold"),
    "status--keep": Look(),
    "status--cut": Look("text-warning", plain="underline"),
    "status--drop": Look("text-muted", plain="dim"),
    "status--off": Look("text-muted", words="strike"),
    "status--empty": Look("text-muted", plain="dim"),
    "status--add": Look("text-primary", plain="bold"),
    "bar--0": Look("primary", fill=True),
    "bar--1": Look("success", fill=True),
    "bar--2": Look("accent", fill=True),
    "bar--3": Look("primary-lighten-3", fill=True),
    "bar--4": Look("error-lighten-2", fill=True),
    "bar--5": Look("foreground 50%", fill=True),
}

_NOTHING = Color(0, 0, 0, 0)
_BLACK, _WHITE = Color(0, 0, 0), Color(255, 255, 255)

FOCUSED = Look("block-cursor-foreground", "block-cursor-background", words="bold", plain="reverse")
"""The cursor of the widget that has the focus."""


LEAST_CONTRAST = 4.5
"""Between a text of a look and what is behind it (WCAG AA)."""


def style_from(look: Look, base: Style, variables: Mapping[str, str], *, monochrome: bool) -> RichStyle:
    """A look on top of the style of the text around it. Never a partial style: that loses mixed colours."""
    background, color = base.background or _NOTHING, base.foreground or _NOTHING
    # What a background of the terminal's own looks like is not known, nor what can be read on it.
    blind = monochrome or (
        look.background != "" and _color(look.background, variables, background).ansi is not None
    )
    words = look.plain if blind and look.plain is not None else look.words
    # Colours turned grey may be no lighter or darker than what is around them, and two of them
    # turned round may look like no mark at all: what is reversed keeps the colours of its text.
    if "reverse" not in words:
        if look.background:
            background += _color(look.background, variables, background)
        if look.color:
            color = _color(look.color, variables, background)
            color = color if look.fill else _readable(color, background)
    colors = RichStyle.from_color(
        (background + color).rich_color if background.a or color.a else None,
        background.rich_color if background.a else None,
    )
    return base.rich_style + RichStyle.parse(words) + colors


def _readable(color: Color, background: Color) -> Color:
    """A colour as near to this one as can be read on what is behind it: a theme's own are made to be
    seen, not all of them to be read. Colours that the terminal decides on are left alone."""
    if color.ansi is not None or background.ansi is not None or not background.a:
        return color
    seen = background + color
    if contrast(seen, background) >= LEAST_CONTRAST:
        return color
    ends = sorted((_BLACK, _WHITE), key=lambda end: contrast(end, seen))  # the nearer one, if it will do
    end = next(end for end in ends if contrast(end, background) >= LEAST_CONTRAST)
    steps = (seen.blend(end, part / 10) for part in range(1, 11))
    return next(step for step in steps if contrast(step, background) >= LEAST_CONTRAST)


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours, from 1 to 21, as WCAG defines it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


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
