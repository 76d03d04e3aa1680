"""What each command prints, on the small engine of the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptdbg.cli import main
from promptdbg.debug import open_workspace
from promptdbg.engines import ENGINE_NAMES, engine
from promptdbg.examples import FLAGSHIP, examples, find
from promptdbg.model import Settings, settling
from promptdbg.text import width
from promptdbg.tokens import tokenizer
from promptdbg.workspace import MANIFEST_NAME
from tests import fake_engine

MANIFEST = """
engine = "fake"
tools = 120
[settings]
cap = 60
[scenarios.tight]
budget = 12
keep = 1
[[sections]]
name = "identity"
text = "You are an agent of few words."
priority = 3
[[sections]]
name = "notes"
text = "A note that goes on and on and on and on and on and on and on and on and on."
[[sections]]
name = "memory\\u001b[31m"
file = "MEMORY.md"
[[messages]]
role = "user"
content = "hi"
[[messages]]
role = "user"
content = "hi \\u202eagain"
[[messages]]
role = "tool"
content = "RESULT"
[[messages]]
role = "assistant"
content = "done"
"""

INSPECTED = """\
Fake 1
fidelity   exact
workspace  FOLDER
engine     fake: promptdbg.toml says so
turn       the next one, after 2
tokens     o200k_base
settings   budget=12, cap=60, keep=1

STATE    SECTION      PRIO  TOKENS  OF  SUM
● KEEP   identity        3       8        8
○ DROP   notes           0       0  22    8
           28 tokens are over the budget of 12 and it has the lowest priority.
