"""``check`` and its SARIF form."""

from __future__ import annotations

import json

import pytest

from promptdbg.analysis.check import Demands, Outcome, check
from promptdbg.debug import open_workspace
from promptdbg.errors import InputError, UsageError
from promptdbg.examples import folder_of
from promptdbg.export.document import document
from promptdbg.export.sarif import sarif
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.model import Action, Assembly, Settings, Source, settling
from promptdbg.tokens import tokenizer

from .conftest import Make


def codes(make: Make, demands: Demands, tried: Settings | None = None) -> list[tuple[str, bool]]:
    made = make(
        sections=[
            {"name": "identity", "text": "You are careful.", "priority": 9},
            {"name": "rules", "text": "Never use tabs.", "priority": 1},
        ],
        messages=[{"role": "user", "content": "hello"}, {"role": "user", "content": "again"}],
    )
    return [(o.code, o.ok) for o in check(made.assemble(tried), demands)]


TIGHT = Settings().with_value("budget", 5)


def test_must_reach(make: Make) -> None:
    assert codes(make, Demands(must_reach=("use tabs",))) == [("must-reach", True)]
    assert codes(make, Demands(must_reach=("use tabs",)), TIGHT) == [("must-reach", False)]
    assert codes(make, Demands(must_reach=("use spaces",))) == [("must-reach", False)]


def test_no_drop(make: Make) -> None:
    assert codes(make, Demands(no_drop=("*",))) == [("no-drop", True)]
    assert codes(make, Demands(no_drop=("r*",)), TIGHT) == [("no-drop", False)]
    with pytest.raises(UsageError):
        codes(make, Demands(no_drop=("skills/*",)))


def test_sizes(make: Make) -> None:
    assert codes(make, Demands(max_tokens=100_000)) == [("max-tokens", True)]
    assert codes(make, Demands(max_tokens=3)) == [("max-tokens", False)]
    assert codes(make, Demands(max_sections={"rules": 100, "identity": 1})) == [
        ("max-section", True),
        ("max-section", False),
    ]


def test_lint_is_a_demand_for_each_provider(make: Make) -> None:
    split = Settings().with_value("merge", False)
    assert codes(make, Demands(lint=("anthropic",))) == [("lint", True)]
    assert codes(make, Demands(lint=("anthropic",)), split) == [("lint-roles-in-a-row", False)]


def test_a_baseline_forbids_new_losses_only(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "x " * 300}, {"name": "b", "text": "y"}])
    baseline = document(made.assemble(), text=False)
    assert [o.ok for o in check(made.assemble(), Demands(baseline=baseline))] == [True]
    worse = made.assemble(Settings().with_value("cap", 0))
    broken = check(worse, Demands(baseline=baseline))
    assert [(o.ok, o.item) for o in broken] == [(False, "b")]
    gone = make(sections=[{"name": "a", "text": "x"}]).assemble()
    assert [(o.ok, o.item) for o in check(gone, Demands(baseline=baseline))] == [(False, "b")]
    with pytest.raises(InputError):
        check(gone, Demands(baseline=[1]))
    odd = {"id": [], "status": {}, "kind": [], "messages": 1, "action": [], "item": {}, "sources": [[]]}
    stages = [odd, {"kind": "final", "messages": [odd, 1]}, {"kind": "session", "messages": [odd]}]
    broken_up = {"sections": [odd, 1], "stages": stages, "decisions": [odd]}
    assert [o.ok for o in check(gone, Demands(baseline=broken_up))] == [True]


@pytest.mark.parametrize("text", [True, False])
def test_a_message_lost_since_the_baseline_is_a_breach_with_its_reason(text: bool) -> None:
    opened = open_workspace(folder_of("nanobot-lost-rule"))
    counter = tokenizer()
    now = opened.assemble(opened.base, counter)
    better = opened.assemble(opened.base.with_off(frozenset({"m19"})), counter)
    baseline = json.loads(json.dumps(document(better, text=text)))
    broken = check(now, Demands(baseline=baseline))
    assert [(o.ok, o.item) for o in broken] == [(False, f"m{n}") for n in range(19)]
    assert broken[0].message == (
        "m0 was whole in the baseline and is lost now: m19 (line 21) answers call 'call_05' without its "
        "call, which wipes all rows up to it"
    )
    assert broken[0].source is not None
    assert broken[0].source.start_line == 2
    assert [o.ok for o in check(better, Demands(baseline=baseline))] == [True]
    # What was lost already is no new loss, and m19 is back.
    assert [o.ok for o in check(better, Demands(baseline=document(now, text=text)))] == [True]


