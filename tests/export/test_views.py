"""The readings of a text: line breaks taken out, and that a run of blanks is walked once."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from promptdbg.export.views import views

BREAK = re.compile(r"[ \t]*\\?\r?\n[ \t]*")


@given(st.text("a \t\\\r\n", max_size=20))
def test_a_break_goes_with_its_blanks_and_its_backslash(text: str) -> None:
    unwrapped = [view.text for view in views(text) if view.unwrapped]
    assert unwrapped[:1] == ([BREAK.sub("", text)] if "\n" in text else [])


def test_a_long_run_of_blanks_is_walked_once() -> None:
    # A pattern tried at every blank of it would take far longer than the runner lets a test.
    text = (" " * 1_000_000 + "x\n") * 2
    assert [view.text for view in views(text)][-1] == " " * 1_000_000 + "xx"
