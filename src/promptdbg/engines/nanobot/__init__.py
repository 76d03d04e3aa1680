"""nanobot (HKUDS): an assistant with one workspace, stored sessions and many channels.

Three of its versions are reproduced exactly; ``dialects`` says in what they differ. The pipeline is
``assemble``; each of its parts is a module named after what it does.
"""

from __future__ import annotations

from promptdbg.bulk import collector_at_rest
from promptdbg.engines.base import Detection, LoadRequest
from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.inputs import NanobotInputs, load
from promptdbg.engines.nanobot.knobs import declare
from promptdbg.engines.nanobot.turn import session_turns
from promptdbg.files.disk import entries, is_file, is_folder
from promptdbg.model import Assembly, Knob, Rule, Settings, Turn
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace


class NanobotEngine:
    """The engine; see the package's text."""

    name = "nanobot"
    title = "nanobot"
    rules: tuple[Rule, ...] = rules.CATALOGUE
    session_format: str | None = "nanobot"

    def detect(self, workspace: Workspace) -> Detection | None:
        """A workspace marker or sessions are nanobot's alone; SOUL.md beside USER.md is likely its."""
        path = workspace.path
        if is_file(path / ".nanobot" / "workspace-id"):
            return Detection(50, "it has .nanobot/workspace-id")
        if is_folder(path / ".nanobot" / "tool-results"):
            return Detection(50, "it has .nanobot/tool-results")
        if is_file(path / "memory" / "history.jsonl"):
            return Detection(50, "it has memory/history.jsonl")
        if is_folder(path / "memory") and any(e.suffix == ".jsonl" for e in entries(path / "sessions")):
            return Detection(50, "it has sessions and a memory folder")
        if is_file(path / "SOUL.md") and is_file(path / "USER.md"):
            return Detection(20, "it has SOUL.md and USER.md")
        if is_file(path / "SOUL.md"):
            return Detection(10, "a guess, for SOUL.md is all there is to go by")
        return None

    def load(self, workspace: Workspace, request: LoadRequest) -> NanobotInputs:
        return load(workspace, request)

    def knobs(self, inputs: NanobotInputs | None) -> tuple[Knob, ...]:
        return declare(inputs)

    def turns(self, inputs: NanobotInputs) -> tuple[Turn, ...]:
        return session_turns(inputs, inputs.dialect)

    @collector_at_rest
    def assemble(self, inputs: NanobotInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        from promptdbg.engines.nanobot.assemble import rebuild  # half of the package: not for listing knobs

        assembly = rebuild(inputs, settings, counter).assembly
        assert assembly is not None
        return assembly


ENGINE = NanobotEngine()
