"""The work grows with the input and no faster, counted in lines of Python; benchmarks measure the time."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from promptdbg.debug import OpenRequest, open_workspace
from promptdbg.engines import bee
from promptdbg.engines.bee.engine import ENGINE
from promptdbg.engines.bee.inputs import BeeInputs, Place, Row
from promptdbg.model import Assembly, Settings
from promptdbg.tokens import tokenizer
from tests.engines.bee.workspaces import assembled, opened, write
from tests.steps import LINEAR, growth

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


@pytest.mark.parametrize("budget", [0, 3000])
@pytest.mark.parametrize("kind", [records, tools, messages, context, skills])
def test_ten_times_the_input_is_about_ten_times_the_work(
    kind: Callable[[int], BeeInputs], budget: int
) -> None:
    settings = Settings(values={"budget": budget, "skill_manifest_chars": 0})

    def made(count: int) -> Callable[[], object]:
        return partial(ENGINE.assemble, kind(count), settings, tokenizer())

    assert growth(made, 200) < LINEAR


def imports(folder: Path, count: int) -> Callable[[], object]:
    """Opens and assembles a workspace whose rules import so many files."""
    files: dict[str, str | bytes] = {f"d/f{number}.md": f"rule {number}\n" for number in range(count)}
    root = write(folder / str(count), {**files, "AGENTS.md": "\n".join(f"@{name}" for name in files)})
    request = OpenRequest(engine="bee", home=str(root / "nobody"))

    def call() -> Assembly:
        inputs = open_workspace(root, request).inputs
        return ENGINE.assemble(inputs, Settings(), tokenizer())  # type: ignore[arg-type]

    return call


def test_ten_times_the_imports_are_about_ten_times_the_work(tmp_path: Path) -> None:
    assert growth(partial(imports, tmp_path), 100) < LINEAR


FILES = 1_500


def searches(folder: Path, count: int) -> Callable[[], Assembly]:
    """Opens and assembles a workspace that names so many files which are not among the many it has."""
    root = folder / str(count)
    write(root, {"AGENTS.md": "\n".join(f"@x{number}" for number in range(count))})
    for number in range(FILES):
        (root / f"some-file-{number:04d}.txt").touch()

    def call() -> Assembly:
        return assembled(opened(root, {}))

    return call


def test_ten_times_the_searches_are_about_ten_times_the_work(tmp_path: Path) -> None:
    assert growth(partial(searches, tmp_path), 10) < LINEAR


def test_a_folder_is_listed_once_for_all_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    scandir = os.scandir

    def counted(path: str) -> object:
        listed.append(os.fspath(path))
        return scandir(path)

    call = searches(tmp_path, 1_000)
    monkeypatch.setattr(os, "scandir", counted)
    call()
    assert len(listed) < 10, "a listing for each search"
