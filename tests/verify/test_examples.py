"""The bundled nanobot workspaces show what their questions ask for, in every dialect."""

from __future__ import annotations

import pytest

from promptdbg.debug import Debugger, open_workspace
from promptdbg.examples import find
from promptdbg.model import Action, Assembly, MessageStatus, SectionStatus, StageKind
from tests import invariants

DIALECTS = ("main", "0.3.5", "0.2.2")
RULE = "always answer in metric units"
FERRY = "no crossings on Mondays"


def _assembled(name: str, dialect: str) -> Assembly:
    opened = open_workspace(find(name).path)
    assert opened.workspace.manifest is not None
    settings = opened.workspace.manifest.settings.with_value("dialect", dialect)
    assembly = Debugger(opened, settings).assembly
    invariants.check(assembly)
    return assembly


def _texts(assembly: Assembly, kind: StageKind) -> str:
    stage = assembly.stage(kind)
    assert stage is not None
    return "\n".join(str(message.content) for message in stage.messages)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_rule_is_lost_by_one_stray_result(dialect: str) -> None:
    assembly = _assembled("nanobot-lost-rule", dialect)
    assert RULE in _texts(assembly, StageKind.SESSION)
    assert RULE not in _texts(assembly, StageKind.FINAL)
    (decision,) = [d for d in assembly.decisions_on("m0") if d.action is Action.DROP]
    assert decision.rule == "nanobot.history.legal-start"
    assert "m19" in decision.because
    session = assembly.stage(StageKind.SESSION)
    assert session is not None
    assert session.messages[19].role == "tool"
    assert 40 <= len(session.messages) <= 60


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_ferry_note_is_lost_in_a_file(dialect: str) -> None:
    assembly = _assembled("nanobot-lost-rule", dialect)
    assert FERRY in _texts(assembly, StageKind.SESSION)
    assert FERRY not in _texts(assembly, StageKind.FINAL)
    (offloaded,) = [d for d in assembly.decisions if d.rule == "nanobot.governance.offload"]
    assert offloaded.measured is not None
    assert offloaded.measured > 16_000


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hostile_input_is_assembled(dialect: str) -> None:
    assembly = _assembled("nanobot-nasty", dialect)
    assert assembly.failure is None
    assert {"session.line-skipped", "estimate.special-token"} <= {n.code for n in assembly.warnings}
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    assert "backfill:b2:0" in {message.id for message in final.messages}
    assert final.status_of("m23") is MessageStatus.REWRITTEN
    assert not {"m29", "m30"} & {message.id for message in final.messages}


@pytest.mark.parametrize(("dialect", "kept"), [("main", False), ("0.3.5", False), ("0.2.2", True)])
def test_blank_files_are_left_out_since_main(dialect: str, kept: bool) -> None:
    section = _assembled("nanobot-nasty", dialect).section("bootstrap/SOUL.md")
    assert section is not None
    assert (section.status is SectionStatus.KEPT) is kept
