"""What the package offers, the error tree, and who may import whom."""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import promptdbg
from promptdbg import errors
from promptdbg.engines import ENGINE_NAMES, engine
from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.errors import InputError, PromptdbgError, TokenizerError, UsageError

SOURCE = Path(promptdbg.__file__).parent


def test_lazy_names_are_what_all_says() -> None:
    assert set(promptdbg._LAZY) | {"__version__"} == set(promptdbg.__all__)
    for name in promptdbg.__all__:
        assert getattr(promptdbg, name) is not None
    assert promptdbg.Debugger is import_module("promptdbg.debug").Debugger


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = promptdbg.nothing


def test_every_module_imports() -> None:
    modules = [m.name for m in pkgutil.walk_packages(promptdbg.__path__, "promptdbg.")]
    assert len(modules) > 40
    for name in modules:
        # Examples are workspaces, not code; the driver runs inside another interpreter.
        if not name.startswith(("promptdbg.examples.", "promptdbg.verify.driver", "promptdbg.__main__")):
            import_module(name)


def imports_of(path: Path) -> set[str]:
    """The packages a file imports anywhere, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize(
    ("package", "allowed"),
    [("textual", "tui"), ("watchfiles", "watch.py"), ("tiktoken", "tokens.py")],
)
def test_one_place_imports_each_heavy_package(package: str, allowed: str) -> None:
    users = {
        path.relative_to(SOURCE).parts[0]
        for path in SOURCE.rglob("*.py")
        if "examples" not in path.parts and "driver" not in path.parts and package in imports_of(path)
    }
    assert users == {allowed}


def test_error_is_one_line() -> None:
    error = InputError("is not JSON", where="a.json:3:1", hint="mend it")
    assert error.line() == str(error) == "a.json:3:1: is not JSON (mend it)"
    assert UsageError("no").line() == "no"


def test_error_tree() -> None:
    for kind in (UsageError, InputError, TokenizerError):
        assert issubclass(kind, PromptdbgError)
        assert kind("x").exit_code == 2
        assert kind.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_engines_fulfil_their_protocol(name: str) -> None:
    found = engine(name)
    assert found.name == name
    assert found.title
    ids = [rule.id for rule in found.rules]
    assert len(ids) == len(set(ids))
    assert {SWITCHED_OFF.id, EDITED.id} <= set(ids)
    assert all(rule_id.startswith((f"{name}.", "promptdbg.")) for rule_id in ids)
    assert all(rule.title and rule.source and rule.version for rule in found.rules)
    knobs = [knob.name for knob in found.knobs(None)]
    assert knobs
    assert len(knobs) == len(set(knobs))
