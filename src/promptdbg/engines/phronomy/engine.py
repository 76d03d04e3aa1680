"""The engine object: Phronomy behind the protocol of ``engines.base``."""

from __future__ import annotations

from promptdbg.bulk import collector_at_rest
from promptdbg.engines.base import Detection, LoadRequest
from promptdbg.engines.named import detected
from promptdbg.engines.phronomy import rules
from promptdbg.engines.phronomy.assemble import TITLE, assemble
from promptdbg.engines.phronomy.inputs import PhronomyInputs
from promptdbg.engines.phronomy.knobs import knobs
from promptdbg.engines.phronomy.load import CONFIG, load
from promptdbg.model import Assembly, Knob, Rule, Settings, Turn
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace


class PhronomyEngine:
    """Stateless; everything is in the inputs."""

    name = "phronomy"
    title = TITLE
    rules: tuple[Rule, ...] = rules.CATALOGUE
    session_format: str | None = None

    def detect(self, workspace: Workspace) -> Detection | None:
        return detected(workspace, CONFIG)

    def load(self, workspace: Workspace, request: LoadRequest) -> PhronomyInputs:
        return load(workspace, request)

    def knobs(self, inputs: PhronomyInputs | None) -> tuple[Knob, ...]:
        return knobs(inputs)

    def turns(self, inputs: PhronomyInputs) -> tuple[Turn, ...]:
        return () if inputs.generation == "3" else inputs.memo.turns(inputs.rows)

    @collector_at_rest
    def assemble(self, inputs: PhronomyInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        return assemble(inputs, settings, counter)


ENGINE = PhronomyEngine()
