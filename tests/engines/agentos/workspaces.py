"""Inputs of the workspace engine, made without files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from promptdbg.engines.agentos import ENGINE
from promptdbg.engines.agentos.components import prepare
from promptdbg.engines.agentos.config import merged
from promptdbg.engines.agentos.engine import AgentosEngine
from promptdbg.engines.agentos.load import AgentosInputs
from promptdbg.engines.agentos.summarizer import from_settings
from promptdbg.workspace import Workspace

NOW = "2026-01-01T12:00:00"


def inputs_of(request: dict[str, Any], version: str) -> tuple[AgentosEngine, AgentosInputs]:
    """The inputs that a workspace with this request would load."""
    return ENGINE, AgentosInputs(
        workspace="w",
        prepared=prepare(request["components"]),
        model=request["model"],
        config=merged(request["config"]),
        context=request["executionContext"],
        set_context=request["setCurrentContext"],
        template=request["templateName"],
        version=version,
        summarizer=from_settings(request["utility"]) if request["utility"] else None,
    )


def workspace(folder: Path, **files: str) -> Workspace:
    """A folder with these files: ``agentos_json``, ``components_json``."""
    for name, text in files.items():
        (folder / name.replace("_json", ".json")).write_text(text, "utf-8")
    return Workspace(folder)
