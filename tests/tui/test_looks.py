"""Looks: there in every theme, and told apart without colour."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.color import Color
from textual.style import Style

from promptdbg.tui.looks import FOCUSED, LEAST_CONTRAST, LOOKS, Look, contrast, style_from
from promptdbg.tui.theme import HIGH_CONTRAST, NAMES

BASE = Style(Color.parse("#101010"), Color.parse("#e0e0e0"))


@pytest.mark.parametrize("theme", NAMES)
def test_every_theme_has_every_look(theme: str) -> None:
    app: App[None] = App()
    app.register_theme(HIGH_CONTRAST)
    app.theme = theme
    variables = app.get_css_variables()
    for look in (*LOOKS.values(), FOCUSED):
        made = style_from(look, BASE, variables, monochrome=False)
        assert made.color is not None
        assert made.bgcolor is not None


def variables_of(theme: str) -> dict[str, str]:
    app: App[None] = App()
    app.register_theme(HIGH_CONTRAST)
    app.theme = theme
    return app.get_css_variables()


def contrast_of(look: Look, base: Style, variables: dict[str, str], *, monochrome: bool = False) -> float:
    """Between the text of a look and what is behind it; in greys, as Textual shows it, where there are
    no colours."""
    style = style_from(look, base, variables, monochrome=monochrome)
    assert style.color is not None
    assert style.bgcolor is not None
    colors = [Color.from_rich_color(color) for color in (style.color, style.bgcolor)]
    if monochrome:
        colors = [color.monochrome for color in colors]
    return contrast(*colors)


_READ = [
    (name, theme, behind)
    for theme in NAMES
    if not theme.startswith("ansi")  # the terminal decides
    for behind in ("background", "panel")
    for name in (*LOOKS, "FOCUSED")
    if not name.startswith("bar--")
]


def test_every_look_can_be_read_in_every_theme() -> None:
    looks = {**LOOKS, "FOCUSED": FOCUSED}
    themes = {theme: variables_of(theme) for theme in NAMES}
    unread = []
    for name, theme, behind in _READ:
        variables, look = themes[theme], looks[name]
        background = Color.parse(variables[behind])
        base = Style(background, Color.parse(variables["foreground"]))
        reached = contrast_of(look, base, variables)
        if look.color and reached < LEAST_CONTRAST - 0.05:  # a theme's ordinary text is its own matter
            unread.append((theme, behind, name, round(reached, 1)))
    assert not unread


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "solarized-light", "gruvbox"])
@pytest.mark.parametrize("look", [FOCUSED, LOOKS["virtual--match"], LOOKS["virtual--error"]])
def test_what_is_reversed_without_colour_stands_out(theme: str, look: Look) -> None:
    variables = variables_of(theme)
    base = Style(Color.parse(variables["background"]), Color.parse(variables["foreground"]))
    made = style_from(look, base, variables, monochrome=True)
    around = contrast_of(Look(), base, variables, monochrome=True)
    assert "reverse" in str(made)
    assert contrast_of(look, base, variables, monochrome=True) == pytest.approx(around)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
def test_a_hit_is_reversed_where_the_terminal_has_its_own_colours(theme: str) -> None:
    variables = variables_of(theme)
    base = Style(Color.parse(variables["background"]), Color.parse(variables["foreground"]))
    for look in (LOOKS["virtual--match"], FOCUSED):
        assert "reverse" in str(style_from(look, base, variables, monochrome=False))


def made(name: str, *, monochrome: bool = False) -> str:
    variables = App().get_css_variables()
    return str(style_from(LOOKS[name], BASE, variables, monochrome=monochrome))


def test_a_colour_is_mixed_with_what_is_behind_it() -> None:
    assert made("virtual--muted") == "#9f9f9f on #101010"
    assert made("bar--5") == "#787878 on #101010"


def test_what_colour_says_is_written_another_way_without_it() -> None:
    told = [f"status--{name}" for name in ("keep", "cut", "drop", "off", "add")]
    told += ["virtual--error", "virtual--key", "virtual--match"]
    words = [made(name, monochrome=True).partition("#")[0].strip() for name in told]
    assert words == ["", "underline", "dim", "strike", "bold", "bold reverse", "bold", "underline reverse"]
