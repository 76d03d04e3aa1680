"""The word difference: applying it gives the other side, whatever the texts, by bounded work."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.analysis.diff import Change, pieces, word_diff
from tests.analysis.texts import HARD
from tests.steps import LINEAR, growth

_TEXT = st.lists(
    st.sampled_from(["a", "bc", " ", "\n", "é", "日本", ",", "\r\n", "\x1b[0m"]), max_size=60
).map("".join)


def _applied(a: str, b: str, changes: tuple[Change, ...]) -> str:
    out, end = [], 0
    for change in changes:
        out += [a[end : change.a_start], b[change.b_start : change.b_end]]
        end = change.a_end
    return "".join([*out, a[end:]])


@given(_TEXT, _TEXT)
def test_applying_it_gives_the_other_side(a: str, b: str) -> None:
    changes = word_diff(a, b)
    assert _applied(a, b, changes) == b
    back = tuple(Change(c.b_start, c.b_end, c.a_start, c.a_end) for c in changes)
    assert _applied(b, a, back) == a
    ends = [(0, 0), *((c.a_end, c.b_end) for c in changes)]
    for (a_end, b_end), change in zip(ends, changes, strict=False):
        assert a_end <= change.a_start <= change.a_end
        assert b_end <= change.b_start <= change.b_end
        assert change.a_end > change.a_start or change.b_end > change.b_start


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_characters(a: str, b: str) -> None:
    assert _applied(a, b, word_diff(a, b)) == b


@given(_TEXT, _TEXT)
def test_pieces_hold_both_texts(a: str, b: str) -> None:
    read = list(pieces(a, b, word_diff(a, b)))
    assert "".join(piece.text for piece in read if piece.kind != "removed") == b
    assert "".join(piece.text for piece in read if piece.kind != "added") == a


@given(_TEXT)
def test_equal_texts_have_no_changes(text: str) -> None:
    assert word_diff(text, text) == ()


def test_only_the_words_that_differ() -> None:
    a = "Every request carries a bearer token.\nTokens expire after 15 minutes.\nThe end.\n"
    b = "Every request carries a bearer token.\nTokens expire after 60 minutes or so.\nThe end.\n"
    read = [(piece.kind, piece.text) for piece in pieces(a, b, word_diff(a, b))]
    assert read == [
        ("same", "Every request carries a bearer token.\nTokens expire after "),
        ("removed", "15"),
        ("added", "60"),
        ("same", " minutes"),
        ("added", " or so"),
        ("same", ".\nThe end.\n"),
    ]


def test_a_sentence_that_shares_only_blanks_is_replaced_whole() -> None:
    a, b = "Keep this. Old words go out.", "Keep this. New text comes in."
    assert [piece.text for piece in pieces(a, b, word_diff(a, b))] == [
        "Keep this. ",
        "Old words go out",
        "New text comes in",
        ".",
    ]


def test_a_text_cut_at_the_end_is_one_change() -> None:
    a = "".join(f"src/app/cli.py:{n}: cfg = load_config()\n" for n in range(5000))
    b = a[:1200] + "\n[cut here]"
    changes = word_diff(a, b)
    assert _applied(a, b, changes) == b
    assert sum(c.a_end - c.a_start for c in changes) >= len(a) - 1200 - 40
    assert len(changes) <= 3


def test_a_word_changed_in_each_of_many_equal_lines() -> None:
    changes = word_diff("some words here 1\n" * 3000, "some words here 2\n" * 3000)
    assert len(changes) == 3000
    assert all(c.a_end - c.a_start == c.b_end - c.b_start == 1 for c in changes)


@pytest.mark.parametrize("kind", HARD)
def test_long_texts(kind: str) -> None:
    a, b = HARD[kind](60_000)
    assert _applied(a, b, word_diff(a, b)) == b


def test_one_long_line() -> None:
    # Character by character against each other it would take hours.
    a, b = "x" * 1_000_000, "y" * 1_000_000
    assert word_diff(a, b) == (Change(0, len(a), 0, len(b)),)


@pytest.mark.parametrize("kind", HARD)
def test_ten_times_the_text_is_about_ten_times_the_work(kind: str) -> None:
    # Of sizes that are still compared by word: what is longer is replaced whole.
    assert growth(lambda size: partial(word_diff, *HARD[kind](size)), 2_000) < LINEAR
