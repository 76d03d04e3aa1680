"""Properties of the prompt, for any neurons, variables and budget."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.engines.orbiter import ContextState, DynamicVariableRegistry
from promptdbg.engines.orbiter.assemble import assemble
from promptdbg.engines.orbiter.inputs import Condition, Entry, OrbiterInputs
from promptdbg.engines.orbiter.variables import placeholders
from promptdbg.model import Assembly, SectionStatus, Settings
from promptdbg.tokens import tokenizer
from tests import invariants

TEXTS = st.text(st.sampled_from("ab${}.\n x"), max_size=12)
BUILTINS = ("history", "todo", "fact", "task", "system")
STATES = st.fixed_dictionaries(
    {
        "a": st.one_of(st.none(), st.integers(), TEXTS, st.lists(st.integers(), max_size=2)),
        "facts": st.lists(TEXTS, max_size=4),
        "history": st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS}), max_size=6),
        "todos": st.one_of(st.none(), st.lists(st.fixed_dictionaries({"item": TEXTS}), max_size=2)),
    }
)


@st.composite
def inputs(draw: st.DrawFn) -> OrbiterInputs:
    entries = []
    for number in range(draw(st.integers(0, 6))):
        priority = draw(st.integers(0, 3))
        name = draw(st.sampled_from((*BUILTINS, "custom")))
        if name == "custom":
            when = draw(st.sampled_from([None, Condition("a"), Condition("a", negated=True)]))
            text = draw(TEXTS)
            entries.append(Entry(f"c{number}", "c", "custom", priority, text=text, condition=when))
        else:
            entries.append(Entry(f"{name}#{number}", name, "builtin", priority))
    registry = DynamicVariableRegistry() if draw(st.booleans()) else None
    if registry is not None:
        registry.register("x", draw(TEXTS) or "v")
    return OrbiterInputs(
        workspace="",
        entries=tuple(entries),
        state=ContextState(draw(STATES)),
        separator=draw(st.sampled_from(["\n\n", "", "${", "}"])),
        registry=registry,
        numbers={"history_rounds": draw(st.integers(1, 3))},
        clock="2026-01-01T00:00:00",
        platform="P",
    )


@st.composite
def choices(draw: st.DrawFn) -> Settings:
    values: dict[str, Any] = {"priority_order": draw(st.sampled_from(["documented", "coded"]))}
    if draw(st.booleans()):
        values["neuron_budget"] = draw(st.integers(0, 120))
    off = draw(st.frozensets(st.sampled_from(["c0", "c1", "fact#1", "fact#1/0", "history#0/1"]), max_size=2))
    texts = draw(st.dictionaries(st.sampled_from(["c0", "fact#0/0", "history#1"]), TEXTS, max_size=1))
    return Settings(values=values, off=off, texts=texts)


@given(inputs(), choices())
@settings(max_examples=250, deadline=None)
def test_every_assembly_holds_its_invariants(given_inputs: OrbiterInputs, chosen: Settings) -> None:
    assembly = assemble(given_inputs, chosen, tokenizer())
    invariants.check(assembly)
    assert assemble(given_inputs, chosen, tokenizer()) == assembly
    _ordered(assembly, chosen.values["priority_order"] == "documented")
    _tiled(assembly)


def _ordered(assembly: Assembly, high_first: bool) -> None:
    """By priority, and as added among equals."""
    tops = [section for section in assembly.sections if section.parent is None]
    keys = [
        (section.priority or 0, int(section.id.lstrip("abcdefghijklmnopqrstuvwxyz#"))) for section in tops
    ]
    assert keys == sorted(keys, key=lambda key: (-key[0] if high_first else key[0], key[1]))


def _tiled(assembly: Assembly) -> None:
    """Kept neurons stand in the prompt one after the other, without overlap."""
    end = 0
    for section in assembly.sections:
        if section.parent is None and section.output:
            assert section.offset is not None
            assert section.offset >= end
            end = section.offset + len(section.output)
    assert end <= len(assembly.system_text)


@given(inputs(), st.integers(0, 100), st.integers(0, 60), st.sampled_from(["documented", "coded"]))
@settings(max_examples=120, deadline=None)
def test_a_larger_budget_never_keeps_less(
    given_inputs: OrbiterInputs, small: int, more: int, order: str
) -> None:
    def kept(budget: int) -> set[str]:
        chosen = Settings(values={"neuron_budget": budget, "priority_order": order})
        assembly = assemble(given_inputs, chosen, tokenizer())
        lost = (SectionStatus.DROPPED, SectionStatus.EMPTY)
        return {s.id for s in assembly.sections if s.parent is None and s.status not in lost}

    assert kept(small) <= kept(small + more)


@given(st.text(st.sampled_from("${}ab"), max_size=30))
def test_placeholders_are_those_of_the_framework_s_pattern(template: str) -> None:
    import re

    pattern = re.compile(r"\$\{([^}]+)\}")
    found = [(match.start(), match.end(), match[1]) for match in pattern.finditer(template)]
    assert list(placeholders(template)) == found
