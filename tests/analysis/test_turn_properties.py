"""Whatever the turns hold and in whichever order they are looked at, a life is what every turn says."""

from __future__ import annotations

from random import Random
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from promptdbg.analysis.life import life
from promptdbg.analysis.states import Presence, item_states
from promptdbg.analysis.turns import Timeline
from promptdbg.model import (
    Action,
    Assembly,
    Boundary,
    Budget,
    Decision,
    EngineInfo,
    Failure,
    Message,
    MessageStatus,
    Rule,
    Settings,
    Stage,
    StageKind,
    TokenizerInfo,
    Turn,
)

WINDOW = Rule("t.window", "Only the newest stay", "t", "1", "t", boundary=Boundary("left out"))
FORM = Rule("t.form", "Blank ones go", "t", "1", "t")
CUT = Rule("t.cut", "Long ones are cut", "t", "1", "t")

FATES = ("kept", "cut", "window", "form", "merged")
Fates = list[str]
"""What a turn does to each of its messages."""


def assembly(fates: Fates, settings: Settings) -> Assembly:
    """One turn: message ``m0`` and on, each with its fate."""
    stored = tuple(Message(f"m{n}", "user", "x" * 10, 10, (f"m{n}",)) for n in range(len(fates)))
    if "fails" in fates:
        failure = Failure("E", "t", "it fails")
        session = Stage("session", StageKind.SESSION, "Stored", stored)
        return _assembly((session,), (), settings, failure)
    decisions: list[Decision] = []
    sent: list[Message] = []
    statuses: dict[str, MessageStatus] = {}
    for message, fate in zip(stored, fates, strict=True):
        if fate == "merged" and not sent:
            fate = "kept"
        if fate in ("window", "form"):
            rule = WINDOW if fate == "window" else FORM
            decisions.append(_decision(len(decisions), rule, Action.DROP, message.id, 0))
        elif fate == "merged":
            last = sent.pop()
            sources = (*last.sources, message.id)
            sent.append(Message(last.id, "user", "y", last.tokens + 10, sources))
            statuses[last.id] = MessageStatus.MERGED
            decisions.append(_decision(len(decisions), FORM, Action.MERGE, last.id, last.tokens + 10))
        elif fate == "cut":
            sent.append(Message(message.id, "user", "x", 4, message.sources))
            statuses[message.id] = MessageStatus.REWRITTEN
            decisions.append(_decision(len(decisions), CUT, Action.TRUNCATE, message.id, 4))
        else:
            sent.append(message)
    gone = tuple(m for m in stored if m.id not in {item for kept in sent for item in kept.sources})
    frozen = MappingProxyType(statuses)
    stages = (
        Stage("session", StageKind.SESSION, "Stored", stored),
        Stage("initial", StageKind.INITIAL, "Initial", stored),
        Stage("step", StageKind.STEP, "Step", tuple(sent), gone, frozen),
        Stage("final", StageKind.FINAL, "Final", tuple(sent), gone, frozen),
    )
    return _assembly(stages, tuple(decisions), settings)


def _decision(number: int, rule: Rule, action: Action, item: str, after: int) -> Decision:
    return Decision(f"d{number}", "step", rule.id, action, item, "so it is", 10, after)


def _assembly(
    stages: tuple[Stage, ...],
    decisions: tuple[Decision, ...],
    settings: Settings,
    failure: Failure | None = None,
) -> Assembly:
    return Assembly(
        engine=EngineInfo("t", "T", "1"),
        tokenizer=TokenizerInfo("t", True),
        workspace="/nowhere",
        session=None,
        settings=settings,
        budget=Budget(None, 0, "tokens"),
        sections=(),
        stages=stages,
        decisions=decisions,
        rules=(WINDOW, FORM, CUT),
        failure=failure,
    )


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[Fates], list[int]]:
    """The fates of every turn, and an order in which to look at some of them. The last turn is the one
    to come; each turn has one message more than the one before."""
    count = draw(st.integers(1, 7))
    turns = [draw(st.lists(st.sampled_from(FATES), min_size=n, max_size=n)) for n in range(1, count + 1)]
    turns.append(draw(st.lists(st.sampled_from(FATES), min_size=count, max_size=count)))
    for place in draw(st.sets(st.integers(0, count), max_size=2)):
        turns[place] = ["fails", *turns[place][1:]]
    order = draw(st.permutations(range(count + 1)))
    return turns, order[: draw(st.integers(0, count + 1))]


@given(sessions())
def test_a_life_is_what_every_turn_says(session: tuple[list[Fates], list[int]]) -> None:
    fates, order = session
    last = len(fates) - 1

    def preview(settings: Settings) -> Assembly:
        return assembly(fates[last if settings.turn is None else settings.turn - 1], settings)

    turns = [Turn(n + 1, f"turn {n + 1}", n) for n in range(last)]
    timeline = Timeline(turns, Settings(), preview)
    for place in order:
        timeline.look(place)
    assert timeline.known == len(order)
    for number in range(last + 1):
        item = f"m{number}"
        told = life(timeline, item)
        assert [run.first for run in told.runs] == [0, *(run.last + 1 for run in told.runs[:-1])]
        assert told.runs[-1].last == last
        for place in range(last + 1):
            state = told.run_at(place).state
            if place not in order:
                # Known all the same, or not: but never wrong.
                assert state is None or number >= len(fates[place])
            elif "fails" in fates[place]:
                assert state is not None
                assert state.presence is Presence.FAILED
            else:
                asked = item_states(preview(Settings().with_turn(timeline.turn_at(place))))
                assert state is not None
                assert state.presence is (asked[item].presence if item in asked else Presence.ABSENT)


@given(sessions(), st.randoms())
def test_the_order_of_looking_changes_nothing(session: tuple[list[Fates], list[int]], random: Random) -> None:
    fates, _ = session
    last = len(fates) - 1

    def preview(settings: Settings) -> Assembly:
        return assembly(fates[last if settings.turn is None else settings.turn - 1], settings)

    turns = [Turn(n + 1, f"turn {n + 1}", n) for n in range(last)]
    forward, shuffled = (Timeline(turns, Settings(), preview) for _ in range(2))
    order = list(range(last + 1))
    for place in order:
        forward.look(place)
    random.shuffle(order)
    for place in order:
        shuffled.look(place)
    assert forward.facts == shuffled.facts
    for number in range(last + 1):
        assert life(forward, f"m{number}") == life(shuffled, f"m{number}")


@given(sessions())
def test_changes_add_up(session: tuple[list[Fates], list[int]]) -> None:
    """From turn to turn, what came in less what left is the difference in what is in."""
    fates, _ = session
    last = len(fates) - 1

    def preview(settings: Settings) -> Assembly:
        return assembly(fates[last if settings.turn is None else settings.turn - 1], settings)

    timeline = Timeline([Turn(n + 1, "", n) for n in range(last)], Settings(), preview)
    for place in range(last + 1):
        timeline.look(place)
    before = 0
    for facts in timeline.facts:
        assert facts is not None
        if facts.changes is not None:
            came = sum(change.kind in ("came", "returned") for change in facts.changes)
            left = sum(change.kind == "left" for change in facts.changes)
            assert facts.kept + facts.cut - before == came - left
        before = facts.kept + facts.cut
