"""Orbiter (generation A) and exo (generation B), Python: neurons, variables, windowing.

The framework's own interface, on our engine::

    from promptdbg.engines.orbiter import Context, PromptBuilder, make_config

    ctx = Context("task-1", config=make_config("navigator"), state={"facts": ["paper is 15 cm"]})
    builder = PromptBuilder(ctx).add("task").add("fact").add("system")
    print(builder.build())           # the prompt
    builder.assembly().decisions     # what happened to every neuron, and by which rule

Workspaces: ``orbiter.yaml`` with ``state.json``, ``parent_state.json`` and ``messages.json``.
"""

from __future__ import annotations

from promptdbg.engines.orbiter.assemble import PromptBuilderError
from promptdbg.engines.orbiter.builder import Prompt, PromptBuilder
from promptdbg.engines.orbiter.config import (
    MODEL_WINDOWS,
    AutomationMode,
    ContextConfig,
    LimitConfig,
    Overflow,
    ValidationError,
    make_config,
)
from promptdbg.engines.orbiter.counting import encoding_of, estimate_messages, estimate_tokens
from promptdbg.engines.orbiter.engine import ENGINE
from promptdbg.engines.orbiter.knowledge import (
    Chunk,
    KnowledgeError,
    KnowledgeStore,
    SearchResult,
    chunk_text,
)
from promptdbg.engines.orbiter.neurons import (
    EntityNeuron,
    FactNeuron,
    HistoryNeuron,
    KnowledgeNeuron,
    Neuron,
    Registry,
    RegistryError,
    SkillNeuron,
    SystemNeuron,
    TaskNeuron,
    TodoNeuron,
    WorkspaceNeuron,
    neuron_registry,
)
from promptdbg.engines.orbiter.processors import (
    ContextProcessor,
    DialogueCompressor,
    ProcessorError,
    ProcessorPipeline,
    SummarizeProcessor,
    ToolResultOffloader,
)
from promptdbg.engines.orbiter.state import (
    Context,
    ContextError,
    ContextState,
    TokenStep,
    TokenTracker,
    TokenUsageSummary,
)
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry, VariableResolveError
from promptdbg.engines.orbiter.windowing import (
    WindowResult,
    apply_context_windowing,
    update_system_token_info,
)

__all__ = [
    "ENGINE",
    "MODEL_WINDOWS",
    "AutomationMode",
    "Chunk",
    "Context",
    "ContextConfig",
    "ContextError",
    "ContextProcessor",
    "ContextState",
    "DialogueCompressor",
    "DynamicVariableRegistry",
    "EntityNeuron",
    "FactNeuron",
    "HistoryNeuron",
    "KnowledgeError",
    "KnowledgeNeuron",
    "KnowledgeStore",
    "LimitConfig",
    "Neuron",
    "Overflow",
    "ProcessorError",
    "ProcessorPipeline",
    "Prompt",
    "PromptBuilder",
    "PromptBuilderError",
    "Registry",
    "RegistryError",
    "SearchResult",
    "SkillNeuron",
    "SummarizeProcessor",
    "SystemNeuron",
    "TaskNeuron",
    "TodoNeuron",
    "TokenStep",
    "TokenTracker",
    "TokenUsageSummary",
    "ToolResultOffloader",
    "ValidationError",
    "VariableResolveError",
    "WindowResult",
    "WorkspaceNeuron",
    "apply_context_windowing",
    "chunk_text",
    "encoding_of",
    "estimate_messages",
    "estimate_tokens",
    "make_config",
    "neuron_registry",
    "update_system_token_info",
]
