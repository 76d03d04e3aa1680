"""What must hold for every input: nothing lost without a word, sums, order, purity, more is never less."""

from __future__ import annotations

import posixpath
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.debug import Opened
from promptdbg.engines import bee
from promptdbg.engines.bee import history, knowledge
from promptdbg.engines.bee.drafts import spans
from promptdbg.engines.bee.engine import ENGINE
from promptdbg.engines.bee.gotext import to_bytes, trim_space, wire
from promptdbg.engines.bee.inputs import BeeInputs, Place
from promptdbg.engines.bee.manifest import truncate_manifest
from promptdbg.files.tree import walk
from promptdbg.model import Settings
from promptdbg.tokens import tokenizer
from tests import invariants
from tests.engines.bee.workspaces import assembled, opened

NOW = datetime(2026, 5, 30, 12, 0, tzinfo=UTC)
WORDS = st.text(alphabet="ab é漢\n\u2028\t-@.", max_size=40)

TOOLS = st.lists(st.builds(bee.Tool, st.text("abc", max_size=3), WORDS, st.just("") | WORDS), max_size=4)
RECORDS = st.lists(
    st.builds(
        bee.Record,
        name=WORDS,
        body=WORDS.map(str.encode),
        priority=st.integers(-2, 6),
        modified=st.integers(-100, 2000).map(lambda hours: NOW - timedelta(hours=hours)),
        expires=st.none() | st.integers(-100, 100).map(lambda hours: NOW + timedelta(hours=hours)),
    ),
    max_size=4,
)
CONTEXT = st.lists(
    st.builds(lambda name, body: bee.ContextFile(f"/w/{name}", body, body), WORDS, WORDS.map(str.encode)),
    max_size=4,
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "budget": st.integers(-2, 400),
        "tool_desc_chars": st.integers(-1, 20),
        "skill_manifest_chars": st.integers(-1, 60),
        "memory_body_chars": st.integers(-1, 30),
        "caveman": st.sampled_from(["auto", "off", "full"]),
        "profile": st.sampled_from(["auto", "tiny", "normal", "large"]),
        "mode": st.sampled_from(["auto", "edit", "plan"]),
    },
)


def inputs(
    tools: list[bee.Tool], skills: str, records: list[bee.Record], context: list[bee.ContextFile]
) -> BeeInputs:
    return BeeInputs(
        workspace="/w",
        config=bee.Config(profile="normal", caveman="off"),
        place=Place("/w"),
        now=NOW,
        context=tuple(context),
        records=tuple(records),
        chosen=True,
        tools=tuple(tools),
        skills=skills,
    )


@given(TOOLS, WORDS, RECORDS, CONTEXT, VALUES)
@settings(max_examples=150, deadline=None)
def test_every_assembly_keeps_the_invariants_and_is_pure(
    tools: list[bee.Tool],
    skills: str,
    records: list[bee.Record],
    context: list[bee.ContextFile],
    values: dict[str, int | str],
) -> None:
    given_inputs = inputs(tools, skills, records, context)
    assembly = ENGINE.assemble(given_inputs, Settings(values=values), tokenizer())
    invariants.check(assembly)
    assert assembly == ENGINE.assemble(given_inputs, Settings(values=values), tokenizer())
    order = [entry.order for entry in assembly.sections]
    assert order == sorted(order)
    limit = assembly.budget.limit
    over = any(entry.rule == "bee.budget.over" for entry in assembly.decisions)
    assert over == (limit is not None and assembly.budget.used > limit)


@given(TOOLS, RECORDS, CONTEXT, st.integers(1, 300), st.integers(1, 60))
@settings(max_examples=150, deadline=None)
def test_a_larger_budget_never_keeps_less(
    tools: list[bee.Tool], records: list[bee.Record], context: list[bee.ContextFile], budget: int, more: int
) -> None:
    given_inputs = inputs(tools, "a: b (prompt)\nc: d (exec)", records, context)

    def kept(limit: int) -> set[str]:
        assembly = ENGINE.assemble(given_inputs, Settings(values={"budget": limit}), tokenizer())
        return {entry.id for entry in assembly.sections if entry.output}

    assert kept(budget) <= kept(budget + more)


