"""Switching off any one item of the bundled examples: it goes, or it is said why not; nothing else moves."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

import pytest

from promptdbg.cli import main
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.engines.base import SWITCHED_OFF
from promptdbg.errors import UsageError
from promptdbg.examples import FOLDER, examples
from promptdbg.model import Assembly, Section, SectionStatus, StageKind
from tests import invariants

NAMES = [example.name for example in examples()]


@cache
def _debugger(name: str) -> Debugger:
    return Debugger(open_workspace(FOLDER / name, OpenRequest(now="2026-01-01T00:00:00+00:00")))


def _switched(name: str, *items: str) -> Assembly:
    debugger = _debugger(name)
    try:
        return debugger.apply(debugger.base.with_off({*debugger.base.off, *items}), "off")
    finally:
        debugger.apply(debugger.base, "on again")


def _switched_if_it_can_be(name: str, item: str) -> Assembly | None:
    with suppress(UsageError):
        return _switched(name, item)
    with pytest.raises(UsageError, match=r"^cannot be switched off: "):
        _switched(name, item)
    return None


def _within(assembly: Assembly, item: str) -> list[str]:
    """The item and everything that is part of it; a section comes before its parts."""
    found = [item]
    found += [section.id for section in assembly.sections if section.parent in found]
    for section in assembly.sections:
        if section.parent in found and section.id not in found:
            found.append(section.id)
    return found


def _messages(assembly: Assembly) -> list[str]:
    return list(dict.fromkeys(m.id for stage in assembly.stages for m in (*stage.messages, *stage.dropped)))


def _why(assembly: Assembly, item: str) -> list[str]:
    return [d.because for d in assembly.decisions_on(item) if d.rule == SWITCHED_OFF.id]


@pytest.mark.parametrize("name", NAMES)
def test_a_section_that_is_switched_off_goes_with_its_parts_or_it_is_said_why_not(name: str) -> None:
    before = _debugger(name).assembly
    done = 0
    for section in before.sections:
        after = _switched_if_it_can_be(name, section.id)
        if after is None:
            continue
        done += 1
        invariants.check(after)
        for item in _within(before, section.id):
            off = after.section(item)
            assert off is not None, f"{section.id} off: {item} is gone"
            assert off.status is SectionStatus.DISABLED, f"{section.id} off: {item} is {off.status}"
            assert _why(after, item), f"{section.id} off: nothing says why {item} is not there"
            assert not off.output or _names_a_file(off), f"{section.id} off: {item} is in the prompt"
            _costs_what_it_did(before, off)
        _nothing_else_moved(before, after)
    assert done


def _names_a_file(section: Section) -> bool:
    """An import or attachment that is switched off stays as typed, and so does a list of nothing else."""
    return all(line.startswith("@") for line in section.output.splitlines())


def _costs_what_it_did(before: Assembly, off: Section) -> None:
    was = before.section(off.id)
    assert was is not None
    assert (off.tokens_original, off.size_original, off.text) == (
        was.tokens_original,
        was.size_original,
        was.text,
    )


def _nothing_else_moved(before: Assembly, after: Assembly) -> None:
    now = {section.id: section for section in after.sections}
    was = {section.id: section for section in before.sections}
    for item in was.keys() & now.keys():
        for key in ("name", "parent", "kind", "priority", "place"):
            assert getattr(now[item], key) == getattr(was[item], key), f"{item} has another {key}"
    assert [item for item in now if item in was] == [item for item in was if item in now]


@pytest.mark.parametrize("name", NAMES)
def test_a_message_that_is_switched_off_goes_or_it_is_said_why_not(name: str) -> None:
    before = _debugger(name).assembly
    for item in set(_messages(before)) - {section.id for section in before.sections}:
        after = _switched_if_it_can_be(name, item)
        if after is None:
            continue
        invariants.check(after)
        later = [stage for stage in after.stages if stage.kind is not StageKind.SESSION]
        assert all(m.id != item for stage in later for m in stage.messages), f"{item} is still there"
        assert not later or all(item not in m.sources for m in later[-1].messages), f"{item} is still there"
        assert _why(after, item) or after.failure is not None
        _nothing_else_moved(before, after)
        left = [message for message in _messages(after) if message in _messages(before)]
        assert left == [message for message in _messages(before) if message in left]


@pytest.mark.parametrize("name", NAMES)
def test_every_stored_message_of_the_list_can_be_switched_off(name: str) -> None:
    session = _debugger(name).assembly.stage(StageKind.SESSION)
    for message in session.messages if session else ():
        _switched(name, message.id)


@pytest.mark.parametrize(
    ("name", "item", "parts"),
    [
        ("agentos-window", "tools", ["tools/timetable"]),
        ("agentos-window", "retrieved", ["retrieved/0", "retrieved/1"]),
        ("agentos-nasty", "retrieved", ["retrieved/memory", "memory/preamble", "retrieved/0"]),
        ("phronomy-nasty", "tools", ["tools/stock"]),
        ("bee-nasty", "attachments", ["attachments/@sketch.md"]),
    ],
)
def test_a_parent_goes_with_its_parts(name: str, item: str, parts: list[str]) -> None:
    after = _switched(name, item)
    assert _why(after, item) == ["Switched off here."]
    for part in parts:
        assert _why(after, part)
        assert [s.status for s in after.sections if s.id == part] == [SectionStatus.DISABLED]


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("nanobot-lost-rule", "current"),
        ("nanobot-lost-rule", "current/text"),
        ("agentos-nasty", "memory/persistent"),
        ("agentos-window", "system"),
    ],
)
def test_what_is_fixed_is_refused_and_nothing_changes(name: str, item: str) -> None:
    debugger = _debugger(name)
    before = debugger.settings
    with pytest.raises(UsageError, match="cannot be switched off: "):
        debugger.toggle(item)
    assert debugger.settings == before
    assert not debugger.assembly.settings.off


def test_nanobots_tool_schemas_are_off_and_cost_what_they_did() -> None:
    was = _debugger("nanobot-lost-rule").assembly.section("tools")
    off = _switched("nanobot-lost-rule", "tools").section("tools")
    assert was
    assert off
    assert (off.status, off.tokens_original) == (SectionStatus.DISABLED, was.tokens_original)


def test_what_was_switched_off_in_vain_on_disk_is_a_warning() -> None:
    """A manifest must not keep its workspace from opening for an item that cannot be switched off."""
    debugger = _debugger("nanobot-lost-rule")
    assembly = debugger.preview(debugger.base.with_off({"current"}))
    assert [notice.message for notice in assembly.warnings if notice.code == "settings.not-off"] == [
        "message cannot be switched off: nanobot always sends it"
    ]


def test_the_command_line_says_in_one_line_what_cannot_be_switched_off(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["inspect", str(FOLDER / "nanobot-lost-rule"), "--off", "current/text"]) == 2
    said = "cannot be switched off: message text (nanobot always sends it as a part of message)"
    assert capsys.readouterr().err == f"promptdbg: {said}\n"
