"""What users complain about, reproduced, and answered from the command line.

The numbers T1 to T15 name the inputs: a file over its limit, a chain of files in which the nearest
loses, compaction, tool results cut, broken message lists, counts that disagree, cache and secrets.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptdbg.cli import main


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command with ``--json`` and return its exit code and document."""

    def run(*words: str | Path) -> tuple[int, Any]:
        code = main([*(str(word) for word in words), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def bee(folder: Path, **keys: Any) -> Path:
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    (folder / "promptdbg.toml").write_text("\n".join(['engine = "bee"', *lines]) + "\n")
    return folder


def nanobot(folder: Path, rows: list[dict[str, Any]], settings: str = "", **metadata: Any) -> Path:
    head = {
        "_type": "metadata",
        "key": "cli:direct",
        "created_at": "2026-03-01T08:00:00",
        "updated_at": "2026-03-01T09:00:00",
        "last_consolidated": metadata.pop("last_consolidated", 0),
        "metadata": metadata,
    }
    (folder / "session.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (head, *rows)))
    (folder / "promptdbg.toml").write_text(
        'engine = "nanobot"\ndialect = "main"\nsession = "session.jsonl"\nsession_key = "cli:direct"\n'
        f'message = "go on"\nnow = "2026-03-01T09:30:00"\n[settings]\n{settings}\n'
    )
    return folder


# ---- T1: one file over its limit -----------------------------------------------------------------

RULES = "# Root\n" + "".join(f"- rule {n:04} keep this line in mind\n" for n in range(1200)) + "END-MARKER\n"


def test_t1_says_what_of_a_file_was_lost_where_and_by_which_rule(tmp_path: Path, ask: Any) -> None:
    (tmp_path / "AGENTS.md").write_text(RULES)
    bee(tmp_path)
    code, found = ask("trace", tmp_path, "END-MARKER")
    assert code == 1
    (hit,) = found["hits"]
    assert (hit["item"], hit["verdict"], hit["line"]) == ("context/AGENTS.md", "cut", 1202)
    assert hit["decision"]["rule"] == "bee.context.cap"
    _, answer = ask("why", tmp_path, "AGENTS.md")
    (ruling,) = answer["rulings"]
    assert (ruling["decision"]["measured"], ruling["decision"]["limit"]) == (42018, 8192)
    assert ruling["decision"]["unit"] == "bytes"
    cut = answer["cut"]
    assert cut["byte"] == 8192
    assert cut["line"] == RULES.encode()[:8192].count(b"\n") + 1
    assert cut["lost_bytes"] == 42018 - 8192
    assert cut["inside"] == ["line"]
    assert cut["first_lost_line"].startswith("- rule 0233")
    assert cut["first_lost_line"].endswith(cut["first_lost_part"].removeprefix("…"))
    assert cut["first_lost_part"].startswith("…")


# ---- T2: a chain of files, bytes and characters --------------------------------------------------


def test_t2_the_nearest_file_loses_and_the_report_names_the_order(tmp_path: Path, ask: Any) -> None:
    deep = tmp_path / "sub" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("R" * 3000)
    (tmp_path / "sub" / "AGENTS.md").write_text("S" * 3000 + "SUBEND")
    (deep / "AGENTS.md").write_text("DEEPRULE")
    (tmp_path / "promptdbg.toml").write_text(f'engine = "bee"\ncwd = "{deep}"\n[settings]\nbudget = 1800\n')
    code, found = ask("trace", tmp_path, "DEEPRULE")
    assert code == 1
    assert found["hits"][0]["verdict"] == "dropped"
    assert "budget" in found["hits"][0]["decision"]["rule"]
    _, answer = ask("why", tmp_path, found["hits"][0]["item"])
    order = [entry["item"] for entry in answer["around"]]
    assert order[-1] == found["hits"][0]["item"]
    (knob,) = [fix for fix in answer["fixes"] if fix["settings"]["values"]["budget"] > 1800]
    enough = knob["settings"]["values"]["budget"]
    assert ask("trace", tmp_path, "DEEPRULE", "--set", f"budget={enough}")[0] == 0
    assert ask("trace", tmp_path, "DEEPRULE", "--set", f"budget={enough - 1}")[0] == 1


def test_t2_a_cut_that_splits_a_character_says_so(tmp_path: Path, ask: Any) -> None:
    (tmp_path / "AGENTS.md").write_text("x" * 8191 + "漢字end")
    _, answer = ask("why", bee(tmp_path), "AGENTS.md")
    assert answer["cut"]["inside"][0] == "character"


def test_t2_bytes_are_not_characters(tmp_path: Path, ask: Any) -> None:
    (tmp_path / "AGENTS.md").write_text("規" * 2700)
    _, document = ask("inspect", bee(tmp_path))
    (section,) = [s for s in document["sections"] if s["id"] == "context/AGENTS.md"]
    assert section["unit"] == "bytes"
    assert section["size_original"] >= 8100
    context = {part["name"]: part["tokens"] for part in document["budget"]["parts"]}["context"]
    assert context >= 8100 // 4


# ---- T10: compaction -----------------------------------------------------------------------------


def talk(count: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n in range(count):
        role = "user" if n % 2 == 0 else "assistant"
        rows.append({"role": role, "content": f"{role} row {n}", "timestamp": f"2026-03-01T08:{n:02}:00"})
    rows[2]["content"] = "always answer in metric units"
    return rows


def test_t10_a_rule_archived_away_and_the_summary_that_is_left(tmp_path: Path, ask: Any) -> None:
    summary = {"text": "orders one and two were done", "last_active": "2026-03-01T08:30:00"}
    nanobot(tmp_path, talk(40), last_consolidated=30, _last_summary=summary)
    code, found = ask("trace", tmp_path, "metric units")
    assert code == 1
    (hit,) = found["hits"]
    assert (hit["item"], hit["verdict"], hit["stage"]) == ("m2", "dropped", "history")
    assert "30" in hit["because"] or "archived" in hit["because"].lower()
    assert ask("trace", tmp_path, "orders one and two")[1]["seen"]


def test_t10_the_turn_at_which_it_went_and_what_survived(tmp_path: Path, ask: Any) -> None:
    summary = {"text": "orders one and two were done", "last_active": "2026-03-01T08:30:00"}
    nanobot(tmp_path, talk(40), last_consolidated=30, _last_summary=summary)
    code, found = ask("turns", tmp_path, "m2")
    assert code == 0
    runs = [(run["first"], run["last"], run["word"]) for run in found["life"]["runs"]]
    assert runs == [(1, 1, "not there yet"), (2, 15, "whole"), (16, None, "archived")]
    (boundary,) = [entry for turn in found["turns"] for entry in turn["boundaries"]]
    assert (boundary["word"], boundary["evidence"]) == ("archived", "recorded")
    # This version still replays the last eight of the archived rows; they go with the turns that follow.
    assert (len(boundary["items"]), boundary["survived"]) == (22, 8)
    assert [remains["item"] for remains in boundary["into"]] == ["archived_summary"]
    assert found["turns"][-1]["lost"] == 30


# ---- T11: tool results ---------------------------------------------------------------------------


def test_t11_the_lost_tail_of_a_tool_result(tmp_path: Path, ask: Any) -> None:
    output = "".join(f"line {n} of the build\n" for n in range(5000)) + "error: build failed"
    call = {"id": "c1", "type": "function", "function": {"name": "exec", "arguments": "{}"}}
    rows: list[dict[str, Any]] = [
        {"role": "user", "content": "build it", "timestamp": "2026-03-01T08:00:00"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "exec", "content": output},
        {"role": "assistant", "content": "It went well."},
    ]
    nanobot(tmp_path, rows)
    code, found = ask("trace", tmp_path, "error: build failed")
    assert code == 1
    (hit,) = found["hits"]
    assert (hit["verdict"], hit["stage"]) == ("cut", "apply_tool_result_budget")
    _, answer = ask("why", tmp_path, "m2")
    knobs = [fix for fix in answer["fixes"] if "tool result" in fix["text"]]
    assert any(f"{len(output):,}" in fix["text"] for fix in knobs)


# ---- T13: broken message lists -------------------------------------------------------------------


def test_t13_a_recorded_request_is_checked_by_its_own_shape(tmp_path: Path, ask: Any) -> None:
    bee(tmp_path)
    use = {"type": "tool_use", "id": "toolu_1", "name": "grep", "input": {}}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "text", "text": "well?"}]},
        ],
    }
    request = tmp_path / "request.json"
    request.write_text(json.dumps(body))
    code, found = ask("lint", tmp_path, "--final", request)
    assert code == 1
    (finding,) = found["findings"]
    assert (finding["code"], finding["index"], finding["call"]) == ("unanswered-call", 1, "toolu_1")
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    body["messages"][2]["content"].insert(0, result)  # type: ignore[index]
    request.write_text(json.dumps(body))
    assert ask("lint", tmp_path, "--final", request) == (0, {"schema": "promptdbg/lint/1", "findings": []})


