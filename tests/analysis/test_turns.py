"""The turns of a session: what came in and left, boundaries, the life of an item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from promptdbg.analysis.life import Life, life
from promptdbg.analysis.states import Presence, item_states
from promptdbg.analysis.turn_words import changes_line, drawn_line, drawn_sentences, run_reason, span
from promptdbg.analysis.turns import Facts, Timeline
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.errors import InputError, UsageError
from promptdbg.model import Assembly, Evidence, Settings
from tests.analysis.conftest import Make
from tests.engines.nanobot.making import assistant, user, write_session

EXAMPLES = Path(__file__).parents[2] / "src/promptdbg/examples"
WITH_TURNS = ["agentos-window", "bee-nasty", "nanobot-archived", "nanobot-lost-rule", "nanobot-nasty",
              "orbiter-nasty", "phronomy-forgotten"]  # fmt: skip

TALK: list[dict[str, Any]] = [
    {"role": role, "content": f"{role} says {n}"} for n in range(4) for role in ("user", "assistant")
]


def timeline(debugger: Debugger) -> Timeline:
    return Timeline(debugger.opened.turns, debugger.settings, debugger.preview)


def all_of(turns: Timeline, start: int = 0) -> Timeline:
    """The turns, all of them looked at, the nearest to a place first."""
    while (place := turns.nearest(start)) is not None:
        turns.look(place)
    return turns


def example(name: str) -> Debugger:
    home = EXAMPLES / name / "home"
    return Debugger(open_workspace(EXAMPLES / name, OpenRequest(home=str(home) if home.is_dir() else None)))


def words(told: Life) -> list[tuple[int, int, str]]:
    return [(run.first, run.last, run.word) for run in told.runs]


def known(turns: Timeline) -> list[Facts]:
    return [facts for facts in turns.facts if facts is not None]


# ---- one turn and the next -------------------------------------------------------------------------


def test_what_came_in_and_what_left(make: Make) -> None:
    made = make(messages=TALK, sections=[{"name": "rules", "text": "be brief"}])
    settings = Settings().with_value("keep", 4)
    turns = all_of(Timeline(made.engine.turns(made.inputs), settings, made.assemble))
    first, second, third, *_ = known(turns)
    assert [(change.item, change.kind) for change in first.changes or ()] == [
        ("rules", "came"),
        ("m0", "came"),
    ]
    assert changes_line(second) == "2 came in"
    assert [(change.item, change.kind) for change in third.changes or ()] == [
        ("m0", "left"),
        ("m3", "came"),
        ("m4", "came"),
    ]
    assert changes_line(third) == "2 came in, 1 left"
    assert (third.kept, third.cut, third.lost) == (5, 0, 1)
    assert third.used == made.assemble(settings.with_turn(3)).budget.used


def test_a_boundary_is_where_a_rule_begins_and_not_where_it_goes_on(make: Make) -> None:
    made = make(messages=TALK)
    settings = Settings().with_value("keep", 4)
    turns = all_of(Timeline(made.engine.turns(made.inputs), settings, made.assemble))
    drawn = [(facts.turn, entry.word, entry.items) for facts in known(turns) for entry in facts.drawn]
    assert drawn == [(3, "left out", ("m0",))]
    (third,) = (facts for facts in known(turns) if facts.turn == 3)
    (entry,) = third.drawn
    assert (entry.seen, entry.survived) == (1, 3)  # m4 is the turn's own
    assert drawn_line(entry) == f"left out: 1 message ({entry.tokens} tokens) · 3 survived verbatim"
    told = " ".join(drawn_sentences(entry, 3))
    assert told.startswith("Left out: 1 message (m0)")
    assert "Nothing stands for them." in told
    assert "5 messages against a limit of 4 (1 over)" in told
    assert "Computed:" in told


def test_an_item_can_come_back(make: Make) -> None:
    """A cap that depends on the turn; nothing is taken for granted between two turns."""
    made = make(messages=TALK)

    def preview(settings: Settings) -> Assembly:
        keep = 1 if settings.turn == 2 else 100
        return made.assemble(settings.with_value("keep", keep))

    turns = all_of(Timeline(made.engine.turns(made.inputs), Settings(), preview), 3)
    assert words(life(turns, "m0")) == [(0, 0, "whole"), (1, 1, "left out"), (2, 4, "whole")]
    assert [change.kind for change in known(turns)[2].changes or () if change.item == "m0"] == ["returned"]
    assert changes_line(known(turns)[2]) == "2 came in, 2 came back"


def test_a_cut_item_has_its_size_and_reason(make: Make) -> None:
    rows = [TALK[0], {"role": "tool", "content": "line of output " * 30}, TALK[2]]
    made = make(messages=rows)
    turns = all_of(Timeline(made.engine.turns(made.inputs), Settings(), made.assemble))
    told = life(turns, "m1")
    assert words(told) == [(0, 0, "not there yet"), (1, 2, "cut")]
    reason = run_reason(told.runs[1])
    state = told.runs[1].state
    assert state is not None
    assert reason.startswith(f"{state.tokens} of {state.original} tokens.")
    assert "450 chars against a limit of 200 (250 over)" in reason


def test_a_merged_message_is_part_of_another(make: Make) -> None:
    made = make(messages=[TALK[0], TALK[2]])
    turns = all_of(Timeline(made.engine.turns(made.inputs), Settings(), made.assemble))
    told = life(turns, "m1")
    assert words(told) == [(0, 0, "not there yet"), (1, 2, "merged")]
    assert run_reason(told.runs[1]).startswith("As part of m0.")
    assert all(facts.lost == 0 for facts in known(turns))


def test_a_turn_that_fails_says_so_and_stands_between_others(make: Make) -> None:
    good, bad = make(messages=TALK), make(messages=TALK, fails="the row has no role")

    def preview(settings: Settings) -> Assembly:
        if settings.turn == 3:
            raise InputError("the file is gone")
        return (bad if settings.turn == 2 else good).assemble(settings)

    turns = all_of(Timeline(good.engine.turns(good.inputs), Settings(), preview))
    facts = known(turns)
    assert (facts[1].failure, facts[1].changes) == ("FakeError: the row has no role", None)
    assert facts[2].failure == "the file is gone"
    assert facts[3].changes is None
    assert facts[4].changes is not None
    told = words(life(turns, "m0"))
    assert told == [(0, 0, "whole"), (1, 1, "failed"), (2, 2, "failed"), (3, 4, "whole")]


def test_settings_that_fit_no_turn_are_an_error(make: Make) -> None:
    made = make(messages=TALK)
    turns = Timeline(made.engine.turns(made.inputs), Settings().with_value("nothing", 1), made.assemble)
    with pytest.raises(UsageError, match="unknown knob"):
        turns.look(0)
    assert turns.known == 0


# ---- turn by turn ----------------------------------------------------------------------------------


def test_the_nearest_turns_come_first(make: Make) -> None:
    made = make(messages=TALK)
    turns = Timeline(made.engine.turns(made.inputs), Settings(), made.assemble)
    order = []
    while (place := turns.nearest(3)) is not None:
        turns.look(place)
        order.append(place)
        assert turns.known == len(order)
    assert order == [3, 2, 4, 1, 0]
    again = Timeline(made.engine.turns(made.inputs), Settings(), made.assemble)
    assert again.nearest(0, 2, 3) == 2
    assert again.nearest(4, 2, 3) == 3


def test_what_is_not_known_is_said_to_be_so(make: Make) -> None:
    made = make(messages=TALK)
    turns = Timeline(made.engine.turns(made.inputs), Settings(), made.assemble)
    turns.look(3)
    told = words(life(turns, "m2"))
    assert told[1:] == [(1, 2, "not known yet"), (3, 3, "whole"), (4, 4, "not known yet")]
    # It was stored after the first turns were over: that needs no assembly.
    assert words(life(turns, "m4"))[0] == (0, 1, "not there yet")
    assert turns.facts[3] is not None
    assert turns.facts[3].changes is None


def test_no_turn_is_assembled_twice_and_few_are_held(make: Make) -> None:
    rows = [{"role": "user", "content": f"says {n}"} for n in range(40)]
    made = make(messages=rows)
    asked: list[int | None] = []

    def preview(settings: Settings) -> Assembly:
        asked.append(settings.turn)
        return made.assemble(settings)

    turns = Timeline(made.engine.turns(made.inputs), Settings(), preview)
    held = 0
    while (place := turns.nearest(20)) is not None:
        turns.look(place)
        turns.look(place)
        held = max(held, len(turns._snapshots))
    assert len(asked) == len(set(asked)) == 41
    assert held <= 4
    assert len(turns._snapshots) == 1


# ---- real engines ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_TURNS)
def test_every_life_is_what_every_turn_says(name: str) -> None:
    debugger = example(name)
    turns = all_of(timeline(debugger), 2)
    asked = [
        item_states(debugger.preview(debugger.settings.with_turn(turns.turn_at(place))))
        for place in range(len(turns))
    ]
    for item in {item for states in asked for item in states}:
        told = life(turns, item)
        assert [run.first for run in told.runs] == [0, *(run.last + 1 for run in told.runs[:-1])]
        assert told.runs[-1].last == len(turns) - 1
        for place, states in enumerate(asked):
            state = told.run_at(place).state
            assert state is not None
            assert state.presence is (states[item].presence if item in states else Presence.ABSENT)


def test_a_rule_that_was_archived() -> None:
    turns = all_of(timeline(example("nanobot-archived")))
    told = life(turns, "m4")
    assert words(told) == [(0, 0, "not there yet"), (1, 7, "whole"), (8, 12, "archived")]
    (entry,) = told.runs[2].drawn
    assert entry.evidence is Evidence.RECORDED
    assert [remains.item for remains in entry.into] == ["archived_summary"]
    sentences = drawn_sentences(entry, 9)
    assert "When is not recorded, and turn 9 is the earliest it can have been." in sentences
    assert drawn_line(entry).endswith("→ archived_summary (113) · none survived verbatim · recorded")
    summary = words(life(turns, "archived_summary"))
    assert summary == [(0, 7, "empty"), (8, 12, "whole")]


def test_main_goes_back_behind_the_archived_rows() -> None:
    debugger = example("nanobot-archived")
    debugger.set_knob("dialect", "main")
    ninth = all_of(timeline(debugger)).facts[8]
    assert ninth is not None
    (entry,) = ninth.drawn
    assert (len(entry.items), entry.survived) == (20, 6)


def test_consolidation_in_a_turn_is_computed(tmp_path: Path) -> None:
    rows = [
        row for n in range(12) for row in (user(f"question {n} " + "word " * 60), assistant("word " * 60))
    ]
    session = write_session(tmp_path / "session.jsonl", rows)
    (tmp_path / "promptdbg.toml").write_text(
        f'engine = "nanobot"\ndialect = "0.2.2"\nsession = "{session.name}"\nbins = []\ntools = []\n'
        'session_key = "cli:direct"\nmessage = "and now?"\nnow = "2026-08-20T09:30:00"\n'
        '[settings]\ncontext_window = 3000\nmax_output = 300\nconsolidation = "succeeds"\n'
    )
    debugger = Debugger(open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home"))))
    turns = all_of(timeline(debugger))
    drawn = [(facts.turn, entry) for facts in known(turns) for entry in facts.drawn]
    (turn, entry) = drawn[0]
    assert entry.word == "archived"
    assert entry.evidence is Evidence.COMPUTED
    assert [remains.item for remains in entry.into] == ["recent_history"]
    assert entry.survived == len(rows[: 2 * ((turn or 13) - 1)]) - len(entry.items)
    assert entry.measured is not None
    assert entry.limit is not None
    assert entry.measured >= entry.limit


def test_a_summary_stands_for_what_it_was_made_of() -> None:
    turns = all_of(timeline(example("bee-nasty")))
    second = turns.facts[1]
    assert second is not None
    (entry,) = second.drawn
    assert (entry.word, entry.items) == ("summarised", ("m0",))
    assert [remains.item for remains in entry.into] == ["summary:1"]
    told = life(turns, "m0")
    assert words(told) == [(0, 0, "whole"), (1, 2, "summarised")]
    assert run_reason(told.runs[1]).startswith("In its place summary:1.")


def test_spans_in_words() -> None:
    assert span(0, 12, 13) == "in every turn"
    assert span(12, 12, 13) == "the next turn"
    assert span(6, 12, 13) == "from turn 7 on"
    assert span(6, 6, 13) == "turn 7"
    assert span(0, 5, 13) == "turns 1 to 6"
