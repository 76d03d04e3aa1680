"""``fixes``: every fix works when applied, and one step less does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.analysis.fixes import Cancelled, Fix, fixes
from promptdbg.analysis.tried import Tried, lost_items, whole_items
from promptdbg.model import Assembly, Settings

from .conftest import Made, Make


def found(made: Made, tried: Settings, item: str) -> tuple[Fix, ...]:
    return fixes(made.assemble, tried, made.knobs, item)


def test_a_section_over_the_cap(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "line of text\n" * 50}])
    offers = {fix.kind: fix for fix in found(made, Settings(), "a")}
    assert offers["knob"].settings.values == {"cap": 650}
    assert offers["knob"].text == "raise the cap of a section to 650 chars (250 more)"
    assert offers["shorten"].settings.texts["a"] == "line of text\n" * 30
    assert set(offers) == {"knob", "shorten"}


def test_a_section_over_the_budget(make: Make) -> None:
    made = make(
        sections=[
            {"name": "big", "text": "word " * 60, "priority": 5},
            {"name": "small", "text": "word " * 10, "priority": 4},
            {"name": "rule", "text": "never use tabs", "priority": 1},
        ]
    )
    tried = Settings().with_value("budget", 72)
    assert lost_items(made.assemble(tried)) == ("rule",)
    offers = found(made, tried, "rule")
    by_kind = {fix.kind: fix for fix in offers}
    assert by_kind["knob"].settings.values["budget"] == sum(
        section.tokens for section in made.assemble().sections
    )
    assert by_kind["off"].settings.off == {"small"}
    assert by_kind["priority"].settings.priorities == {"rule": 5}
    assert by_kind["priority"].pushes_out == ("small",)
    assert by_kind["off"].pushes_out == ()


def test_a_trimmed_message(make: Make) -> None:
    rows = [{"role": role, "content": f"{role} {n}"} for n in range(4) for role in ("user", "assistant")]
    made = make(messages=rows)
    tried = Settings().with_value("keep", 5).with_value("merge", False)
    offers = {fix.kind: fix for fix in found(made, tried, "m1")}
    assert offers["knob"].settings.values["keep"] == 7
    assert len(offers["off"].settings.off) == 2


def test_what_was_tried_for_one_item_serves_the_next(make: Make) -> None:
    rows = [{"role": role, "content": f"{role} {n}"} for n in range(4) for role in ("user", "assistant")]
    made = make(messages=rows)
    now = Settings().with_value("keep", 2)
    lost = lost_items(made.assemble(now))
    assert len(lost) > 2
    assemblies = 0

    def counted(settings: Settings) -> Assembly:
        nonlocal assemblies
        assemblies += 1
        return made.assemble(settings)

    alone = {item: fixes(counted, now, made.knobs, item) for item in lost}
    separately, assemblies = assemblies, 0
    tried = Tried(counted, now)
    together = {item: fixes(counted, now, made.knobs, item, tried=tried) for item in lost}
    assert together == alone
    assert assemblies < separately / 2


def test_what_is_whole_or_switched_off(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "short"}])
    assert found(made, Settings(), "a") == ()
    (fix,) = found(made, Settings().toggled("a"), "a")
    assert fix.kind == "on"


def test_the_search_can_be_stopped(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "line of text\n" * 50}])
    with pytest.raises(Cancelled):
        fixes(made.assemble, Settings(), made.knobs, "a", stop=lambda: True)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=2, max_size=6),
    priorities=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    budget=st.integers(0, 120),
    cap=st.integers(1, 200),
)
def test_every_fix_works_and_a_step_less_does_not(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], priorities: list[int], budget: int, cap: int
) -> None:
    sections = [
        {"name": f"s{n}", "text": "word\n" * size, "priority": priorities[n]} for n, size in enumerate(sizes)
    ]
    made = Made(tmp_path_factory.mktemp("w"), {"sections": sections})
    tried = Settings().with_value("budget", budget).with_value("cap", cap)
    for item in lost_items(made.assemble(tried)):
        for fix in found(made, tried, item):
            after = whole_items(made.assemble(fix.settings))
            assert item in after, fix
            before = whole_items(made.assemble(tried))
            gone = {i for i in before - after if i.startswith("s")} - fix.settings.off
            assert set(fix.pushes_out) - {"system"} == gone - {"system"}
            for name, value in fix.settings.values.items():
                if value != tried.values[name]:
                    assert isinstance(value, int)
                    less = value - 1 if value > tried.values[name] else value + 1  # type: ignore[operator]
                    assert item not in whole_items(made.assemble(tried.with_value(name, less)))
            if fix.kind == "off":
                for one in fix.settings.off:
                    fewer = fix.settings.toggled(one)
                    assert item not in whole_items(made.assemble(fewer))
