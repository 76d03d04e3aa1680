"""One debugging state: change, undo, reload; what fails leaves everything as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.debug import Debugger, OpenRequest, choose_engine, find_sessions, open_workspace, with_knob
from promptdbg.errors import InputError, UsageError
from promptdbg.model import Settings
from promptdbg.workspace import MANIFEST_NAME, open_folder
from tests import fake_engine, invariants
from tests.fake_engine import ENGINE

MANIFEST = """
engine = "fake"
[settings]
cap = 50
[scenarios.tight]
budget = 12
off = ["notes"]
[[sections]]
name = "identity"
text = "You are an agent of few words."
priority = 2
[[sections]]
name = "notes"
text = "A note that goes on and on and on and on and on and on and on and on and on."
priority = 1
[[messages]]
role = "user"
content = "first"
[[messages]]
role = "assistant"
content = "answer"
[[messages]]
role = "user"
content = "second"
"""


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine.install(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / MANIFEST_NAME).write_text(MANIFEST)
    return tmp_path


@pytest.fixture
def debugger(folder: Path) -> Debugger:
    return Debugger(open_workspace(folder))


def test_it_starts_with_the_manifests_settings(debugger: Debugger) -> None:
    assert dict(debugger.settings.values) == {"cap": 50}
    notes = debugger.assembly.section("notes")
    assert notes is not None
    assert notes.status.value == "truncated"
    invariants.check(debugger.assembly)


def test_undo_and_redo_walk_through_the_changes(debugger: Debugger) -> None:
    states = [debugger.assembly]
    states.append(debugger.set_knob("budget", 5))
    states.append(debugger.toggle("identity"))
    states.append(debugger.set_turn(1))
    assert debugger.undo_label == "turn 1"
    undone = []
    for state in reversed(states[:-1]):
        undone.append(debugger.undo())
        assert debugger.assembly == state
    assert [*undone, debugger.undo()] == ["turn 1", "identity off", "budget 5", None]
    redone = []
    for state in states[1:]:
        redone.append(debugger.redo())
        assert debugger.assembly == state
    assert [*redone, debugger.redo()] == ["budget 5", "identity off", "turn 1", None]


def test_a_new_change_forgets_what_was_undone(debugger: Debugger) -> None:
    debugger.toggle("identity")
    debugger.undo()
    debugger.toggle("notes")
    assert debugger.redo() is None
    assert debugger.undo() == "notes off"


def test_joined_changes_are_one_undo(debugger: Debugger) -> None:
    debugger.set_knob("budget", 5)
    for value in (10, 15):
        debugger.apply(debugger.settings.with_value("budget", value), f"budget {value}", joins=True)
    assert debugger.undo() == "budget 15"
    assert "budget" not in debugger.settings.values


def test_the_same_settings_are_no_change(debugger: Debugger) -> None:
    before = debugger.assembly
    assert debugger.set_knob("cap", 50) is before
    assert debugger.undo() is None


def test_reset_goes_back_to_the_files_and_keeps_the_turn(debugger: Debugger) -> None:
    start = debugger.settings
    debugger.set_knob("cap", 10)
    debugger.toggle("identity")
    debugger.set_turn(2)
    debugger.reset()
    assert debugger.settings == replace(start, turn=2)
    assert debugger.undo() == "back to the files"
    assert debugger.settings.off == {"identity"}


def test_a_knobs_default_is_the_same_as_not_setting_it(debugger: Debugger) -> None:
    debugger.set_knob("merge", False)
    debugger.set_knob("merge", True)
    assert "merge" not in debugger.settings.values
    knob = debugger.knob("keep")
    assert with_knob(Settings(), knob, 5).values["keep"] == 5
    assert with_knob(Settings().with_value("keep", 5), knob, 1000) == Settings()


@pytest.mark.parametrize(("name", "value"), [("cap", -1), ("cap", "x"), ("nothing", 1), ("style", "silent")])
def test_a_change_that_does_not_fit_leaves_everything(debugger: Debugger, name: str, value: object) -> None:
    before = (debugger.assembly, debugger.settings, debugger.undo_label)
    with pytest.raises(UsageError):
        debugger.set_knob(name, value)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        debugger.apply(debugger.settings.with_value(name, value), "x")  # type: ignore[arg-type]
    assert (debugger.assembly, debugger.settings, debugger.undo_label) == before


def test_preview_changes_nothing(debugger: Debugger) -> None:
    before = (debugger.assembly, debugger.settings)
    other = debugger.preview(debugger.settings.with_off({"identity"}))
    assert other != before[0]
    assert (debugger.assembly, debugger.settings) == before
    assert debugger.undo() is None


def test_reload_keeps_what_was_changed(folder: Path, debugger: Debugger) -> None:
    debugger.toggle("notes")
    changed = debugger.settings
    (folder / MANIFEST_NAME).write_text(
        MANIFEST.replace("few words", "many words").replace("cap = 50", "cap = 7")
    )
    debugger.reload()
    assert debugger.settings == changed
    identity = debugger.assembly.section("identity")
    assert identity is not None
    assert "many" in identity.text
    assert debugger.undo() == "notes off"


def test_reload_follows_the_manifest_where_nothing_was_changed(folder: Path, debugger: Debugger) -> None:
    debugger.set_turn(1)
    (folder / MANIFEST_NAME).write_text(MANIFEST.replace("cap = 50", "cap = 7"))
    debugger.reload()
    assert dict(debugger.settings.values) == {"cap": 7}
    assert debugger.settings.turn == 1
    debugger.toggle("notes")
    debugger.reset()
    assert dict(debugger.settings.values) == {"cap": 7}


@pytest.mark.parametrize(
    "content", ["engine = ", 'engine = "nothing"', 'engine = "fake"\n[settings]\ncap = "x"\n']
)
def test_reload_that_fails_leaves_the_last_good_state(folder: Path, debugger: Debugger, content: str) -> None:
    before = (debugger.opened, debugger.assembly, debugger.settings)
    (folder / MANIFEST_NAME).write_text(content)
    with pytest.raises((InputError, UsageError)):
        debugger.reload()
    assert (debugger.opened, debugger.assembly, debugger.settings) == before
    (folder / MANIFEST_NAME).write_text(MANIFEST)
    debugger.reload()
    assert debugger.assembly == before[1]


def test_undo_that_no_longer_fits_leaves_everything(
    debugger: Debugger, monkeypatch: pytest.MonkeyPatch
) -> None:
    debugger.set_knob("budget", 5)
    debugger.set_knob("budget", 9)
    before = (debugger.assembly, debugger.settings, debugger.undo_label)

    def refuse(*args: object) -> object:
        raise UsageError("unknown knob 'budget'")

    with monkeypatch.context() as patched:
        patched.setattr(ENGINE.__class__, "assemble", refuse)
        with pytest.raises(UsageError):
            debugger.undo()
    assert (debugger.assembly, debugger.settings, debugger.undo_label) == before
    assert debugger.undo() == "budget 9"


def test_scenarios_lie_over_the_manifests_settings(debugger: Debugger) -> None:
    tight = debugger.opened.scenario("tight")
    assert dict(tight.values) == {"cap": 50, "budget": 12}
    assert tight.off == {"notes"}
    with pytest.raises(UsageError, match=r"unknown scenario 'loose' \(one of tight\)"):
        debugger.opened.scenario("loose")


def test_engine_is_chosen_by_name_then_manifest_then_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_engine(open_folder(folder), "fake")[1].reason == "named on the command line"
    assert choose_engine(open_folder(folder))[1].reason == "promptdbg.toml says so"
    with pytest.raises(UsageError, match="unknown engine 'x'"):
        choose_engine(open_folder(folder), "x")
    (folder / MANIFEST_NAME).unlink()
    (folder / "fake.txt").touch()
    monkeypatch.setattr("promptdbg.debug.ENGINE_NAMES", ("fake",))
    chosen, detection = choose_engine(open_folder(folder))
    assert (chosen.name, detection.reason) == ("fake", "fake.txt is there")


def test_folder_of_no_framework_says_what_to_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptdbg.debug.ENGINE_NAMES", ("fake",))
    with pytest.raises(InputError, match="--engine fake, or try: promptdbg demo"):
        open_workspace(tmp_path)


def test_session_of_an_engine_that_has_none(folder: Path) -> None:
    with pytest.raises(UsageError, match="--session: engine fake reads no session file"):
        open_workspace(folder, OpenRequest(session="x"))
    assert open_workspace(folder, OpenRequest(session="latest")).sessions == ()
    assert find_sessions(folder) == (ENGINE, ())


def test_unknown_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(InputError, match="set HOME"):
        open_workspace(folder)


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("toggle"), st.sampled_from(["identity", "notes", "m0"])),
        st.tuples(st.just("budget"), st.one_of(st.none(), st.integers(0, 40))),
        st.tuples(st.just("turn"), st.sampled_from([None, 1, 2])),
        st.tuples(st.sampled_from(["undo", "redo", "reset"]), st.none()),
    ),
    max_size=12,
)


@given(operations=OPERATIONS)
@settings(max_examples=60)
def test_the_assembly_is_always_that_of_the_settings(
    operations: list[tuple[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("w")
    (folder / MANIFEST_NAME).write_text(MANIFEST)
    debugger = Debugger(open_workspace(folder))
    start = debugger.settings
    for name, value in operations:
        match name:
            case "toggle":
                debugger.toggle(str(value))
            case "budget":
                debugger.set_knob("budget", value)  # type: ignore[arg-type]
            case "turn":
                debugger.set_turn(value)  # type: ignore[arg-type]
            case _:
                getattr(debugger, name)()
        fresh = debugger.opened.engine.assemble(debugger.opened.inputs, debugger.settings, debugger.counter)
        assert debugger.assembly == fresh
        invariants.check(fresh)
    while debugger.undo():
        pass
    assert debugger.settings == start


@pytest.mark.parametrize("name", ["bee-nearest-rule", "nanobot-lost-rule", "orbiter-order"])
def test_the_manifest_and_the_session_are_watched_whatever_the_engine(name: str) -> None:
    opened = open_workspace(Path(__file__).parents[2] / "src" / "promptdbg" / "examples" / name)
    assert str(opened.workspace.path / "promptdbg.toml") in opened.watched
    if opened.inputs.session:
        assert opened.inputs.session in opened.watched
    assert len(set(opened.watched)) == len(opened.watched)


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "SOUL.md"])
def test_a_file_that_several_agents_read_makes_the_engine_a_guess(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    _, detection = choose_engine(open_folder(tmp_path))
    assert detection.reason.startswith(f"a guess, for {name} is all there is to go by")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "history.jsonl").write_text("")
    _, known = choose_engine(open_folder(tmp_path))
    assert "guess" not in known.reason


@pytest.mark.parametrize(("name", "hint"), [("components.json", "agentos"), ("candidates.json", "phronomy")])
def test_a_folder_with_data_alone_is_led_to_its_engine(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=f"{name} may be for --engine {hint}"):
        choose_engine(open_folder(tmp_path))