def test_t13_a_break_names_the_stage_that_brought_it_in(tmp_path: Path, ask: Any) -> None:
    rows = [
        {"role": "user", "content": "one", "timestamp": "2026-03-01T08:00:00"},
        {"role": "user", "content": "two", "timestamp": "2026-03-01T08:01:00"},
        {"role": "assistant", "content": "three"},
    ]
    code, found = ask("lint", nanobot(tmp_path, rows), "--provider", "openai-chat")
    assert code == 1
    assert [(f["code"], f["item"], f["introduced"]) for f in found["findings"]] == [
        ("roles-in-a-row", "m1", "session")
    ]


# ---- T14: counts that disagree -------------------------------------------------------------------


def test_t14_the_ledger_sums_and_the_providers_own_count_stands_beside_it(tmp_path: Path, ask: Any) -> None:
    usage = {"prompt_tokens": 9120, "context_tokens": 9120, "request_count": 1}
    _, document = ask("inspect", nanobot(tmp_path, talk(4), _last_usage=usage))
    budget = document["budget"]
    assert sum(part["tokens"] for part in budget["parts"]) == budget["used"]
    assert budget["window"] - sum(part["tokens"] for part in budget["reserved"]) == budget["limit"]
    (warning,) = [w for w in document["warnings"] if w["code"] == "usage.recorded"]
    assert "9,120" in warning["message"]


