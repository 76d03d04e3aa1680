"""The knob that an engine names for its limit moves the limit; shares have a range."""

from __future__ import annotations

import pytest

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.errors import UsageError
from promptdbg.examples import FOLDER, examples
from promptdbg.model import Value
from promptdbg.tui.changes import knob_stepped
from promptdbg.tui.picture import picture_of

NAMES = [example.name for example in examples()]


def _debugger(name: str) -> Debugger:
    return Debugger(open_workspace(FOLDER / name, OpenRequest(now="2026-01-01T00:00:00+00:00")))


def _turned(debugger: Debugger) -> tuple[int | None, int | None]:
    """The limit before and after some steps of the budget's knob."""
    knob, before = picture_of(debugger).budget_knob, debugger.assembly.budget.limit
    assert knob is not None
    change = knob_stepped(knob, 3, before)
    return before, debugger.apply(change.change(debugger.settings), "turned").budget.limit


@pytest.mark.parametrize("name", NAMES)
def test_the_budgets_knob_moves_the_limit(name: str) -> None:
    before, after = _turned(_debugger(name))
    assert after is not None
    assert after > (before or 0)


@pytest.mark.parametrize(
    ("name", "settings", "knob"),
    [
        ("agentos-window", {}, "window"),
        ("agentos-window", {"optimal": 500}, "optimal"),
        ("agentos-nasty", {"optimal": 0}, "window"),
        ("nanobot-lost-rule", {"dialect": "0.2.2", "block_limit": 5000}, "block_limit"),
        ("phronomy-nasty", {}, "max_input_tokens"),
        ("phronomy-nasty", {"max_input_tokens": 0}, "max_input_tokens"),  # it fails, and can be turned back
        ("phronomy-forgotten", {}, "context_window"),
        ("bee-nasty", {"budget": 0}, "budget"),
    ],
)
def test_it_is_the_one_that_sets_the_limit_as_things_are(
    name: str, settings: dict[str, Value], knob: str
) -> None:
    debugger = _debugger(name)
    for key, value in settings.items():
        debugger.set_knob(key, value)
    assert debugger.assembly.budget.knob == knob
    before, after = _turned(debugger)
    assert after != before


SHARES = [
    ("agentos-window", "trigger_ratio"),
    ("bee-nasty", "threshold"),
    ("nanobot-lost-rule", "consolidation_ratio"),
    ("orbiter-order", "trigger"),
    ("phronomy-nasty", "share"),
]


@pytest.mark.parametrize(("name", "share"), SHARES)
def test_a_share_cannot_be_a_number_of_tokens(name: str, share: str) -> None:
    debugger = _debugger(name)
    with pytest.raises(UsageError, match=f"knob {share} cannot be 650"):
        debugger.set_knob(share, 650)


@pytest.mark.parametrize("name", NAMES)
def test_every_number_with_a_fraction_has_a_range(name: str) -> None:
    for knob in _debugger(name).opened.knobs:
        if knob.kind == "number" and knob.step < 1:
            assert knob.minimum is not None, knob.name
            assert knob.maximum is not None, knob.name
            assert knob.unit is None, knob.name
