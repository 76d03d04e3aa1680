"""The window over the messages: forms that the visible cases do not show, and properties."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.engines import orbiter
from promptdbg.engines.orbiter.assemble import assemble
from promptdbg.engines.orbiter.inputs import OrbiterInputs
from promptdbg.engines.rows import Row
from promptdbg.model import Action, Settings, StageKind
from promptdbg.tokens import tokenizer
from tests import invariants
from tests.reference import orbiter as reference

CALLS: list[dict[str, Any]] = [
    {"role": "user", "content": "m0"},
    {"role": "assistant", "content": "", "calls": ["c1"]},
    {"role": "tool", "id": "c1", "content": "r1"},
    {"role": "assistant", "content": "m3"},
    {"role": "user", "content": "m4"},
]


def test_calls_and_results_are_cut_apart() -> None:
    config = orbiter.ContextConfig(history_rounds=3, summary_threshold=50, offload_threshold=50)
    result = orbiter.apply_context_windowing(CALLS, config)
    assert result.messages == CALLS[2:]


def test_a_case_with_calls_is_compared_whole() -> None:
    inputs = {
        "config": {"history_rounds": 4, "summary_threshold": 9, "offload_threshold": 9},
        "messages": CALLS,
    }
    expected: dict[str, Any] = {
        "messages_out": CALLS[1:],
        "actions": [{"action": "window", "before": 5, "after": 4, "details": {"history_rounds": 4}}],
        "summarizer_calls": 0,
        "summarized_text": [],
    }
    reference._agent_windowing(inputs, expected)


def test_tool_results_are_named_so_to_the_summarizer() -> None:
    config = orbiter.ContextConfig(summary_threshold=2)
    result = orbiter.apply_context_windowing(CALLS, config, summarize=lambda text: "S")
    assert result.summarized == ("[HUMAN]: m0\n[AI]: \n[TOOL]: r1",)


def test_the_hook_leaves_even_the_order() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]
    result = orbiter.apply_context_windowing(messages, orbiter.LimitConfig(limit=1, overflow="hook"))  # type: ignore[arg-type]
    assert result.messages == messages
    assert {decision.rule for decision in result.decisions} == {"orbiter.window.not-run"}


def _inputs(count: int, **values: Any) -> OrbiterInputs:
    rows = tuple(Row(f"m{n}", {"role": "user", "content": f"m{n}"}) for n in range(count))
    return OrbiterInputs(workspace="", rows=rows, **values)


def test_token_pressure_needs_a_known_model_and_is_strict() -> None:
    def names(tokens: int, model: str = "openai:gpt-4o") -> list[str]:
        base = _inputs(8, model=model, last_input_tokens=tokens, summary="S")
        final = assemble(base, Settings(), tokenizer()).stage(StageKind.FINAL)
        assert final is not None
        return [message.id for message in final.messages]

    assert "summary" in names(102_401)
    assert "summary" not in names(102_400)
    assert names(10_000_000, "nobody:knows") == [f"m{n}" for n in range(8)]
    assert names(102_400)[0] == "usage-tag"


def test_the_newer_generation_windows_at_every_step() -> None:
    base = _inputs(
        8, generation="B", numbers={"limit": 3}, model="gpt-4o", last_input_tokens=1, provider="none"
    )
    final = assemble(base, Settings(), tokenizer()).stage(StageKind.FINAL)
    assert final is not None
    assert [message.id for message in final.messages] == ["usage-tag", "m5", "m6", "m7"]


CONFIGS = st.one_of(
    st.builds(
        lambda rounds, low, more: orbiter.ContextConfig(
            history_rounds=rounds, summary_threshold=low, offload_threshold=low + more
        ),
        st.integers(1, 12),
        st.integers(1, 8),
        st.integers(0, 8),
    ),
    st.builds(
        orbiter.LimitConfig,
        limit=st.integers(1, 12),
        keep_recent=st.integers(1, 6),
        overflow=st.sampled_from(["summarize", "truncate", "none", "hook"]),
    ),
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": st.text(max_size=20)}
    ),
    max_size=20,
)


@given(MESSAGES, CONFIGS, st.booleans(), st.sampled_from(["works", "fails", "none"]))
@settings(max_examples=150, deadline=None)
def test_window_properties(messages: list[dict[str, Any]], config: Any, forced: bool, provider: str) -> None:
    """Order is kept, every loss has a decision, the counts fit, and the same input gives the same."""

    def summarize(_text: str) -> str:
        if provider == "fails":
            raise ValueError
        return "S"

    def run() -> orbiter.WindowResult:
        answer = None if provider == "none" else summarize
        return orbiter.apply_context_windowing(messages, config, force_summarize=forced, summarize=answer)

    result = run()
    assert run() == result
    kept = [index for index, message in enumerate(messages) if any(m is message for m in result.messages)]
    gone = {f"m{n}" for n in range(len(messages))} - {f"m{n}" for n in kept}
    dropped = {d.item for d in result.decisions if d.action is Action.DROP}
    assert gone == dropped - {"summary"}
    assert not any(messages[int(item[1:])]["role"] == "system" for item in gone)
    rest = [m for m in result.messages if m["role"] != "system"]
    assert (
        rest
        == [m for m in messages if m["role"] != "system"][len(messages) - len(rest) - _systems(messages) :]
    )
    if not isinstance(config, orbiter.LimitConfig) or config.overflow in ("summarize", "truncate"):
        assert len(rest) <= config.history_rounds


def _systems(messages: list[dict[str, Any]]) -> int:
    return sum(message["role"] == "system" for message in messages)


@given(MESSAGES, CONFIGS, st.sampled_from(["auto", "on", "off"]), st.sampled_from(["works", "fails", "none"]))
@settings(max_examples=100, deadline=None)
def test_assemblies_hold_their_invariants(
    messages: list[dict[str, Any]], config: Any, forced: str, provider: str
) -> None:
    names = [
        n for n in type(config).__dataclass_fields__ if n not in ("mode", "extra", "neuron_names", "cache")
    ]
    inputs = OrbiterInputs(
        workspace="",
        generation="B" if isinstance(config, orbiter.LimitConfig) else "A",
        numbers={name: getattr(config, name) for name in names},
        rows=tuple(Row(f"m{n}", message) for n, message in enumerate(messages)),
        clock="2026-01-01T00:00:00",
        current="now",
    )
    chosen = Settings(values={"forced": forced, "provider": provider}, off=frozenset({"m1"}))
    assembly = assemble(inputs, chosen, tokenizer())
    invariants.check(assembly)
    assert assemble(inputs, chosen, tokenizer()) == assembly
