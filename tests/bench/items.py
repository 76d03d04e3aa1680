"""Ten thousand of everything an engine takes, one kind at a time, with nothing lost and with much lost."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from promptdbg.engines.agentos import ENGINE as AGENTOS
from promptdbg.engines.agentos.components import prepare
from promptdbg.engines.agentos.config import merged
from promptdbg.engines.agentos.load import AgentosInputs
from promptdbg.engines.base import AnyEngine, Inputs
from promptdbg.engines.bee.engine import ENGINE as BEE
from promptdbg.engines.orbiter.engine import ENGINE as ORBITER
from promptdbg.engines.orbiter.inputs import Entry, OrbiterInputs
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry
from promptdbg.engines.phronomy.engine import ENGINE as PHRONOMY
from promptdbg.engines.phronomy.inputs import PhronomyInputs
from promptdbg.engines.phronomy.items import Item
from promptdbg.model import Settings
from promptdbg.tokens import tokenizer
from tests.bench.measuring import Result, best, bound, growth
from tests.engines.bee import test_speed as bee

_COUNT = 10_000
_NOTHING = Settings()
_PLENTY = 10**9

Case = tuple[str, AnyEngine, Inputs, Settings]


def many() -> Iterator[Result]:
    """Every kind of item; token counts are cached, as they are after the first time."""
    counter = tokenizer()
    for what, engine, inputs, settings in (*_orbiter(), *_bee(), *_phronomy(), *_agentos()):
        engine.assemble(inputs, settings, counter)
        spent = best(lambda e=engine, i=inputs, s=settings: e.assemble(i, s, counter))  # type: ignore[misc]
        yield bound(f"{engine.name}: assemble {_COUNT:,} {what}", spent, 0.1)


def importing() -> Iterator[Result]:
    """A bee workspace opened and assembled whose rules name many files, all found or none."""
    with tempfile.TemporaryDirectory() as folder:
        for what, made in (("imports", bee.imports), ("searches for no file", bee.searches)):
            yield growth(f"bee: 1,000 {what}, to 100", partial(made, Path(folder) / made.__name__), 100)


def _orbiter() -> Iterator[Case]:
    entries = tuple(Entry(f"n{i}", f"n{i}", "custom", i % 10, text=f"text {i}") for i in range(_COUNT))
    plain = OrbiterInputs(workspace="w", entries=entries)
    yield "neurons", ORBITER, plain, _NOTHING
    yield "neurons, most dropped", ORBITER, plain, _NOTHING.with_value("neuron_budget", _COUNT)
    registry = DynamicVariableRegistry()
    for number in range(_COUNT):
        registry.register(f"v.a{number}", f"value {number}")
    entries = tuple(
        Entry(f"n{i}", f"n{i}", "custom", i % 10, text=f"text {i} ${{v.a{i}}}") for i in range(_COUNT)
    )
    inputs = OrbiterInputs(workspace="w", entries=entries, registry=registry)
    yield "neurons with a variable each", ORBITER, inputs, _NOTHING


def _bee() -> Iterator[Case]:
    for kind in (bee.records, bee.tools, bee.messages, bee.context, bee.skills):
        for budget, what in ((0, ""), (3_000, ", most dropped")):
            settings = _NOTHING.with_value("budget", budget).with_value("skill_manifest_chars", 0)
            name = {"messages": "messages in the budget"}.get(kind.__name__, kind.__name__)
            yield f"{name}{what}", BEE, kind(_COUNT), settings


def _phronomy() -> Iterator[Case]:
    def item(number: int) -> Item:
        name = f"k{number}"
        return Item(id=name, kind="knowledge", region="knowledge", tokens=3, content=f"fact {name}", key=name)

    items = tuple(item(number) for number in range(_COUNT))
    inputs = PhronomyInputs(workspace="w", generation="3", items=items, current_input=item(_COUNT))
    yield "candidates", PHRONOMY, inputs, _NOTHING


def _agentos() -> Iterator[Case]:
    chat = [{"role": ("user", "assistant")[i % 2], "content": f"message {i} " * 4} for i in range(_COUNT)]
    rounds: list[dict[str, Any]] = []
    for i in range(_COUNT // 3):
        call = {"id": f"c{i}", "name": "look", "arguments": {"i": i}}
        rounds.append({"role": "user", "content": f"q{i}"})
        rounds.append({"role": "assistant", "content": None, "tool_calls": [call]})
        rounds.append({"role": "tool", "content": f"r{i}", "tool_call_id": f"c{i}"})
    prompts = [{"content": f"p{i}", "priority": i % 7} for i in range(_COUNT)]
    documents = [{"source": f"s{i}", "content": f"p{i}"} for i in range(_COUNT)]
    tools = [{"id": f"s{i}", "description": f"p{i}"} for i in range(_COUNT)]
    for what, window, components in (
        ("messages, half dropped", _COUNT * 20, {"conversationHistory": chat}),
        ("messages of tool rounds", _PLENTY, {"conversationHistory": rounds}),
        ("system prompts", _PLENTY, {"systemPrompts": prompts}),
        ("documents", _PLENTY, {"retrievedContext": documents}),
        ("documents, most cut", _COUNT, {"retrievedContext": documents}),
        ("tools", _PLENTY, {"tools": tools}),
    ):
        support = {"supported": True, "format": "openai_functions"}
        model = {"modelId": "m", "maxContextTokens": window, "toolSupport": support}
        prepared = prepare({**components, "userInput": "q"})
        inputs = AgentosInputs(workspace="w", prepared=prepared, model=model, config=merged({}))
        yield what, AGENTOS, inputs, _NOTHING
