"""``verify`` as a user calls it: whole workspaces, copied, at the paths of the originals."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from promptdbg.debug import Opened, OpenRequest, open_workspace
from promptdbg.engines.base import Detection, LoadRequest
from promptdbg.engines.nanobot import ENGINE
from promptdbg.examples import examples
from promptdbg.model import Settings, Value
from promptdbg.records import SessionRef
from promptdbg.sessions import nanobot as sessions
from promptdbg.verify import VerifyReport, lines, to_json, verify
from promptdbg.verify.nanobot import verified
from promptdbg.workspace import Workspace, manifest_from
from tests.parity.harness import Real, as_manifest, as_settings

EXAMPLES = [example for example in examples() if example.engine == "nanobot"]
CASES = sorted(
    path for path in (Path(__file__).parent.parent / "cases" / "nanobot").iterdir() if path.is_dir()
)
_numbers = count()


def _equal(report: VerifyReport) -> None:
    assert report.equal, "\n".join(lines(report))


def _verified(opened: Opened, settings: Settings, real: Real) -> VerifyReport:
    root = real.root / f"verify-{next(_numbers)}"
    root.mkdir()
    try:
        return verified(opened, settings, real.driver, root)
    finally:
        shutil.rmtree(root)


def _state(folder: Path) -> dict[str, Any]:
    """Every file's bytes, and the time stamps of everything."""
    found: dict[str, Any] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (status.st_mtime_ns, status.st_mode, content)
    return found


def test_there_are_examples() -> None:
    assert {example.name for example in EXAMPLES} >= {"nanobot-lost-rule", "nanobot-nasty"}
    assert len(CASES) > 20


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_a_bundled_example_is_equal_and_stays_untouched(example: Any, python: Path, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    shutil.copytree(example.path, folder)
    before = _state(folder)
    opened = open_workspace(folder)
    report = verify(opened, opened.workspace.manifest.settings, python)  # type: ignore[union-attr]
    _equal(report)
    assert to_json(report)["equal"] is True
    assert _state(folder) == before


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_turn_and_scenario_of_an_example_is_equal(example: Any, real: Real) -> None:
    opened = open_workspace(example.path)
    manifest = opened.workspace.manifest
    assert manifest is not None
    for turn in opened.turns:
        _equal(_verified(opened, manifest.settings.with_turn(turn.number), real))
    for scenario in manifest.scenarios.values():
        _equal(_verified(opened, manifest.settings.overlaid(scenario), real))


@pytest.mark.parametrize("window", [0, 3_000, 4_000, 5_000, 6_000, 8_000, 12_000])
@pytest.mark.parametrize("consolidation", ["predict", "succeeds", "fails"])
def test_small_windows_are_equal(window: int, consolidation: str, real: Real) -> None:
    opened = open_workspace(EXAMPLES[0].path)
    values: dict[str, Value] = {"context_window": window, "max_output": 500, "consolidation": consolidation}
    _equal(_verified(opened, Settings(values=values), real))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_reference_case_with_the_real_words_is_equal(case: Path, real: Real, tmp_path: Path) -> None:
    """The reference cases have nanobot's passages by name; here both sides have the passages."""
    dialect = real.driver.greeting["dialect"]
    params = json.loads((case / f"expected.{dialect}.json").read_text("utf-8"))["params"]
    folder = tmp_path / "case"
    shutil.copytree(case, folder)
    data = as_manifest(params)
    data["paths"] = {"workspace": "/srv/nb/ws"}
    if (case / "project").is_dir():
        data["project"] = "../project"
        data["paths"]["project"] = "/srv/nb/project"
    root = folder / "workspace"
    workspace = Workspace(root, manifest_from(root / "promptdbg.toml", data))
    ref = SessionRef(str(folder / "session.jsonl"), sessions.FORMAT, params["session_key"])
    request = LoadRequest(session=sessions.read(ref), now=params["now"], home=str(folder / "no-home"))
    inputs = ENGINE.load(workspace, request)
    opened = Opened(OpenRequest(), workspace, ENGINE, Detection(100, "made by a test"), inputs)
    _equal(_verified(opened, as_settings(params), real))


def test_a_workspace_without_a_session_is_equal(real: Real, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Be brief\n")
    (tmp_path / "promptdbg.toml").write_text('engine = "nanobot"\n')
    opened = open_workspace(tmp_path, OpenRequest(message="hello", home=str(tmp_path / "no-home")))
    _equal(_verified(opened, Settings(), real))


def test_a_command_is_told(real: Real, tmp_path: Path) -> None:
    (tmp_path / "promptdbg.toml").write_text('engine = "nanobot"\n')
    opened = open_workspace(tmp_path, OpenRequest(message="/help", home=str(tmp_path / "no-home")))
    report = _verified(opened, Settings(), real)
    assert "verify.command" in {notice.code for notice in report.notices}
