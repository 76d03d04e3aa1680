"""Lengths of texts in bytes and UTF-16 units."""

from __future__ import annotations

import pytest

from promptdbg.lengths import utf8_length, utf16_length


@pytest.mark.parametrize(
    ("text", "utf8", "utf16"),
    [
        ("", 0, 0),
        ("abc", 3, 3),
        ("é", 2, 1),
        ("漢字", 6, 2),
        ("😀", 4, 2),
        ("\ud800", 3, 1),
        ("e\u0301", 3, 2),
    ],
)
def test_lengths(text: str, utf8: int, utf16: int) -> None:
    assert (utf8_length(text), utf16_length(text)) == (utf8, utf16)
