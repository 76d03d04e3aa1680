"""What the screens are made from, without a screen: wrapping, safe spans, rows, bars, saving."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from promptdbg.model import Budget, Knob, Part, Span
from promptdbg.text import shared_start, width
from promptdbg.tui import rows
from promptdbg.tui.changes import stepped, value_text
from promptdbg.tui.config import Config
from promptdbg.tui.keys import KEYS, PLACE_TITLES
from promptdbg.tui.sentences import names, signed
from promptdbg.tui.widgets.budget import cells, parts_of
from promptdbg.tui.widgets.drawing import joined, without_lined_blanks
from promptdbg.tui.widgets.text_view import shown
from promptdbg.tui.wrapping import Paragraph, facts, layout, line_text, plain_text, say, wrap

texts = st.text(alphabet="ab \n漢é\u0301👍x-·/", max_size=200)


@given(texts, st.integers(1, 30), st.booleans())
def test_wrapping_loses_nothing_and_fits(text: str, cells_wide: int, words: bool) -> None:
    starts = wrap(text, cells_wide, words=words)
    assert starts[0] == 0
    assert starts[-1] == len(text) + 1
    assert list(starts) == sorted(set(starts))
    lines = [line_text(text, starts, n) for n in range(len(starts) - 1)]
    rejoined = "".join(text[a:b] for a, b in pairwise(starts))
    assert rejoined == text
    for line in lines:
        one_wide_character = len(line.rstrip()) == 1
        assert width(line.rstrip(" ")) <= cells_wide or one_wide_character


def test_wrapping_breaks_after_blanks_and_inside_long_words() -> None:
    text = "one two three\nabcdefgh"
    starts = wrap(text, 7)
    assert [line_text(text, starts, n) for n in range(len(starts) - 1)] == [
        "one two ",
        "three",
        "abcdefg",
        "h",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("58 tokens · context · number 3", ["58 tokens ·", "context ·", "number 3"]),
        ("58 tokens  · x", ["58 tokens  ·", "x"]),
        ("internal/loop.go::Compact", ["internal/", "loop.go::", "Compact"]),
        ("what survived?  ctrl+t", ["what", "survived?", "ctrl+t"]),
        ("order-documented", ["order-", "documented"]),
        ("order-documentédé", ["order-", "documentédé"]),
        ("a/bcdefghijklmnop", ["a/bcdefghijk", "lmnop"]),
        ("ends with two  ", ["ends with", "two"]),
        ("ends with twé   ", ["ends with", "twé"]),
        (facts("bee.cap", "bee 0.3"), ["bee.cap ·", "bee 0.3"]),
        (facts("over a limit of 40"), ["over a", "limit of 40"]),
    ],
)
def test_sentences_break_where_a_person_would(text: str, lines: list[str]) -> None:
    shown = layout([say(text)], 12)
    assert ["".join(part for part, _ in line).rstrip() for line in shown] == lines


def test_a_copy_has_ordinary_blanks() -> None:
    assert plain_text([say(facts("a b", "c d"), indent=2)]) == "  a b · c d\n"


def test_paragraphs_hang_and_keep_their_styles() -> None:
    lines = layout([say(("Rule  ", "muted"), "a long title here", hang=6)], 14)
    assert lines == [
        [("Rule  ", "muted"), ("a long ", "")],
        [("      ", ""), ("title ", "")],
        [("      ", ""), ("here", "")],
    ]
    assert layout([Paragraph()], 10) == [[]]


@given(texts, st.lists(st.integers(0, 200), max_size=4))
def test_spans_follow_the_safe_text(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    spans = [Span(a, b, n % 2 == 0) for n, (a, b) in enumerate(pairwise(edges))]
    view = shown(text, spans)
    assert view.text == shown(text).text
    for (a, b), span in zip(view.lost, (s for s in spans if not s.kept), strict=True):
        assert view.text[a:b] == shown(text[span.start : span.end]).text


def test_hidden_characters_move_offsets() -> None:
    view = shown("a\x1bb\u202ec", [Span(0, 3, True), Span(3, 5, False)])
    assert view.text == "a␛b‹202E›c"
    assert [view.text[a:b] for a, b in view.lost] == ["‹202E›c"]


@given(st.lists(st.integers(0, 10_000), max_size=8), st.integers(1, 300))
def test_cells_of_parts_are_the_cells_of_their_sum(amounts: list[int], room: int) -> None:
    total = sum(amounts)
    made = cells(amounts, max(total, 1), room)
    assert all(count >= 0 for count in made)
    assert sum(made) == (room if total else 0)


def test_small_parts_are_one() -> None:
    parts = tuple(Part(f"p{n}", n) for n in range(12))
    shown_parts = parts_of(Budget(100, sum(p.tokens for p in parts), "tokens", parts))
    assert len(shown_parts) == 6
    assert sum(part.tokens for part in shown_parts) == sum(part.tokens for part in parts)
    assert shown_parts[-1].name == "other"


@pytest.mark.parametrize("list_width", range(40, 300, 7))
def test_columns_fill_the_list(list_width: int) -> None:
    c = rows.columns(list_width)
    used = 1 + c.state + c.name + c.rank + c.tokens + c.share + c.sum + c.why + c.source
    assert used <= list_width + 1
    assert c.name >= 12


def test_stepping() -> None:
    number = Knob("n", "N", "number", 10, minimum=0, maximum=100, step=30)
    assert [stepped(number, 10, n) for n in (1, 8, -1)] == [40, 100, 0]
    assert stepped(Knob("f", "F", "number", 0.5, step=0.1), 0.5, 2) == 0.7
    choice = Knob("c", "C", "choice", "a", choices=("a", "b"), optional=True)
    assert [stepped(choice, value, 1) for value in (None, "a", "b")] == ["a", "b", None]
    assert stepped(choice, "a", -1) is None
    assert [value_text(v) for v in (None, True, 1234, ("a", "b"), "")] == [
        "not set",
        "on",
        "1,234",
        "a, b",
        '""',
    ]


def test_words() -> None:
    assert [signed(n) for n in (5, -1234, 0)] == ["+5", "−1,234", "±0"]
    assert names(["a", "b", "c", "d"]) == "a, b and 2 more"
    assert shared_start("abcd", "abxy") == 2
    assert shared_start("", "x") == 0


def test_every_key_is_told_once() -> None:
    ids = [key.id for key in KEYS]
    assert len(ids) == len(set(ids))
    for place in PLACE_TITLES:
        taken = [name for key in KEYS if key.place == place for name in key.keys.split(",")]
        assert len(taken) == len(set(taken)), place
    for key in KEYS:
        assert key.words, key.id
        assert key.tooltip, key.id


def test_the_key_line_of_each_place_fits_eighty_cells_with_help_and_quit() -> None:
    from promptdbg.tui.widgets.chrome import _key_width

    for place in ("sections", "knobs", "budget", "text", "why", "compare", "search", "messages"):
        keys = Config().key_line(place, "app")
        assert [key.id for key in keys[-2:]] == ["app.help", "app.quit"]
        assert sum(_key_width(key) for key in (*keys[:3], *keys[-2:])) <= 79


def test_neighbours_that_look_the_same_are_drawn_as_one() -> None:
    plain, same, bold = Style(color="red"), Style(color="red"), Style(color="red", bold=True)
    pieces = [("a", plain), ("", bold), ("b", same), ("c", bold), ("d", plain)]
    assert list(joined(pieces)) == [("ab", plain), ("c", bold), ("d", plain)]
    assert list(joined([])) == []


def test_lines_are_under_words_and_not_under_what_fills_a_column() -> None:
    style = Style(underline=True)
    drawn = [(text, bool(look.underline)) for text, look in without_lined_blanks("  of 12 · out  ", style)]
    assert drawn == [("  ", False), ("of 12 · out", True), ("  ", False)]
    assert [text for text, look in without_lined_blanks("   ", style) if not look.underline] == ["   "]
    assert list(without_lined_blanks(" plain ", Style(bold=True))) == [(" plain ", Style(bold=True))]
