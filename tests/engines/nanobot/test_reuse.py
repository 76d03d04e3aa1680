"""What one assembly hands on to the next never changes an answer: walks of settings, on inputs that have
seen all the settings before and on inputs that have seen none."""

from __future__ import annotations

import gc
import json
import weakref
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as run
from hypothesis import strategies as st

from promptdbg.debug import open_workspace
from promptdbg.engines.nanobot import ENGINE
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.reuse import Reuse
from promptdbg.errors import UsageError
from promptdbg.examples import examples
from promptdbg.export.document import document
from promptdbg.model import Assembly, Knob, Settings, StageKind, Value
from promptdbg.tokens import tokenizer
from tests.engines.nanobot.making import assistant, loaded, result, settings, stored, user
from tests.engines.nanobot.test_properties import budgets, contents, rows, sessions
from tests.reference.nanobot import collect, inputs_of

_CASES = Path(__file__).parents[2] / "cases" / "nanobot"
_STEPS = 14
_CALM = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)

_NUMBERS: dict[str, tuple[Value, ...]] = {
    "context_window": (0, 900, 1_500, 2_600, 6_000, 40_000, 200_000),
    "max_output": (0, 300, 976),
    "block_limit": (None, 600, 5_000),
    "tool_result_cap": (0, 60, 200, 900, 16_000),
    "consolidation_ratio": (0.1, 0.5, 0.95),
    "max_messages": (0, 2, 5, 120),
    "request": (1, 2, 3, 9),
}
_TEXTS = {
    "channel": ("cli", "websocket", "telegram"),
    "timezone": ("", "Europe/Vienna", "no such zone"),
    "now": ("2026-08-20T09:30:00", "2026-08-20T09:30:00+02:00"),
}
_WORDS = ("and now?", "", "<|endoftext|>", "\udc80 lone", "a $one skill")


def _value(knob: Knob, draw: Random) -> Value:
    if knob.kind == "toggle":
        return draw.random() < 0.5
    if knob.kind == "choice":
        return draw.choice(knob.choices)
    if knob.kind == "order":
        return draw.choice(((), ("one",), ("one", "two")))
    return draw.choice(_NUMBERS[knob.name] if knob.kind == "number" else _TEXTS.get(knob.name, _WORDS))


def _step(now: Settings, inputs: NanobotInputs, shown: Assembly | None, draw: Random) -> Settings:
    """One change, as a person makes it: a knob, an item off or on, a text, a turn; or back to the files."""
    kind = draw.choice(("knob", "knob", "knob", "off", "off", "text", "turn", "back"))
    if kind == "knob":
        knob = draw.choice(ENGINE.knobs(inputs))
        return now.with_value(knob.name, _value(knob, draw))
    if kind == "turn":
        turns = ENGINE.turns(inputs)
        return now.with_turn(draw.choice((None, *(turn.number for turn in turns), len(turns) + 1)))
    items = ["current/text", "no such item"]
    if shown is not None:
        items += [section.id for section in shown.sections]
        items += [message.id for stage in shown.stages[:1] for message in stage.messages]
    if kind == "off":
        return now.toggled(draw.choice(items))
    if kind == "text":
        return now.with_text(draw.choice(items), draw.choice((None, *_WORDS)))
    return Settings()


def _answer(inputs: NanobotInputs, wanted: Settings) -> Assembly | str:
    try:
        return ENGINE.assemble(inputs, wanted, tokenizer("o200k_base"))
    except UsageError as error:
        return error.line()


def _same(warm: Assembly | str, cold: Assembly | str) -> None:
    """Equal, and to the last digit: ``1`` is ``True`` to Python, and not to a person."""
    assert warm == cold
    if isinstance(warm, Assembly) and isinstance(cold, Assembly):
        assert json.dumps(document(warm)) == json.dumps(document(cold))
        assert [list(stage.statuses) for stage in warm.stages] == [list(s.statuses) for s in cold.stages]


def _walk(inputs: NanobotInputs, draw: Random, steps: int = _STEPS) -> None:
    wanted, shown = Settings(), None
    walked = [wanted]
    for _ in range(steps):
        undone = draw.random() < 0.2
        wanted = draw.choice(walked) if undone else _step(wanted, inputs, shown, draw)
        walked.append(wanted)
        warm = _answer(inputs, wanted)
        _same(warm, _answer(replace(inputs), wanted))
        shown = warm if isinstance(warm, Assembly) else shown


_FOLDERS = {case.path.name: case for case in collect(_CASES)}


@pytest.mark.parametrize("case", _FOLDERS.values(), ids=_FOLDERS.keys())
def test_a_walk_through_a_reference_case(case: Any) -> None:
    params = json.loads((case.path / f"expected.{case.variant}.json").read_text("utf-8"))["params"]
    _walk(inputs_of(case, params), Random(case.path.name))


