"""JavaScript's rules, by facts of the language (the differential tests ask node itself)."""

from __future__ import annotations

import math

import pytest

from promptdbg.engines.agentos import js


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (-2.5, "-2.5"),
        (2**53 + 1, "9007199254740992"),
        (5e-324, "5e-324"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_numbers_print_as_in_javascript(number: float, text: str) -> None:
    assert js.number_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.125, "0.13"), (1.005, "1.00"), (-0.001, "-0.00"), (-0.0, "0.00"), (2, "2.00"), (1e21, "1e+21")],
)
def test_fixed_rounds_the_exact_value_half_away_from_zero(number: float, text: str) -> None:
    assert js.fixed(number, 2) == text


def test_json_has_no_blanks_and_orders_indexes_first() -> None:
    assert js.stringify({"b": 1.0, "2": None, "1": [True, math.nan], "01": "é\u2028"}) == (
        '{"1":[true,null],"2":null,"b":1,"01":"é\u2028"}'
    )


def test_json_escapes_only_surrogates_without_a_partner() -> None:
    assert js.stringify("\ud83c" + "\udf75") == '"🍵"'
    assert js.stringify("\ud83c!") == '"\\ud83c!"'


def test_a_cut_counts_utf16_units_and_may_split_a_character() -> None:
    assert js.substring("🍵🍵", 2) == "🍵"
    assert js.substring("🍵🍵", 3) == "🍵\ud83c"
    assert js.substring("abc", math.nan) == ""
    assert js.substring("abc", -1) == ""
    assert js.substring("abc", math.inf) == "abc"


def test_trim_takes_what_javascript_takes() -> None:
    assert js.trim("\ufeff\u3000 a\x85\u2028") == "a\x85"


@pytest.mark.parametrize("value", [[], {}, "0", -1, [0]])
def test_true_in_javascript(value: object) -> None:
    assert js.truthy(value)


@pytest.mark.parametrize("value", [0, "", None, False, math.nan, js.UNDEFINED])
def test_false_in_javascript(value: object) -> None:
    assert not js.truthy(value)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("", 0),
        (" 12 ", 12),
        ("0x1f", 31),
        ("1e2", 100),
        (None, 0),
        (True, 1),
        ([7], 7),
        ("-Infinity", -math.inf),
    ],
)
def test_numbers_are_read_from_other_kinds(value: object, number: float) -> None:
    assert js.to_number(value) == number


@pytest.mark.parametrize("value", ["1_000", "12px", {}, [1, 2], js.UNDEFINED, "١"])
def test_what_is_no_number(value: object) -> None:
    assert math.isnan(js.to_number(value))


def test_division_by_zero() -> None:
    assert js.divide(1, 0) == math.inf
    assert js.divide(-1, 0) == -math.inf
    assert math.isnan(js.divide(0, 0))


def test_reading_null_throws() -> None:
    with pytest.raises(js.JsError):
        js.get(None, "content")


def test_plain_drops_what_json_cannot_carry() -> None:
    value = {"a": js.UNDEFINED, "b": math.nan, "c": (1, js.UNDEFINED), "d": 10**400}
    assert js.plain(value) == {"b": None, "c": [1, None], "d": None}


def test_plain_refuses_what_is_too_deep() -> None:
    value: object = 0
    for _ in range(500):
        value = [value]
    with pytest.raises(js.TooDeep):
        js.plain(value)