# ---- T15: cache and secrets ----------------------------------------------------------------------


def test_t15_a_clock_near_the_front_breaks_the_prompt_cache(tmp_path: Path, ask: Any) -> None:
    (tmp_path / "promptdbg.toml").write_text('engine = "orbiter"\n')
    (tmp_path / "orbiter.yaml").write_text(
        "task_id: t\nentries:\n  - system\n  - {name: rules, priority: 1, text: " + "word " * 2000 + "}\n"
    )
    (tmp_path / "state.json").write_text("{}")
    saved = tmp_path / "first.json"
    _, first = ask("inspect", tmp_path, "--now", "2026-03-01T10:00:01")
    saved.write_text(json.dumps(first))
    _, report = ask("cache", tmp_path, "--now", "2026-03-01T10:00:02", "--against", saved)
    assert report["broken"]["item"] == "system"
    assert report["broken"]["cause"].startswith("a clock")
    assert report["lost_tokens"] > 1900
    system = next(s for s in first["sections"] if s["id"] == "system")
    assert report["broken"]["inside"] == (system["output"] or system["text"]).index("10:00:01") + 7


def test_t15_secrets_go_and_traps_stay(tmp_path: Path) -> None:
    key = "ghp_" + "Ab3" * 12
    traps = ["<task-notification>", "max_tokens: 4096", "usage.input_tokens", "sk-learn"]
    traps += ["3f786850e387550fdaf836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000"]
    secrets = [
        key,
        "hunter2pass",
        "4/0AX4Xf_Wh-abc",
        "Zx81-state",
        "ines.okafor@example.org",
        "MIIEpAIBAAKCAQEA",
        "abc.DEF-123456",
    ]
    log = f"GET /cb?code={secrets[2]}&state={secrets[3]} HTTP/1.1 from {secrets[4]}\n"
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{secrets[5]}\n-----END RSA PRIVATE KEY-----\n"
    rows = [
        {"role": "user", "content": f"Authorization: Bearer {secrets[6]}\n{pem}{' '.join(traps)}"},
        {
            "role": "assistant",
            "content": json.dumps({"url": f"postgres://app:{secrets[1]}@db/x", "key": key}),
        },
        {"role": "user", "content": f"{log}postgres://app:hunter2\n  pass@db/x and again {key}"},
        {"role": "assistant", "content": "hunter2pass is what you said"},
    ]
    nanobot(tmp_path, rows)
    out = tmp_path / "out.json"
    assert main(["export", str(tmp_path), "--level", "redacted", "-o", str(out)]) == 0
    written = out.read_text()
    for secret in secrets:
        assert secret not in written
    for trap in traps:
        assert trap in written
    assert main(["export", str(tmp_path), "-o", str(out), "--force"]) == 0
    assert not any(word in out.read_text() for word in (*secrets, *traps, "postgres"))
