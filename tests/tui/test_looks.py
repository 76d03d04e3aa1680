"""Looks: there in every theme, and told apart without colour."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.color import Color
from textual.style import Style

from promptdbg.tui.looks import FOCUSED, LOOKS, style_from
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
    assert words == ["", "underline", "dim", "strike", "bold", "bold reverse", "bold", "reverse"]
