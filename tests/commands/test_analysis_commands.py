"""why, trace, fixes, cache, lint and check, as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptdbg.cli import main
from tests.fake_engine import install

MANIFEST = """
engine = "fake"
[settings]
budget = 40
keep = 3
[[sections]]
name = "identity"
text = "You are careful and you are brief."
priority = 9
[[sections]]
name = "rules"
file = "RULES.md"
priority = 1
[[messages]]
role = "user"
content = "Always answer in metric units."
[[messages]]
role = "assistant"
content = "I will."
[[messages]]
role = "user"
content = "How high is the pier?"
[[messages]]
role = "assistant"
content = "Four metres."
[[messages]]
role = "user"
content = "And the other one?"
[scenarios.wide]
budget = 4000
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    install(monkeypatch)
    (tmp_path / "promptdbg.toml").write_text(MANIFEST)
    (tmp_path / "RULES.md").write_text("# Rules\n\nNever use tabs.\n" + "- a line that fills the room\n" * 8)
    (tmp_path / "CLAUDE.md").write_text("Never use tabs.\n")
    return str(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    _, out, _ = run(capsys, *words, "--json")
    return json.loads(out)


def test_why_names_rule_arithmetic_and_fixes(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "why", folder, "rules")
    assert code == 0
    assert "DROP" in out
    assert "tokens against a limit of 40" in out
    assert "fake.sections.budget" in out
    assert "raise the system budget to" in out
    entry = as_json(capsys, "why", folder, "rules")
    assert entry["schema"] == "promptdbg/why/1"
    assert {fix["kind"] for fix in entry["fixes"]} >= {"knob", "shorten"}


def test_why_of_a_message_shows_its_life(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    entry = as_json(capsys, "why", folder, "m0", "--no-fixes")
    assert entry["status"] == "dropped"
    assert [step["presence"] for step in entry["life"]].count("kept") >= 2
    assert entry["fixes"] == []


def test_the_workspace_defaults_to_here_and_words_may_be_mixed(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(capsys, "why", "rules")[0] == 0
    assert run(capsys, "why", folder, "--no-fixes", "rules")[0] == 0
    assert run(capsys, "fixes", "rules")[0] == 0
    code, _, err = run(capsys, "why", "nothing-like-it")
    assert code == 2
    assert "no item 'nothing-like-it'" in err


def test_trace_tells_seen_from_dropped_from_never_read(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "trace", folder, "never use tabs")
    assert code == 1
    assert "DROPPED" in out
    assert "CLAUDE.md is a file of Claude Code" in out
    code, out, _ = run(capsys, "trace", folder, "never use tabs", "--scenario", "wide")
    assert code == 0
    assert "of the final list" in out
    assert run(capsys, "trace", folder, "never said")[0] == 0
    hits = as_json(capsys, "trace", folder, "metric units")["hits"]
    assert [(hit["item"], hit["verdict"], hit["stage"]) for hit in hits] == [("m0", "dropped", "trim")]


def test_trace_counts_what_the_model_saw(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "trace", folder, "Never use tabs", "--scenario", "wide")
    assert out.startswith("2 places. The model saw 1 of 2.\n")
    _, out, _ = run(capsys, "trace", folder, "Never use tabs", "--scenario", "wide", "--loaded-only")
    assert out.startswith("1 place. The model saw it.\n")
    _, out, _ = run(capsys, "trace", folder, "Never use tabs")
    assert out.startswith("2 places. The model saw none of them.\n")
    _, out, _ = run(capsys, "trace", folder, "metric units")
    assert out.startswith("1 place. The model did not see it.\n")


def test_trace_places_a_message_in_one_line_counting_from_1_as_columns_do(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "trace", folder, "And the other", "--scenario", "wide")
    assert out.count("of the final list") == 1
    assert "m4, line 1, column 1" in out
    assert "message 3 (m4) of the final list, character 1;" in out
    (hit,) = as_json(capsys, "trace", folder, "And the other", "--scenario", "wide")["hits"]
    assert (hit["because"], hit["seen_at"]["offset"]) == ("message 3 of the final list", 0)


def test_trace_says_how_far_in_and_cuts_its_excerpt_at_words(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "Some of the words that stand in front of it, " * 3 + "METRIC" + ", and behind it there are more." * 9
    )
    (tmp_path / "RULES.md").write_text(f"{text}\nMETRIC units\n")
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run(capsys, "trace", folder, "METRIC", "--set", "budget=4000")
    assert "% into the request" in out, "there is no window"
    assert "0% into" not in out
    first, second = (line for line in out.splitlines() if "METRIC" in line)
    assert first.startswith("  … ")
    assert first.endswith(" …")
    assert {"front", "behind"} & set(first.replace(",", "").split()), "whole words stand around it"
    assert second == "  METRIC units"
    assert max(map(len, out.splitlines())) <= 60


def test_fixes_for_everything(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    items = as_json(capsys, "fixes", folder)["items"]
    assert [entry["item"] for entry in items] == ["rules", "m0", "m1"]
    assert all(entry["fixes"] for entry in items)
    code, out, _ = run(capsys, "fixes", folder, "--scenario", "wide", "--set", "keep=100")
    assert (code, out) == (0, "Nothing was lost.\n")


def test_cache_against_the_turn_before(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = as_json(capsys, "cache", folder, "--turn", "2", "--set", "keep=100")
    assert report["against"] == "turn 1"
    assert report["broken"] is None
    broken = as_json(capsys, "cache", folder, "--against", "wide")["broken"]
    cause = "1 earlier entry was taken out here [fake.sections.budget]"
    assert (broken["item"], broken["cause"]) == ("rules", cause)


def test_cache_names_what_there_is_to_compare_with(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "cache", folder, "--turn", "1")
    assert (code, err.count("--turn:")) == (2, 1)
    assert "there is no turn before this one" in err
    assert "--against takes a scenario (wide), a turn (1 to 3), a folder or JSON of a prompt" in err
    (tmp_path / "promptdbg.toml").write_text('engine = "fake"\n[[sections]]\nname = "a"\ntext = "b"\n')
    code, _, err = run(capsys, "cache", folder)
    assert (code, "--turn" in err) == (2, False), "nobody gave that option"
    assert "--against takes a folder or JSON of a prompt; promptdbg.toml may hold scenarios" in err


def test_cache_compares_a_scenario_at_the_same_turn(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = as_json(capsys, "cache", folder, "--turn", "1", "--scenario", "wide", "--against", "wide")
    assert (report["broken"], report["lost_tokens"]) == (None, 0)


def test_cache_of_a_recording_says_that_it_holds_one_request(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made.json"
    made.write_text(json.dumps(as_json(capsys, "inspect", folder)))
    code, _, err = run(capsys, "cache", str(made))
    assert (code, "--turn" in err) == (2, False)
    assert "a recording holds one request: there is none before it" in err


def test_a_recording_says_that_it_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = tmp_path / "request.json"
    request.write_text('{"messages": [{"role": "user", "content": "hi"}]}')
    for words in (["inspect", str(request), "--set", "x=1"], ["verify", str(request)]):
        assert main(words) == 2
        assert "this is a recording" in capsys.readouterr().err
    assert main(["inspect", str(request)]) == 0
    assert "as recorded" in capsys.readouterr().out
    assert main(["export", str(request), "--format", "md", "-o", "-"]) == 0
    assert "| 1 | 1 | as recorded |" in capsys.readouterr().out


def test_lint_of_the_final_list_and_of_a_recorded_request(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "lint", folder)[0] == 0
    body = {
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "y"}]}
        ]
    }
    request = tmp_path / "request.json"
    request.write_text(json.dumps(body))
    code, out, _ = run(capsys, "lint", folder, "--final", str(request))
    assert code == 1
    assert "orphan-result" in out


def test_check_is_a_gate(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", folder, "--must-reach", "tabs", "--max-section", "identity=100")
    assert code == 1
    assert out.startswith("FAIL")
    assert "ok    identity costs" in out
    assert run(capsys, "check", folder, "--must-reach", "tabs", "--scenario", "wide")[0] == 0
    code, out, _ = run(capsys, "check", folder, "--no-drop", "rules", "--format", "sarif")
    assert code == 1
    assert json.loads(out)["runs"][0]["results"][0]["ruleId"] == "no-drop"
    assert run(capsys, "check", folder)[0] == 2
    assert run(capsys, "check", folder, "--max-section", "rules")[0] == 2


def test_check_finds_what_is_not_read_as_trace_does(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "CLAUDE.md").write_text("First.\nNever push on Fridays.\n")
    (hit,) = as_json(capsys, "trace", folder, "push on Fridays")["hits"]
    for text in ("push on Fridays", "PUSH  on fridays"):
        code, out, _ = run(capsys, "check", folder, "--must-reach", text, "--format", "json")
        (outcome,) = json.loads(out)["outcomes"]
        assert (code, outcome["ok"]) == (1, False)
        assert (outcome["item"], outcome["source"]) == (hit["item"], hit["source"])
        assert outcome["message"].endswith(
            f"does not reach the model: not read in CLAUDE.md: {hit['because']}"
        )
    _, out, _ = run(capsys, "check", folder, "--must-reach", "never said by anyone")
    assert "is in nothing that was loaded, nor in another file of the workspace" in " ".join(out.split())
    # What the model saw in another writing is seen, though a file that is not read has it exactly.
    assert run(capsys, "check", folder, "--must-reach", "never USE tabs", "--scenario", "wide")[0] == 0
    (tmp_path / "CLAUDE.md").write_text("never USE tabs\n")
    assert run(capsys, "check", folder, "--must-reach", "never USE tabs", "--scenario", "wide")[0] == 0


def test_a_baseline_made_by_inspect(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "inspect", folder, "--scenario", "wide", "--json", "--no-text")
    baseline = tmp_path / "baseline.json"
    baseline.write_text(out)
    assert run(capsys, "check", folder, "--scenario", "wide", "--baseline", str(baseline))[0] == 0
    code, out, _ = run(capsys, "check", folder, "--baseline", str(baseline))
    assert code == 1
    assert "rules was whole in the baseline and is dropped now" in out


def test_duplicates_name_both_places_and_their_cost(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "duplicates", folder)
    assert (code, out) == (0, "Nothing reaches the model twice.\n")
    text = "Never use tabs in this project, not even in Makefiles.\\n"
    twice = "".join(f'[[sections]]\nname = "{name}"\ntext = "{text}"\n' for name in ("a", "b"))
    (tmp_path / "promptdbg.toml").write_text('engine = "fake"\n' + twice)
    (found,) = as_json(capsys, "duplicates", folder)["duplicates"]
    assert (found["kind"], found["items"]) == ("text", ["a", "b"])
    assert f"{found['tokens']:,} tokens  the same text" in run(capsys, "duplicates", folder)[1]
