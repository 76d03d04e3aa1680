"""Any values in any place of a workspace give an assembly or one line, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptdbg.debug import Debugger, open_workspace
from promptdbg.errors import PromptdbgError
from tests import invariants

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**20),
    st.sampled_from([10**400, -(10**400), 10**4_000]),  # beyond what a float holds
    st.floats(),
    st.sampled_from(
        ["", "a", "fact", "history", "A", "B", "3", "2-trims", "user", "tool", "${a}", "[0, 1]", "c1"]
    ),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "a",
                    "name",
                    "text",
                    "priority",
                    "role",
                    "content",
                    "id",
                    "category",
                    "tokens",
                    "range",
                    "model",
                ]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
ORBITER = """
generation preset task_id entries separator variables clock platform neuron_names priority_order model
history_rounds summary_threshold limit overflow token_budget_trigger last_input_tokens summary
"""
PHRONOMY = """
generation budget models tokenizer instruction knowledge tools execution_id call_mode current_input trim
compact share context_window max_input_tokens
"""


def configurations(keys: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(keys.split()), VALUES, max_size=5)


def _opened(folder: Path, files: dict[str, Any]) -> None:
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value))
    try:
        debugger = Debugger(open_workspace(folder))
    except PromptdbgError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
        return
    invariants.check(debugger.assembly)
    for generation in (
        choice for knob in debugger.opened.knobs if knob.name == "generation" for choice in knob.choices
    ):
        invariants.check(debugger.preview(debugger.settings.with_value("generation", generation)))


SLOW = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(configurations(ORBITER), VALUES, VALUES, VALUES)
@SLOW
def test_orbiter(
    tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any], state: Any, parent: Any, messages: Any
) -> None:
    files = {
        "orbiter.yaml": config,
        "state.json": state,
        "parent_state.json": parent,
        "messages.json": messages,
    }
    _opened(tmp_path_factory.mktemp("w"), files)


@given(configurations(PHRONOMY), VALUES, VALUES)
@SLOW
def test_phronomy(
    tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any], messages: Any, candidates: Any
) -> None:
    files = {"phronomy.yaml": config, "messages.json": messages, "candidates.json": candidates}
    _opened(tmp_path_factory.mktemp("w"), files)
