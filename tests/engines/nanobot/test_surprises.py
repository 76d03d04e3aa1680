"""What a user of nanobot would not expect, each told by a decision or a notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from promptdbg.model import Action, SectionStatus, StageKind
from tests.engines.nanobot.making import (
    DIALECTS,
    assembled,
    assistant,
    codes,
    final_ids,
    loaded,
    result,
    settings,
    stored,
    turn_of,
    user,
)


def test_a_stray_result_wipes_the_history_before_it_and_is_named(tmp_path: Path) -> None:
    rows = [
        user("one"),
        assistant("two"),
        user("three"),
        result("lost", "x"),
        user("four"),
        assistant("five"),
    ]
    assembly = assembled(loaded(tmp_path, stored(rows)), settings("main"))
    assert final_ids(assembly) == ["system", "m4", "m5", "current"]
    told = [d for d in assembly.decisions if d.rule == "nanobot.history.legal-start"]
    assert [d.item for d in told] == ["m0", "m1", "m2", "m3"]
    assert all("m3 (line 5)" in d.because for d in told[:3])
    notice = next(n for n in assembly.warnings if n.code == "history.wiped")
    assert notice.source is not None
    assert notice.source.start_line == 5


@pytest.mark.parametrize(
    ("dialect", "source"), [("main", "heuristic"), ("0.3.5", "heuristic"), ("0.2.2", "none")]
)
def test_a_special_token_switches_the_estimator(tmp_path: Path, dialect: str, source: str) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text("never say <|endoftext|>")
    assembly = assembled(loaded(tmp_path, stored([user("hi")])), settings(dialect))
    initial = assembly.stage(StageKind.INITIAL)
    assert initial is not None
    assert initial.measured_by == source
    notice = next(n for n in assembly.warnings if n.code == "estimate.special-token")
    assert "<|endoftext|> in system" in notice.message


def test_a_special_token_in_memory_drops_all_history(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    memory = tmp_path / "memory" / "MEMORY.md"
    rows = [row for n in range(40) for row in (user(f"{n} " + "tide " * 60), assistant("ok " * 20))]
    values = {"context_window": 12_000, "max_output": 1_000, "consolidation": "off"}
    memory.write_text("fact " * 2_200)
    plain = assembled(loaded(tmp_path, stored(rows)), settings("main", **values))
    memory.write_text("fact " * 2_200 + "<|endoftext|>")
    spoiled = assembled(loaded(tmp_path, stored(rows)), settings("main", **values))
    assert len(final_ids(plain)) == 82
    assert len(final_ids(spoiled)) == 2
    assert any(d.rule == "nanobot.governance.snip" for d in spoiled.decisions)


def test_recent_history_is_cut_at_the_wrong_end(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    lines = [
        f'{{"cursor": {n}, "timestamp": "2026-08-01 10:00", "content": "{n} {"tide " * 400}", '
        '"session_key": "cli:direct"}'
        for n in range(1, 31)
    ]
    (tmp_path / "memory" / "history.jsonl").write_text("\n".join(lines))
    assembly = assembled(loaded(tmp_path, stored([])), settings("main"))
    entries = [s for s in assembly.sections if s.parent == "recent_history"]
    statuses = [entry.status for entry in entries]
    kept = statuses.count(SectionStatus.KEPT)
    assert 15 < kept < 25
    assert statuses == [SectionStatus.KEPT] * kept + [SectionStatus.TRUNCATED] + [SectionStatus.DROPPED] * (
        29 - kept
    )
    assert "recent.wrong-end" in codes(assembly)
    assert "recent.wrong-end" not in codes(assembled(loaded(tmp_path, stored([])), settings("0.3.5")))


def test_a_fresh_summary_misses_its_own_turn(tmp_path: Path) -> None:
    rows = [row for n in range(36) for row in (user(f"{n} " + "tide " * 60), assistant("ok"))]
    values = {
        "context_window": 3_500,
        "max_output": 200,
        "consolidation": "succeeds",
        "summary": "All about tides.",
    }
    assembly = assembled(loaded(tmp_path, stored(rows)), settings("main", **values))
    recent = assembly.section("recent_history")
    summary = assembly.section("archived_summary")
    assert recent is not None
    assert summary is not None
    assert "All about tides." in recent.output
    assert summary.status is SectionStatus.EMPTY
    assert "consolidation.assumed" in codes(assembly)
    archived = [d for d in assembly.decisions if d.rule == "nanobot.consolidation.archive"]
    assert archived
    assert all(d.measured is not None and d.limit is not None and d.measured >= d.limit for d in archived)


def test_a_summary_is_not_even_asked_for_when_the_rows_do_not_fit(tmp_path: Path) -> None:
    rows = [row for n in range(60) for row in (user(f"{n} " + "tide " * 60), assistant("ok"))]
    given = settings("main", context_window=3_500, max_output=200, consolidation="succeeds")
    assembly = assembled(loaded(tmp_path, stored(rows)), given)
    recent = assembly.section("recent_history")
    assert recent is not None
    assert "[RAW] " in recent.output
    assert "consolidation.not-asked" in codes(assembly)


def test_consolidation_is_predicted_with_its_numbers(tmp_path: Path) -> None:
    rows = [row for n in range(60) for row in (user(f"{n} " + "tide " * 60), assistant("ok"))]
    given = settings("main", context_window=3_500, max_output=200)
    assembly = assembled(loaded(tmp_path, stored(rows)), given)
    notice = next(n for n in assembly.warnings if n.code == "consolidation.predicted")
    assert "against a budget of 2,276" in notice.message
    assert not [d for d in assembly.decisions if d.rule == "nanobot.consolidation.archive"]


def test_whitespace_is_enough_for_a_memory_section_but_not_for_agents(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text(" ")
    (tmp_path / "AGENTS.md").write_text(" \n")
    assembly = assembled(loaded(tmp_path, stored([])), settings("main"))
    memory, agents = assembly.section("memory"), assembly.section("bootstrap/AGENTS.md")
    assert memory is not None
    assert agents is not None
    assert memory.status is SectionStatus.KEPT
    assert agents.status is SectionStatus.DROPPED
    assert "memory.blank" in codes(assembly)


def test_a_tiny_result_limit_wraps_the_reference_twice(tmp_path: Path) -> None:
    inflight = [assistant("", "s1"), result("s1", "x" * 3_000)]
    inputs = loaded(tmp_path, stored([]), inflight=inflight)
    assembly = assembled(inputs, settings("main", tool_result_cap=900))
    rules = [d.rule for d in assembly.decisions if d.item == "t1"]
    assert rules == [
        "nanobot.turn.tool-result",
        "nanobot.governance.offload",
        "nanobot.governance.result-cut",
    ]
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    text = next(m.content for m in final.messages if m.id == "t1")
    assert text.count("{{nanobot:persist.head}}") == 2
    assert "results.tiny-limit" in codes(assembly)


def test_snipping_can_leave_a_request_over_budget(tmp_path: Path) -> None:
    given = settings("main", context_window=1_700, max_output=100, consolidation="off", message="tide " * 900)
    assembly = assembled(loaded(tmp_path, stored([user("one"), assistant("two")])), given)
    assert "budget.exceeded" in codes(assembly)
    assert final_ids(assembly) == ["system", "current"]


def test_a_newer_version_fails_where_main_sends_too_much(tmp_path: Path) -> None:
    given = settings("0.3.5", context_window=1_700, max_output=100, message="tide " * 900)
    assembly = assembled(loaded(tmp_path, stored([user("one"), assistant("two")])), given)
    assert assembly.failure is not None
    assert assembly.failure.error.startswith("ContextWindowExceededError")
    assert assembly.stage(StageKind.FINAL) is None
    assert assembly.stages[-1].name == "compact_request_history"


def test_the_estimate_beside_what_the_provider_counted(tmp_path: Path) -> None:
    metadata = {"_last_usage": {"context_tokens": 7_000}}
    assembly = assembled(loaded(tmp_path, stored([user("one")], metadata)), settings("main"))
    notice = next(n for n in assembly.warnings if n.code == "usage.recorded")
    assert "7,000" in notice.message


@pytest.mark.parametrize("dialect", DIALECTS)
def test_unknown_tools_say_what_a_fresh_install_costs(tmp_path: Path, dialect: str) -> None:
    assembly = assembled(loaded(tmp_path, stored([]), tools="no-such-file.json"), settings(dialect))
    assert "tools.unknown" in codes(assembly)
    part = next(part for part in assembly.budget.parts if part.name.startswith("tool schemas"))
    assert part.tokens == 0
    assert "a fresh install has about" in part.name


def test_the_token_cap_drops_a_delivered_row_even_when_all_fits(tmp_path: Path) -> None:
    rows = [assistant("reminder", _channel_delivery=True), user("thanks"), assistant("welcome")]
    inputs = loaded(tmp_path, stored(rows))
    assert "m0" not in final_ids(assembled(inputs, settings("main")))
    assert "m0" in final_ids(assembled(inputs, settings("0.3.5")))
    decision = next(d for d in assembled(inputs, settings("main")).decisions if d.item == "m0")
    assert decision.rule == "nanobot.history.cap-first-user"
    assert decision.action is Action.DROP


def test_images_cost_nothing_in_the_prompt_and_everything_in_the_message(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 16)
    turn = turn_of(loaded(tmp_path, stored([]), media=["a.png"]), settings("main"))
    assert turn.initial_estimate is not None
    current = turn.initial[-1]
    assert turn.estimator.message(current) > 2_000
    assert turn.initial_estimate.tokens < 300


def test_an_image_before_another_user_row_is_lost_on_the_wire(tmp_path: Path) -> None:
    image = [{"type": "image_url", "image_url": {"url": "u"}}, {"type": "text", "text": "look"}]
    rows = [user(image), user("well?"), assistant("yes")]
    assembly = assembled(loaded(tmp_path, stored(rows)), settings("main"))
    notice = next(n for n in assembly.warnings if n.code == "adapter.replaced")
    assert "loses m0" in notice.message
    plain = assembled(loaded(tmp_path, stored([user("a"), user("b"), assistant("c")])), settings("main"))
    assert "adapter.replaced" not in codes(plain)


def test_the_oldest_answers_a_call_named_null_under_that_name(tmp_path: Path) -> None:
    calls = [{"id": "x1", "type": "function", "function": {"name": None, "arguments": "{}"}}]
    rows = [user("a"), assistant("b", tool_calls=calls)]
    final = assembled(loaded(tmp_path, stored(rows)), settings("0.2.2")).stage(StageKind.FINAL)
    assert final is not None
    assert [(m.tool_call_id, m.name) for m in final.messages if m.role == "tool"] == [("x1", None)]


def test_a_turn_that_is_not_kept_shows_the_archived_summary(tmp_path: Path) -> None:
    session = stored([user("a")], {"_last_summary": {"text": "All about tides."}})
    for dialect in ("main", "0.3.5"):
        assembly = assembled(loaded(tmp_path, session), settings(dialect, ephemeral=True))
        summary = assembly.section("archived_summary")
        assert summary is not None
        assert "All about tides." in summary.output


@pytest.mark.parametrize(("dialect", "content"), [("main", "look"), ("0.3.5", "look"), ("0.2.2", "look\n")])
def test_media_without_a_path_leave_a_line_feed_in_the_oldest(
    tmp_path: Path, dialect: str, content: str
) -> None:
    rows = [user("look", media=["", 3]), assistant("ok")]
    assembly = assembled(loaded(tmp_path, stored(rows)), settings(dialect))
    history = next(stage for stage in assembly.stages if stage.name == "history")
    assert history.messages[0].content == content


@pytest.mark.parametrize(
    ("summary", "said"),
    [({"text": ""}, "has no text"), ({"text": 3}, "has no text"), ("tides", "is no object")],
)
def test_a_stored_summary_that_cannot_be_used_is_told(tmp_path: Path, summary: Any, said: str) -> None:
    inputs = loaded(tmp_path, stored([user("a")], {"_last_summary": summary}))
    for dialect in ("main", "0.3.5"):
        (decision,) = assembled(inputs, settings(dialect)).decisions_on("archived_summary")
        assert decision.rule == "nanobot.summary.invalid"
        assert said in decision.because
    dream = loaded(tmp_path, stored([user("a")], {"_last_summary": summary}), session_key="dream:x")
    assert assembled(dream, settings()).decisions_on("archived_summary") == ()


def test_tools_that_are_sent_in_another_order_are_told(tmp_path: Path) -> None:
    names = ["mcp_a", "read", "exec"]
    tools = [{"name": name, "description": "", "parameters": {}} for name in names]
    given = assembled(loaded(tmp_path, tools=tools), settings())
    assert [decision.rule for decision in given.decisions_on("tools")] == ["nanobot.tools.order"]
    in_order = assembled(loaded(tmp_path, tools=[tools[2], tools[1], tools[0]]), settings())
    assert in_order.decisions_on("tools") == ()
