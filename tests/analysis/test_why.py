"""``why`` and ``find_item`` on sections and messages."""

from __future__ import annotations

import pytest

from promptdbg.analysis.cut import find_cut
from promptdbg.analysis.items import find_item, match_items
from promptdbg.analysis.why import why
from promptdbg.errors import UsageError
from promptdbg.model import Section, SectionStatus, Settings, Span

from .conftest import Make

RULES = "# Rules\n\nUse tabs.\n\n## Style\n\n```\ncode fence\n# not a heading\n```\n\n## Tests\n\nAlways.\n"


def section(text: str, *lost: tuple[int, int], output: str = "") -> Section:
    spans: list[Span] = []
    at = 0
    for start, end in lost:
        if start > at:
            spans.append(Span(at, start, True))
        spans.append(Span(start, end, False))
        at = end
    if at < len(text):
        spans.append(Span(at, len(text), True))
    return Section(
        id="s",
        name="s",
        kind="text",
        order=0,
        text=text,
        output=output or "".join(text[s.start : s.end] for s in spans if s.kept),
        status=SectionStatus.TRUNCATED,
        tokens=1,
        tokens_original=2,
        size=1,
        size_original=2,
        unit="chars",
        spans=tuple(spans),
    )


def test_a_cut_names_line_column_byte_and_the_lost_headings() -> None:
    at = RULES.index("code fence") + 4
    cut = find_cut(section(RULES, (at, len(RULES))))
    assert cut is not None
    assert (cut.line, cut.column, cut.byte, cut.offset) == (8, 5, at, at)
    assert cut.inside == ("line", "code fence")
    assert cut.lost_headings == ("## Tests",)
    assert cut.first_lost_line == "code fence"
    assert (cut.lost_lines, cut.total_lines) == (7, 14)


def test_a_cut_at_a_line_edge_breaks_nothing() -> None:
    at = RULES.index("## Style")
    cut = find_cut(section(RULES, (at, len(RULES))))
    assert cut is not None
    assert cut.inside == ()
    assert cut.first_lost_line == "## Style"
    assert cut.lost_headings == ("## Style", "## Tests")


def test_a_cut_right_before_a_line_feed_loses_the_next_line() -> None:
    at = RULES.index("\n\n## Style")
    cut = find_cut(section(RULES, (at, len(RULES))))
    assert cut is not None
    assert cut.inside == ()
    assert cut.first_lost_line == ""


def test_a_cut_inside_a_character_is_the_worst() -> None:
    text = "xx漢字end"
    cut = find_cut(section(text, (2, len(text)), output="xx\ufffd"))
    assert cut is not None
    assert cut.inside[0] == "character"
    assert (cut.byte, cut.lost_bytes, cut.lost_chars) == (2, 9, 5)


def test_a_head_that_is_lost_is_cut_where_the_rest_begins() -> None:
    text = "one\ntwo\nthree\n"
    cut = find_cut(section(text, (0, 8)))
    assert cut is not None
    assert (cut.line, cut.first_lost_line, cut.lost_lines) == (3, "one", 2)


def test_of_the_first_lost_line_only_what_is_lost_is_shown() -> None:
    text = "# Rules\nNever mention cats.\nNever sing.\n"
    never = text.index("mention")
    for lost, shown in (
        ((never, len(text)), "…mention cats."),
        ((never, text.index(" cats")), "…mention…"),
        ((0, 10), "# Rules"),
        ((0, 4), "# Ru…"),
        ((text.index("\nNever sing"), len(text)), "Never sing."),
        ((never - 6, len(text)), "Never mention cats."),
        ((text.index("\nNever sing"), len(text) - 3), "Never sin…"),
        ((never + len("mention cats."), never + len("mention cats.\n")), ""),
    ):
        cut = find_cut(section(text, lost))
        assert cut is not None
        assert cut.first_lost_part == shown
        assert shown.strip("…") in cut.first_lost_line


def test_why_a_section_was_dropped(make: Make) -> None:
    made = make(
        sections=[
            {"name": "identity", "text": "You are careful. " * 4, "priority": 9},
            {"name": "rules", "text": "Never use tabs. " * 4, "priority": 1},
        ]
    )
    answer = why(made.assemble(Settings().with_value("budget", 20)), "rules")
    assert answer.status == "dropped"
    assert answer.lost
    (ruling,) = answer.rulings
    assert ruling.rule is not None
    assert ruling.rule.id == "fake.sections.budget"
    assert ruling.arithmetic.startswith("34 tokens against a limit of 20 (14 over)")
    assert [(n.item, n.status, n.this) for n in answer.around] == [
        ("identity", "kept", False),
        ("rules", "dropped", True),
    ]


def test_why_a_message_went_step_by_step(make: Make) -> None:
    rows = [{"role": role, "content": f"{role} {n}"} for n in range(3) for role in ("user", "assistant")]
    assembly = make(messages=rows).assemble(Settings().with_value("keep", 2))
    answer = why(assembly, "m1")
    assert [step.presence for step in answer.life] == ["kept", "kept", "kept", "kept", "dropped", "dropped"]
    assert answer.status == "dropped"
    assert answer.rulings[0].decision.stage == "trim"
    assert why(assembly, "m5").status == "kept"


def test_why_a_merged_message_says_into_which(make: Make) -> None:
    rows = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
    answer = why(make(messages=rows).assemble(), "m1")
    assert answer.status == "merged"
    assert not answer.lost
    assert next(step.into for step in answer.life if step.presence == "merged") == "m0"


def test_items_are_found_by_what_a_person_types(make: Make) -> None:
    assembly = make(
        sections=[{"name": "memory/MEMORY.md", "text": "a"}, {"name": "memory/old.md", "text": "b"}],
        messages=[{"role": "user", "content": "x"}],
    ).assemble()
    assert find_item(assembly, "memory.md") == "memory/MEMORY.md"
    assert find_item(assembly, "old") == "memory/old.md"
    assert find_item(assembly, "m0") == "m0"
    assert match_items(assembly, "memory/*") == ("memory/MEMORY.md", "memory/old.md")
    with pytest.raises(UsageError, match="means 2 items"):
        find_item(assembly, "memory/")
    with pytest.raises(UsageError, match=r"near: memory/old\.md"):
        find_item(assembly, "memory/odl.md")
    with pytest.raises(UsageError, match="matches"):
        match_items(assembly, "skills/*")
    with pytest.raises(UsageError):
        why(assembly, "nothing")
