"""The engine object: Orbiter behind the protocol of ``engines.base``."""

from __future__ import annotations

from promptdbg.bulk import collector_at_rest
from promptdbg.engines.base import Detection, LoadRequest
from promptdbg.engines.named import detected
from promptdbg.engines.orbiter import rules
from promptdbg.engines.orbiter.assemble import TITLE, assemble
from promptdbg.engines.orbiter.inputs import OrbiterInputs
from promptdbg.engines.orbiter.knobs import knobs
from promptdbg.engines.orbiter.load import CONFIG, load
from promptdbg.model import Assembly, Knob, Rule, Settings, Turn
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace


class OrbiterEngine:
    """Stateless; everything is in the inputs."""

    name = "orbiter"
    title = TITLE
    rules: tuple[Rule, ...] = rules.CATALOGUE
    session_format: str | None = None

    def detect(self, workspace: Workspace) -> Detection | None:
        return detected(workspace, CONFIG)

    def load(self, workspace: Workspace, request: LoadRequest) -> OrbiterInputs:
        return load(workspace, request)

    def knobs(self, inputs: OrbiterInputs | None) -> tuple[Knob, ...]:
        return knobs(inputs)

    def turns(self, inputs: OrbiterInputs) -> tuple[Turn, ...]:
        return inputs.memo.turns(inputs.rows)

    @collector_at_rest
    def assemble(self, inputs: OrbiterInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        return assemble(inputs, settings, counter)


ENGINE = OrbiterEngine()
