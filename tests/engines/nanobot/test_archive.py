"""Raw archives: of a long session only the beginning is worked out, and it is the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.engines.nanobot import archive
from promptdbg.engines.nanobot.archive import raw_archive, strip_think, transcript
from promptdbg.engines.nanobot.dialects import DIALECTS
from promptdbg.engines.nanobot.estimate import truncate_chars
from promptdbg.engines.nanobot.rows import Row

PARTS = ["<think>", "</think>", "<thinking>", "</thinking>", "<thinking/>", "<thought>", "</thought>"]
PARTS += [
    "<think ",
    "<thi",
    "nk",
    "<",
    "<|channel|>",
    "</",
    "word ",
    "x" * 90,
    "x " * 50,
    " ",
    "\n",
    "   \n\n ",
]
CONTENTS = st.lists(st.lists(st.sampled_from(PARTS), max_size=8).map("".join), max_size=9)


@pytest.mark.parametrize("strict", [False, True])
@given(contents=CONTENTS, limit=st.integers(1, 200))
@settings(max_examples=1500, deadline=None)
def test_the_beginning_is_that_of_the_whole(strict: bool, contents: list[str], limit: int) -> None:
    dialect = replace(DIALECTS["0.3.5"], strict_rows=strict)
    lines = [f"[RAW] {len(contents)} messages", *contents]
    whole = strip_think("\n".join(lines).rstrip(), dialect)
    begun = archive._begun(lines, archive._TAGS[strict], limit)
    assert truncate_chars(begun, limit) == truncate_chars(whole, limit)


@given(lines=CONTENTS, limit=st.integers(1, 200))
def test_joined_as_far_as_is_needed(lines: list[str], limit: int) -> None:
    assert truncate_chars(archive._joined(lines, limit), limit) == truncate_chars("\n".join(lines), limit)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_raw_archive(name: str) -> None:
    dialect = DIALECTS[name]
    rows = tuple(
        Row(f"m{n}", {"role": "user", "content": f"{n} <think>\n{'aside ' * 90}</think> said " * 20})
        for n in range(90)
    )
    text = "\n".join(transcript((row.value for row in rows), dialect))
    head = "[RAW] 90 messages\n"
    if dialect.compacts_requests:
        expected = truncate_chars(strip_think((head + text).rstrip(), dialect), archive.RAW_CHARS)
    else:
        expected = head + truncate_chars(text, archive.RAW_CHARS)
    assert raw_archive(rows, dialect) == expected


def test_tags_without_an_end_are_looked_for_once() -> None:
    lines = ["[RAW] 1 messages", "<think> and <thought> " * 200_000]
    assert len(archive._begun(lines, archive._TAGS[False], 16_000)) > 16_000
