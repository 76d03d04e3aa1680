"""From an opened workspace to a request and a report, with a driver of our own in nanobot's place."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from promptdbg.debug import Opened, OpenRequest, open_workspace
from promptdbg.errors import UsageError
from promptdbg.model import Settings, Value
from promptdbg.verify import VerifyReport, verify
from promptdbg.verify.driver import PROTOCOL
from promptdbg.verify.nanobot import verified
from promptdbg.verify.process import DRIVER, Driver
from tests import fake_engine

# Greets like a nanobot of that version, keeps each request, and answers that the session was loaded.
MAIN = """
import json, sys
from pathlib import Path

def main(root):
    def say(document):
        print(json.dumps(document), flush=True)

    say({greeting})
    for line in sys.stdin:
        request = json.loads(line)
        folder = Path(request["root"])
        (folder / "request.json").write_text(line)
        rows = []
        if request["session_file"]:
            lines = Path(request["session_file"]).read_text("utf-8").split("\\n")
            parsed = [json.loads(text) for text in lines if text.strip()]
            rows = [row for row in parsed if row.get("_type") != "metadata"]
        stored = {"messages": json.dumps(rows)}
        say({"stored": stored, "restored": stored, "history": None, "probe": None, "initial": None,
             "given": None, "steps": [], "sent": None, "requests": 0, "summaries": 0,
             "failure": {"type": "E", "message": "stopped here", "where": "a.py::f"}, "handled": None})
