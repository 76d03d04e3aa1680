"""The bundled examples give the same document every time, and show what their question asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.analysis.cache import compare_prefix
from promptdbg.debug import OpenRequest
from promptdbg.model import SectionStatus
from tests.engines.golden import check_golden, opened

HERE = Path(__file__).parent


@pytest.mark.parametrize("example", ["orbiter-order", "orbiter-clock", "orbiter-nasty"])
def test_golden(example: str) -> None:
    debugger = opened(example)
    check_golden(HERE, example, debugger.assembly)
    manifest = debugger.opened.workspace.manifest
    assert manifest is not None
    for name, settings in manifest.scenarios.items():
        check_golden(HERE, f"{example}.{name}", debugger.preview(settings))


def test_the_order_is_the_documented_one_until_the_knob_says_otherwise() -> None:
    debugger = opened("orbiter-order")
    assert debugger.assembly.system_text.startswith("<system_info>")
    coded = debugger.set_knob("priority_order", "coded")
    assert coded.system_text.startswith("<task_info>")
    rule = coded.rule("orbiter.builder.order-documented")
    assert rule is not None
    assert "other way round" in rule.note


def test_a_neuron_can_be_switched_moved_and_budgeted() -> None:
    debugger = opened("orbiter-order")
    off = debugger.toggle("fact")
    assert "<facts>" not in off.system_text
    section = off.section("fact")
    assert section is not None
    assert section.status is SectionStatus.DISABLED
    debugger.undo()
    moved = debugger.apply(debugger.settings.with_priority("task", 1000), "task first")
    assert moved.system_text.startswith("<task_info>")
    tight = debugger.set_knob("neuron_budget", 80)
    assert tight.budget.limit == 80
    assert tight.budget.used <= 80
    assert any(d.rule == "orbiter.neuron.budget" for d in tight.decisions)


def test_one_entry_of_a_list_neuron_can_be_switched_off() -> None:
    assembly = opened("orbiter-order").toggle("fact/0")
    assert "fifteen centimetres wide" not in assembly.system_text
    assert "The cranes are a present." in assembly.system_text


def test_trusted_python_gives_its_neuron() -> None:
    untrusted = opened("orbiter-nasty").assembly.section("tone")
    trusted = opened("orbiter-nasty", OpenRequest(trust=True)).assembly.section("tone")
    assert untrusted is not None
    assert trusted is not None
    assert untrusted.output == ""
    assert trusted.output == "Keep a calm tone with Noor."


def test_the_clock_empties_the_cache_where_it_stands_first_and_not_where_it_stands_last() -> None:
    debugger = opened("orbiter-clock")
    counter = debugger.counter

    def shared(now: str, before: str) -> tuple[int, str, int]:
        here, there = (
            debugger.preview(debugger.opened.scenario(name) if name else debugger.base)
            for name in (now, before)
        )
        report = compare_prefix(there, here, counter)
        assert report.broken is not None
        assert report.broken.cause.startswith("a clock")
        return report.shared_tokens, report.broken.item, report.total_tokens

    first, item, total = shared("", "a-minute-before")
    assert item == "system"
    assert first < total * 0.1
    last, item, total = shared("as-coded", "as-coded-a-minute-before")
    assert item == "system"
    assert last > total * 0.9


def test_an_order_that_only_the_documentation_knows_is_said() -> None:
    debugger = opened("orbiter-order")
    assert [notice.code for notice in debugger.assembly.warnings] == ["orbiter.order-documented"]
    assert (
        debugger.assembly.engine.fidelity
        == "in the documented order, not in that of the code, all else is exact"
    )
    debugger.set_knob("priority_order", "coded")
    assert not debugger.assembly.warnings
    assert debugger.assembly.engine.fidelity == "exact"
