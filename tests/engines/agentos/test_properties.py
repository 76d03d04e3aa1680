"""What must hold of every construction, in both versions."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptdbg.engines.agentos import PromptEngine, PromptEngineResult
from promptdbg.engines.agentos.rules import VERSIONS
from promptdbg.model import Assembly, Settings
from promptdbg.tokens import TokenCounter, tokenizer
from tests import invariants
from tests.engines.agentos.workspaces import inputs_of
from tests.parity_agentos import strategies

RUNS = settings(
    max_examples=int(os.environ.get("PROMPTDBG_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
versions = st.sampled_from(VERSIONS)


def construct(request: dict[str, Any], version: str, **model: Any) -> PromptEngineResult:
    engine = PromptEngine({**request["config"], "performance": {"enableCaching": False}}, version=version)
    if request["setCurrentContext"]:
        engine.set_current_execution_context(request["executionContext"])
    return engine.construct_prompt(
        request["components"],
        {**request["model"], **model},
        request["executionContext"],
        request["templateName"],
    )


@RUNS
@given(request=strategies.requests(), version=versions)
def test_nothing_is_lost_without_a_decision_and_totals_add_up(request: dict[str, Any], version: str) -> None:
    invariants.check(construct(request, version).assembly())


@RUNS
@given(request=strategies.requests(odd=True), version=versions)
def test_odd_values_give_an_assembly_too(request: dict[str, Any], version: str) -> None:
    invariants.check(construct(request, version).assembly())


@RUNS
@given(request=strategies.requests(), version=versions)
def test_the_same_input_gives_the_same_assembly(request: dict[str, Any], version: str) -> None:
    assert construct(request, version).assembly() == construct(request, version).assembly()


@RUNS
@given(request=strategies.requests(), version=versions)
def test_kept_history_is_the_end_of_it_in_order(request: dict[str, Any], version: str) -> None:
    outcome = construct(request, version).construction.outcome
    history = construct(request, version).construction.request.prepared.history
    assert outcome is not None
    kept = [message.item for message in outcome.history or ()]
    everything = [message.item for message in history or ()]
    assert kept == everything[len(everything) - len(kept) :]


@RUNS
@given(
    request=strategies.requests(),
    version=versions,
    windows=st.tuples(st.integers(1, 4000), st.integers(1, 4000)),
)
def test_a_larger_window_never_keeps_less(
    request: dict[str, Any], version: str, windows: tuple[int, int]
) -> None:
    """Without a summarizer: a summary replaces everything as soon as the ratio is passed."""
    small, large = (
        construct(request, version, optimalContextTokens=None, maxContextTokens=window).construction.outcome
        for window in sorted(windows)
    )
    assert small is not None
    assert large is not None
    assert len(small.history or ()) <= len(large.history or ())
    assert sum(len(str(d.content)) for d in small.documents) <= sum(
        len(str(d.content)) for d in large.documents
    )


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return tokenizer()


@RUNS
@given(request=strategies.requests(), version=versions, data=st.data())
def test_switching_items_off_and_on_keeps_every_id(
    request: dict[str, Any], version: str, data: st.DataObject
) -> None:
    engine, inputs = inputs_of(request, version)
    before = engine.assemble(inputs, Settings(), tokenizer())
    invariants.check(before)
    items = sorted({s.id for s in before.sections if s.parent is None} | _messages(before))
    off = frozenset(data.draw(st.lists(st.sampled_from(items), max_size=4)) if items else ())
    after = engine.assemble(inputs, Settings(off=off), tokenizer())
    invariants.check(after)
    kept = {s.id for s in after.sections} | _messages(after)
    grouped = {"tools", "retrieved", "system", "retrieved/message"}
    assert {item for item in items if item not in off} - grouped <= kept | _followers(before)


def _messages(assembly: Assembly) -> set[str]:
    return {message.id for stage in assembly.stages for message in stage.messages}


def _followers(assembly: Assembly) -> set[str]:
    """What goes when something else is off: a summary of nothing, an input made of an element."""
    made = {"current", "retrieved/summary"}
    return {item for item in _messages(assembly) if item.startswith("summary/") or item in made}


@RUNS
@given(request=strategies.requests(), version=versions, data=st.data())
def test_priorities_texts_and_turns_give_whole_assemblies(
    request: dict[str, Any], version: str, data: st.DataObject
) -> None:
    engine, inputs = inputs_of(request, version)
    before = engine.assemble(inputs, Settings(), tokenizer())
    items = sorted({s.id for s in before.sections} | _messages(before))
    chosen = data.draw(st.lists(st.sampled_from(items), max_size=3)) if items else []
    turns = engine.turns(inputs)
    turn = data.draw(st.one_of(st.none(), st.integers(1, len(turns)))) if turns else None
    changed = replace(
        Settings(),
        priorities=dict.fromkeys(chosen, 3.0),
        texts=dict.fromkeys(chosen, "edited 🍵"),
        turn=turn,
    )
    invariants.check(engine.assemble(inputs, changed, tokenizer()))
