"""The readings of a text: line breaks taken out, and that a run of blanks costs nothing."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from promptdbg.export.views import views

BREAK = re.compile(r"[ \t]*\\?\r?\n[ \t]*")


@given(st.text("a \t\\\r\n", max_size=20))
def test_a_break_goes_with_its_blanks_and_its_backslash(text: str) -> None:
    unwrapped = [view.text for view in views(text) if view.unwrapped]
    assert unwrapped[:1] == ([BREAK.sub("", text)] if "\n" in text else [])


def test_a_long_run_of_blanks_is_read_in_no_time() -> None:
    text = (" " * 300_000 + "x\n") * 2
    began = time.process_time()
    assert [view.text for view in views(text)][-1] == " " * 300_000 + "xx"
    assert time.process_time() - began < 2