"""


@dataclass
class Fake:
    """A running driver, and the folders it works with."""

    driver: Driver
    root: Path
    workspace: Path

    def verified(self, opened: Opened, settings: Settings | None = None) -> VerifyReport:
        shutil.rmtree(self.root / "run", ignore_errors=True)
        (self.root / "run").mkdir()
        return verified(opened, settings or Settings(), self.driver, self.root / "run")

    @property
    def request(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / "run" / "request.json").read_text())
        return found

    def file(self, name: str) -> str:
        return (self.root / "run" / name).read_bytes().decode()


SESSION: list[dict[str, Any]] = [
    {"_type": "metadata", "key": "cli:direct", "updated_at": "2026-08-19T08:30:00", "metadata": {"a": 1}},
    {"role": "user", "content": "first", "timestamp": "2026-08-19T08:00:00"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "exec"}}]},
    {"role": "tool", "content": "done", "tool_call_id": "c", "name": "exec", "timestamp": "t"},
    {"role": "assistant", "content": "answer"},
    {"role": "user", "content": "second"},
    {"role": "assistant", "content": "other"},
]
MANIFEST = """
engine = "nanobot"
session = "talk.jsonl"
message = "third"
now = "2026-08-20T09:30:00"
media = ["pic.png"]
bins = ["ls"]
[env]
SET_HERE = "1"
[settings]
context_window = 9000
[paths]
workspace = "/shown/ws"
"""


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    package = tmp_path / "driver"
    shutil.copytree(DRIVER, package, ignore=shutil.ignore_patterns("__pycache__"))
    greeting = {
        "protocol": PROTOCOL,
        "version": "0.3.9",
        "dialect": "0.3.5",
        "runtime": "Machine, Python 9",
        "system": "Linux",
        "package": str(tmp_path / "nanobot"),
    }
    (package / "main.py").write_text(MAIN.replace("{greeting}", repr(greeting)))
    # The files by which 0.3.5 is told.
    (tmp_path / "nanobot" / "session").mkdir(parents=True)
    (tmp_path / "nanobot" / "session" / "recovery.py").touch()
    root, workspace = tmp_path / "root", tmp_path / "workspace"
    for folder in (root, workspace / "skills" / "a"):
        folder.mkdir(parents=True)
    (workspace / "promptdbg.toml").write_text(MANIFEST)
    (workspace / "AGENTS.md").write_text("# Rules\n")
    (workspace / "secret.txt").write_text("not part of a prompt")
    (workspace / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    skill = "---\nmetadata:\n  nanobot:\n    requires:\n      env: [SET_HERE, NOT_HERE]\n---\nbody"
    (workspace / "skills" / "a" / "SKILL.md").write_text(skill)
    (workspace / "talk.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in SESSION))
    with Driver(Path(sys.executable), root, folder=package) as driver:
        yield Fake(driver, root, workspace)


def _open(fake: Fake) -> Opened:
    return open_workspace(fake.workspace, OpenRequest(home=str(fake.root)))


def _settings(opened: Opened, **values: Value) -> Settings:
    assert opened.workspace.manifest is not None
    settings = opened.workspace.manifest.settings
    for name, value in values.items():
        settings = settings.with_value(name, value)
    return settings


def test_the_request_has_what_the_knobs_say(fake: Fake) -> None:
    opened = _open(fake)
    fake.verified(opened, _settings(opened, max_output=500, consolidation="fails", tokenizer=False))
    request = fake.request
    assert request["context_window_tokens"] == 9000
    assert request["max_tokens"] == 500
    assert request["message"] == "third"
    assert request["now"] == "2026-08-20T09:30:00"
    assert request["summary"] is None
    assert request["tokenizer"] == "unavailable"
    assert request["session_key"] == "cli:direct"
    assert request["bins"] == ["ls"]
    assert request["env"] == {"NOT_HERE": False, "SET_HERE": True}
    assert request["inflight"] == []


def test_the_files_are_copied_and_shown_at_their_place(fake: Fake) -> None:
    fake.verified(_open(fake))
    copy = str(fake.root / "run" / "workspace")
    assert fake.request["workspace"] == "/shown/ws"
    assert fake.request["redirect"] == [["/shown/ws", copy]]
    assert fake.request["media"] == ["/shown/ws/pic.png"]
    copied = {str(p.relative_to(copy)) for p in Path(copy).rglob("*") if p.is_file()}
    assert copied == {"AGENTS.md", "skills/a/SKILL.md", "pic.png"}
    assert fake.request["session_file"] == str(fake.root / "run" / "session.jsonl")
    assert fake.file("session.jsonl") == (fake.workspace / "talk.jsonl").read_text()
    assert fake.request["session_sidecar"] is None


def test_a_checkpoint_beside_the_session_goes_along(fake: Fake) -> None:
    (fake.workspace / "talk.checkpoint.json").write_text("{}")
    fake.verified(_open(fake))
    assert fake.request["session_sidecar"] == str(fake.root / "run" / "session.checkpoint.json")
    assert fake.file("session.checkpoint.json") == "{}"


def test_a_past_turn_is_a_session_that_ends_before_it(fake: Fake) -> None:
    opened = _open(fake)
    fake.verified(opened, _settings(opened).with_turn(2))
    stored = [json.loads(line) for line in fake.file("session.jsonl").splitlines()]
    assert stored[0]["metadata"] == {"a": 1}
    assert stored[1:] == SESSION[1:5]
    assert fake.request["message"] == "second"
    assert fake.request["media"] == []
    assert fake.request["fresh"] is False


def test_a_past_turn_goes_as_far_as_the_request_that_is_shown(fake: Fake) -> None:
    opened = _open(fake)
    settings = _settings(opened).with_turn(1)
    fake.verified(opened, settings)
    assert fake.request["inflight"] == []
    fake.verified(opened, settings.with_value("request", 2))
    calls, result = SESSION[2], {key: SESSION[3][key] for key in ("role", "content", "tool_call_id", "name")}
    assert fake.request["inflight"] == [[calls, result]]
    fake.verified(opened, settings.with_value("request", 3))
    assert [len(rows) for rows in fake.request["inflight"]] == [2, 1]


def test_a_session_that_cannot_be_used_has_no_past_turns(fake: Fake) -> None:
    broken = [{**SESSION[0], "metadata": "text"}, *SESSION[1:]]
    (fake.workspace / "talk.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in broken))
    fake.driver.greeting["dialect"] = "0.2.2"
    opened = _open(fake)
    with pytest.raises(UsageError, match="without --turn"):
        fake.verified(opened, _settings(opened).with_turn(1))


def test_the_report_compares_what_came_back(fake: Fake) -> None:
    report = fake.verified(_open(fake))
    stages = {stage.name: stage for stage in report.stages}
    assert stages["session"].equal
    assert stages["session"].messages == 6
    assert not stages["outcome"].equal
    assert report.failure_real is not None
    assert report.failure_real.message == "stopped here"
    assert report.version == "0.3.9"
    assert "verify.version" in {notice.code for notice in report.notices}


def test_the_original_is_not_touched(fake: Fake) -> None:
    def state() -> dict[Path, tuple[int, int]]:
        return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in fake.workspace.rglob("*")}

    before = state()
    opened = _open(fake)
    fake.verified(opened, _settings(opened).with_turn(1))
    assert state() == before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(off=frozenset({"memory"})), "switched-off"),
        (Settings(texts={"m1": "edited"}), "edited texts"),
        (Settings(values={"compaction": False}), "compaction"),
        (Settings(values={"consolidation": "off"}), "consolidation"),
    ],
)
def test_a_what_if_has_no_counterpart(fake: Fake, settings: Settings, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        verify(_open(fake), settings, Path(sys.executable))


def test_only_nanobot_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine.install(monkeypatch)
    (tmp_path / "promptdbg.toml").write_text('engine = "fake"\n')
    with pytest.raises(UsageError, match="runs nanobot only"):
        verify(open_workspace(tmp_path), Settings())
