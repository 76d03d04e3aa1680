"""Presets of models turn the knobs that an engine has for a window and an answer."""

from __future__ import annotations

import pytest

from promptdbg.analysis.presets import PRESETS, preset_knob, preset_value, with_preset
from promptdbg.engines import ENGINE_NAMES, engine
from promptdbg.model import Knob, Settings

WINDOW = Knob("window", "Context window", "number", 700, role="window")
ANSWER = Knob("reserve", "Answer reserve", "number", 100, role="answer")
OTHER = Knob("cap", "Cap", "number", 5)


def test_a_preset_sets_both_figures_and_is_told_by_them() -> None:
    knobs = (WINDOW, ANSWER, OTHER)
    for preset in PRESETS:
        made = with_preset(knobs, Settings().with_value("cap", 7), preset.name)
        assert made.values == {"cap": 7, "window": preset.window, "reserve": preset.answer}
        assert preset_value(knobs, made) == preset.name
    assert preset_value(knobs, Settings()) is None
    assert with_preset(knobs, made, None).values == {"cap": 7}


def test_where_there_is_a_window_alone_and_where_there_is_none() -> None:
    made = with_preset((WINDOW, OTHER), Settings(), "gpt-4o")
    assert made.values == {"window": 128_000}
    assert preset_value((WINDOW, OTHER), made) == "gpt-4o"
    assert preset_knob((WINDOW,)) is not None
    assert preset_knob((OTHER,)) is None


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_every_value_fits_the_engine_s_knobs(name: str) -> None:
    knobs = {knob.name: knob for knob in engine(name).knobs(None)}
    for preset in PRESETS:
        for knob, value in with_preset(tuple(knobs.values()), Settings(), preset.name).values.items():
            assert knobs[knob].check(value) == value
