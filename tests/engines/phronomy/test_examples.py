"""The bundled examples give the same document every time, and show what their question asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.model import SectionStatus, StageKind
from tests.engines.golden import check_golden, opened

HERE = Path(__file__).parent


@pytest.mark.parametrize("example", ["phronomy-forgotten", "phronomy-nasty"])
def test_golden(example: str) -> None:
    debugger = opened(example)
    check_golden(HERE, example, debugger.assembly)
    manifest = debugger.opened.workspace.manifest
    assert manifest is not None
    for name, settings in manifest.scenarios.items():
        check_golden(HERE, f"{example}.{name}", debugger.preview(settings))


def test_the_order_number_is_not_even_tried() -> None:
    assembly = opened("phronomy-forgotten").assembly
    decision = assembly.decisions_on("m0")[-1]
    assert decision.rule == "phronomy.messages.fit"
    assert "not tried" in decision.because
    assert decision.measured is not None
    assert decision.limit is not None
    assert decision.measured < decision.limit


def test_a_plan_at_its_limit_fails_in_the_last_check() -> None:
    failure = opened("phronomy-nasty").set_knob("max_input_tokens", 136).failure
    assert failure is not None
    assert failure.error == "Phronomy::Context::BudgetExceededError"
    assert "137" in failure.message


def test_every_generation_opens_the_same_workspace() -> None:
    debugger = opened("phronomy-forgotten")
    for generation in ("1", "2-trims", "2-raises", "3"):
        assembly = debugger.set_knob("generation", generation)
        assert (assembly.failure is not None) is (generation == "2-raises")


def test_the_knobs_of_the_policy_change_the_picture() -> None:
    debugger = opened("phronomy-nasty")
    assert "q1" not in _final(debugger.assembly)
    assert "q1" in _final(debugger.toggle("prices"))
    debugger.undo()
    required = debugger.set_knob("required", ("rules", "q1"))
    assert "q1" in _final(required)
    debugger.undo()
    tight = debugger.set_knob("max_input_tokens", 120)
    prices = tight.section("prices")
    assert prices is not None
    assert prices.status is SectionStatus.DROPPED


def test_the_trusted_flag_and_the_tokenizer_are_live() -> None:
    debugger = opened("phronomy-nasty")
    debugger.set_knob("generation", "2-trims")
    plain = debugger.assembly.system_text
    assert plain.count('trusted="true"') == 1
    assert debugger.set_knob("trusted", ()).system_text.count('trusted="true"') == 0
    before = debugger.assembly.budget.used
    assert debugger.set_knob("tokenizer", "bytes").budget.used > before


def _final(assembly: object) -> list[str]:
    final = assembly.stage(StageKind.FINAL)  # type: ignore[attr-defined]
    assert final is not None
    return [message.id for message in final.messages]
