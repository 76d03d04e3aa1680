"""What of a message still stands in what is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.analysis import cut
from promptdbg.analysis.cut import message_spans
from promptdbg.model import Span

LINES = "".join(f"line {number} of it\n" for number in range(100))


@pytest.fixture(params=[10**6, 0], ids=["compared", "long"])
def length(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of looking, that of short texts and that of long ones."""
    monkeypatch.setattr(cut, "_COMPARED_MAX", request.param)


@pytest.mark.usefixtures("length")
@pytest.mark.parametrize(
    ("sent", "spans"),
    [
        (LINES, ()),
        (None, (Span(0, len(LINES), False),)),
        ("", (Span(0, len(LINES), False),)),
        ("[dropped]", (Span(0, len(LINES), False),)),
        (LINES[:500] + "\n… cut", (Span(0, 500, True), Span(500, len(LINES), False))),
        ("stored\n" + LINES[:500] + "\n… cut", (Span(0, 500, True), Span(500, len(LINES), False))),
        (
            "cut …\n" + LINES[-320:],
            (Span(0, len(LINES) - 320, False), Span(len(LINES) - 320, len(LINES), True)),
        ),
        ("before\n" + LINES + "\nafter", ()),
    ],
)
def test_what_is_lost_of_a_message(sent: str | None, spans: tuple[Span, ...]) -> None:
    found = message_spans(LINES, sent)
    assert [span.kept for span in found] == [span.kept for span in spans]
    for one, other in zip(found, spans, strict=True):  # a line break or a word may fall to either side
        assert abs(one.start - other.start) < 8
        assert abs(one.end - other.end) < 8


TEXT = st.text(alphabet="ab \n", max_size=60)


@given(TEXT, st.one_of(st.none(), TEXT), st.booleans())
def test_spans_are_the_whole_text_and_what_is_kept_is_sent(text: str, sent: str | None, long: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut, "_COMPARED_MAX", 0 if long else 10**6)
        spans = message_spans(text, sent)
    if not spans:
        return
    assert [span.start for span in spans] == [0, *(span.end for span in spans[:-1])]
    assert spans[-1].end == len(text)
    at = 0
    for span in spans:
        if span.kept:
            assert sent is not None
            at = sent.index(text[span.start : span.end], at) + span.end - span.start


def test_a_text_that_is_sent_whole_has_no_spans() -> None:
    assert message_spans("", None) == ()
    assert message_spans("a", "a") == ()