def test_a_message_that_is_another_one_or_gone_from_the_session_is_no_breach(make: Make) -> None:
    rows = [{"role": "user", "content": f"text {n} " * 9} for n in range(3)]
    split = Settings().with_value("merge", False)
    baseline = document(make(messages=rows).assemble(split))
    for other in (rows[:1], [{"role": "user", "content": "quite another"}, *rows[1:]]):
        now = make(messages=other).assemble(split.with_off(frozenset({"m0"})))
        same = other[0] == rows[0]
        assert [(o.ok, o.item) for o in check(now, Demands(baseline=baseline))] == (
            [(False, "m0")] if same else [(True, "")]
        )


def test_a_parent_whose_parts_alone_are_lost_says_so() -> None:
    def made(status: str) -> Assembly:
        part = {"name": "part", "parent": "all", "text": "rule", "status": status}
        whole = {"name": "all", "text": "rule", "status": "kept" if status == "kept" else "truncated"}
        return assembly_from_trace({"schema": "promptdbg/trace/1", "sections": [whole, part]}, tokenizer())

    outcomes = check(made("dropped"), Demands(baseline=document(made("kept"))))
    assert outcomes[0].message == ("all was whole in the baseline and is truncated now: parts of it are lost")


def test_sarif_places_are_relative_to_the_repository_and_always_there() -> None:
    outcomes = [
        Outcome("no-drop", False, "gone", "a", Source("/srv/a b/AGENTS.md", 3)),
        Outcome("no-drop", False, "gone", "b", Source("/other/x#y.md")),
        Outcome("max-tokens", False, "too many"),
    ]
    (run,) = sarif(outcomes, "/srv/in", "/srv", Source("promptdbg.toml"))["runs"]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places] == [
        ("a%20b/AGENTS.md", 3),
        ("file:///other/x%23y.md", 1),
        ("in/promptdbg.toml", 1),
    ]


def test_sarif_holds_the_broken_demands_with_their_place(make: Make) -> None:
    outcomes = check(
        make(messages=[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]).assemble(
            Settings().with_value("merge", False)
        ),
        Demands(lint=("openai-chat",), max_tokens=10_000),
    )
    (run,) = sarif(outcomes, "/w", "/elsewhere", Source("promptdbg.toml"))["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "lint-roles-in-a-row"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["lint-roles-in-a-row"]


def noted() -> Assembly:
    """A section and a message that were dropped, with a note behind each drop."""
    gone = {"action": "drop", "because": "No room."}
    note = {"action": "note", "because": "Only a note."}
    trace = {
        "schema": "promptdbg/trace/1",
        "sections": [{"name": "s", "text": "rule", "status": "dropped"}],
        "stages": [{"messages": [{"id": "m", "content": "hello"}]}, {"name": "sent", "messages": []}],
        "decisions": [{**made, "item": item} for item in ("s", "m") for made in (gone, note)],
    }
    return assembly_from_trace(trace, tokenizer())


def test_a_note_behind_a_loss_is_not_the_reason() -> None:
    assembly = noted()
    said = [o.message for o in check(assembly, Demands(no_drop=("s", "m")))]
    assert said == ["s is dropped: No room.", "m is lost: No room."]
    (outcome,) = check(assembly, Demands(baseline={"sections": [{"id": "s", "status": "kept"}]}))
    assert outcome.message == "s was whole in the baseline and is dropped now: No room."
    settled = settling(assembly.decisions_on("s"))
    assert settled is not None
    assert settled.action is Action.DROP
    assert settling(()) is None


def test_many_items_do_not_each_walk_all_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    from promptdbg.commands.plain import lines
    from promptdbg.export.html import html

    def walked(self: Assembly, item: str) -> None:
        raise AssertionError(f"walks every decision for {item}")

    assembly = noted()
    monkeypatch.setattr(Assembly, "decisions_on", walked)
    monkeypatch.setattr(Assembly, "rule", walked)
    check(assembly, Demands(no_drop=("s", "m"), baseline={"sections": [{"id": "s", "status": "kept"}]}))
    assert "No room." in html(assembly)
    assert len(list(lines(assembly))) > 3
