"""Random examples through our engine and through the real nanobot, one child for many of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from promptdbg import sessions
from promptdbg.debug import Opened, OpenRequest
from promptdbg.engines.base import Detection, LoadRequest
from promptdbg.engines.nanobot import ENGINE
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.installed import describe, installed_prose
from promptdbg.model import Settings
from promptdbg.records import SessionRef
from promptdbg.tokens import tokenizer
from promptdbg.verify import VerifyReport, lines
from promptdbg.verify.copying import Copier
from promptdbg.verify.nanobot import rebuilt, report
from promptdbg.verify.process import Driver
from promptdbg.verify.request import placed, turn_request
from promptdbg.workspace import Workspace, manifest_from
from tests import invariants
from tests.parity.workspaces import Example, Words

MODES = {"fail": "fails", "reply": "succeeds", "predict": "predict"}
PHRASES = ("placeholder_assistant", "summary_continuation", "backfill", "interrupted_turn")
TEMPLATES = ("AGENTS.md", "USER.md", "SOUL.md", "legacy/SOUL.md", "memory/MEMORY.md")


class Real:
    """The real program, asked again and again. Use as a context manager."""

    def __init__(self, python: Path, root: Path) -> None:
        self.root = root
        self.driver = Driver(python, root)
        self._count = 0
        self.words = _words(Path(self.driver.greeting["package"]))

    def __enter__(self) -> Real:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.driver.close()

    def check(self, example: Example) -> None:
        """Assert that both do the same at every stage, and that the assembly is sound."""
        found = self.compare(example)
        assert found.equal, "\n".join(lines(found))

    def compare(self, example: Example) -> VerifyReport:
        self._count += 1
        folder = self.root / f"example-{self._count}"
        try:
            return self._compared(example, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _compared(self, example: Example, folder: Path) -> VerifyReport:
        opened = _opened(example, folder, self.driver.greeting["dialect"])
        found = as_settings(example.params)
        if example.turn is not None and _has_turns(opened):
            # A past turn has the message that is stored.
            values = {name: value for name, value in found.values.items() if name != "message"}
            found = Settings(values=values, turn=example.turn % len(opened.turns) + 1)
        turn = rebuilt(opened, found, self.driver.greeting, tokenizer("cl100k_base"))
        assert turn.assembly is not None
        invariants.check(turn.assembly)
        root = folder / "copy"
        root.mkdir()
        places = placed(turn, root, Copier())
        answer = self.driver.ask({**turn_request(turn, opened.workspace.options, root), **places})
        return report(turn, answer, self.driver)


def _words(package: Path) -> Words:
    prose = installed_prose(describe(package))
    templates = {name: prose.constants.get(f"template:{name}") for name in TEMPLATES}
    phrases = (prose.constants.get(name) for name in PHRASES)
    return Words(
        {name: text for name, text in templates.items() if text is not None},
        tuple(text for text in phrases if text is not None),
    )


def _has_turns(opened: Opened) -> bool:
    assert isinstance(opened.inputs, NanobotInputs)
    return opened.inputs.loaded(opened.inputs.dialect).crash is None and bool(opened.turns)


def _opened(example: Example, folder: Path, dialect: str) -> Opened:
    """The example on disk, and as our engine reads it."""
    root = folder / "workspace"
    for name, data in example.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    root.mkdir(parents=True, exist_ok=True)
    params = example.params
    keys = {**as_manifest(params), "dialect": dialect}
    workspace = Workspace(root, manifest_from(root / "promptdbg.toml", keys))
    stored = None
    if example.session is not None:
        path = folder / "session.jsonl"
        path.write_bytes(example.session)
        reader = sessions.session_format("nanobot")
        stored = reader.read(SessionRef(str(path), "nanobot", params["session_key"]))
    request = LoadRequest(session=stored, now=params["now"], home=str(folder / "no-home"))
    inputs = ENGINE.load(workspace, request)
    return Opened(OpenRequest(), workspace, ENGINE, Detection(100, "made by a test"), inputs)


def as_manifest(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a reference case that belong to the workspace and the turn."""
    data = {
        "engine": "nanobot",
        "session_key": params["session_key"],
        "channel": params["channel"],
        "chat_id": params["chat_id"],
        "message": params["current_message"],
        "media": params["media"],
        "tools": params["tools"],
        "inflight": params["inflight"],
        "builtin_skills": params.get("builtin_skills", "off"),
        "runtime_context": params.get("runtime_context_blocks", []),
        "sender": params.get("sender_id", "user"),
    }
    return data | {key: params[key] for key in ("bins", "env") if key in params}


def as_settings(params: Mapping[str, Any]) -> Settings:
    """The parameters of a reference case that are knobs."""
    consolidation = params["consolidation"]
    values: dict[str, Any] = {
        "message": params["current_message"],
        "context_window": params["context_window_tokens"],
        "max_output": params["max_tokens"],
        "block_limit": params["context_block_limit"],
        "tool_result_cap": params["max_tool_result_chars"],
        "consolidation": MODES[consolidation["mode"]],
        "consolidation_ratio": params["consolidation_ratio"],
        "max_messages": params["max_messages"],
        "disabled_skills": tuple(params["disabled_skills"]),
        "ephemeral": params["ephemeral"],
        "timezone": params["timezone"],
        "tokenizer": params["tokenizer"] == "cl100k_base",
        "unified_session": params.get("unified_session", False),
    }
    if "text" in consolidation:
        values["summary"] = consolidation["text"]
    return Settings(values=values)