@given(st.lists(st.text("ab \n", max_size=12), max_size=6), st.integers(-1, 60))
def test_a_manifest_never_exceeds_its_cap(lines: list[str], cap: int) -> None:
    data = [line.replace("\n", "").encode() for line in lines]
    kept = truncate_manifest(data, cap)
    assert cap == 0 or len(kept) <= max(cap, 0)
    assert kept in b"\n".join(data)


@given(st.binary(max_size=400), st.integers(1, 30), st.sampled_from(["bash", "read"]))
def test_a_cut_result_is_made_of_its_original(data: bytes, limit: int, tool: str) -> None:
    cut = history.truncate_result(tool, data, limit)
    assert cut.truncated == (len(data) > 4 * limit)
    if cut.truncated:
        kept = [data[start:end] for start, end in cut.kept]
        assert cut.output.startswith(kept[0])
        assert cut.output.endswith(kept[-1]) or len(kept) == 1
        assert sum(map(len, kept)) <= 4 * limit


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_spans_cover_a_text_whatever_its_bytes(data: bytes, edges: list[int]) -> None:
    points = sorted(min(edge, len(data)) for edge in edges)
    ranges = [(points[i], points[i + 1]) for i in range(0, len(points) - 1, 2)]
    found = spans(data, ranges)
    assert "".join(wire(data)[span.start : span.end] for span in found) == wire(data)


@given(st.binary(max_size=40))
def test_bytes_come_through_text_and_back(data: bytes) -> None:
    assert to_bytes(data.decode("utf-8", "surrogateescape")) == data
    assert trim_space(trim_space(data)) == trim_space(data)
    assert trim_space(data) in data


@given(st.lists(st.builds(bee.Record, name=WORDS, priority=st.integers(-3, 9)), max_size=6), WORDS)
def test_selection_is_by_descending_score(records: list[bee.Record], query: str) -> None:
    ranked = knowledge.rank_records(records, query, (), NOW)
    scores = [entry.score for entry in ranked]
    assert scores == sorted(scores, reverse=True)
    assert len(ranked) == len(records)


REFERENCES = st.sampled_from(
    ["@a.md", "@b.md", "@in/c.md", "@../a.md", "@A", "@zz", "@in", "@~/a.md", "@a.md."]
)
BODIES = st.lists(REFERENCES | st.sampled_from(["漢", "x " * 3000, "\n"]), max_size=5).map(" ".join)
NAMES = ("AGENTS.md", "CLAUDE.md", "a.md", "b.md", "in/AGENTS.md", "in/c.md")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [tmp_path_factory.mktemp("trees")]


@given(
    st.lists(BODIES, min_size=len(NAMES), max_size=len(NAMES)),
    st.sets(st.integers(0, 40), max_size=4),
    st.integers(0, 10),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_imports_of_any_shape_end_and_add_up(
    folders: list[Path], bodies: list[str], off: set[int], depth: int, fuzzy: bool
) -> None:
    root = folders[0] / str(len(folders))
    root.mkdir()
    folders.append(root)
    files: dict[str, str | bytes] = dict(zip(NAMES, bodies, strict=True))
    workspace: Opened = opened(root, files, 'cwd = "in"\n')
    whole = assembled(workspace)
    ids = [entry.id for entry in whole.sections]
    chosen = frozenset(ids[number] for number in off if number < len(ids))
    again = assembled(workspace, Settings(values={"import_depth": depth, "fuzzy": fuzzy}, off=chosen))
    # Nothing a knob or a switch can bring up was left unread.
    assert not any("was not there when" in entry.because for entry in again.decisions)
    assert all(
        posixpath.isabs(str(entry.source))
        for entry in whole.sections
        if entry.kind == "import" and entry.source
    )


def test_a_walk_takes_names_in_byte_order(tmp_path: Path) -> None:
    for name in ("b", "a/z", "a.x", "A", "vendor/v", "é"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert walk(tmp_path, frozenset({"vendor"}), 9) == ("A", "a/z", "a.x", "b", "é")
    assert walk(tmp_path, frozenset(), 2) == ("A", "a/z")
