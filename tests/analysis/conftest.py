"""Assemblies for the analysis tests, from the small engine of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from promptdbg.engines.base import LoadRequest
from promptdbg.model import Assembly, Settings
from promptdbg.tokens import tokenizer
from promptdbg.workspace import Workspace, manifest_from
from tests.fake_engine import FakeEngine
from tests.invariants import check

Make = Callable[..., "Made"]


class Made:
    """A loaded workspace of the fake engine, to assemble with any settings."""

    def __init__(self, folder: Path, data: dict[str, Any]) -> None:
        self.engine = FakeEngine()
        workspace = Workspace(folder, manifest_from(folder / "promptdbg.toml", {"engine": "fake", **data}))
        self.inputs = self.engine.load(workspace, LoadRequest())
        self.knobs = self.engine.knobs(self.inputs)

    def assemble(self, settings: Settings | None = None) -> Assembly:
        assembly = self.engine.assemble(self.inputs, settings or Settings(), tokenizer())
        check(assembly)
        return assembly


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return lambda **data: Made(tmp_path, data)
