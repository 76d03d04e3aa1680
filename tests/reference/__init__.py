"""One adapter per framework: how its reference cases are found, run through the engine and compared.

An adapter has ``collect(folder) -> list[Case]`` and ``check(case) -> None`` (which asserts). An
operation or a file form that it does not know is a case that fails, never one that is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Case:
    """One test: a case file or folder, and which variant of it (dialect, version) is run."""

    id: str
    path: Path
    variant: str = ""


def expanded(value: Any, forms: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})) -> Any:
    """A case's value with its shortened texts written out: ``{"$repeat": [text, n]}``,
    ``{"$concat": [...]}``, and the framework's own ``forms`` by their name without the dollar sign.
    """
    if isinstance(value, list):
        return [expanded(entry, forms) for entry in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$repeat"}:
        text, times = value["$repeat"]
        return text * times
    if set(value) == {"$concat"}:
        return "".join(expanded(value["$concat"], forms))
    for name, make in forms.items():
        if set(value) == {f"${name}"}:
            return make(expanded(value[f"${name}"], forms))
    assert not any(key.startswith("$") for key in value), f"unknown form {sorted(value)}"
    return {key: expanded(entry, forms) for key, entry in value.items()}


def only_keys(data: Mapping[str, Any], *known: str) -> None:
    """Fail where a case holds a key that its adapter does not know."""
    unknown = set(data) - set(known)
    assert not unknown, f"unknown keys {sorted(unknown)}"
