"""Properties of the walk, the policy, and every assembly."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.engines.phronomy.assemble import assemble
from promptdbg.engines.phronomy.chunks import Chunk
from promptdbg.engines.phronomy.estimate import TOKENIZERS
from promptdbg.engines.phronomy.fitting import fit
from promptdbg.engines.phronomy.history import Range
from promptdbg.engines.phronomy.inputs import Compact, Knowledge, PhronomyInputs
from promptdbg.engines.phronomy.items import current_input, item_from, tool_from
from promptdbg.engines.phronomy.load import keyed
from promptdbg.engines.rows import Row
from promptdbg.model import Settings, StageKind
from promptdbg.tokens import tokenizer
from tests import invariants

COSTS = st.lists(st.integers(0, 9), max_size=12)
ESTIMATE = TOKENIZERS["chars/4"]


@given(COSTS, st.integers(0, 60), st.integers(0, 20))
def test_the_walk_takes_a_suffix_that_fits_and_more_room_never_takes_less(
    costs: list[int], room: int, more: int
) -> None:
    found = fit(costs, room)
    assert found.used == sum(costs[found.start :]) <= room
    assert (found.blocked is None) is (found.start == 0)
    if found.blocked is not None:
        assert found.blocked == found.start - 1
        assert found.used + costs[found.blocked] > room
    assert fit(costs, room + more).start <= found.start


TEXTS = st.text(st.sampled_from("ab &<é"), max_size=30)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "system", "tool"]),
            "content": st.one_of(st.none(), TEXTS),
        }
    ),
    max_size=8,
)
SPANS = st.one_of(st.integers(-6, 8), st.builds(Range, st.integers(-6, 8), st.integers(-6, 8), st.booleans()))


@given(
    ROWS,
    st.lists(TEXTS, max_size=3),
    st.one_of(st.none(), TEXTS),
    st.sampled_from(["1", "2-trims", "2-raises"]),
    st.one_of(st.none(), st.integers(-5, 120)),
    st.lists(st.integers(0, 8), max_size=2),
    st.lists(st.builds(Compact, SPANS, TEXTS), max_size=2),
)
@settings(max_examples=200, deadline=None)
def test_generations_1_and_2_hold_their_invariants(
    rows: list[dict[str, Any]],
    knowledge: list[str],
    instruction: str | None,
    generation: str,
    window: int | None,
    trim: list[int],
    compact: list[Compact],
) -> None:
    inputs = PhronomyInputs(
        workspace="",
        generation=generation,
        budget={} if window is None else {"context_window": window},
        instruction=instruction,
        knowledge=tuple(Knowledge(f"knowledge/{n}", str(n), Chunk(t, "t")) for n, t in enumerate(knowledge)),
        rows=tuple(Row(f"m{n}", row) for n, row in enumerate(rows)),
        trim=tuple(trim),
        compact=tuple(compact),
        current="now",
    )
    chosen = Settings(off=frozenset({"m0", "knowledge/0"}), texts={"m1": "edited", "instruction": "I"})
    for tried in (Settings(), chosen):
        assembly = assemble(inputs, tried, tokenizer())
        invariants.check(assembly)
        assert assemble(inputs, tried, tokenizer()) == assembly
        if assembly.failure is None and generation != "2-raises" and window is not None:
            kept = sum(m.size or 0 for m in assembly.stages[-1].messages if m.id not in ("system", "current"))
            system = next((m.size or 0 for m in assembly.stages[-1].messages if m.id == "system"), 0)
            assert kept <= max(max(window, 0) - system, 0)


@st.composite
def candidates(draw: st.DrawFn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 7))):
        kind = draw(st.sampled_from(["external_message", "knowledge", "instruction", "pair"]))
        base: dict[str, Any] = {"tokens": draw(st.integers(0, 9)), "sequence": draw(st.integers(0, 4))}
        if draw(st.booleans()):
            base["constraint"] = "required"
        if draw(st.booleans()):
            base |= {"source": "working", "execution_id": "e"}
        if kind == "pair":
            call = f"c{number}"
            found.append(
                {**base, "id": f"a{number}", "category": "assistant_message", "tool_call_ids": [call]}
            )
            found.append({**base, "id": f"r{number}", "category": "tool_message", "tool_call_id": call})
        else:
            found.append({**base, "id": f"{kind[0]}{number}", "category": kind})
    return draw(st.permutations(found))


@given(
    candidates(),
    st.one_of(st.none(), st.integers(0, 60)),
    st.sampled_from(["ask", "complete"]),
    st.booleans(),
    st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_generation_3_holds_its_invariants(
    listed: list[dict[str, Any]], limit: int | None, mode: str, tools: bool, share: float
) -> None:
    inputs = PhronomyInputs(
        workspace="",
        generation="3",
        budget={} if limit is None else {"max_input_tokens": limit},
        items=keyed(item_from(candidate, ESTIMATE) for candidate in listed),
        tool_items=keyed([tool_from({"definition": {"name": "t"}}, ESTIMATE)]) if tools else (),
        current_input=current_input("now", "e", ESTIMATE),
        call_mode=mode,
        execution_id="e",
        share=share,
    )
    assembly = assemble(inputs, Settings(), tokenizer())
    invariants.check(assembly)
    assert assemble(inputs, Settings(), tokenizer()) == assembly
    final = assembly.stage(StageKind.FINAL)
    if final is None:
        assert assembly.failure is not None
        return
    there = {message.id for message in final.messages}
    assert {candidate["id"] for candidate in listed if candidate.get("constraint") == "required"} <= there
    assert all((f"a{n}" in there) == (f"r{n}" in there) for n in range(8))
    if limit is None:
        assert len(there) == len(listed) + (mode == "ask")
    else:
        assert assembly.budget.used <= limit


def test_more_room_can_mean_less_knowledge_and_the_rule_says_so() -> None:
    """Items are passed over, not the end: a larger limit may take an early large one in place of others."""
    listed = [{"id": f"k{n}", "category": "knowledge", "tokens": cost} for n, cost in enumerate((6, 2, 2, 2))]

    def kept(limit: int) -> set[str]:
        inputs = PhronomyInputs(
            workspace="",
            generation="3",
            budget={"max_input_tokens": limit},
            items=keyed(item_from(candidate, ESTIMATE) for candidate in listed),
            call_mode="complete",
        )
        final = assemble(inputs, Settings(values={"share": 0.0}), tokenizer()).stage(StageKind.FINAL)
        return {message.id for message in final.messages} if final else set()

    assert kept(7) == {"k0"}
    assert len(kept(9)) == 2
    assert len({"k1", "k2"} & kept(5)) == 2
