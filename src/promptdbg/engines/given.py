"""The engine of assemblies that were made elsewhere: by a Python program, in an earlier export, or
by a program of another language. It has no rules and no knobs of its own; it shows what it is given."""

from __future__ import annotations

from dataclasses import dataclass, replace

from promptdbg.engines.base import Detection, Inputs, LoadRequest
from promptdbg.errors import UsageError
from promptdbg.model import Assembly, Knob, Rule, Settings, Turn
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class GivenInputs(Inputs):
    """An assembly, as it is."""

    assembly: Assembly


class GivenEngine:
    """Shows an assembly; settings change nothing in it, and trying says so."""

    name = "given"
    title = "Recorded"
    rules: tuple[Rule, ...] = ()
    session_format: str | None = None

    def detect(self, workspace: Workspace) -> Detection | None:
        return None

    def load(self, workspace: Workspace, request: LoadRequest) -> GivenInputs:
        raise UsageError("a recorded assembly is opened from its file", hint="promptdbg FILE.json")

    def knobs(self, inputs: GivenInputs | None) -> tuple[Knob, ...]:
        return ()

    def turns(self, inputs: GivenInputs) -> tuple[Turn, ...]:
        return inputs.assembly.turns

    def assemble(self, inputs: GivenInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        """
        Raises:
            UsageError: the settings ask for a change, which cannot be worked out without the engine
                that made the assembly.
        """
        made_with = inputs.assembly.settings
        if settings != made_with and (settings.changed or settings.turn != made_with.turn):
            raise UsageError(
                "this is a recording: nothing can be switched or re-budgeted in it",
                hint="open the workspace itself",
            )
        return replace(inputs.assembly, settings=settings)


ENGINE = GivenEngine()
