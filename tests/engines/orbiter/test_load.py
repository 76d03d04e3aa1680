"""Reading a workspace: what is bad is shown, with its place, and never crashes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.errors import InputError
from promptdbg.model import Assembly, Notice
from tests import invariants


def assembled(folder: Path, request: OpenRequest | None = None, **files: str) -> Assembly:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    assembly = Debugger(open_workspace(folder, request)).assembly
    invariants.check(assembly)
    return assembly


def notice(assembly: Assembly, code: str) -> Notice:
    found = [entry for entry in assembly.warnings if entry.code == code]
    assert found, [entry.code for entry in assembly.warnings]
    return found[0]


def test_a_workspace_is_known_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "orbiter.yaml").write_text("entries: [task]\n")
    opened = open_workspace(tmp_path)
    assert opened.engine.name == "orbiter"
    assert opened.detection.reason == "orbiter.yaml is there"


def test_values_of_the_wrong_kind_are_named(tmp_path: Path) -> None:
    text = "entries: task\nseparator: 3\nvariables: [a]\ngeneration: C\nodd: 1\n"
    assembly = assembled(
        tmp_path, orbiter__yaml=text, state__json="[1]", messages__json='[{"content": "x"}, 3]'
    )
    messages = " | ".join(entry.message for entry in assembly.warnings)
    for word in (
        "entries",
        "separator",
        "variables",
        "generation",
        "odd",
        "must be an object",
        "message 0",
        "message 1",
    ):
        assert word in messages


def test_a_priority_that_is_no_number_fails_in_the_sort(tmp_path: Path) -> None:
    text = "entries:\n  - {name: a, priority: high, text: A}\n  - {name: b, priority: 1, text: B}\n"
    assembly = assembled(tmp_path, orbiter__yaml=text)
    assert assembly.failure is not None
    assert assembly.failure.error == "TypeError"
    found = notice(assembly, "orbiter.priority-not-a-number")
    assert found.source is not None
    assert found.source.start_line == 2


def test_registering_a_name_twice_fails_adding_it_twice_does_not(tmp_path: Path) -> None:
    manifest = 'engine = "orbiter"\n[[neurons]]\nname = "fact"\ntext = "x"\n'
    assembly = assembled(tmp_path, orbiter__yaml="entries: [fact]", promptdbg__toml=manifest)
    assert assembly.failure is not None
    assert assembly.failure.error == "RegistryError"
    (tmp_path / "promptdbg.toml").unlink()
    twice = assembled(tmp_path, orbiter__yaml="entries: [fact, fact]", state__json='{"facts": ["a"]}')
    assert twice.system_text.count("<facts>") == 2
    assert notice(twice, "orbiter.duplicate-entry")


def test_numbers_that_the_framework_refuses(tmp_path: Path) -> None:
    assembly = assembled(tmp_path, orbiter__yaml="history_rounds: 0\nentries: [task]\n")
    assert assembly.failure is not None
    assert assembly.failure.error == "ValidationError"
    assert "history_rounds" in assembly.failure.message


def test_a_negative_budget_is_refused_in_one_line(tmp_path: Path) -> None:
    manifest = 'engine = "orbiter"\n[settings]\nneuron_budget = -5\n'
    with pytest.raises(InputError, match=r"promptdbg.toml:3: knob neuron_budget cannot be -5"):
        assembled(tmp_path, orbiter__yaml="entries: [task]", promptdbg__toml=manifest)


def test_neuron_names_are_added_and_said_to_be(tmp_path: Path) -> None:
    assembly = assembled(tmp_path, orbiter__yaml="neuron_names: [task]\n")
    assert assembly.system_text.startswith("<task_info>")
    assert notice(assembly, "orbiter.neuron-names")


def test_devices_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "orbiter.yaml").write_text("entries: [task]")
    (tmp_path / "state.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "messages.json")
    (tmp_path / "parent_state.json").symlink_to("parent_state.json")
    for name, what in (
        ("parent_state.json", "leads back to itself"),
        ("state.json", "is a device"),
        ("messages.json", "is a device, pipe or socket"),
    ):
        with pytest.raises(InputError, match=f"{name}: .*{what}"):
            assembled(tmp_path)
        (tmp_path / name).unlink()
    assembled(tmp_path)


def test_python_runs_only_with_trust_and_its_failure_has_a_line(tmp_path: Path) -> None:
    text = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nraise ValueError('no')\n"
    (tmp_path / "mine.py").write_text(text)
    assembly = assembled(tmp_path, orbiter__yaml="entries: [mine]\npython: mine.py\n")
    assert not (tmp_path / "ran").exists()
    assert assembly.failure is None
    assert notice(assembly, "orbiter.not-trusted")
    trusted = assembled(tmp_path, OpenRequest(trust=True))
    assert (tmp_path / "ran").exists()
    found = notice(trusted, "orbiter.python-failed")
    assert found.source is not None
    assert found.source.start_line == 3
    assert trusted.failure is not None
    assert trusted.failure.error == "ValueError"


TALK = (("user", "one"), ("assistant", "1"), ("user", "two"))


def test_the_question_of_the_turn_comes_last(tmp_path: Path) -> None:
    rows = json.dumps([{"role": role, "content": text} for role, text in TALK])
    assembly = assembled(
        tmp_path, OpenRequest(message="three"), orbiter__yaml="entries: [task]", messages__json=rows
    )
    assert [message.id for message in assembly.stages[-1].messages] == [
        "system-prompt",
        "m0",
        "m1",
        "m2",
        "current",
    ]
    assert [turn.title for turn in assembly.turns] == ["one", "two"]
    first = Debugger(open_workspace(tmp_path)).set_turn(1)
    assert [message.id for message in first.stages[-1].messages] == ["system-prompt", "m0"]


def test_variables_of_the_file_and_their_knobs(tmp_path: Path) -> None:
    text = (
        "entries:\n  - {name: a, text: '${who} ${n}'}\nvariables: {who: you, n: {state_key: k, default: 3}}\n"
    )
    (tmp_path / "orbiter.yaml").write_text(text)
    debugger = Debugger(open_workspace(tmp_path))
    assert debugger.assembly.system_text == "you 3"
    assert debugger.set_knob("variable.who", "me").system_text == "me 3"
    assert debugger.set_knob("variables", False).system_text == "${who} ${n}"
