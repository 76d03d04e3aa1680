"""Context files and their imports: each outcome, the cap, what-ifs."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.model import SectionStatus, Settings
from tests.engines.bee.workspaces import assembled, decision, lost, opened, section

# An invented version of what people write in such files: every kind of reference in one place.
KINDS = """@docs/a.md @docs/missing.md `@docs/span.md` ``@docs/double.md``
```
@docs/fence.md
```
~~~
@docs/fence.md
~~~
@types/react <!-- hidden rule --> x@example.org
"""
DOCS = {
    "docs/a.md": "A @b.md",
    "docs/b.md": "B @c.md",
    "docs/c.md": "C @d.md",
    "docs/d.md": "D @c.md",
    "docs/span.md": "S",
    "docs/double.md": "2",
    "docs/fence.md": "F",
}


def test_every_kind_of_reference_has_its_state(tmp_path: Path) -> None:
    assembly = assembled(opened(tmp_path, {"CLAUDE.md": KINDS, **DOCS}))
    states = {
        entry.id.removeprefix("context/CLAUDE.md/"): (
            entry.status.value,
            assembly.decisions_on(entry.id)[0].rule,
        )
        for entry in assembly.sections
        if entry.kind == "import"
    }
    assert states == {
        "@docs/a.md": ("kept", "bee.import.exact"),
        "@docs/a.md/@b.md": ("kept", "bee.import.exact"),
        "@docs/a.md/@b.md/@c.md": ("kept", "bee.import.exact"),
        "@docs/a.md/@b.md/@c.md/@d.md": ("kept", "bee.import.exact"),
        "@docs/a.md/@b.md/@c.md/@d.md/@c.md": ("literal", "bee.import.visited"),
        "@docs/missing.md": ("literal", "bee.import.missing"),
        # bee knows neither code spans nor fences: what stands in them is imported too.
        "@docs/span.md": ("kept", "bee.import.exact"),
        "@docs/double.md": ("kept", "bee.import.exact"),
        "@docs/fence.md": ("kept", "bee.import.exact"),
        "@docs/fence.md#2": ("literal", "bee.import.visited"),
        "@types/react": ("literal", "bee.import.missing"),
    }
    text = assembly.system_text
    assert "<!-- hidden rule -->" in text
    assert "x@example.org" in text


def test_imports_nest_five_deep_and_the_knob_says_what_if(tmp_path: Path) -> None:
    chain = {f"{number}.md": f"{number} @{number + 1}.md" for number in range(1, 9)}
    workspace = opened(tmp_path, {"AGENTS.md": "@1.md", **chain, "9.md": "the end"})
    keys = "context/AGENTS.md" + "".join(f"/@{number}.md" for number in range(1, 7))
    assembly = assembled(workspace)
    assert section(assembly, keys).status is SectionStatus.LITERAL
    stopped = decision(assembly, keys, "bee.import.depth")
    assert (stopped.measured, stopped.limit, stopped.unit) == (6, 5, "count")
    deeper = assembled(workspace, Settings(values={"import_depth": 10}))
    assert "the end" in deeper.system_text
    assert "@1.md" in assembled(workspace, Settings(values={"import_depth": 0})).system_text


def test_the_fuzzy_match_shows_its_score_and_the_runners_up(tmp_path: Path) -> None:
    files = {"AGENTS.md": "@note.md", "keynote.md.bak": "K", "z/Note.md": "Z", "my-note-old.md": "O"}
    workspace = opened(tmp_path, files)
    assembly = assembled(workspace)
    match = decision(assembly, "context/AGENTS.md/@note.md", "bee.import.fuzzy")
    assert match.measured == 1848
    assert (
        "z/Note.md matches best with 1848 points, before keynote.md.bak (1818), my-note-old.md (623)"
        in match.because
    )
    exact = assembled(workspace, Settings(values={"fuzzy": False}))
    assert section(exact, "context/AGENTS.md/@note.md").status is SectionStatus.LITERAL


def test_a_file_is_hidden_beside_the_preferred_one_until_that_is_off(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"AGENTS.md": "", "CLAUDE.md": "hidden @x.md", "x.md": "X"})
    assembly = assembled(workspace)
    hidden = section(assembly, "context/CLAUDE.md")
    assert hidden.status is SectionStatus.SHADOWED
    assert "/w/AGENTS.md" in decision(assembly, hidden.id, "bee.context.shadow").because
    shown = assembled(workspace, Settings(off=frozenset({"context/AGENTS.md"})))
    assert section(shown, "context/AGENTS.md").status is SectionStatus.DISABLED
    assert "hidden <import" in shown.system_text


def test_switching_the_first_of_two_imports_off_lets_the_second_in(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"AGENTS.md": "@x.md and @sub/y.md", "x.md": "X", "sub/y.md": "@../x.md"})
    again = "context/AGENTS.md/@sub/y.md/@../x.md"
    assert section(assembled(workspace), again).status is SectionStatus.LITERAL
    assembly = assembled(workspace, Settings(off=frozenset({"context/AGENTS.md/@x.md"})))
    assert section(assembly, again).status is SectionStatus.KEPT
    assert section(assembly, "context/AGENTS.md/@x.md").output == "@x.md"


def test_the_cap_counts_bytes_and_says_when_it_splits_a_character(tmp_path: Path) -> None:
    assembly = assembled(opened(tmp_path, {"AGENTS.md": "x" * 8191 + "漢字end"}))
    cut = section(assembly, "context/AGENTS.md")
    assert [(span.start, span.end, span.kept) for span in cut.spans] == [(0, 8191, True), (8191, 8196, False)]
    assert cut.output.count("\ufffd") == 1
    reason = decision(assembly, cut.id, "bee.context.cap")
    assert (reason.measured, reason.limit, reason.unit) == (8200, 8192, "bytes")
    assert "the cut falls inside a character" in reason.because


def test_characters_of_three_bytes_are_reported_in_bytes(tmp_path: Path) -> None:
    assembly = assembled(opened(tmp_path, {"AGENTS.md": "規" * 11_000}))
    reason = decision(assembly, "context/AGENTS.md", "bee.context.cap")
    assert reason.measured == 33_000
    assert section(assembly, "context/AGENTS.md").size_original == 33_000 + len(
        '<context path="/w/AGENTS.md">\n\n</context>'
    )


def test_the_nearest_file_of_a_chain_is_lost_first(tmp_path: Path) -> None:
    chain = {
        "AGENTS.md": "R" * 30_000,
        "sub/AGENTS.md": "S" * 5_000 + "SUBEND",
        "sub/deep/AGENTS.md": "DEEPRULE",
    }
    workspace = opened(tmp_path, chain, 'cwd = "sub/deep"\n')
    assembly = assembled(workspace, Settings(values={"budget": 3000}))
    statuses = {key: section(assembly, f"context/{key}").status.value for key in chain}
    # 8,192 of the first, the second whole, and the nearest gone: the order of the list decides.
    assert statuses == {"AGENTS.md": "truncated", "sub/AGENTS.md": "dropped", "sub/deep/AGENTS.md": "dropped"}
    first = decision(assembly, "context/sub/deep/AGENTS.md", "bee.budget.drop-context")
    second = decision(assembly, "context/sub/AGENTS.md", "bee.budget.drop-context")
    assert (first.measured or 0) > (second.measured or 0) > 3000
    other = Settings(values={"budget": 3000, "context_order": ("sub/deep/AGENTS.md",)})
    assert "DEEPRULE" in assembled(workspace, other).system_text


def test_imports_beyond_the_cap_are_lost_with_their_place(tmp_path: Path) -> None:
    files = {"AGENTS.md": "@a.md " + "x" * 8200 + " @b.md", "a.md": "A", "b.md": "B"}
    assembly = assembled(opened(tmp_path, files))
    assert lost(assembly) == ["context/AGENTS.md", "context/AGENTS.md/@b.md"]
    assert decision(assembly, "context/AGENTS.md/@b.md", "bee.context.cap").after == 0


def test_an_import_across_the_cap_keeps_its_beginning(tmp_path: Path) -> None:
    files = {"AGENTS.md": "x" * 8000 + " @a.md tail", "a.md": "0123456789" * 30}
    cut = section(assembled(opened(tmp_path, files)), "context/AGENTS.md/@a.md")
    assert cut.status is SectionStatus.TRUNCATED
    kept = next(span for span in cut.spans if span.kept)
    head = len('<import path="/w/a.md">\n')
    assert kept.end == 8192 - 8001 - head


def test_an_edited_text_is_expanded_anew_from_what_was_read(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"AGENTS.md": "@a.md", "a.md": "A"})
    assembly = assembled(workspace, Settings(texts={"context/AGENTS.md": "new @a.md @never-read.md"}))
    assert "new <import" in assembly.system_text
    unread = section(assembly, "context/AGENTS.md/@never-read.md")
    assert unread.status is SectionStatus.LITERAL
    assert any(entry.rule == "promptdbg.edited" for entry in assembly.decisions_on("context/AGENTS.md"))
    inside = assembled(workspace, Settings(texts={"context/AGENTS.md/@a.md": "instead"}))
    assert "\ninstead\n</import>" in inside.system_text


def test_the_walk_up_begins_where_the_knob_says(tmp_path: Path) -> None:
    files = {"AGENTS.md": "outer", "in/AGENTS.md": "middle", "in/here/AGENTS.md": "inner"}
    workspace = opened(tmp_path, files, 'cwd = "in/here"\n')
    assert [word in assembled(workspace).system_text for word in ("outer", "middle", "inner")] == [True] * 3
    assembly = assembled(workspace, Settings(values={"walk_from": "/w/in"}))
    assert [word in assembly.system_text for word in ("outer", "middle", "inner")] == [False, True, True]


def test_nothing_above_the_workspace_leaks_in(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("secret of the folder above")
    inner = tmp_path / "project"
    inner.mkdir()
    workspace = opened(inner, {"AGENTS.md": "mine @../outside.md"})
    (tmp_path / "outside.md").write_text("outside")
    assembly = assembled(workspace)
    assert "secret" not in assembly.system_text
    assert section(assembly, "context/AGENTS.md/@../outside.md").status is SectionStatus.LITERAL


def test_offsets_are_code_points_of_the_prompt(tmp_path: Path) -> None:
    assembly = assembled(opened(tmp_path, {"AGENTS.md": "漢字 é @a.md", "a.md": "規則"}))
    inside = section(assembly, "context/AGENTS.md/@a.md")
    assert inside.offset is not None
    assert assembly.system_text[inside.offset :].startswith('<import path="/w/a.md">\n規則')


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
def test_the_global_file_comes_first(tmp_path: Path, name: str) -> None:
    workspace = opened(tmp_path, {f"home/.bee/{name}": "everywhere", "AGENTS.md": "here"})
    context = section(assembled(workspace), "context").output
    assert context.index("everywhere") < context.index("here")


def test_an_edit_of_equal_length_is_one_that_a_session_would_not_see(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"AGENTS.md": "metric"})
    item = "context/AGENTS.md"
    same = assembled(workspace, Settings(texts={item: "inches"}))
    assert decision(same, item, "bee.prompt.cache").measured == 6
    other = assembled(workspace, Settings(texts={item: "miles"}))
    assert [entry.rule for entry in other.decisions_on(item)] == ["promptdbg.edited"]
