"""Small nanobot workspaces and sessions, made by function."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from promptdbg.engines.base import LoadRequest
from promptdbg.engines.nanobot import ENGINE
from promptdbg.engines.nanobot.assemble import rebuild
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.state import Turn
from promptdbg.model import Assembly, Settings, StageKind
from promptdbg.records import Record, SessionRef, StoredSession
from promptdbg.sessions import nanobot as sessions
from promptdbg.tokens import tokenizer
from promptdbg.workspace import Workspace, manifest_from
from tests import invariants

NOW = "2026-08-20T09:30:00"
TOOLS = [{"name": "exec", "description": "Run one command line.", "parameters": {"type": "object"}}]
DIALECTS = ("main", "0.3.5", "0.2.2")


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def assistant(text: Any, *calls: Any, name: str = "exec", **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"role": "assistant", "content": text, **more}
    if calls:
        row["tool_calls"] = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": "{}"}} for call in calls
        ]
    return row


def result(call: Any, text: Any, name: str = "exec") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "name": name, "content": text}


def stored(
    rows: Sequence[Any], metadata: Mapping[str, Any] | None = None, archived: Any = 0
) -> StoredSession:
    """A session as its reader gives it; a row that is a text stands for a broken line."""
    head = {
        "_type": "metadata",
        "key": "cli:direct",
        "created_at": "2026-08-19T07:59:00",
        "updated_at": "2026-08-19T08:30:00",
        "metadata": dict(metadata or {}),
        "last_consolidated": archived,
    }
    records = [Record(1, head)]
    records += [Record(number, row) for number, row in enumerate(rows, start=2)]
    return StoredSession(SessionRef("/nowhere/session.jsonl", sessions.FORMAT, "cli:direct"), tuple(records))


def loaded(folder: Path, session: StoredSession | None = None, **options: Any) -> NanobotInputs:
    """The inputs of a folder, with nanobot's own passages shown by name."""
    data = {"engine": "nanobot", "passages": "names", "tools": TOOLS, "bins": [], "env": {}, **options}
    workspace = Workspace(folder, manifest_from(folder / "promptdbg.toml", data))
    request = LoadRequest(session=session, message="and now?", now=NOW, home=str(folder / "no-home"))
    return ENGINE.load(workspace, request)


def settings(dialect: str = "main", **values: Any) -> Settings:
    return Settings(values={"dialect": dialect, "skill_order": "name", **values})


def turn_of(inputs: NanobotInputs, given: Settings) -> Turn:
    """One turn; its assembly has passed every invariant."""
    turn = rebuild(inputs, given, tokenizer("o200k_base"))
    assert turn.assembly is not None
    invariants.check(turn.assembly)
    return turn


def assembled(inputs: NanobotInputs, given: Settings) -> Assembly:
    assembly = turn_of(inputs, given).assembly
    assert assembly is not None
    return assembly


def final_ids(assembly: Assembly) -> list[str]:
    final = assembly.stage(StageKind.FINAL)
    assert final is not None
    return [message.id for message in final.messages]


def codes(assembly: Assembly) -> set[str]:
    return {notice.code for notice in assembly.warnings}


def write_session(path: Path, rows: Sequence[Any], **metadata: Any) -> Path:
    """A session file as nanobot writes it."""
    head = {"_type": "metadata", "key": "cli:direct", "metadata": metadata, "last_consolidated": 0}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (head, *rows)), "utf-8")
    return path
