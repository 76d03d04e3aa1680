"""Text from disk shown inert, and exact cells."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.text import clip, clip_middle, one_line, pad, position, safe, width

# Format characters that are seen: signs which enclose or precede digits and letters of their script.
VISIBLE_FORMATS = frozenset(
    map(chr, [*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD])
)

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Mn", "Me"]),
        st.sampled_from([*"\x1b[]0;\x07\x9b\u202e\u200b\u2066\ufe0f\U000e0041\u3164", "e\u0301"[1], "ก็"[1]]),
    ),
    max_size=60,
)
SAFE = st.text(st.one_of(st.characters(), st.sampled_from("漢字😀é…·a\u0301")), max_size=60).map(
    lambda text: safe(text, lines=False)
)


def acts(char: str) -> bool:
    """Whether a terminal would act on the character, or show nothing for it."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in VISIBLE_FORMATS


def test_no_code_point_that_acts_survives() -> None:
    bad = [hex(code) for code in range(0x110000) if any(map(acts, safe(chr(code), lines=False)))]
    assert bad == []


def test_only_line_feeds_survive_where_lines_are_kept() -> None:
    assert safe("a\nb\r\n\tc") == "a\nb␍\n␉c"
    assert safe("a\nb", lines=False) == "a␊b"


@given(HOSTILE)
def test_nothing_that_acts_survives_in_any_mixture(text: str) -> None:
    assert not any(map(acts, safe(text, lines=False)))
    assert {char for char in safe(text) if acts(char)} <= {"\n"}


@given(HOSTILE)
def test_safe_is_idempotent(text: str) -> None:
    assert safe(safe(text)) == safe(text)
    assert safe(safe(text, lines=False), lines=False) == safe(text, lines=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x9b31m", "‹009B›31m"),
        ("\u202eevil", "‹202E›evil"),
        ("a\u200bb", "a‹200B›b"),
        ("\U000e0041", "‹E0041›"),
        ("\ud800", "‹D800›"),
        ("\x7f\x00", "␡␀"),
        ("☀\ufe0f", "☀"),
        ("[bold red]x[/]", "[bold red]x[/]"),
        ("e" + "\u0301" * 3, "e" + "\u0301" * 3),
        ("e" + "\u0301" * 40, "e" + "\u0301" * 8 + "‹32 marks›"),
        ("ก" + "\u0e47" * 40, "ก" + "\u0e47" * 8 + "‹32 marks›"),
    ],
)
def test_what_acts_is_seen(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_plain_text_comes_back_as_it_is() -> None:
    text = "Grüße, 漢字, עברית, हिन्दी, 😀: a line\nand another"
    assert safe(text) == text


@pytest.mark.parametrize(
    ("text", "cells"), [("", 0), ("abc", 3), ("漢字", 4), ("é", 1), ("e\u0301", 1), ("😀", 2), ("a…b", 3)]
)
def test_widths(text: str, cells: int) -> None:
    assert width(text) == cells


@given(SAFE, st.integers(0, 40))
def test_clip_never_exceeds_its_cells_and_keeps_what_fits(text: str, cells: int) -> None:
    clipped = clip(text, cells)
    assert width(clipped) <= cells
    if width(text) <= cells:
        assert clipped == text
    elif cells > 1:
        assert clipped.endswith("…")
        assert text.startswith(clipped[:-1])


@given(SAFE, st.integers(0, 40))
def test_clip_middle_keeps_both_ends(text: str, cells: int) -> None:
    clipped = clip_middle(text, cells)
    assert width(clipped) <= cells
    if width(text) <= cells:
        assert clipped == text
    elif "…" not in text and cells > 2:
        head, _, tail = clipped.partition("…")
        assert text.startswith(head)
        assert text.endswith(tail)


@given(SAFE, st.integers(0, 40), st.booleans())
def test_pad_is_exactly_its_cells(text: str, cells: int, right: bool) -> None:
    assert width(pad(text, cells, right=right)) == cells


def test_pad_aligns() -> None:
    assert pad("ab", 4) == "ab  "
    assert pad("ab", 4, right=True) == "  ab"
    assert pad("漢字漢字", 4) == "漢… "


def test_one_line_is_the_first_that_says_something() -> None:
    assert one_line("\n \t\n  title \x1b[0m \nmore") == "title ␛[0m"
    assert one_line(" \n ") == ""
    assert len(one_line("x" * 10_000_000)) == 1000


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (5, (2, 3)), (6, (3, 1)), (7, (3, 2))]
)
def test_positions_count_from_one(offset: int, place: tuple[int, int]) -> None:
    assert position("ab\ncd\ne", offset) == place
