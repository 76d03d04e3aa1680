"""Where a turn stops: the real program gets just as far before it raises, or goes on where it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.model import Assembly, StageKind
from tests.engines.nanobot.making import DIALECTS, assembled, assistant, loaded, settings, stored, user

LONE = "\ud83d"


def _stages(assembly: Assembly) -> list[str]:
    return [stage.name for stage in assembly.stages]


def _stopped_in(assembly: Assembly) -> str:
    assert assembly.failure is not None
    assert assembly.stage(StageKind.FINAL) is None
    return assembly.failure.where


@pytest.mark.parametrize(
    ("dialect", "values", "reached"),
    [
        ("main", {}, False),  # its probe builds a prompt first, and nothing guards it
        ("main", {"ephemeral": True}, True),
        ("0.3.5", {}, True),
        ("0.2.2", {}, True),
        ("0.2.2", {"consolidation": "fails", "max_messages": 2}, True),
    ],
)
def test_history_is_read_before_a_file_that_cannot_be(
    tmp_path: Path, dialect: str, values: dict[str, object], reached: bool
) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xe9")
    rows = [user("a"), assistant("b"), user("c"), assistant("d")]
    assembly = assembled(loaded(tmp_path, stored(rows)), settings(dialect, **values))
    assert _stopped_in(assembly) == "agent/context.py::_load_bootstrap_files"
    assert ("history" in _stages(assembly)) is reached


@pytest.mark.parametrize("dialect", DIALECTS)
def test_files_are_read_in_the_order_of_the_prompt(tmp_path: Path, dialect: str) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xe9")
    skill = tmp_path / "skills" / "one" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_bytes(b"\xe9")
    inputs = loaded(tmp_path, stored([]), message="hi")
    # Since main a message may invoke a skill, so skills are judged even before the prompt is built.
    first = "agent/context.py::_load_bootstrap_files" if dialect == "0.2.2" else "agent/skills.py::load_skill"
    assert _stopped_in(assembled(inputs, settings(dialect))) == first


def test_main_counts_the_bytes_of_a_lone_surrogate_before_it_saves(tmp_path: Path) -> None:
    inputs = loaded(tmp_path, stored([user("a " + LONE)]))
    probing = assembled(inputs, settings("main", tokenizer=False))
    assert _stopped_in(probing) == "utils/helpers.py::_estimate_prompt_tokens_with_source"
    capping = assembled(inputs, settings("main", tokenizer=False, ephemeral=True))
    assert _stopped_in(capping) == "utils/helpers.py::estimate_message_tokens"
    saving = assembled(inputs, settings("0.3.5", tokenizer=False))
    assert _stopped_in(saving) == "session/manager.py::_save_unlocked"
    assert _stopped_in(assembled(inputs, settings("main"))) == "session/manager.py::_save_unlocked"


def test_a_special_token_beside_a_lone_surrogate_is_counted_in_bytes_too(tmp_path: Path) -> None:
    inputs = loaded(tmp_path, stored([user(LONE + "<|endoftext|>")]))
    capping = assembled(inputs, settings("main", ephemeral=True))
    assert _stopped_in(capping) == "utils/helpers.py::estimate_message_tokens"
    assert "history" not in _stages(capping)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_restored_turn_is_saved_before_history_is_read(tmp_path: Path, dialect: str) -> None:
    assembly = assembled(
        loaded(tmp_path, stored([user(LONE)], {"pending_user_turn": True})), settings(dialect)
    )
    assert _stopped_in(assembly).startswith("session/manager.py::")
    assert "history" not in _stages(assembly)


def test_the_session_is_saved_after_every_archived_round(tmp_path: Path) -> None:
    rows = [row for n in range(36) for row in (user(f"{n} " + "tide " * 60), assistant("ok"))]
    values = {"context_window": 3_500, "max_output": 200, "consolidation": "succeeds"}
    assembly = assembled(loaded(tmp_path, stored([*rows, user(LONE)])), settings("main", **values))
    assert _stopped_in(assembly) == "session/manager.py::_save_unlocked"
    assert "history" not in _stages(assembly)


def test_nothing_to_summarise_stops_the_compaction_itself(tmp_path: Path) -> None:
    small = {"context_window": 1_500, "max_output": 200}
    (tmp_path / "AGENTS.md").write_text("rule " * 600)
    assembly = assembled(loaded(tmp_path, stored([])), settings("0.3.5", **small))
    assert _stopped_in(assembly) == "agent/context_governance.py::_compact_request_history"
    fitted = assembled(loaded(tmp_path, stored([])), settings("0.3.5", ephemeral=True, **small))
    assert _stopped_in(fitted) == "agent/context_governance.py::ensure_request_fits"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_blank_message_is_not_saved_before_the_request(tmp_path: Path, dialect: str) -> None:
    inputs = loaded(tmp_path, stored([user(LONE)]))
    assert assembled(inputs, settings(dialect, message=" \n")).failure is None
