"""What was loaded twice."""

from __future__ import annotations

from pathlib import Path

from promptdbg.analysis.duplicates import duplicates
from promptdbg.tokens import tokenizer

from .conftest import Make

PASSAGE = [f"- rule number {n}: keep this line in mind, please" for n in range(8)]


def test_the_same_text_twice_costs_its_tokens(make: Make) -> None:
    text = "Never use tabs in this project, not even in Makefiles.\n"
    assembly = make(sections=[{"name": "a", "text": text}, {"name": "b", "text": "\n" + text}]).assemble()
    (found,) = duplicates(assembly, tokenizer())
    assert (found.kind, found.items) == ("text", ("a", "b"))
    assert found.tokens == tokenizer().count(text.strip())


def test_a_passage_in_two_places_with_one_line_changed(make: Make) -> None:
    other = [*PASSAGE[:4], "- a line of its own, not like the other ones", *PASSAGE[5:]]
    assembly = make(
        sections=[
            {"name": "a", "text": "# A\n" + "\n".join(PASSAGE)},
            {"name": "b", "text": "# B\n\nintro\n" + "\n".join(other)},
        ]
    ).assemble()
    # The default cap of the fake engine cuts both; only what reaches the model counts.
    (found,) = duplicates(assembly, tokenizer())
    assert (found.kind, found.items, found.lines) == ("passage", ("a", "b"), (2, 4))
    assert found.excerpt == PASSAGE[0]


def test_different_texts_are_no_duplicates(make: Make) -> None:
    sections = [{"name": f"s{n}", "text": f"{n} words of their own, number {n}\n" * 3} for n in range(4)]
    assert duplicates(make(sections=sections).assemble(), tokenizer()) == ()


def test_one_file_by_two_paths(make: Make, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("short\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assembly = make(
        sections=[{"name": "a", "file": "AGENTS.md"}, {"name": "c", "file": "CLAUDE.md"}]
    ).assemble()
    (found,) = duplicates(assembly, tokenizer())
    assert (found.kind, found.items) == ("file", ("a", "c"))
