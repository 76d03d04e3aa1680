"""Random sessions through the whole engine: nothing is lost without a word, and sums always fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as run
from hypothesis import strategies as st

from promptdbg.engines.nanobot import ENGINE
from promptdbg.model import Assembly, Settings, StageKind
from promptdbg.tokens import tokenizer
from tests import invariants
from tests.engines.nanobot.making import DIALECTS, loaded, settings, stored

pytestmark = pytest.mark.filterwarnings("default")
_CALM = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)

_PIECES = [
    "harbor",
    "漢字",
    "👩‍🚀",
    "\u2028",
    "\n",
    "\n\n",
    " ",
    "/x",
    "<|endoftext|>",
    "[image: /a.png]",
    "message(a)",
]
texts = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join) | st.text(max_size=20)
long_texts = st.integers(1, 4_000).map(lambda n: "tide " * n)
blocks = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": texts})
    | st.just({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}})
    | st.just({"type": 5})
    | texts,
    max_size=3,
)
contents = texts | long_texts | blocks | st.none() | st.integers() | st.just({"a": 1})
ids = st.sampled_from(["c1", "c2", "c3", 7, "", None])
names = st.sampled_from(["exec", "read_file", "grep", "notes_add", "", None])
calls = st.lists(
    st.builds(
        lambda i, n: {"id": i, "type": "function", "function": {"name": n, "arguments": "{}"}}, ids, names
    )
    | st.just("junk")
    | st.just({"id": "c9"}),
    max_size=3,
)
marks = st.dictionaries(
    st.sampled_from(["_command", "_channel_delivery", "_hidden_history", "timestamp", "media", "cli_apps"]),
    st.booleans() | texts | st.just(["/a.png", 5]) | st.just([{"name": "Ab"}, 3]),
    max_size=2,
)
rows = st.one_of(
    st.builds(lambda c, m: {"role": "user", "content": c, **m}, contents, marks),
    st.builds(lambda c, m: {"role": "assistant", "content": c, **m}, contents, marks),
    st.builds(lambda c, t: {"role": "assistant", "content": c, "tool_calls": t}, texts, calls),
    st.builds(
        lambda c, i, n: {"role": "tool", "tool_call_id": i, "name": n, "content": c}, contents, ids, names
    ),
    st.builds(lambda r, c: {"role": r, "content": c}, st.sampled_from(["system", "odd", 5, None]), texts),
    st.just({"role": "user"}),
)
sessions = st.lists(rows, max_size=14)
budgets = st.fixed_dictionaries(
    {
        "context_window": st.sampled_from([0, 900, 1_800, 2_600, 6_000, 200_000]),
        "max_output": st.sampled_from([0, 300, 976]),
        "tool_result_cap": st.sampled_from([0, 200, 900, 16_000]),
        "consolidation": st.sampled_from(["off", "predict", "succeeds", "fails"]),
        "ephemeral": st.booleans(),
        "tokenizer": st.booleans(),
        "request": st.sampled_from([1, 2, 9]),
    }
)


def _assemble(inputs: Any, given_settings: Settings) -> Assembly:
    return ENGINE.assemble(inputs, given_settings, tokenizer("o200k_base"))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(stored_rows=sessions, values=budgets, archived=st.integers(0, 14), inflight=st.lists(rows, max_size=6))
@run(max_examples=60, deadline=None, suppress_health_check=_CALM)
def test_every_assembly_keeps_the_invariants(
    tmp_path: Path,
    dialect: str,
    stored_rows: list[Any],
    values: dict[str, Any],
    archived: int,
    inflight: list[Any],
) -> None:
    inputs = loaded(tmp_path, stored(stored_rows, archived=archived), inflight=inflight)
    given_settings = settings(dialect, **values)
    assembly = _assemble(inputs, given_settings)
    invariants.check(assembly)
    assert assembly == _assemble(inputs, given_settings)
    fresh = loaded(tmp_path, stored(stored_rows, archived=archived), inflight=inflight)
    assert assembly == _assemble(fresh, given_settings)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(stored_rows=sessions, data=st.data())
@run(max_examples=30, deadline=None, suppress_health_check=_CALM)
def test_switching_off_and_editing_keep_the_invariants(
    tmp_path: Path, dialect: str, stored_rows: list[Any], data: st.DataObject
) -> None:
    inputs = loaded(tmp_path, stored(stored_rows))
    items = [f"m{index}" for index in range(len(stored_rows))]
    items += ["identity", "bootstrap", "bootstrap/AGENTS.md", "memory", "tools/exec", "tools", "no-such-item"]
    given_settings = settings(dialect)
    given_settings = given_settings.with_off(data.draw(st.sets(st.sampled_from(items), max_size=4)))
    for item in data.draw(st.sets(st.sampled_from(items), max_size=2)):
        given_settings = given_settings.with_text(item, "edited here")
    invariants.check(_assemble(inputs, given_settings))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(stored_rows=sessions)
@run(max_examples=30, deadline=None, suppress_health_check=_CALM)
def test_every_turn_can_be_rebuilt(tmp_path: Path, dialect: str, stored_rows: list[Any]) -> None:
    inputs = loaded(tmp_path, stored(stored_rows))
    for turn in ENGINE.turns(inputs):
        for request in (1, 3):
            invariants.check(_assemble(inputs, settings(dialect, request=request).with_turn(turn.number)))


# A larger window may keep fewer tokens where the way of measuring changes the step that acts: the
# replay cap aligns at user rows, and snipping is decided on the whole request but cuts by single
# messages. What holds is the other way round: with room for everything nothing is cut for its size.
_BY_SIZE = {
    "nanobot.history.token-cap",
    "nanobot.governance.snip",
    "nanobot.governance.compact-inflight",
    "nanobot.governance.compact-history",
    "nanobot.consolidation.archive",
}


@pytest.mark.parametrize("dialect", DIALECTS)
@given(stored_rows=sessions)
@run(max_examples=30, deadline=None, suppress_health_check=_CALM)
def test_a_window_with_room_cuts_nothing_for_its_size(
    tmp_path: Path, dialect: str, stored_rows: list[Any]
) -> None:
    inputs = loaded(tmp_path, stored(stored_rows))
    assembly = _assemble(inputs, settings(dialect, context_window=10_000_000, consolidation="succeeds"))
    assert not _BY_SIZE & {decision.rule for decision in assembly.decisions}


@pytest.mark.parametrize("dialect", ["main", "0.2.2"])
@given(turns=st.integers(2, 12), words=st.integers(1, 60), data=st.data())
@run(max_examples=30, deadline=None, suppress_health_check=_CALM)
def test_a_larger_window_keeps_no_less_of_plain_turns(
    tmp_path: Path, dialect: str, turns: int, words: int, data: st.DataObject
) -> None:
    """Where turns are plain, no rule makes a larger window keep less."""
    plain: list[Any] = []
    for number in range(turns):
        plain += [
            {"role": "user", "content": f"{number} " + "tide " * words},
            {"role": "assistant", "content": "ok"},
        ]
    inputs = loaded(tmp_path, stored(plain))
    windows = sorted(data.draw(st.lists(st.integers(1_500, 6_000), min_size=2, max_size=2)))
    kept = []
    for window in windows:
        assembly = _assemble(
            inputs, settings(dialect, context_window=window, max_output=100, consolidation="off")
        )
        final = assembly.stage(StageKind.FINAL)
        assert final is not None
        kept.append(len(final.messages))
    assert kept[0] <= kept[1]
