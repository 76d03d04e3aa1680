"""The system prompt: budget, lists, records, knobs; numbers stand in the decisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptdbg.errors import UsageError
from promptdbg.model import SectionStatus, Settings, Value
from tests.engines.bee.workspaces import PLAIN, assembled, decision, lost, opened, section

TOOLS = [
    {"name": "read", "description": "Read a file.\nLines count from 1."},
    {"name": "bash", "snippet": "run a command, long output is cut in the middle"},
    {"name": "apply_patch", "description": "Apply a patch."},
    {"name": "ask_user", "description": "Ask."},
]
RECORD = "---\nname: {name}\ndescription: {about}\npriority: {priority}\n---\n{body}\n"


def record(name: str, priority: int = 3, about: str = "", body: str = "Text.") -> str:
    return RECORD.format(name=name, about=about, priority=priority, body=body)


FILES = {
    "AGENTS.md": "root rules\n",
    "near/AGENTS.md": "near rules\n",
    "tools.json": json.dumps(TOOLS),
    "skills.txt": "brew: steep tea (prompt)\nfold: fold paper (recipe)\n",
    "home/.bee/store/tea.md": record("tea rules", 5),
    "home/.bee/store/lamp.md": record("desk lamp", 3, "bulb wattage"),
    "query.txt": "which lamp?",
}
NEAR = 'cwd = "near"\n[modified]\n"tea.md" = 2026-05-30T10:00:00Z\n"lamp.md" = 2026-05-28T10:00:00Z\n'


def test_the_order_of_loss(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    whole = assembled(workspace).budget.used
    losses: list[str] = []
    for budget in range(whole, 40, -1):
        for item in lost(assembled(workspace, Settings(values={"budget": budget}))):
            if item not in losses and not item.startswith("tools/"):
                losses.append(item)
    assert losses == [
        "memory/lamp.md",
        "memory/tea.md",
        "skills/brew",
        "skills/fold",
        "context/near/AGENTS.md",
        "context/AGENTS.md",
    ]


def test_an_exact_budget_has_three_spare_bytes(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    assembly = assembled(workspace)
    size = len(assembly.system_text.encode())
    fits = Settings(values={"budget": size // 4})
    assert "memory/lamp.md" not in lost(assembled(workspace, fits))
    tight = assembled(workspace, Settings(values={"budget": size // 4 - 1}))
    drop = decision(tight, "memory/lamp.md", "bee.budget.drop-records")
    assert (drop.measured, drop.limit, drop.unit) == (size // 4, size // 4 - 1, "tokens")


def test_rules_identity_and_tools_are_never_dropped(tmp_path: Path) -> None:
    assembly = assembled(opened(tmp_path, FILES, NEAR), Settings(values={"budget": 1, "caveman": "full"}))
    shown = [
        entry.id
        for entry in assembly.sections
        if entry.parent is None and entry.output and entry.place == "system"
    ]
    assert shown == ["rules", "identity", "tools"]
    assert decision(assembly, "system", "bee.budget.over").limit == 1
    assert any(notice.code == "bee.over-budget" for notice in assembly.warnings)


@pytest.mark.parametrize(
    ("config", "values", "said"),
    [
        ("", {}, "The level is lite (by default, from the profile)"),
        ('caveman = "auto"\n', {}, "The level is lite (by default, from the profile)"),
        ('caveman = "max"\n', {}, "The level is ultra ('max' as configured)"),
        ("", {"caveman": "full"}, "The level is full ('full' as configured)"),
        ('caveman = ""\n', {"apply_profile": False}, "The level is full (by default)"),
    ],
)
def test_a_level_that_nobody_configured_is_one_by_default(
    tmp_path: Path, config: str, values: dict[str, Value], said: str
) -> None:
    workspace = opened(tmp_path, FILES, NEAR, f'profile = "large"\nmode = "edit"\n{config}')
    note = decision(assembled(workspace, Settings(values=values)), "rules", "bee.caveman.level")
    assert note.because.startswith(f"{said}: ")


def test_tools_are_filtered_by_configuration_profile_and_mode(tmp_path: Path) -> None:
    workspace = opened(
        tmp_path, FILES, NEAR, PLAIN + 'disabled_tools = ["bash"]\nextra_tools = ["apply_patch"]\n'
    )
    assembly = assembled(workspace)
    assert decision(assembly, "tools/bash", "bee.tools.disabled").after == 0
    assert decision(assembly, "tools/ask_user", "bee.tools.profile").after == 0
    assert section(assembly, "tools/apply_patch").status is SectionStatus.KEPT
    plan = assembled(workspace, Settings(values={"mode": "plan", "profile": "large"}))
    assert decision(plan, "tools/apply_patch", "bee.tools.mode").after == 0
    assert section(plan, "tools/ask_user").output
    assert section(plan, "plan").offset == 0


def test_a_tool_shows_its_first_line_and_a_cap_in_bytes(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    assembly = assembled(workspace, Settings(values={"tool_desc_chars": 10}))
    assert section(assembly, "tools/read").output == "- read: Read a fil…"
    assert [entry.rule for entry in assembly.decisions_on("tools/read")] == [
        "bee.tools.first-line",
        "bee.tools.cap",
    ]


def test_a_skill_line_as_long_as_the_cap_makes_the_section_vanish(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    line = len("brew: steep tea (prompt)")
    gone = assembled(workspace, Settings(values={"skill_manifest_chars": line}))
    assert section(gone, "skills").status is SectionStatus.DROPPED
    kept = assembled(workspace, Settings(values={"skill_manifest_chars": line + 1}))
    assert section(kept, "skills").output == "## Skills\nbrew: steep tea (prompt)"
    none = assembled(workspace, Settings(values={"skill_manifest_chars": -1}))
    decision(none, "skills/brew", "bee.skills.drop")


def test_records_are_chosen_by_score_and_the_score_is_told(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    assembly = assembled(workspace, Settings(values={"top_k": 1}))
    chosen = decision(assembly, "memory/tea.md", "bee.memory.select")
    missed = decision(assembly, "memory/lamp.md", "bee.memory.select")
    # A lamp is asked for, yet its name and priority together reach only the rank of the other's priority.
    assert "Score 5 (priority 5): place 1 of 2" in chosen.because
    assert "Score 5 (priority 3, words of the name 2): place 2 of 2" in missed.because
    raised = Settings(values={"top_k": 1}, priorities={"memory/lamp.md": 4})
    assert section(assembled(workspace, raised), "memory/lamp.md").status is SectionStatus.KEPT


def test_an_expired_record_is_never_chosen_and_the_clock_decides(tmp_path: Path) -> None:
    expiring = "---\nname: offer\nexpires: 2026-06-01\n---\nTen percent.\n"
    workspace = opened(tmp_path, {"home/.bee/store/offer.md": expiring, "query.txt": "x"})
    assert section(assembled(workspace), "memory/offer.md").output
    later = assembled(workspace, Settings(values={"clock": "2026-06-01T00:00:00Z"}))
    decision(later, "memory/offer.md", "bee.memory.expired")


def test_ages_go_by_the_clock(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    memory = section(assembled(workspace), "memory").output
    assert 'name="tea rules" age="today" priority=5' in memory
    assert 'name="desk lamp" age="2 days ago"' in memory


def test_hint_tags_answer_when_few_records_come_back(tmp_path: Path) -> None:
    files = {"home/.bee/store/a.md": "---\nname: a\ntags: [kiln]\n---\nA\n", "query.txt": "zzz"}
    workspace = opened(tmp_path, files)
    assert decision(assembled(workspace), "memory", "bee.memory.hints")
    hinted = assembled(workspace, Settings(values={"hint_tags": "kiln"}))
    assert "hint tags 2" in decision(hinted, "memory/a.md", "bee.memory.select").because


def test_memory_that_is_off_reads_nothing(tmp_path: Path) -> None:
    assembly = assembled(opened(tmp_path, FILES, NEAR), Settings(values={"memory": False}))
    assert decision(assembly, "memory/tea.md", "bee.memory.off").after == 0


def test_a_body_over_its_cap_is_cut_at_a_blank(tmp_path: Path) -> None:
    files = {"home/.bee/store/a.md": record("a", body="  alpha beta gamma  ")}
    assembly = assembled(opened(tmp_path, files), Settings(values={"memory_body_chars": 12}))
    cut = section(assembly, "memory/a.md")
    assert "\nalpha beta…\n" in cut.output
    assert [cut.text[span.start : span.end] for span in cut.spans if span.kept] == ["alpha beta"]


def test_profile_scaling_and_the_automatic_choice_are_explained(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR, 'default_model = "vendor/pot-8b"\n')
    assembly = assembled(workspace, Settings(values={"context_window": 131_072}))
    assert assembly.budget.limit == 6553
    assert (
        "tiny: the model's name holds the word '8b'"
        in decision(assembly, "system", "bee.profile.auto").because
    )
    assert decision(assembly, "system", "bee.profile.scale").measured == 131_072
    assert section(assembly, "discipline").output
    by_hand = Settings(values={"profile": "tiny", "model": "vendor/large-model", "context_window": 131_072})
    assert assembled(workspace, by_hand).budget.limit == 3000


def test_auto_without_resolving_gives_no_rules_but_the_short_identity(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {}, config='default_model = "x"\n')
    assembly = assembled(workspace, Settings(values={"apply_profile": False}))
    assert not section(assembly, "rules").output
    assert section(assembly, "identity").size == 23 + len("/w.")
    assert assembled(workspace, Settings(values={"caveman": "off"})).system_text != assembly.system_text


def test_parts_of_the_ledger_sum_to_the_estimate_of_the_joined_text(tmp_path: Path) -> None:
    assembly = assembled(opened(tmp_path, FILES, NEAR))
    assert assembly.budget.used == len(assembly.system_text.encode()) // 4
    assert {part.name for part in assembly.budget.parts} >= {"identity", "context", "joins"}


def test_a_figure_follows_its_profile_until_it_is_set(tmp_path: Path) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    shown = {knob.name: knob.default for knob in workspace.knobs}
    assert (shown["budget"], shown["skill_manifest_chars"], shown["tool_output_tokens"]) == (4000, 100, 8000)
    assert assembled(workspace, Settings(values={"profile": "large"})).budget.limit == 12_000
    assert assembled(workspace, Settings(values={"profile": "large", "budget": 77})).budget.limit == 77


@pytest.mark.parametrize(
    ("values", "priorities"),
    [
        ({"clock": "yesterday"}, {}),
        ({"walk_from": "/elsewhere"}, {}),
        ({"budget": "much"}, {}),
        ({"nothing": 1}, {}),
        ({}, {"memory/tea.md": float("nan")}),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    tmp_path: Path, values: dict[str, Value], priorities: dict[str, float]
) -> None:
    workspace = opened(tmp_path, FILES, NEAR)
    with pytest.raises(UsageError):
        assembled(workspace, Settings(values=values, priorities=priorities))


def test_schemas_travel_beside_the_prompt_and_tiny_strips_them(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string", "description": "where"}}}
    tools = json.dumps([{"name": "read", "description": "Read.", "schema": schema}, {"name": "bash"}])
    workspace = opened(tmp_path, {"tools.json": tools})
    sent = section(assembled(workspace), "schemas/read")
    assert sent.place == "tools"
    assert "where" in sent.output
    tiny = assembled(workspace, Settings(values={"profile": "tiny"}))
    assert "where" not in section(tiny, "schemas/read").output
    assert decision(tiny, "schemas/read", "bee.tools.schema").unit == "bytes"
    off = assembled(workspace, Settings(off=frozenset({"tools/read"})))
    assert off.section("schemas") is None
