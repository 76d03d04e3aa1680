"""``trace``: where a text went."""

from __future__ import annotations

from pathlib import Path

from promptdbg.analysis.trace import trace
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.files.scan import text_files
from promptdbg.model import Settings
from promptdbg.tokens import tokenizer

from .conftest import Make

FILLER = "Some words that fill the room. " * 8


def test_a_kept_text_is_seen_at_its_offset(make: Make) -> None:
    made = make(sections=[{"name": "a", "text": "alpha"}, {"name": "b", "text": "x\nnever use tabs\n"}])
    assembly = made.assemble()
    (hit,) = trace(assembly, "never use tabs").hits
    assert hit.verdict == "seen"
    assert (hit.line, hit.column) == (2, 1)
    assert hit.seen_at is not None
    at = hit.seen_at.offset
    assert assembly.system_text[at : at + 14] == "never use tabs"
    assert hit.seen_at.message == "system"
    assert 0 < hit.seen_at.share < 1


def test_a_text_behind_the_cut_names_the_rule(make: Make) -> None:
    text = FILLER + "\nnever use tabs\n"
    assembly = make(sections=[{"name": "a", "text": text}]).assemble(Settings().with_value("cap", 100))
    result = trace(assembly, "never use tabs")
    (hit,) = result.hits
    assert not result.seen
    assert hit.verdict == "cut"
    assert hit.decision is not None
    assert hit.decision.rule == "fake.sections.cap"
    (kept,) = [h for h in trace(assembly, "Some words").hits if h.offset == 0]
    assert kept.verdict == "seen"


def test_a_switched_off_section_is_disabled(make: Make) -> None:
    assembly = make(sections=[{"name": "a", "text": "never use tabs"}]).assemble(Settings().toggled("a"))
    assert [hit.verdict for hit in trace(assembly, "tabs").hits] == ["disabled"]


def test_messages_are_followed_through_merge_cut_and_drop(make: Make) -> None:
    rows = [
        {"role": "user", "content": "needle zero"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "needle one"},
        {"role": "user", "content": "needle two"},
        {"role": "tool", "content": FILLER + " needle three"},
    ]
    assembly = make(messages=rows).assemble(Settings().with_value("keep", 3))
    verdicts = {hit.item: (hit.verdict, hit.stage) for hit in trace(assembly, "needle").hits}
    assert verdicts == {
        "m0": ("dropped", "trim"),
        "m2": ("seen", "final"),
        "m3": ("seen", "final"),
        "m4": ("cut", "shorten"),
    }


def test_of_two_places_in_a_message_the_cut_one_is_cut(make: Make) -> None:
    result = "needle first. " + FILLER * 2 + " needle second."
    assembly = make(messages=[{"role": "tool", "content": result}]).assemble()
    first, second = trace(assembly, "needle").hits
    assert (first.verdict, first.stage) == ("seen", "final")
    assert first.seen_at is not None
    assert first.seen_at.offset == 0
    assert (second.verdict, second.stage) == ("cut", "shorten")
    assert second.seen_at is None
    assert second.decision is not None
    assert second.decision.rule == "fake.steps.shorten"


def test_each_kept_place_is_seen_where_it_stands(make: Make) -> None:
    rows = [{"role": "tool", "content": "needle a needle b " + FILLER * 2 + "needle c"}]
    hits = trace(make(messages=rows).assemble(), "needle").hits
    assert [hit.seen_at.offset if hit.seen_at else None for hit in hits] == [0, 9, None]


def test_a_place_is_its_own_in_a_merged_message(make: Make) -> None:
    rows = [{"role": "user", "content": "needle one"}, {"role": "user", "content": "needle two"}]
    hits = trace(make(messages=rows).assemble(), "needle").hits
    assert [hit.seen_at.offset if hit.seen_at else None for hit in hits] == [0, len("needle one\n")]


def test_places_that_begin_within_each_other_are_followed(make: Make) -> None:
    rows = [{"role": "tool", "content": "Aaaa " + FILLER * 2 + "aaaa"}]
    hits = trace(make(messages=rows).assemble(), "AA").hits
    assert [hit.verdict for hit in hits] == ["seen", "seen", "cut", "cut"]


def test_what_a_neighbour_says_is_not_what_was_cut() -> None:
    trace_of = {
        "schema": "promptdbg/trace/1",
        "stages": [
            {
                "messages": [
                    {"id": "a", "content": "needle here"},
                    {"id": "b", "content": "one " * 30 + "needle"},
                ]
            },
            {"messages": [{"id": "a", "sources": ["a", "b"], "content": "needle here\n" + "one " * 30}]},
        ],
    }
    hits = trace(assembly_from_trace(trace_of, tokenizer()), "needle").hits
    assert [(hit.item, hit.verdict) for hit in hits] == [("a", "seen"), ("b", "cut")]


def test_matching_falls_back_from_exact_to_folded_to_words(make: Make) -> None:
    assembly = make(sections=[{"name": "a", "text": "Always answer in\n  metric  units.\n"}]).assemble()
    assert trace(assembly, "answer in").match == "exact"
    assert trace(assembly, "ANSWER in metric units").match == "folded"
    words = trace(assembly, "units, metric")
    assert (words.match, len(words.hits)) == ("words", 1)
    assert trace(assembly, "imperial").hits == ()
    assert trace(assembly, "   ").hits == ()


def test_files_the_engine_never_reads_say_why(make: Make, tmp_path: Path) -> None:
    (tmp_path / "RULES.md").write_text("never use tabs\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "RULES.md").write_text("never use tabs\n")
    (tmp_path / "rules.md").write_text("never use tabs\n")
    (tmp_path / "CLAUDE.md").write_text("never use tabs\n")
    (tmp_path / "notes.txt").write_text("never use tabs\n")
    (tmp_path / "blob.bin").write_bytes(b"never use tabs\0")
    assembly = make(sections=[{"name": "a", "file": "RULES.md"}]).assemble()
    hits = trace(assembly, "never use tabs", text_files(tmp_path)).hits
    reasons = {hit.item: hit.because for hit in hits if hit.verdict == "not read"}
    assert reasons == {
        "sub/RULES.md": "Fake reads RULES.md of a folder above this one, not here",
        "rules.md": "Fake reads RULES.md; this file is called rules.md",
        "CLAUDE.md": "CLAUDE.md is a file of Claude Code; Fake does not read it here",
        "notes.txt": "not a file that Fake puts into a prompt",
    }
    assert [hit.item for hit in hits if hit.verdict == "seen"] == ["a"]


def test_a_search_for_everything_is_bounded(make: Make) -> None:
    assembly = make(sections=[{"name": "a", "text": "e" * 350}]).assemble()
    result = trace(assembly, "e")
    assert len(result.hits) == 200
    assert result.more


def test_unread_files_say_it_once_and_hidden_folders_of_tools_are_passed_over(
    make: Make, tmp_path: Path
) -> None:
    for folder in (".cache", ".claude", "node_modules", "src"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rules.txt").write_text("never use tabs\n" * 50)
    for number in range(30):
        (tmp_path / "src" / f"copy{number:02}.txt").write_text("never use tabs\n")
    hits = trace(make().assemble(), "never use tabs", text_files(tmp_path)).hits
    assert [hit.item for hit in hits[:3]] == [".claude/rules.txt", "src/copy00.txt", "src/copy01.txt"]
    assert len(hits) == 20
