"""Every key of every place does what the table says: each is pressed, and its other names lead there too.

A key without an expectation here fails, so that none is added that nobody presses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from textual.command import CommandPalette
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from promptdbg.model import Settings
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.keys import KEYS, Key
from promptdbg.tui.others import FILES, Other
from promptdbg.tui.rows import Sort, States
from promptdbg.tui.screens.boxes import EditBox, ProseBox
from promptdbg.tui.screens.choices import ChoiceBox
from promptdbg.tui.screens.compare import CompareScreen
from promptdbg.tui.screens.export import ExportScreen
from promptdbg.tui.screens.findings import FindingsScreen
from promptdbg.tui.screens.home import HomeScreen
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.screens.search import SearchScreen
from promptdbg.tui.screens.stages import StagesBox
from promptdbg.tui.screens.text import TextScreen
from promptdbg.tui.screens.turns import TurnsScreen
from promptdbg.tui.screens.why import WhyScreen
from promptdbg.tui.turns import Measure
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.budget import BudgetLine
from promptdbg.tui.widgets.chrome import Status
from promptdbg.tui.widgets.knobs import KnobPanel
from promptdbg.tui.widgets.message_columns import MessageColumns
from promptdbg.tui.widgets.prose import Prose
from promptdbg.tui.widgets.sections import SectionList
from promptdbg.tui.widgets.text_view import TextView
from promptdbg.tui.widgets.virtual import VirtualList
from tests.tui.conftest import PATIENCE, Run, idle, the_app

Holds: TypeAlias = Callable[[PromptdbgApp], object]

RULES = "\n".join(f"line {number} of the rules" for number in range(60))
MANIFEST = """\
engine = "sample"
budget = 200
[[sections]]
name = "identity"
kind = "identity"
priority = 100
text = "You are a careful coding agent."
[[sections]]
name = "context"
kind = "context"
priority = 90
[[sections]]
name = "AGENTS.md"
kind = "file"
parent = "context"
file = "AGENTS.md"
[[sections]]
name = "rules"
kind = "result"
priority = 60
file = "rules.txt"
[[messages]]
role = "user"
content = "one"
[[messages]]
role = "assistant"
content = "the answer to one"
[[messages]]
role = "user"
content = "two"
[[messages]]
role = "assistant"
content = "the answer to two"
[scenarios.small]
budget = 20
"""
FILES_ON_DISK = {"AGENTS.md": "One rule.\n", "rules.txt": RULES}


@dataclass(frozen=True)
class Case:
    """Keys that lead to where the key is pressed, and what holds afterwards."""

    start: tuple[str, ...]
    holds: Holds


def case(start: str, holds: Holds) -> Case:
    """The keys are told apart by blanks."""
    return Case(tuple(start.split()), holds)


# ---- what can hold ------------------------------------------------------------------------------


def on(screen: type[Screen[Any]]) -> Holds:
    return lambda app: isinstance(app.screen, screen)


def has_focus(widget: type[Widget]) -> Holds:
    return lambda app: isinstance(app.focused, widget)


def line(app: PromptdbgApp) -> str:
    screen = app.on_top
    return screen.query_one(Status).line if screen else ""


def says(words: str) -> Holds:
    return lambda app: words in line(app)


def box(title: str) -> Holds:
    return lambda app: isinstance(app.screen, ProseBox) and app.screen._box_title.startswith(title)


def settings(app: PromptdbgApp) -> Settings:
    assert app.picture is not None
    return app.picture.assembly.settings


def value(name: str, wanted: object) -> Holds:
    return lambda app: settings(app).values.get(name) == wanted


def item_off(item: str) -> Holds:
    return lambda app: settings(app).off == {item}


def turn(wanted: int | None) -> Holds:
    return lambda app: settings(app).turn == wanted


def the(widget: type[Any]) -> Callable[[PromptdbgApp], Any]:
    return lambda app: app.screen.query_one(widget)


def cursor(row: int) -> Holds:
    return lambda app: isinstance(app.focused, VirtualList) and app.focused.cursor == row


def home(app: PromptdbgApp) -> HomeScreen:
    assert isinstance(app.screen, HomeScreen)
    return app.screen


def turns(app: PromptdbgApp) -> TurnsScreen:
    assert isinstance(app.screen, TurnsScreen)
    return app.screen


def lists(app: PromptdbgApp) -> MessageColumns:
    return app.screen.query_one(MessageColumns)


def names(app: PromptdbgApp) -> list[str]:
    alignment = lists(app).alignment
    return [column.stage.name for column in alignment.columns] if alignment else []


def against(other: Other) -> Holds:
    return lambda app: isinstance(app.screen, CompareScreen) and app.screen.other == other


def asks(label: str) -> Holds:
    return lambda app: (
        isinstance(app.focused, Input) and label in str(app.screen.query_one(Ask).query_one("Label").render())
    )


def at_home(app: PromptdbgApp) -> bool:
    return isinstance(app.screen, HomeScreen)


# ---- every key ----------------------------------------------------------------------------------

RULES_ROW = "down down down"
CUT = f"{RULES_ROW} t"
TURN_1 = Other("turn", turn=1)

CASES: dict[str, Case] = {
    "app.help": case("", box("Keys")),
    "app.quit": case("", lambda app: not app.is_running),
    "app.palette": case("", on(CommandPalette)),
    "app.tour": case("", lambda app: app.guide.tour is not None),
    "app.tour-next": case("ctrl+t", lambda app: app.guide.tour is not None and app.guide.tour.place > 0),
    "app.messages": case("", on(MessagesScreen)),
    "app.search": case("", on(SearchScreen)),
    "app.turn-before": case("", turn(2)),
    "app.turn-after": case("[", turn(None)),
    "app.turns": case("", on(TurnsScreen)),
    "app.undo": case("space", lambda app: not settings(app).changed),
    "app.redo": case("space u", item_off("identity")),
    "app.reset": case("space", says("back to the files")),
    "app.compare": case("", on(CompareScreen)),
    "app.findings": case("", on(FindingsScreen)),
    "app.export": case("", on(ExportScreen)),
    "app.ledger": case("", box("Ledger")),
    "app.warnings": case("", box("Warnings")),
    "app.reload": case("", says("reloaded")),
    "app.watch": case("", lambda app: app.watching.state == "WATCHING"),
    # moving
    "list.up": case("down down", cursor(1)),
    "list.down": case("", cursor(1)),
    "list.page-up": case("G", cursor(0)),
    "list.page-down": case("", cursor(3)),
    "list.first": case("G", cursor(0)),
    "list.last": case("", cursor(3)),
    # the item under the cursor
    "item.toggle": case("", item_off("identity")),
    "item.why": case("", on(WhyScreen)),
    "item.text": case("", on(TextScreen)),
    "item.editor": case("down down", says("no editor found: set EDITOR")),
    "item.try-text": case("", on(EditBox)),
    "item.raise": case("", lambda app: settings(app).priorities == {"identity": 101}),
    "item.lower": case("", lambda app: settings(app).priorities == {"identity": 99}),
    "item.cap-more": case("", value("cap", 450)),
    "item.cap-less": case("", value("cap", 350)),
    "item.copy": case("", lambda app: app.clipboard == "You are a careful coding agent."),
    "item.copy-to-file": case("", asks("Copy to:")),
    # sections
    "sections.open": case("", on(WhyScreen)),
    "sections.fold": case("down", lambda app: home(app).view.folded == {"context"}),
    "sections.unfold": case("down left", lambda app: not home(app).view.folded),
    "sections.fold-all": case("", lambda app: home(app).view.folded == {"context"}),
    "sections.order": case("", lambda app: home(app).view.sort is Sort.TOKENS),
    "sections.order-reverse": case("", lambda app: home(app).view.reverse),
    "sections.states": case("", lambda app: home(app).view.states is States.LOST),
    # home
    "home.filter": case("", asks("Filter:")),
    "home.budget": case("", has_focus(BudgetLine)),
    "home.knobs": case("", has_focus(KnobPanel)),
    "home.pane-1": case("2", has_focus(SectionList)),
    "home.pane-2": case("", has_focus(Prose)),
    "home.pane-3": case("", has_focus(TextView)),
    "home.back": case("2", has_focus(SectionList)),
    # knobs
    "knobs.less": case("K", value("budget", 190)),
    "knobs.more": case("K", value("budget", 210)),
    "knobs.less-fast": case("K", value("budget", 120)),
    "knobs.more-fast": case("K", value("budget", 280)),
    "knobs.type": case("K", asks("System budget")),
    "knobs.toggle": case("K down down down", value("memory", False)),
    "knobs.default": case("K left", lambda app: not settings(app).changed),
    "knobs.back": case("K", has_focus(SectionList)),
    # budget
    "budget.less": case("b", value("budget", 190)),
    "budget.more": case("b", value("budget", 210)),
    "budget.less-fast": case("b", value("budget", 120)),
    "budget.more-fast": case("b", value("budget", 280)),
    "budget.type": case("b", asks("System budget")),
    "budget.back": case("b", has_focus(SectionList)),
    # message lists
    "columns.next": case("m G space g", lambda app: lists(app).row == 4),
    "columns.previous": case("m G", lambda app: lists(app).row == 0),
    "columns.open": case("m", lambda app: bool(lists(app).view.opened)),
    "columns.only-changes": case("m", lambda app: lists(app).view.only_changes),
    "columns.words": case("m", says("there is no text beside it to compare with")),
    "columns.wrap": case("m", lambda app: lists(app).view.wrap),
    "columns.fold": case("m enter", lambda app: not lists(app).view.opened),
    "columns.left": case("m right", lambda app: lists(app).focus_column == 0),
    "columns.right": case("m", lambda app: lists(app).focus_column == 1),
    # messages
    "messages.stage-before": case("m", says("there is no list before this one")),
    "messages.stage-after": case("m right", says("3 of 4: TRIM")),
    "messages.stages": case("m", on(StagesBox)),
    "messages.column-1": case("m", lambda app: names(app) == ["initial", "final"]),
    "messages.column-2": case("m", lambda app: names(app) == ["session", "final"]),
    "messages.column-3": case("m", lambda app: names(app) == ["session", "initial"]),
    "messages.column-4": case("m", says("no recorded request is loaded")),
    "messages.filter": case("m", asks("Find:")),
    "messages.back": case("m", at_home),
    "messages.away": case("m", at_home),
    # text
    "text.find": case(CUT, asks("Find:")),
    "text.next": case(CUT, says("lost stretch 1 of 1")),
    "text.previous": case(CUT, says("lost stretch 1 of 1")),
    "text.output": case(CUT, lambda app: getattr(app.screen, "as_sent", False)),
    "text.wrap": case(CUT, says("long lines are cut at the edge")),
    "text.back": case(CUT, at_home),
    # why
    "why.fix": case(f"{RULES_ROW} i", lambda app: settings(app).changed or "! only " in line(app)),
    "why.back": case("i", at_home),
    # compare
    "compare.others": case("c", on(ChoiceBox)),
    "compare.other-before": case("c", against(TURN_1)),
    "compare.other-after": case("c", against(Other("scenario", "small"))),
    "compare.use": case("c greater_than_sign", value("budget", 20)),
    "compare.save": case("space c", asks("Save as scenario:")),
    "compare.pane-1": case("c 2", lambda app: app.focused is not None and app.focused.id == "differences"),
    "compare.pane-2": case("space c 1", has_focus(MessageColumns)),
    "compare.open": case("space c 1", on(WhyScreen)),
    "compare.back": case("c", at_home),
    "compare.away": case("c", at_home),
    # turns
    "turns.open": case("T up", lambda app: at_home(app) and turn(2)(app)),
    "turns.next": case("T g", says("nothing happens after this turn")),
    "turns.previous": case("T", says("nothing happens before this turn")),
    "turns.left": case("T", cursor(1)),
    "turns.right": case("T g", cursor(1)),
    "turns.measure": case("T", lambda app: turns(app).measure is Measure.SENT),
    "turns.life": case("T", lambda app: not turns(app).with_life),
    "turns.back": case("T", at_home),
    # search
    "search.edit": case("F o n e enter", asks("Search everything:")),
    "search.lost": case("F o n e enter", lambda app: getattr(app.screen, "only_lost", False)),
    "search.open": case("F o n e enter", on(TextScreen)),
    "search.back": case("F o n e enter", at_home),
    # findings
    "findings.open": case("p", says("this row is about no single item")),
    "findings.others": case("p", on(ChoiceBox)),
    "findings.back": case("p", at_home),
    "findings.away": case("p", at_home),
    # export
    "export.write": case("x", asks("Write to:")),
    "export.other": case("x", lambda app: getattr(app.screen, "level", "") == "redacted"),
    "export.other-before": case("x", lambda app: getattr(app.screen, "level", "") == "full"),
    "export.choose": case("x down down", asks("Write to:")),
    "export.back": case("x", at_home),
    "export.away": case("x", at_home),
    # the line that asks, and the boxes
    "ask.done": case(
        "slash r u l", lambda app: has_focus(SectionList)(app) and home(app).view.filter == "rul"
    ),
    "ask.cancel": case("slash r u l", lambda app: has_focus(SectionList)(app) and not home(app).view.filter),
    "choose.choose": case("m s", on(MessagesScreen)),
    "edit.done": case("E x", lambda app: "identity" in settings(app).texts),
    "edit.close": case("E x", lambda app: at_home(app) and not settings(app).changed),
    "modal.close": case("B", at_home),
}


def test_every_key_is_expected_to_do_something() -> None:
    assert {key.id for key in KEYS} == set(CASES)
    assert FILES.kind == "files"


async def until(app: PromptdbgApp, holds: Holds, what: str) -> None:
    """Wait until it holds."""
    for _ in range(PATIENCE):
        await asyncio.sleep(0.01)
        if app.is_running and app.on_top is None:
            continue
        if holds(app):
            return
    raise AssertionError(f"{what}: {line(app)!r} on {app.screen}")


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.id)
async def test_a_key(run: Run, key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.tui import sample

    monkeypatch.setenv("PATH", "")  # no editor is found
    folder = sample.write_workspace(tmp_path / "keys", MANIFEST, FILES_ON_DISK)
    wanted = CASES[key.id]
    first, *others = key.keys.split(",")
    async with run(folder=folder, size=(120, 40)) as pilot:
        app = the_app(pilot)
        for step in wanted.start:
            await pilot.press(step)
            await idle(pilot)
        bound = app.screen.active_bindings
        for name in others:
            assert bound[name].binding.id == key.id, name
        await pilot.press(first)
        await until(app, wanted.holds, f"{key.id} by {first}")
