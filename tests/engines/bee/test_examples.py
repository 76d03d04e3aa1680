"""The bundled examples: their JSON document is stable, and they show what their question asks for.

After a wanted change: ``PROMPTDBG_UPDATE_GOLDEN=1 pytest tests/engines/bee/test_examples.py``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import promptdbg
from promptdbg.debug import Opened, OpenRequest, open_workspace
from promptdbg.export.document import document
from promptdbg.model import SectionStatus, Settings, StageKind
from promptdbg.tokens import tokenizer
from tests import invariants
from tests.engines.bee.workspaces import assembled, section

EXAMPLES = Path(promptdbg.__file__).parent / "examples"
GOLDEN = Path(__file__).parent / "golden"
NAMES = ("bee-nearest-rule", "bee-nasty")


def example(name: str) -> Opened:
    return open_workspace(EXAMPLES / name, OpenRequest(home="/nobody"))


def base(workspace: Opened) -> Settings:
    assert workspace.workspace.manifest is not None
    return workspace.workspace.manifest.settings


@pytest.mark.parametrize("name", NAMES)
def test_the_document_is_stable(name: str) -> None:
    workspace = example(name)
    made = document(assembled(workspace, base(workspace)))
    text = json.dumps(made, ensure_ascii=False, indent=1).replace(
        str(workspace.workspace.path), f"examples/{name}"
    )
    path = GOLDEN / f"{name}.json"
    if os.environ.get("PROMPTDBG_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", "utf-8")
    assert text + "\n" == path.read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_keeps_the_invariants(name: str) -> None:
    workspace = example(name)
    assert workspace.workspace.manifest is not None
    demo = workspace.workspace.options["demo"]
    assert demo["title"]
    assert demo["question"].endswith("?")
    for scenario in workspace.workspace.manifest.scenarios.values():
        invariants.check(workspace.engine.assemble(workspace.inputs, scenario, tokenizer()))


def test_the_nearest_rule_is_lost_and_two_ways_bring_it_back() -> None:
    workspace = example("bee-nearest-rule")
    rule = "Never edit files under `migrations/`"
    assembly = assembled(workspace)
    assert rule not in assembly.system_text
    assert section(assembly, "context/api/AGENTS.md").status is SectionStatus.DROPPED
    assert workspace.workspace.manifest is not None
    for scenario in workspace.workspace.manifest.scenarios.values():
        assert rule in assembled(workspace, scenario).system_text


def test_the_nasty_one_has_every_outcome() -> None:
    assembly = assembled(example("bee-nasty"))
    rules = {entry.rule for entry in assembly.decisions}
    assert rules >= {
        "bee.attach.exact",
        "bee.attach.literal",
        "bee.compact.summary",
        "bee.context.cap",
        "bee.context.shadow",
        "bee.history.ephemeral",
        "bee.import.binary",
        "bee.import.depth",
        "bee.import.exact",
        "bee.import.fuzzy",
        "bee.import.missing",
        "bee.import.visited",
        "bee.memory.expired",
        "bee.memory.select",
        "bee.skills.cap",
        "bee.tool-result.cut",
        "bee.tools.cap",
        "bee.tools.disabled",
        "bee.tools.first-line",
        "bee.tools.profile",
    }
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    assert not any("never in ounces" in json.dumps(message.content) for message in final.messages)
