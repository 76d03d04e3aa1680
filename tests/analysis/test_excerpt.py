"""What stands around a hit: it fits, it is cut between words, and it is seen to be cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.analysis.excerpt import excerpt
from promptdbg.analysis.trace import CONTEXT, trace
from promptdbg.text import width

from .conftest import Make


@pytest.mark.parametrize("cells", [10, 20, 40, 100])
def test_of_a_long_line_whole_words_are_shown(make: Make, cells: int) -> None:
    words = " ".join(f"w{n:02}" for n in range(100))
    (hit,) = trace(make(sections=[{"name": "a", "text": words}]).assemble(), "w50").hits
    before, found, after = excerpt(hit, cells)
    assert found == "w50"
    assert width(before + found + after) <= cells
    assert before.startswith("…")
    assert after.endswith("…")
    assert {len(word) for word in (before + after).replace("…", "").split()} <= {3}


def test_a_line_that_fits_is_shown_as_it_is(make: Make) -> None:
    text = "a" * (CONTEXT - 1) + " NEEDLE " + "b" * (CONTEXT - 1)
    (hit,) = trace(make(sections=[{"name": "a", "text": text}]).assemble(), "NEEDLE").hits
    assert "".join(excerpt(hit, 200)) == text


@given(st.text("ab \x1bü漢\n", max_size=200), st.text("ab \x1bü漢\n", max_size=200), st.integers(8, 120))
def test_it_fits_whatever_stands_there(before: str, after: str, cells: int) -> None:
    from promptdbg.analysis.trace import _hit  # the one place where hits are made

    text = f"{before}NEEDLE{after}"
    match = re.search("NEEDLE", text)
    assert match is not None
    parts = excerpt(_hit("a", None, text, match, "seen", ""), cells)
    assert parts[1] == "NEEDLE"
    assert width("".join(parts)) <= cells
    assert "\x1b" not in "".join(parts)
