"""The report, as lines for a person and as a document."""

from __future__ import annotations

import json

from promptdbg.model import Failure, Notice, Source
from promptdbg.verify.report import ABSENT, Difference, StageReport, VerifyReport, lines, to_json

EQUAL = VerifyReport(
    "nanobot",
    "0.3.5",
    "/venv/bin/python",
    (StageReport("outcome", None), StageReport("session", 4), StageReport("final", 6)),
)
DIFFERENT = VerifyReport(
    "nanobot",
    "0.2.2",
    "/venv/bin/python",
    (
        StageReport("session", 1),
        StageReport(
            "final",
            2,
            (
                Difference("message 1 content", "a" * 500 + "\x1b[31mours", "a" * 500 + "real\u202e"),
                Difference("message 1 name", ABSENT, None),
                Difference("estimate", 12, 13),
            ),
        ),
    ),
    failure_real=Failure("KeyError", "session/manager.py::get_history", "'role'"),
    notices=(Notice("verify.not-copied", "not copied: is a link", Source("/w/SOUL.md")),),
)


def test_equal() -> None:
    assert EQUAL.equal
    assert EQUAL.differences == 0
    assert list(lines(EQUAL)) == [
        "nanobot 0.3.5 on /venv/bin/python",
        "same       outcome",
        "same       session  4 messages",
        "same       final  6 messages",
        "no difference in 3 comparisons",
    ]


def test_different() -> None:
    assert not DIFFERENT.equal
    text = list(lines(DIFFERENT))
    assert "DIFFERENT  final  2 messages" in text
    assert "      ours: 12" in text
    assert "      real: null" in text
    assert "      ours: (absent)" in text
    assert "note: /w/SOUL.md: not copied: is a link" in text
    assert text[-1] == "3 differences"
    assert any(line.startswith("the real framework raises KeyError in session/manager.py") for line in text)


def test_long_texts_are_shown_where_they_part() -> None:
    (ours,) = [line for line in lines(DIFFERENT) if "ours" in line and "from character" in line]
    assert "from character 460: " in ours
    assert len(ours) < 200


def test_lines_are_safe_for_a_terminal() -> None:
    text = "\n".join(lines(DIFFERENT))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_document_has_the_exact_values() -> None:
    document = json.loads(json.dumps(to_json(DIFFERENT)))
    assert document["schema"] == "promptdbg/verify/1"
    assert document["equal"] is False
    first, second, third = document["stages"][1]["differences"]
    assert first["ours"] == "a" * 500 + "\x1b[31mours"
    assert second == {"where": "message 1 name", "real": None}
    assert third == {"where": "estimate", "ours": 12, "real": 13}
    assert document["failure"]["real"]["error"] == "KeyError"
    assert document["failure"]["ours"] is None
    assert document["notices"][0]["source"] == "/w/SOUL.md"


def test_one_of_each_is_told_as_one() -> None:
    equal = VerifyReport("nanobot", "0.3.5", "/python", (StageReport("session", 1),))
    assert list(lines(equal))[1:] == ["same       session  1 message", "no difference in 1 comparison"]
    other = StageReport("final", 2, (Difference("estimate", 12, 13),))
    assert list(lines(VerifyReport("nanobot", "0.3.5", "/python", (other,))))[-1] == "1 difference"
