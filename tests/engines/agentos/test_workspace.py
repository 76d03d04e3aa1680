"""Workspaces: bad files, knobs, what-ifs, and the bundled examples."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.engines.agentos import ENGINE
from promptdbg.engines.base import LoadRequest
from promptdbg.errors import InputError, UsageError
from promptdbg.export.document import document
from promptdbg.model import MessageStatus, SectionStatus, Settings
from promptdbg.tokens import tokenizer
from tests import invariants
from tests.engines.agentos.workspaces import NOW, workspace

GOLDEN = Path(__file__).with_name("golden")
EXAMPLES = Path(__file__).parents[3] / "src" / "promptdbg" / "examples"
NAMES = ("agentos-window", "agentos-nasty")


def opened(folder: Path) -> Debugger:
    return Debugger(open_workspace(folder, OpenRequest(engine="agentos", now=NOW)))


def warnings(folder: Path, **files: str) -> list[str]:
    inputs = ENGINE.load(workspace(folder, **files), LoadRequest(now=NOW))
    invariants.check(ENGINE.assemble(inputs, Settings(), tokenizer()))
    return [notice.code for notice in inputs.warnings]


# ---- examples -----------------------------------------------------------------------------------------


def scenarios() -> list[tuple[str, str]]:
    return [(name, scenario) for name in NAMES for scenario in ("", *_manifest(name).scenarios)]


def _manifest(name: str) -> Any:
    return open_workspace(EXAMPLES / name, OpenRequest(now=NOW)).workspace.manifest


@pytest.mark.parametrize(("name", "scenario"), scenarios())
def test_every_scenario_of_the_examples_is_whole(name: str, scenario: str) -> None:
    entry = open_workspace(EXAMPLES / name, OpenRequest(now=NOW))
    assert entry.workspace.manifest is not None
    found = entry.workspace.manifest.scenarios.get(scenario)
    invariants.check(Debugger(entry, found).assembly)


@pytest.mark.parametrize("name", NAMES)
def test_inspect_of_the_examples_is_stable(name: str) -> None:
    """``PROMPTDBG_UPDATE_GOLDEN=1`` writes the documents anew."""
    assembly = Debugger(open_workspace(EXAMPLES / name, OpenRequest(now=NOW))).assembly
    found = {**document(assembly), "workspace": name}
    inside = json.dumps(f"{EXAMPLES / name}{os.sep}")[1:-1]  # places in it are kept without it
    text = json.dumps(found, ensure_ascii=True, indent=1).replace(inside, "") + "\n"
    path = GOLDEN / f"{name}.json"
    if os.environ.get("PROMPTDBG_UPDATE_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_the_small_example_answers_its_question() -> None:
    debugger = Debugger(open_workspace(EXAMPLES / "agentos-window", OpenRequest(now=NOW)))
    rules = {decision.rule for decision in debugger.assembly.decisions_on("m0")}
    assert rules == {"agentos.history.truncate"}
    wider = debugger.preview(debugger.settings.with_value("window", 1400))
    assert any(message.id == "m0" for message in wider.stages[-1].messages)


def test_the_nasty_example_answers_its_question() -> None:
    assembly = Debugger(open_workspace(EXAMPLES / "agentos-nasty", OpenRequest(now=NOW))).assembly
    first, *_, last = (message for message in assembly.stages[-1].messages if message.role != "system")
    assert first.role == "tool"
    assert "[object Object]" in last.content


# ---- bad files ----------------------------------------------------------------------------------------


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither"):
        ENGINE.load(workspace(tmp_path), LoadRequest())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"userInput": Q}', r"components.json:1: column 15"),
        ("[1]", "must hold an object"),
        ('{"userInput": NaN}', "NaN is not JSON"),
        ("[" * 900 + "]" * 900, "nested too deeply"),
        ('{"a": ' + "[" * 450 + "]" * 450 + "}", "nested too deeply"),
    ],
)
def test_broken_components_are_an_error(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        warnings(tmp_path, components_json=text)


def test_a_key_that_nothing_reads_is_a_warning(tmp_path: Path) -> None:
    assert warnings(tmp_path, components_json='{"flavour": 1}') == ["agentos.unknown-key"]


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "components.json").write_bytes(b'{"userInput": "\xff"}')
    with pytest.raises(InputError, match="byte 15 is not UTF-8"):
        ENGINE.load(workspace(tmp_path), LoadRequest())


@pytest.mark.parametrize(
    "settings",
    [
        {"engine_version": 3},
        {"model": "gpt-4"},
        {"executionContext": []},
        {"templateName": 5},
        {"memory": {"totalTokenBudget": "much"}},
        {"memory": {"totalTokenBudget": 900, "retrievedTraces": ["x"]}},
        {"memory": {"totalTokenBudget": 900, "allocation": {"naps": 1}}},
        {"gmiHistory": "all"},
        {"config": []},
        {"env": 1},
    ],
)
def test_a_setting_of_the_wrong_kind_is_a_warning(tmp_path: Path, settings: dict[str, Any]) -> None:
    assert warnings(tmp_path, agentos_json=json.dumps(settings)) == ["agentos.kind"]


def test_a_summarizer_with_unknown_keys_is_a_warning(tmp_path: Path) -> None:
    text = json.dumps({"summarizer": {"style": "terse"}})
    assert warnings(tmp_path, agentos_json=text) == ["agentos.summarizer"]


def test_memory_beside_a_list_of_documents_is_a_warning(tmp_path: Path) -> None:
    settings = {"memory": {"totalTokenBudget": 900, "workingMemoryText": "w"}}
    components = {"retrievedContext": [{"source": "s", "content": "c"}]}
    found = warnings(tmp_path, agentos_json=json.dumps(settings), components_json=json.dumps(components))
    assert found == ["agentos.memory"]


def test_a_memory_that_lacks_something_is_a_warning_of_the_assembly(tmp_path: Path) -> None:
    memory = {"totalTokenBudget": 900, "retrievedTraces": [{"id": "t", "content": "c"}]}
    folder = workspace(tmp_path, agentos_json=json.dumps({"memory": memory}))
    assembly = ENGINE.assemble(ENGINE.load(folder, LoadRequest(now=NOW)), Settings(), tokenizer())
    invariants.check(assembly)
    assert [notice.code for notice in assembly.warnings] == ["agentos.memory"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "components.json")
    with pytest.raises(InputError, match="is a device, pipe or socket"):
        ENGINE.load(workspace(tmp_path), LoadRequest())


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a time"):
        ENGINE.load(workspace(tmp_path, components_json="{}"), LoadRequest(now="noon"))


# ---- knobs and what-ifs -------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Debugger:
    settings = {
        "model": {"modelId": "m", "maxContextTokens": 1000, "toolSupport": {"supported": True}},
        "executionContext": {
            "activePersona": {
                "id": "p",
                "baseSystemPrompt": "Base.",
                "contextualPromptElements": [
                    {
                        "id": "calm",
                        "type": "behavioral_guidance",
                        "content": "C",
                        "criteria": {"mood": "calm"},
                    }
                ],
            }
        },
        "config": {"toolSchemaManifest": {"p": {"enabledToolIds": ["a"]}}},
    }
    history = [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "e" * 400} for n in range(6)]
    components = {
        "systemPrompts": [{"content": "One", "priority": 2}, {"content": "Two", "priority": 3}],
        "conversationHistory": history,
        "userInput": "Q",
        "retrievedContext": [{"source": "s", "content": "c" * 40}],
        "tools": [{"id": "a"}, {"id": "b"}],
        "visionInputs": [{"type": "image_url", "data": "u0"}, {"type": "image_url", "data": "u1"}],
    }
    workspace(tmp_path, agentos_json=json.dumps(settings), components_json=json.dumps(components))
    return opened(tmp_path)


def final_ids(debugger: Debugger) -> list[str]:
    return [message.id for message in debugger.assembly.stages[-1].messages]


def test_the_window_decides_what_is_kept(small: Debugger) -> None:
    assert final_ids(small) == ["system", "m3", "m4", "m5", "current"]
    small.set_knob("window", 4000)
    assert final_ids(small) == ["system", "m0", "m1", "m2", "m3", "m4", "m5", "current"]
    small.undo()
    assert final_ids(small) == ["system", "m3", "m4", "m5", "current"]


def test_the_optimal_window_wins_unless_it_is_zero(small: Debugger) -> None:
    small.set_knob("optimal", 4000)
    assert "m0" in final_ids(small)
    small.set_knob("optimal", 0)
    assert "m0" not in final_ids(small)


def test_the_version_and_the_turn_count(small: Debugger) -> None:
    small.set_knob("version", "newer")
    small.set_knob("turn_count", 5)
    assert final_ids(small) == ["system", "m1", "m2", "m3", "m4", "m5", "current"]
    turn = small.assembly.decisions_on("m1")
    assert [decision.rule for decision in turn if decision.stage == "history"] == ["agentos.history.turn"]


def test_the_mood_brings_an_element_in(small: Debugger) -> None:
    before = small.assembly.section("element/calm")
    assert before is not None
    assert before.status is SectionStatus.DROPPED
    small.set_knob("mood", "calm")
    after = small.assembly.section("element/calm")
    assert after is not None
    assert after.status is SectionStatus.KEPT


def test_the_manifest_applies_only_when_the_context_is_set(small: Debugger) -> None:
    assert small.assembly.section("tools/b").status is SectionStatus.DROPPED  # type: ignore[union-attr]
    small.set_knob("manifest", False)
    assert small.assembly.section("tools/b").status is SectionStatus.KEPT  # type: ignore[union-attr]


def test_images_keep_their_ids_when_one_is_off(small: Debugger) -> None:
    small.set_knob("vision", True)
    small.toggle("vision/0")
    found = {s.id: s.status for s in small.assembly.sections if s.kind == "image"}
    assert found == {"vision/0": SectionStatus.DISABLED, "vision/1": SectionStatus.KEPT}
    invariants.check(small.assembly)


def test_a_message_that_is_off_leaves_at_the_components(small: Debugger) -> None:
    small.toggle("m4")
    initial = small.assembly.stages[1]
    assert [message.id for message in initial.dropped] == ["m4"]
    assert small.assembly.decisions_on("m4")[0].rule == "promptdbg.off"
    invariants.check(small.assembly)


def test_an_edited_message_is_rewritten(small: Debugger) -> None:
    small.apply(small.settings.with_text("m5", "short"), "edit")
    initial = small.assembly.stages[1]
    assert initial.status_of("m5") is MessageStatus.REWRITTEN
    assert final_ids(small) == ["system", "m2", "m3", "m4", "m5", "current"]
    invariants.check(small.assembly)


def test_a_priority_moves_a_system_prompt(small: Debugger) -> None:
    assert small.assembly.system_text == "Base.\n\nOne\n\nTwo"
    small.apply(small.settings.with_priority("system/2", -1), "priority")
    assert small.assembly.system_text == "Two\n\nBase.\n\nOne"


def test_a_turn_makes_its_message_the_user_input(small: Debugger) -> None:
    assert [turn.row for turn in small.opened.turns] == [0, 2, 4]
    small.set_turn(2)
    assert [message.id for message in small.assembly.stages[0].messages] == ["m0", "m1", "m2"]
    assert small.assembly.stages[1].status_of("current") is MessageStatus.MERGED
    assert "m2" not in final_ids(small)
    invariants.check(small.assembly)


def test_the_gmi_keeps_only_the_newest(small: Debugger) -> None:
    small.set_knob("window", 4000)
    small.set_knob("gmi_history", 2)
    assert final_ids(small) == ["system", "m4", "m5", "current"]
    assert small.assembly.decisions_on("m0")[0].rule == "agentos.gmi.history"


def test_the_cache_knob_shows_the_key(small: Debugger) -> None:
    small.set_knob("cache", True)
    assert "agentos.cache-key" in [notice.code for notice in small.assembly.warnings]
    rules = {decision.rule for decision in small.assembly.decisions_on("retrieved/0")}
    assert "agentos.cache.key" in rules


def test_a_completion_is_shown_in_pieces_that_join_to_it(small: Debugger) -> None:
    small.set_knob("template", "generic_completion")
    final = small.assembly.stages[-1]
    text = "".join(message.content for message in final.messages)
    assert text.startswith("Base.\nOne\nTwo\n\nassistant: 3 ")
    assert text.endswith("user: Q\nassistant:")
    invariants.check(small.assembly)


def test_a_knob_that_does_not_exist_is_refused(small: Debugger) -> None:
    with pytest.raises(UsageError, match="unknown knob"):
        small.set_knob("temperature", 1)


def test_every_rule_of_a_decision_is_in_the_catalogue_once() -> None:
    ids = [rule.id for rule in ENGINE.rules]
    assert len(ids) == len(set(ids))
    assert all(rule.source and rule.title and rule.version for rule in ENGINE.rules)
