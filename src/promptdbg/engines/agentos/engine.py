"""The engine for workspaces: reads the files, offers the knobs, rebuilds the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.bulk import collector_at_rest
from promptdbg.engines.agentos import rules
from promptdbg.engines.agentos.assemble import NAME, TITLE, Frame, assembly_of
from promptdbg.engines.agentos.edit import apply
from promptdbg.engines.agentos.estimate import STRIP_THINKING
from promptdbg.engines.agentos.knobs import (
    SUMMARIZER_FAILS,
    SUMMARIZER_OFF,
    SUMMARIZER_WORKS,
    THINKING_BY_MODEL,
    THINKING_KEEP,
    THINKING_STRIP,
    Defaults,
    knobs_for,
)
from promptdbg.engines.agentos.load import COMPONENTS_FILE, SETTINGS_FILE, AgentosInputs, load_workspace
from promptdbg.engines.agentos.log import Log
from promptdbg.engines.agentos.pipeline import construct
from promptdbg.engines.agentos.shown import Extras
from promptdbg.engines.base import Detection, LoadRequest, knob_values
from promptdbg.engines.named import detected
from promptdbg.model import Assembly, Knob, Rule, Settings, Source, Turn
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace


class AgentosEngine:
    """AgentOS, for a workspace with ``agentos.json`` and ``components.json``."""

    name = NAME
    title = TITLE
    rules: tuple[Rule, ...] = rules.RULES
    session_format: str | None = None

    def detect(self, workspace: Workspace) -> Detection | None:
        """A workspace that has ``agentos.json``; ``components.json`` alone could be anything's."""
        return detected(workspace, SETTINGS_FILE)

    def load(self, workspace: Workspace, request: LoadRequest) -> AgentosInputs:
        """Read both files. See ``load`` for their keys.

        Raises:
            InputError: neither file is there, or ``now`` is not a time.
        """
        return load_workspace(workspace, request)

    def knobs(self, inputs: AgentosInputs | None) -> tuple[Knob, ...]:
        if inputs is None:
            return knobs_for(Defaults())
        own = Defaults(
            version=inputs.version,
            model=inputs.model,
            context=inputs.context,
            config=inputs.config,
            template=inputs.template,
            summarizer=_summarizer(inputs),
            turn_count=inputs.prepared.turn_count,
            memory_budget=None if inputs.memory is None else inputs.memory.budget,
            gmi_history=inputs.gmi_history,
            thinking=_thinking(inputs.env),
            set_context=inputs.set_context,
        )
        return knobs_for(own)

    def turns(self, inputs: AgentosInputs) -> tuple[Turn, ...]:
        """The user messages of the history."""
        return inputs.turns

    @collector_at_rest
    def assemble(self, inputs: AgentosInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        """The prompt, rebuilt.

        Raises:
            UsageError: a setting does not fit its knob.
        """
        values = knob_values(self.knobs(inputs), settings)
        edited = apply(inputs, settings, values)
        log = Log()
        made = construct(edited.request, log)
        frame = Frame(
            workspace=inputs.workspace,
            settings=settings,
            given=edited.given,
            extras=Extras(
                source=_Sources(inputs).of,
                disabled=edited.disabled,
                memory=edited.memory.parts if edited.memory else (),
            ),
            warnings=(*inputs.warnings, *edited.warnings),
            turns=inputs.turns,
            notes=edited.notes,
        )
        return assembly_of(made, log, counter, frame)


def _summarizer(inputs: AgentosInputs) -> str:
    stub = inputs.summarizer
    if stub is None:
        return SUMMARIZER_OFF
    return SUMMARIZER_FAILS if stub.history_fails and stub.rag_fails else SUMMARIZER_WORKS


def _thinking(env: Mapping[str, str]) -> str:
    choice = env.get(STRIP_THINKING)
    if choice in ("1", "true"):
        return THINKING_STRIP
    return THINKING_KEEP if choice in ("0", "false") else THINKING_BY_MODEL


class _Sources:
    """The file an item stands in."""

    def __init__(self, inputs: AgentosInputs) -> None:
        self.components = Source(inputs.components_path or COMPONENTS_FILE)
        self.settings = Source(inputs.settings_path)
        self.from_gmi = {f"system/{number}" for number in range(inputs.gmi_prompts)}

    def of(self, item: str) -> Source:
        kind: Any = item.partition("/")[0]
        settings = kind in ("element", "preference", "memory") or item in self.from_gmi
        return self.settings if settings or item == "retrieved/memory" else self.components


ENGINE = AgentosEngine()
