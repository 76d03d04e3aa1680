"""Cost grows with the input and no faster. Bounds are generous, for busy machines."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from promptdbg.debug import OpenRequest, open_workspace
from promptdbg.engines import bee
from promptdbg.engines.bee.engine import ENGINE
from promptdbg.engines.bee.inputs import BeeInputs, Place, Row
from promptdbg.model import Settings
from promptdbg.tokens import tokenizer
from tests.engines.bee.workspaces import write

NOW = datetime(2026, 5, 30, tzinfo=UTC)


def make(**given: object) -> BeeInputs:
    config = bee.Config(profile="normal", caveman="off")
    return BeeInputs(workspace="/w", config=config, place=Place("/w"), now=NOW, **given)  # type: ignore[arg-type]


def records(count: int) -> BeeInputs:
    made = tuple(bee.Record(f"rec {number}", b"body %d" % number, modified=NOW) for number in range(count))
    return make(records=made, chosen=True)


def tools(count: int) -> BeeInputs:
    made = tuple(bee.Tool(f"t{number}", f"does {number}") for number in range(count))
    return make(tools=made, filtered=False)


def messages(count: int) -> BeeInputs:
    content = [[{"type": "text", "text": f"hello {number}"}] for number in range(count)]
    rows = [{"role": "user", "content": entry} for entry in content]
    return make(messages=tuple(Row.of(f"m{number}", row) for number, row in enumerate(rows)))


def context(count: int) -> BeeInputs:
    return make(context=tuple(bee.ContextFile(f"/w/{number}.md", b"x", b"x") for number in range(count)))


def skills(count: int) -> BeeInputs:
    return make(skills="\n".join(f"s{number}: d" for number in range(count)))


def seconds(inputs: BeeInputs, values: dict[str, int]) -> float:
    settings = Settings(values=values)
    ENGINE.assemble(inputs, settings, tokenizer())  # the first count of each text is not the engine's cost
    best = 9.0
    for _ in range(3):
        began = time.process_time()
        ENGINE.assemble(inputs, settings, tokenizer())
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("budget", [0, 3000])
@pytest.mark.parametrize("kind", [records, tools, messages, context, skills])
def test_ten_times_the_input_costs_about_ten_times_as_much(
    kind: Callable[[int], BeeInputs], budget: int
) -> None:
    values = {"budget": budget, "skill_manifest_chars": 0}
    small, large = seconds(kind(1_000), values), seconds(kind(10_000), values)
    assert large < 0.6
    assert large < 40 * max(small, 0.002)


def test_a_thousand_imports(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"d/f{number}.md": f"rule {number}\n" for number in range(1_000)}
    write(tmp_path, {**files, "AGENTS.md": "\n".join(f"@{name}" for name in files)})
    request = OpenRequest(engine="bee", home=str(tmp_path / "nobody"))
    best = 9.0
    for _ in range(3):
        began = time.process_time()
        workspace = open_workspace(tmp_path, request)
        ENGINE.assemble(workspace.inputs, Settings(), tokenizer())  # type: ignore[arg-type]
        best = min(best, time.process_time() - began)
    assert best < 1
