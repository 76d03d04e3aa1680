"""The Python interface, beside what the reference cases show."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from promptdbg.engines import orbiter
from promptdbg.errors import UsageError
from promptdbg.model import SectionStatus, Settings
from tests import invariants


class Text(orbiter.Neuron):
    def __init__(self, name: str, text: str, priority: Any = 50) -> None:
        super().__init__(name, priority=priority)
        self.text = text

    async def format(self, ctx: Any, **kwargs: Any) -> str:
        return self.text.format(**kwargs)


class Waiting(Text):
    async def format(self, ctx: Any, **kwargs: Any) -> str:
        await asyncio.sleep(0)
        return self.text


def context(**state: Any) -> orbiter.Context:
    return orbiter.Context("t", state=state, clock="2026-01-02T03:04:05+00:00", platform="Linux 6")


def test_it_reads_like_the_framework() -> None:
    builder = orbiter.PromptBuilder(context(facts=["a"])).add("system").add("fact")
    builder.add_neuron(Text("mine", "hello {who}", 70), who="you")
    assert builder.build() == (
        "<system_info>\nCurrent date: 2026-01-02\nCurrent time: 03:04:05 UTC\n"
        "Platform: Linux 6\n</system_info>"
        "\n\nhello you\n\n<facts>\n  - a\n</facts>"
    )
    assert len(builder) == 3
    builder.clear()
    assert builder.build() == ""


async def test_build_can_be_awaited_and_waiting_neurons_need_abuild() -> None:
    builder = orbiter.PromptBuilder(context()).add("task")
    assert await builder.build() == builder.build()
    builder.add_neuron(Waiting("slow", "late"))
    with pytest.raises(UsageError, match="abuild"):
        builder.build()
    assert (await builder.abuild()).startswith("late")


def test_a_waiting_neuron_is_fine_without_a_loop() -> None:
    assert orbiter.PromptBuilder(context()).add_neuron(Waiting("slow", "late")).build() == "late"


def test_an_unknown_name_is_refused_when_added() -> None:
    with pytest.raises(orbiter.PromptBuilderError, match="nobody"):
        orbiter.PromptBuilder(context()).add("nobody")


def test_priorities_that_cannot_be_sorted_fail_like_there() -> None:
    builder = orbiter.PromptBuilder(context()).add("task").add_neuron(Text("x", "x", "high"))
    with pytest.raises(TypeError):
        builder.build()
    failure = builder.assembly().failure
    assert failure is not None
    assert failure.error == "TypeError"


def test_an_entry_of_the_wrong_kind_fails_like_there() -> None:
    builder = orbiter.PromptBuilder(context(todos=["not a table"])).add("todo")
    with pytest.raises(AttributeError):
        builder.build()
    assembly = builder.assembly()
    invariants.check(assembly)
    assert assembly.failure is not None
    assert assembly.failure.error == "AttributeError"


def test_an_old_wrong_entry_outside_the_window_does_no_harm() -> None:
    history = ["broken", *({"role": "user", "content": str(n)} for n in range(2))]
    ctx = orbiter.Context("t", config=orbiter.ContextConfig(history_rounds=1), state={"history": history})
    assert "[user]: 1" in orbiter.PromptBuilder(ctx).add("history").build()


def test_the_newer_generation_doubles_its_limit_for_the_history() -> None:
    history = [{"role": "user", "content": str(n)} for n in range(5)]
    ctx = orbiter.Context("t", config=orbiter.LimitConfig(limit=2), state={"history": history})
    text = orbiter.PromptBuilder(ctx).add("history").build()
    assert "[user]: 0" not in text
    assert "[user]: 1" in text


def test_a_renamed_builtin_keeps_its_format() -> None:
    builder = orbiter.PromptBuilder(context(facts=["a"])).add_neuron(orbiter.FactNeuron("known", priority=3))
    assembly = builder.assembly()
    assert assembly.section("known/0") is not None
    assert builder.build() == "<facts>\n  - a\n</facts>"


def test_variables_walk_plain_data_and_objects_of_the_program() -> None:
    class Plain:
        label = "L"

    registry = orbiter.DynamicVariableRegistry()
    registry.register("up")(lambda state: state.get("name", "?").upper())
    ctx = context(name="ada", n=7, t=True, none=None, items=["x"], obj=Plain())
    template = (
        "${up} ${n.real} ${t.real} ${none} ${items.0} ${items} ${obj.label} ${name.upper} "
        "${n.__class__.__name__} ${} ${n"
    )
    text = orbiter.PromptBuilder(ctx, variables=registry).add_neuron(Text("v", "{t}"), t=template).build()
    assert text == ("ADA 7 1 None ${items.0} ['x'] L <attribute 'upper' of str> int ${} ${n")


def test_a_long_run_of_openings_is_no_trap() -> None:
    registry = orbiter.DynamicVariableRegistry()
    assert registry.resolve_template("${" * 200_000, {}) == "${" * 200_000
    assert registry.resolve_template("${}" * 100_000, {}) == "${}" * 100_000


def test_the_budget_drops_the_lowest_priority_first_and_names_itself_ours() -> None:
    builder = orbiter.PromptBuilder(context(), neuron_budget=2)
    for name, priority in (("low", 1), ("high", 9), ("middle", 5)):
        builder.add_neuron(Text(name, name, priority))
    assembly = builder.assembly()
    invariants.check(assembly)
    dropped = [s.id for s in assembly.sections if s.status is SectionStatus.DROPPED]
    assert dropped == ["middle", "low"]
    assert builder.build() == "high"
    rule = assembly.rule("orbiter.neuron.budget")
    assert rule is not None
    assert rule.framework == "promptdbg"


def test_a_text_can_be_edited() -> None:
    builder = orbiter.PromptBuilder(context(facts=["a", "b"])).add("fact")
    part = builder.assembly(settings=Settings(texts={"fact/0": "  - changed"}))
    whole = builder.assembly(settings=Settings(texts={"fact": "all new"}))
    for assembly in (part, whole):
        invariants.check(assembly)
    assert part.system_text == "<facts>\n  - changed\n  - b\n</facts>"
    assert whole.system_text == "all new"


def test_estimates_of_the_newer_counter() -> None:
    assert orbiter.encoding_of("anthropic:claude-sonnet-4-6") == "cl100k_base"
    assert orbiter.encoding_of("gpt-4-0613") == "cl100k_base"
    assert orbiter.encoding_of("gpt-4o-2024") == "o200k_base"
    assert orbiter.estimate_tokens("") == 1
    assert orbiter.estimate_tokens("x" * 37, "gpt-4") == 10
    assert orbiter.estimate_messages([{"role": "user", "content": "x" * 42}]) == 3 + 1 + 10 + 3
