"""Knobs and settings."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.errors import UsageError
from promptdbg.model import (
    Budget,
    Knob,
    Message,
    Section,
    SectionStatus,
    Settings,
    Source,
    Stage,
    StageKind,
    Value,
)

TOGGLE = Knob("memory", "Memory", "toggle", True)
NUMBER = Knob("window", "Window", "number", 1000, unit="tokens", minimum=0, maximum=2_000_000)
OPTIONAL = Knob("budget", "Budget", "number", None, optional=True)
CHOICE = Knob("dialect", "Dialect", "choice", "main", choices=("main", "0.3.5", "none"))
TEXT = Knob("channel", "Channel", "text", "cli")
ORDER = Knob("layers", "Layers", "order", ("a", "b"))


@pytest.mark.parametrize(
    ("knob", "text", "value"),
    [
        (TOGGLE, "on", True),
        (TOGGLE, " Yes ", True),
        (TOGGLE, "0", False),
        (TOGGLE, "off", False),
        (NUMBER, "128", 128),
        (NUMBER, "128_000", 128_000),
        (NUMBER, "128,000", 128_000),
        (NUMBER, "1,000,000", 1_000_000),
        (NUMBER, "1e5", 100_000),
        (NUMBER, "2.0", 2),
        (NUMBER, "0.5", 0.5),
        (OPTIONAL, "none", None),
        (OPTIONAL, "", None),
        (OPTIONAL, "-5", -5),
        (CHOICE, "0.3.5", "0.3.5"),
        (CHOICE, "none", "none"),
        (TEXT, "a=b, c", "a=b, c"),
        (TEXT, "none", "none"),
        (ORDER, "b, a,", ("b", "a")),
        (ORDER, "", ()),
    ],
)
def test_parse(knob: Knob, text: str, value: Value) -> None:
    parsed = knob.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("knob", "text", "hint"),
    [
        (TOGGLE, "maybe", "on or off"),
        (TOGGLE, "", "on or off"),
        (NUMBER, "many", "a number of tokens, 0 to 2,000,000"),
        (NUMBER, "-1", "a number of tokens, 0 to 2,000,000"),
        (NUMBER, "2000001", "a number of tokens, 0 to 2,000,000"),
        (NUMBER, "0,5", "a number"),
        (NUMBER, "1,00", "a number"),
        (NUMBER, "nan", "a number"),
        (NUMBER, "inf", "a number"),
        (NUMBER, "", "a number"),
        (NUMBER, "none", "a number"),
        (OPTIONAL, "1e999", "a number"),
        (OPTIONAL, "9" * 5000, "a number"),
        (CHOICE, "MAIN", "one of main, 0.3.5, none"),
        (CHOICE, "", "one of main"),
    ],
)
def test_parse_refuses_and_says_what_fits(knob: Knob, text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        knob.parse(text)
    assert knob.name in caught.value.what
    assert hint in caught.value.hint


def test_a_choice_called_none_is_a_choice_even_where_none_is_allowed() -> None:
    knob = Knob("level", "Level", "choice", None, choices=("none", "all"), optional=True)
    assert knob.parse("none") == "none"
    assert knob.parse("default") is None


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        (TOGGLE, 1),
        (TOGGLE, "on"),
        (NUMBER, True),
        (NUMBER, math.nan),
        (NUMBER, math.inf),
        (NUMBER, "5"),
        (CHOICE, "other"),
        (TEXT, 5),
        (ORDER, "a"),
        (NUMBER, None),
        (TOGGLE, None),
    ],
)
def test_check_refuses_another_kind(knob: Knob, value: Value) -> None:
    with pytest.raises(UsageError):
        knob.check(value)


@given(st.one_of(st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False)))
def test_every_number_parses_to_itself(number: float) -> None:
    assert OPTIONAL.parse(repr(number)) == number


@pytest.mark.parametrize("word", ["on", "off", "true", "false", "yes", "no", "1", "0"])
def test_every_toggle_word_fits(word: str) -> None:
    assert TOGGLE.check(TOGGLE.parse(word)) in (True, False)


def test_settings_change_without_changing_the_old_ones() -> None:
    empty = Settings()
    settings = (
        empty.with_value("window", 5)
        .with_off({"a"})
        .toggled("b")
        .with_priority("c", 2)
        .with_text("d", "x")
        .with_turn(3)
    )
    assert dict(settings.values) == {"window": 5}
    assert settings.off == {"a", "b"}
    assert dict(settings.priorities) == {"c": 2}
    assert dict(settings.texts) == {"d": "x"}
    assert settings.turn == 3
    assert settings.changed
    assert not empty.changed
    assert empty == Settings()
    back = settings.without_value("window").with_off(()).with_priority("c", None).with_text("d", None)
    assert back.with_turn(None) == empty


def test_a_turn_alone_is_no_change() -> None:
    assert not Settings().with_turn(4).changed


def test_settings_cannot_be_changed_in_place() -> None:
    settings = Settings().with_value("window", 5)
    with pytest.raises(TypeError):
        settings.values["window"] = 6  # type: ignore[index]


def test_overlay() -> None:
    base = Settings().with_value("a", 1).with_value("b", 1).with_off({"x"}).with_priority("p", 1).with_turn(2)
    over = Settings().with_value("b", 2).with_off({"y"}).with_priority("p", 3).with_text("t", "new")
    both = base.overlaid(over)
    assert dict(both.values) == {"a": 1, "b": 2}
    assert both.off == {"x", "y"}
    assert dict(both.priorities) == {"p": 3}
    assert dict(both.texts) == {"t": "new"}
    assert both.turn == 2
    assert base.overlaid(over.with_turn(5)).turn == 5
    assert base.overlaid(Settings()) == base


def test_message_has_exactly_the_keys_of_its_framework() -> None:
    message = Message(
        "m1",
        "assistant",
        None,
        3,
        tool_calls=[{"id": "c"}],
        extra={"reasoning_content": "hm"},
        wire=("role", "content", "reasoning_content", "tool_calls"),
    )
    assert list(message.to_json().items()) == [
        ("role", "assistant"),
        ("content", None),
        ("reasoning_content", "hm"),
        ("tool_calls", [{"id": "c"}]),
    ]


def test_stage_that_names_no_status_kept_everything() -> None:
    stage = Stage("s", StageKind.STEP, "S", (Message("m", "user", "x", 1),))
    assert stage.status_of("m").value == "kept"
    assert not stage.changed


def test_budget_left() -> None:
    assert Budget(100, 130, "tokens").left == -30
    assert Budget(None, 130, "tokens").left is None


@pytest.mark.parametrize(
    ("status", "lost"), [(s, s not in (SectionStatus.KEPT, SectionStatus.EMPTY)) for s in SectionStatus]
)
def test_what_is_lost(status: SectionStatus, lost: bool) -> None:
    section = Section("i", "i", "text", 0, "t", "", status, 0, 0, 0, 0, "bytes")
    assert section.lost is lost


def test_source_reads_as_people_write_it() -> None:
    assert str(Source("a/b.md")) == "a/b.md"
    assert str(Source("a/b.md", 3, 9)) == "a/b.md:3"
