"""Reading a workspace: what is bad is shown, with its place, and never crashes."""

from __future__ import annotations

from pathlib import Path

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.model import Assembly
from tests import invariants


def assembled(folder: Path, request: OpenRequest | None = None, **files: str) -> Assembly:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    assembly = Debugger(open_workspace(folder, request)).assembly
    invariants.check(assembly)
    return assembly


def words(assembly: Assembly) -> str:
    return " | ".join(f"{entry.code} {entry.message}" for entry in assembly.warnings)


def test_without_a_budget_the_builder_fails_like_there(tmp_path: Path) -> None:
    failure = assembled(tmp_path, phronomy__yaml="instruction: hi\n").failure
    assert failure is not None
    assert failure.error == "NoMethodError"


def test_an_unknown_model_fails_and_a_known_one_gives_both_numbers(tmp_path: Path) -> None:
    text = "budget: {model: small}\nmodels: {small: {context_window: 1000, max_output_tokens: 200}}\n"
    assert assembled(tmp_path, phronomy__yaml=text).budget.limit == 800
    failure = assembled(tmp_path, phronomy__yaml="budget: {model: large}\n").failure
    assert failure is not None
    assert failure.error == "Phronomy::Context::UnknownModelError"


def test_numbers_are_read_as_ruby_reads_them(tmp_path: Path) -> None:
    text = 'budget: {context_window: "1000 tokens", max_output_tokens: x, overhead: -50}\n'
    assert assembled(tmp_path, phronomy__yaml=text).budget.limit == 1050
    failure = assembled(tmp_path, phronomy__yaml="budget: {context_window: [1]}\n").failure
    assert failure is not None
    assert failure.error == "NoMethodError"


def test_a_limit_that_is_not_positive_is_refused(tmp_path: Path) -> None:
    for limit in ("0", "-7"):
        text = f"generation: 3\nbudget: {{max_input_tokens: {limit}}}\n"
        failure = assembled(tmp_path, phronomy__yaml=text).failure
        assert failure is not None
        assert failure.error == "ArgumentError"


def test_a_model_without_a_window_gives_no_budget(tmp_path: Path) -> None:
    text = (
        "generation: 3\nbudget: {model: m}\nmodels: {m: {context_window: 0}}\n"
        "instruction: hi\ncall_mode: complete\n"
    )
    assembly = assembled(tmp_path, phronomy__yaml=text)
    assert assembly.failure is None
    assert assembly.budget.limit is None


def test_bad_files_are_told_with_their_place(tmp_path: Path) -> None:
    assembly = assembled(
        tmp_path,
        phronomy__yaml="budget: {context_window: 9, size: 1}\nknowledge: text\n"
        "tools: [3]\ncompact: [{range: x}]\nodd: 1\n",
        messages__jsonl='{"role": "user", "content": "hi"}\n{"role": "user"\n7\n',
    )
    told = words(assembly)
    for word in (
        "size",
        "knowledge must be",
        "tool 0",
        "compact 0",
        "odd",
        "column",
        "message 1 has no role",
    ):
        assert word in told
    assert [message.id for message in assembly.stages[0].messages] == ["m0"]


def test_candidates_that_cannot_be_used(tmp_path: Path) -> None:
    text = "generation: 3\nbudget: {max_input_tokens: 9}\n"
    assembly = assembled(
        tmp_path, phronomy__yaml=text, candidates__json='[{"id": "x", "category": "odd"}, 5]'
    )
    assert assembly.failure is not None
    assert assembly.failure.error == "ArgumentError"
    assert "candidate 1 has no id" in words(assembly)


def test_trim_and_compact_as_the_callbacks_do_them(tmp_path: Path) -> None:
    text = "generation: 2-trims\ntrim: [0]\ncompact: [{range: [1, 2], summary: S}]\n"
    rows = "".join(f'{{"role": "user", "content": "m{n}"}}\n' for n in range(5))
    assembly = assembled(tmp_path, phronomy__yaml=text, messages__jsonl=rows)
    # Numbered anew after the trim: m1 is 0 and is lost with what stands before the range.
    assert [message.id for message in assembly.stages[-1].messages] == ["compaction", "m4"]
    assert "lost with it" in assembly.decisions_on("m1")[-1].because


def test_the_question_is_sent_last_and_not_measured(tmp_path: Path) -> None:
    text = "budget: {context_window: 1}\n"
    assembly = assembled(tmp_path, OpenRequest(message="a long question"), phronomy__yaml=text)
    assert [message.id for message in assembly.stages[-1].messages] == ["current"]
    assert assembly.budget.used == 0


def test_what_a_tool_costs_is_told_where_tools_are_counted(tmp_path: Path) -> None:
    text = (
        "generation: 2-raises\nbudget: {context_window: 1000}\ninstruction: hi\n"
        "tools: [{name: a, description: 12345678}, {definition: {name: b}, instance: true}]\n"
    )
    found = [entry for entry in assembled(tmp_path, phronomy__yaml=text).decisions if entry.stage == "tools"]
    assert [(entry.item, entry.rule, entry.measured) for entry in found] == [
        ("tools/a", "phronomy.tools.cost", 2),
        ("tools/b", "phronomy.tools.cost", 0),
    ]