∅ EMPTY  memory␛[31m     0       0        8
● 1 KEEP  ○ 1 DROP  ∅ 1 EMPTY

BUDGET in tokens, by the framework's own measure
  sections    8  ██
  joins       0
  messages    1
  tools     120  ████████████████████████████
  used      129
  limit      12
  over      117

STAGE    MESSAGES  TOKENS  WHAT HAPPENED
session         4      56  as stored
initial         5      64  1 inserted
shorten         5      51  1 rewritten
    m2: The result has 300 characters and the cap is 200. [fake.steps.shorten]
merge           4      52  1 merged
trim            2       9  2 dropped
    2 × m0: Only the newest 1 are kept. [fake.steps.trim]
final           2       9  2 dropped

! MEMORY.md: MEMORY.md does not exist [fake.file]
"""

COMPARED = """\
     │ Session · 4            │ Initial · 5            │ Final · 4
   1 │                        │+system ADD          28 │=
     │                        │ You are an agent of f… │
       Sections first. [fake.initial.system]
   2 │ user                 1 │=                       │&user MERGE           6
     │ hi                     │                        │ hi
       The next message is also of role user. [fake.steps.merge]
   3 │ user                 4 │=                       │−MERGE
     │ hi ‹202E›again         │                        │
   4 │ tool                50 │=                       │~tool CUT            37
     │ RESULTRESULTRESULTRES… │                        │ RESULTRESULTRESULTRES…
       The result has 300 characters and the cap is 200. [fake.steps.shorten]
   5 │ assistant            1 │=                       │=
     │ done                   │                        │

LIST     TOKENS  CHANGE
Session      56
Initial      84     +28
Final        72     -12
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fake_engine.install(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / MANIFEST_NAME).write_text(MANIFEST.replace("RESULT", "RESULT" * 50))
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command; its exit code and what it printed."""

    def call(*words: str | Path) -> tuple[int, str]:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        assert captured.err == ""
        return code, captured.out

    return call


# ---- inspect ------------------------------------------------------------------------------------


def test_inspect(folder: Path, run: Any) -> None:
    assert run("inspect", folder, "--scenario", "tight") == (0, INSPECTED.replace("FOLDER", str(folder)))


@pytest.mark.parametrize("cells", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("command", ["inspect", "compare"])
def test_lines_fit(folder: Path, run: Any, monkeypatch: pytest.MonkeyPatch, cells: int, command: str) -> None:
    monkeypatch.setenv("COLUMNS", str(cells))
    _, said = run(command, folder, "--scenario", "tight")
    too_wide = [line for line in said.splitlines() if width(line) > cells and str(folder) not in line]
    assert too_wide == []


def test_reason_stands_beside_the_numbers_where_there_is_room(
    folder: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "130")
    _, said = run("inspect", folder, "--scenario", "tight")
    row = next(line for line in said.splitlines() if "notes" in line)
    assert row.endswith("28 tokens are over the budget of 12 and it has the lowest priority.")


def test_options_reach_the_assembly(folder: Path, run: Any) -> None:
    words = ["--set", "cap=5", "--set", "mark=…", "--off", "m*", "--turn", "2", "--message", "more"]
    code, said = run("inspect", folder, "--json", *words)
    document = json.loads(said)
    assert code == 0
    assert document["settings"]["values"] == {"cap": 5, "mark": "…"}
    assert document["settings"]["off"] == ["m0", "m1", "memory\x1b[31m"]
    assert document["turn"] == 2
    assert [turn["title"] for turn in document["turns"]] == ["hi", "hi \u202eagain", "more"]
    assert document["sections"][0]["output"] == "You a…"


def test_a_knob_set_to_its_default_is_not_set(folder: Path, run: Any) -> None:
    _, said = run("inspect", folder, "--json", "--set", "cap=400")
    assert json.loads(said)["settings"]["values"] == {}


def test_no_text(folder: Path, run: Any) -> None:
    _, said = run("inspect", folder, "--json", "--no-text")
    assert "few words" not in said
    assert "text" not in json.loads(said)["sections"][0]


def test_estimates_are_marked(folder: Path, run: Any) -> None:
    _, said = run("inspect", folder, "--tokenizer", "claude-opus-4")
    assert "tokens     ≈ o200k_base · the tokenizer of claude-opus-4 is not public" in said
    assert "≈TOKENS" in said


def test_failure_of_the_framework_is_said(folder: Path, run: Any) -> None:
    manifest = folder / MANIFEST_NAME
    manifest.write_text('fails = "it cannot read row 3"\n' + manifest.read_text())
    code, said = run("inspect", folder)
    assert code == 0
    assert said.endswith(
        "The real framework fails here: FakeError in fake_engine.py::assemble\n  it cannot read row 3\n"
    )


def test_deciding_decision_is_the_last_loss(folder: Path) -> None:
    opened = open_workspace(folder)
    assembly = opened.engine.assemble(
        opened.inputs, Settings().with_value("cap", 5).with_value("budget", 0), tokenizer()
    )
    assert [d.action.value for d in assembly.decisions_on("notes")] == ["truncate", "drop"]
    settled = settling(assembly.decisions_by_item()["notes"])
    assert settled is not None
    assert settled.action.value == "drop"


# ---- compare ------------------------------------------------------------------------------------


def test_compare(folder: Path, run: Any) -> None:
    assert run("compare", folder) == (0, COMPARED)


def test_compare_folds_what_is_the_same(folder: Path, run: Any) -> None:
    rows = "".join(
        f'[[messages]]\nrole = "{role}"\ncontent = "{n}"\n'
        for n in range(10)
        for role in ("user", "assistant")
    )
    (folder / MANIFEST_NAME).write_text('engine = "fake"\n' + rows)
    assert "  ··  18 rows the same in all lists\n" in run("compare", folder)[1]
    assert "the same" not in run("compare", folder, "--all")[1]


def test_compare_chosen_stages(folder: Path, run: Any) -> None:
    assert "│ Shorten · 5" in run("compare", folder, "--stages", "initial, shorten")[1]


def test_compare_json(folder: Path, run: Any) -> None:
    document = json.loads(run("compare", folder, "--json")[1])
    assert document["schema"] == "promptdbg/compare/1"
    assert [(c["name"], c["messages"], c["delta"]) for c in document["columns"]] == [
        ("session", 4, 0),
        ("initial", 5, 28),
        ("final", 4, -12),
    ]
    kinds = [[cell["kind"] for cell in row["cells"]] for row in document["rows"]]
    assert kinds[0] == ["absent", "inserted", "same"]
    assert kinds[3] == ["listed", "same", "rewritten"]
    assert document["rows"][3]["cells"][2]["decisions"][0]["rule"] == "fake.steps.shorten"
    assert (
        "content" not in json.loads(run("compare", folder, "--json", "--no-text")[1])["rows"][0]["cells"][0]
    )


@pytest.mark.parametrize(
    ("against", "code"), [("tight", 1), ("1", 1), ("SAME", 0)], ids=["scenario", "turn", "folder"]
)
def test_compare_against(
    folder: Path, run: Any, tmp_path_factory: pytest.TempPathFactory, against: str, code: int
) -> None:
    if against == "SAME":
        other = tmp_path_factory.mktemp("other")
        (other / MANIFEST_NAME).write_text((folder / MANIFEST_NAME).read_text())
        against = str(other)
    found, said = run("compare", folder, "--against", against)
    assert found == code
    assert "as it is" in said
    assert ("SECTIONS THAT DIFFER" in said) == (against == "tight")


def test_compare_against_a_saved_prompt(folder: Path, run: Any, tmp_path: Path) -> None:
    saved = tmp_path / "then.json"
    saved.write_text(run("inspect", folder, "--json")[1])
    assert run("compare", folder, "--against", saved)[0] == 0
    found, said = run("compare", folder, "--against", saved, "--scenario", "tight")
    assert found == 1
    assert "SECTIONS THAT DIFFER" in said


def test_compare_against_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(folder), "--against", "loose"]) == 2
    said = capsys.readouterr().err
    what = "'loose' is no scenario, turn, session file, folder or JSON of a prompt"
    assert f"{what} (scenarios: tight; turns: 2)" in said


def test_compare_with_a_recorded_request(
    folder: Path, run: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    final = json.loads(run("inspect", folder, "--json")[1])["stages"][-1]["messages"]
    messages = [{"role": m["role"], "content": m["content"]} for m in final]
    file = tmp_path_factory.mktemp("r") / "request.json"
    file.write_text(json.dumps({"model": "x", "messages": messages}))
    assert run("compare", folder, "--final", file)[0] == 0
    messages[-1]["content"] = "something else"
    file.write_text(json.dumps(messages))
    code, said = run("compare", folder, "--final", file)
    assert code == 1
    assert "Recorded" in said
    assert "something else" in said


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("{", "request.json:1:2: is not JSON"),
        ("5", "request.json: holds no messages"),
        (b"\xff", "request.json: byte 0 is not UTF-8"),
        (None, "request.json: does not exist"),
    ],
)
def test_recorded_request_that_cannot_be_used(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str | bytes | None, line: str
) -> None:
    file = folder / "request.json"
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    assert main(["compare", str(folder), "--final", str(file)]) == 2
    assert line in capsys.readouterr().err


# ---- lists --------------------------------------------------------------------------------------


def test_engines(run: Any) -> None:
    code, said = run("engines")
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()[1:]] == list(ENGINE_NAMES)
    document = json.loads(run("engines", "--json")[1])
    assert [entry["name"] for entry in document] == list(ENGINE_NAMES)
    assert all(entry["rules"] and entry["knobs"] and entry["versions"] for entry in document)


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_knobs(run: Any, name: str) -> None:
    document = json.loads(run("knobs", name, "--json")[1])
    knobs = engine(name).knobs(None)
    assert [entry["name"] for entry in document[name]] == [knob.name for knob in knobs]
    said = run("knobs", name)[1]
    assert all(knob.name in said for knob in knobs)
    for knob in knobs:
        knob.check(knob.default)


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_rules(run: Any, name: str) -> None:
    rules = engine(name).rules
    assert len({rule.id for rule in rules}) == len(rules)
    document = json.loads(run("rules", name, "--json")[1])
    assert [entry["id"] for entry in document[name]] == [rule.id for rule in rules]
    said = run("rules", name)[1]
    for rule in rules:
        assert rule.id in said
        assert rule.title
        assert rule.source, f"{rule.id} does not say where it was read"


def test_knobs_and_rules_of_all_engines(run: Any) -> None:
    assert set(json.loads(run("knobs", "--json")[1])) == set(ENGINE_NAMES)
    assert set(json.loads(run("rules", "--json")[1])) == set(ENGINE_NAMES)


def test_knobs_of_a_workspace(folder: Path, run: Any) -> None:
    assert "budget" in run("knobs", "--workspace", folder)[1]


def test_sessions_of_an_engine_without_any(folder: Path, run: Any) -> None:
    assert run("sessions", folder) == (0, "Fake stores no sessions: its messages are part of the workspace\n")
    assert run("sessions", folder, "--json") == (0, "[]\n")


# ---- examples -----------------------------------------------------------------------------------


def test_flagship_comes_first() -> None:
    assert examples()[0].name == FLAGSHIP


def test_every_engine_has_examples() -> None:
    assert {example.engine for example in examples()} >= set(ENGINE_NAMES)


def test_example_by_its_engines_name() -> None:
    assert find("nanobot").name == FLAGSHIP


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_examples_open_and_ask_a_question(run: Any, example: Any) -> None:
    assert example.title
    assert example.question.endswith("?")
    code, said = run("demo", example.name)
    assert code == 0
    assert " ".join(said.split()).startswith(" ".join(example.question.split()))
    code, said = run("inspect", example.path, "--json")
    assert code == 0
    assert json.loads(said)["engine"]["name"] == example.engine


def test_demo_list(run: Any) -> None:
    said = run("demo", "--list")[1]
    assert all(example.name in said for example in examples())
    assert [entry["name"] for entry in json.loads(run("demo", "--json")[1])] == [e.name for e in examples()]
    assert run("demo", "--path")[1] == f"{find(FLAGSHIP).path}\n"


def test_unknown_example_names_the_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "nanobot-lost-rul"]) == 2
    assert FLAGSHIP in capsys.readouterr().err


# ---- documents ----------------------------------------------------------------------------------


def test_saved_document_opens_again(folder: Path, run: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("d") / "saved.json"
    file.write_text(run("inspect", folder, "--json", "--scenario", "tight")[1])
    code, said = run("inspect", file)
    assert code == 0
    assert "28 tokens are over the budget of 12" in said
    assert run("compare", file)[0] == 0


@pytest.mark.parametrize(
    ("content", "line"),
    [("{", "is not JSON"), ("{}", "schema"), ('{"schema": "promptdbg/assembly/1"}', "is not a whole")],
)
def test_document_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, line: str
) -> None:
    (tmp_path / "x.json").write_text(content)
    assert main(["inspect", str(tmp_path / "x.json")]) == 2
    assert line in capsys.readouterr().err


def test_document_takes_no_session(folder: Path, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.json").write_text(run("inspect", folder, "--json")[1])
    assert main(["inspect", str(folder / "x.json"), "--message", "more"]) == 2
    assert "--message: x.json is already assembled" in capsys.readouterr().err