@pytest.mark.parametrize("name", [e.name for e in examples() if e.name.startswith("nanobot")])
def test_a_walk_through_an_example(name: str) -> None:
    path = next(example.path for example in examples() if example.name == name)
    inputs = open_workspace(path).inputs
    assert isinstance(inputs, NanobotInputs)
    _walk(inputs, Random(name), steps=40)


@given(stored_rows=sessions, archived=st.integers(0, 14), inflight=st.lists(rows, max_size=4), data=st.data())
@run(max_examples=120, deadline=None, suppress_health_check=_CALM)
def test_a_walk_through_any_session(
    tmp_path: Path, stored_rows: list[Any], archived: int, inflight: list[Any], data: st.DataObject
) -> None:
    inputs = loaded(tmp_path, stored(stored_rows, archived=archived), inflight=inflight)
    _walk(inputs, Random(data.draw(st.integers(0, 2**32))), steps=6)


@pytest.mark.parametrize("dialect", ["main", "0.3.5", "0.2.2"])
@given(stored_rows=sessions, some=st.lists(budgets, min_size=2, max_size=5), text=contents, data=st.data())
@run(max_examples=40, deadline=None, suppress_health_check=_CALM)
def test_budgets_turned_one_after_the_other(
    tmp_path: Path,
    dialect: str,
    stored_rows: list[Any],
    some: list[dict[str, Any]],
    text: Any,
    data: st.DataObject,
) -> None:
    metadata = {"pending_user_turn": True} if data.draw(st.booleans()) else None
    inputs = loaded(tmp_path, stored([*stored_rows, user(text)], metadata))
    for values in some:
        wanted = settings(dialect, **values)
        _same(_answer(inputs, wanted), _answer(replace(inputs), wanted))


# ---- what is shared, and for how long ------------------------------------------------------------

_ROWS = [user("look"), assistant("", "c1"), result("c1", "tide " * 400), user("so?"), assistant("there")]


def test_a_knob_that_changes_no_message_leaves_the_very_same_lists(tmp_path: Path) -> None:
    inputs = loaded(tmp_path, stored(_ROWS))
    first, second = (
        _answer(inputs, settings("0.3.5", context_window=window)) for window in (200_000, 300_000)
    )
    assert isinstance(first, Assembly)
    assert isinstance(second, Assembly)
    assert first.budget != second.budget
    for before, after in zip(first.stages, second.stages, strict=True):
        assert before.messages is after.messages
    assert all(a is b for a, b in zip(first.decisions, second.decisions, strict=True) if a.stage != "system")


def test_a_message_that_is_edited_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    inputs = loaded(tmp_path, stored(_ROWS))
    plain, edited = (
        _answer(inputs, wanted)
        for wanted in (settings("0.3.5"), settings("0.3.5").with_text("m4", "not there"))
    )
    assert isinstance(plain, Assembly)
    assert isinstance(edited, Assembly)
    before, after = plain.stage(StageKind.FINAL), edited.stage(StageKind.FINAL)
    assert before is not None
    assert after is not None
    changed = [a.id for a, b in zip(after.messages, before.messages, strict=True) if a is not b]
    assert changed == ["m4"]


@pytest.mark.parametrize("last", [assistant("fine"), {"content": "of nobody"}, assistant("\udc80")])
def test_what_is_kept_goes_with_the_inputs(tmp_path: Path, last: dict[str, Any]) -> None:
    """Whether a turn fails or not: the UI keeps the collector away, so nothing may wait for it."""
    inputs = loaded(tmp_path, stored([*_ROWS, last]))
    gc.collect()
    gc.disable()
    try:
        for dialect in ("main", "0.3.5", "0.2.2"):
            for window in (1_500, 200_000):
                _answer(inputs, settings(dialect, context_window=window, consolidation="succeeds"))
        gone = weakref.ref(inputs)
        del inputs
        assert gone() is None
    finally:
        gc.enable()


def _double(text: str) -> list[str]:
    return [text, text]


def test_only_the_last_two_assemblies_are_remembered() -> None:
    reuse = Reuse()
    first = reuse(_double, "a")
    assert reuse(_double, "a") is first
    reuse.begin()
    assert reuse(_double, "a") is first
    reuse.begin()
    assert reuse(_double, "b") is not first
    reuse.begin()
    reuse.begin()
    assert reuse(_double, "a") is not first


def test_few_answers_of_one_function_are_kept() -> None:
    reuse = Reuse()
    answers = [reuse(_double, str(number)) for number in range(100)]
    assert reuse(_double, "99") is answers[99]
    assert reuse(_double, "0") is not answers[0]


def _fail(text: str) -> None:
    raise ValueError(text)


def test_a_failure_fails_again() -> None:
    reuse = Reuse()
    for _ in range(2):
        with pytest.raises(ValueError, match="a"):
            reuse(_fail, "a")
