"""``promptdbg turns``: the table, the life of an item, and both as JSON."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from promptdbg.cli import main

EXAMPLES = Path(__file__).parents[2] / "src/promptdbg/examples"
ARCHIVED = str(EXAMPLES / "nanobot-archived")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code, out, _ = run(capsys, "turns", *words, "--json")
    assert code == 0
    found = json.loads(out)
    schema = json.loads(resources.files("promptdbg.schemas").joinpath("turns-1.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(found)
    return found


def test_a_table_with_the_boundaries_between_its_rows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "turns", ARCHIVED)
    assert code == 0
    lines = out.splitlines()
    (eighth,) = (n for n, line in enumerate(lines) if line.lstrip().startswith("8 "))
    (ninth,) = (n for n, line in enumerate(lines) if line.lstrip().startswith("9 "))
    assert lines[eighth + 1].startswith("── Archived: 28 messages (m0 to m27), 23 of them still sent")
    assert "Recorded: the session says that it was done." in " ".join(lines[eighth:ninth])
    assert "−28" in lines[ninth]
    assert lines[-1].startswith("*  next  1,366")
    assert "the turn to come" in lines[-1]


def test_the_life_of_an_item(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "turns", ARCHIVED, "m4")
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == ["user m4", "    1 ·●●●●●●●○○○○○ next"]
    assert [line for line in lines if line and not line.startswith(" ")][1:] == [
        "Turn 1: not there yet",
        "Turns 2 to 8: whole",
        "From turn 9 on: archived",
    ]


def test_an_item_of_the_workspace_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ARCHIVED)
    assert run(capsys, "turns", "m4")[1].startswith("user m4\n")
    assert run(capsys, "turns", ".", "m4")[1].startswith("user m4\n")


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, ARCHIVED, "m4")
    assert [turn["turn"] for turn in found["turns"]] == [*range(1, 13), None]
    (boundary,) = found["turns"][8]["boundaries"]
    assert (boundary["word"], boundary["evidence"], boundary["seen"]) == ("archived", "recorded", 23)
    assert boundary["into"] == [{"item": "archived_summary", "name": "archived_summary", "tokens": 113}]
    left = [change["item"] for change in found["turns"][8]["changes"] if change["kind"] == "left"]
    assert left == [f"m{n}" for n in range(23)]
    runs = [(run["first"], run["last"], run["word"]) for run in found["life"]["runs"]]
    assert runs == [(1, 1, "not there yet"), (2, 8, "whole"), (9, None, "archived")]
    assert as_json(capsys, ARCHIVED)["life"] is None


@pytest.mark.parametrize("name", ["agentos-nasty", "bee-nasty", "nanobot-nasty", "orbiter-nasty"])
def test_as_json_for_every_engine(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, str(EXAMPLES / name))["turns"]


def test_some_of_the_turns(capsys: pytest.CaptureFixture[str]) -> None:
    assert [turn["turn"] for turn in as_json(capsys, ARCHIVED, "--last", "2")["turns"]] == [11, 12, None]
    assert [turn["turn"] for turn in as_json(capsys, ARCHIVED, "--last", "0")["turns"]] == [None]
    assert [turn["turn"] for turn in as_json(capsys, ARCHIVED, "--to", "2")["turns"]] == [1, 2]
    ninth = as_json(capsys, ARCHIVED, "m4", "--from", "9", "--to", "9")
    assert [turn["turn"] for turn in ninth["turns"]] == [9]
    assert ninth["turns"][0]["boundaries"]  # the turn before was looked at, too
    words = [run["word"] for run in ninth["life"]["runs"]]
    assert words == ["not there yet", "not known yet", "whole", "archived", "not known yet"]


def test_with_what_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    (boundary,) = as_json(capsys, ARCHIVED, "--set", "dialect=main")["turns"][8]["boundaries"]
    assert (len(boundary["items"]), boundary["survived"]) == (20, 6)
    off = as_json(capsys, ARCHIVED, "m5", "--off", "m5")["life"]["runs"]
    assert [(run["first"], run["word"]) for run in off] == [(1, "not there yet"), (3, "off")]


def test_the_turn_that_is_open_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "turns", ARCHIVED, "--turn", "3")
    (marked,) = (line for line in out.splitlines() if line.startswith("*"))
    assert marked.split()[1] == "3"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([ARCHIVED, "zebra"], "no item 'zebra'"),
        ([ARCHIVED, "--from", "13"], "no user message 13, there are 12"),
        ([ARCHIVED, "--from", "3", "--to", "2"], "--from is after --to"),
        ([ARCHIVED, "--last", "2", "--to", "2"], "either --last or --from and --to"),
        ([ARCHIVED, "--last", "-1"], "a number of turns, 0 or more"),
        ([str(EXAMPLES / "orbiter-order")], "there are no turns"),
    ],
)
def test_what_cannot_be_asked(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "turns", *words)
    assert (code, out) == (2, "")
    assert said in err


def test_a_recording_holds_one_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, saved, _ = run(capsys, "inspect", ARCHIVED, "--json")
    (tmp_path / "saved.json").write_text(saved, encoding="utf-8")
    code, _, err = run(capsys, "turns", str(tmp_path / "saved.json"))
    assert code == 2
    assert "this is a recording: it holds one turn" in err
