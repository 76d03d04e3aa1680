"""Changes in the words a person would use."""

from __future__ import annotations

import pytest

from promptdbg.analysis import phrases
from promptdbg.model import Knob, Source

WINDOW = Knob("window", "Context window", "number", 700, unit="tokens", zero="no limit at all")
DEPTH = Knob("depth", "Import depth", "number", 5, unit="count")
SHARE = Knob("share", "Conversation share", "number", 0.6)
GMI = Knob("gmi", "GMI history limit", "number", 4, unit="messages")


@pytest.mark.parametrize(
    ("knob", "now", "value", "words"),
    [
        (WINDOW, 700, 1743, "raise the context window to 1,743 tokens (1,043 more)"),
        (WINDOW, 700, 650, "lower the context window to 650 tokens (50 less)"),
        (WINDOW, 700, 0, "set the context window to 0 (no limit at all)"),
        (DEPTH, 5, 0, "lower the import depth to 0 (5 less)"),
        (SHARE, 0.6, 0.65, "raise the conversation share to 0.65 (0.05 more)"),
        (SHARE, 0.6, 0.0, "lower the conversation share to 0 (0.6 less)"),
        (GMI, 0, 1, "raise the GMI history limit to 1 message (1 more)"),
    ],
)
def test_a_number(knob: Knob, now: float, value: float, words: str) -> None:
    assert phrases.turned(knob, now, value) == words


def test_a_toggle_and_a_choice() -> None:
    assert phrases.chosen(Knob("m", "Memory", "toggle", True), False) == "switch the memory off"
    profile = Knob("profile", "Profile", "choice", "tiny", choices=("tiny", "la\x1brge"))
    assert phrases.chosen(profile, "large") == "set the profile to large"


@pytest.mark.parametrize(
    ("names", "tokens", "words"),
    [
        (["tool result m19"], 18, "switch off tool result m19 (18 tokens)"),
        (["a"], 1, "switch off a (1 token)"),
        (["a", "b", "c\x1b[31m"], 1800, "switch off a, b and c␛[31m (1,800 tokens)"),
    ],
)
def test_items(names: list[str], tokens: int, words: str) -> None:
    assert phrases.switched_off(names, tokens) == words


def test_messages_are_named_by_what_they_are() -> None:
    assert phrases.message_name("tool", "m19") == "tool result m19"
    assert phrases.message_name("assistant", "m4") == "assistant m4"
    assert phrases.message_name("system", "system") == "system message"
    for folder in ("/home/x/ws/", "C:\\ws\\"):
        source = Source(f"{folder}session.jsonl", 21)
        assert phrases.message_name("tool", "m19", source) == "tool result m19 at session.jsonl:21"


def test_a_priority_and_a_shorter_text() -> None:
    assert phrases.ranked("quiet", 3, 4) == "raise the priority of quiet to 4 (now 3)"
    assert phrases.ranked("quiet", 3, 2.5) == "lower the priority of quiet to 2.5 (now 3)"
    assert phrases.shortened("a.md", 2, 4, 28) == "keep only the first 2 of 4 lines of a.md (28 tokens less)"
    assert phrases.shortened("a.md", 1, 4, 28) == "keep only the first of 4 lines of a.md (28 tokens less)"
