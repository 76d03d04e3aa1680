"""A rule of a catalogue is named by the engine's code: one that no decision can have is no rule."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from promptdbg.engines import ENGINE_NAMES
from promptdbg.model import Rule


def _names(path: Path) -> set[str]:
    """Every name that the code of a module uses, be it of another module."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return found | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_every_rule_is_named_by_the_code(name: str) -> None:
    rules = import_module(f"promptdbg.engines.{name}.rules")
    path = Path(rules.__file__ or "")
    used = set[str]().union(*(_names(other) for other in path.parent.glob("*.py") if other != path))
    catalogue = {name: value for name, value in vars(rules).items() if isinstance(value, Rule)}
    assert len(catalogue) > 10
    assert sorted(set(catalogue) - used - {"SWITCHED_OFF", "EDITED"}) == []
