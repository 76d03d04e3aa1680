"""AgentOS (TypeScript): ``PromptEngine.constructPrompt`` of npm package 0.9.164, and newer source.

Two ways in: ``ENGINE`` for workspaces, and the framework's own interface in Python
(``PromptEngine``, ``PromptComponents``, ``ModelTargetInfo``, ``assemble_memory_context``).
"""

from __future__ import annotations

from promptdbg.engines.agentos.api import (
    ModelTargetInfo,
    PromptComponents,
    PromptEngine,
    PromptEngineResult,
    Validation,
    assemble_memory_context,
    memory_assembly,
)
from promptdbg.engines.agentos.budget import Issue, Summarizer
from promptdbg.engines.agentos.engine import ENGINE
from promptdbg.engines.agentos.memory import MemoryContext, MemoryInput
from promptdbg.engines.agentos.summarizer import StubSummarizer

__all__ = [
    "ENGINE",
    "Issue",
    "MemoryContext",
    "MemoryInput",
    "ModelTargetInfo",
    "PromptComponents",
    "PromptEngine",
    "PromptEngineResult",
    "StubSummarizer",
    "Summarizer",
    "Validation",
    "assemble_memory_context",
    "memory_assembly",
]
