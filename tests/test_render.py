"""Tables and lines for the commands."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.marks import MESSAGE_MARKS, SECTION_MARKS, mark_of
from promptdbg.model import MessageStatus, SectionStatus
from promptdbg.render import Column, Line, Piece, columns, line, table, wrapped, write, write_json
from promptdbg.text import width

LAYOUT = [
    Column("NAME", least=6, middle=True),
    Column("TOKENS", right=True),
    Column("WHY", least=8),
]


def text_of(entry: Line) -> str:
    return "".join(piece.text for piece in entry)


def test_table() -> None:
    rows = [["identity", "1,200", "fits"], ["notes", "3", ""]]
    assert [text_of(row).rstrip() for row in table(LAYOUT, rows, 80)] == [
        "NAME      TOKENS  WHY",
        "identity   1,200  fits",
        "notes          3",
    ]


def test_columns_give_way_last_first_and_numbers_never() -> None:
    rows = [["a-very-long-name-of-a-file.md", "123,456,789", "it did not fit into what was left"]]
    [_, row] = table(LAYOUT, rows, 40)
    assert text_of(row).startswith("a-very-l…-file.md")
    assert "123,456,789" in text_of(row)
    assert width(text_of(row)) <= 40


@given(
    st.lists(st.tuples(st.text(max_size=30), st.integers(0, 10**6), st.text(max_size=80)), max_size=5),
    st.integers(36, 120),
)
def test_tables_fit_and_line_up(entries: list[tuple[str, int, str]], cells: int) -> None:
    rows = table(LAYOUT, [[name, f"{number:,}", why] for name, number, why in entries], cells)
    assert all(width(text_of(row)) <= cells for row in rows)
    starts = {width(row[0].text) + width(row[1].text) for row in rows}
    assert len(starts) == 1


@given(st.text(max_size=300), st.integers(30, 100), st.sampled_from(["", "    "]))
def test_wrapped_lines_fit_and_keep_every_word(text: str, cells: int, indent: str) -> None:
    lines = [text_of(entry) for entry in wrapped(text, cells, indent=indent)]
    assert all(width(entry) <= cells for entry in lines)
    assert all(entry.startswith(indent) for entry in lines)


def test_wrapped_keeps_words_in_order() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    assert " ".join(text_of(entry).strip() for entry in wrapped(text, 20, indent="  ")) == text


def test_pieces_are_safe_by_construction() -> None:
    assert Piece("a\x1b[31m\nb").text == "a␛[31m␊b"
    out = io.StringIO()
    write([line("\x1b]0;title\x07", Piece("\u202e", "warning"))], out)
    assert out.getvalue() == "␛]0;title␇‹202E›\n"


def test_marks_are_told_apart_without_colour() -> None:
    for marks in (SECTION_MARKS, MESSAGE_MARKS):
        for part in ("mark", "ascii", "word"):
            shown = [getattr(mark, part) for mark in marks.values()]
            assert len(set(shown)) == len(shown)
        assert all(width(mark.mark) == width(mark.ascii) == 1 for mark in marks.values())
        assert all(mark.ascii.isascii() for mark in marks.values())
    assert set(SECTION_MARKS) == set(SectionStatus)
    assert set(MESSAGE_MARKS) == set(MessageStatus)
    assert mark_of(SectionStatus.DROPPED).word == "DROP"
    assert mark_of(MessageStatus.REWRITTEN).word == "EDIT"


def test_json_keeps_what_utf8_cannot() -> None:
    out = io.StringIO()
    write_json({"text": "\ud800 漢 \x9b"}, out)
    assert out.getvalue() == '{\n  "text": "\\ud800 \\u6f22 \\u009b"\n}\n'


@pytest.mark.parametrize(("said", "used"), [("132", 132), ("20", 60), ("0", 100), ("x", 100)])
def test_width_to_print_in(monkeypatch: pytest.MonkeyPatch, said: str, used: int) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert columns() == used
