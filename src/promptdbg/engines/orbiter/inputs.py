"""Everything an Orbiter assembly depends on, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from promptdbg.engines.base import Inputs
from promptdbg.engines.orbiter.neurons import Fragment
from promptdbg.engines.orbiter.state import ContextState
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry
from promptdbg.engines.rows import Memo, Row
from promptdbg.model import Failure, Json, Source

NeuronKind = Literal["builtin", "custom", "python", "unknown"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A custom neuron's condition: a path into the state, and what must be there.

    ``equals`` of ``None`` asks whether the value is truthy; ``negated`` turns the answer round.
    """

    path: str
    equals: Json = None
    negated: bool = False

    def __str__(self) -> str:
        test = "is set" if self.equals is None else f"is {self.equals!r}"
        return f"{self.path} {test}" if not self.negated else f"not ({self.path} {test})"


@dataclass(frozen=True, slots=True)
class Entry:
    """One neuron of the builder, in the order added.

    ``priority`` is as written, for the framework sorts whatever it is given. ``text`` is a custom
    neuron's; ``fragment`` and ``error`` what a Python neuron gave or raised when it was loaded.
    An ``unknown`` neuron is one that only Python that was not run would define.
    """

    id: str
    name: str
    kind: NeuronKind
    priority: Any
    text: str = ""
    condition: Condition | None = None
    fragment: Fragment | None = None
    error: Exception | None = None
    source: Source | None = None
    shape: str = ""

    @property
    def builtin(self) -> str:
        """Which built-in format it has; its name where that was not changed. Empty for others."""
        return (self.shape or self.name) if self.kind == "builtin" else ""


@dataclass(frozen=True, kw_only=True)
class OrbiterInputs(Inputs):
    """What a workspace (or a Python program) gives.

    ``numbers`` are the configuration values that were set, by their names in either generation;
    ``mode`` names a preset, ``None`` for the bare configuration. ``registry`` is ``None`` where
    the builder is given none: placeholders then stay as typed. ``failure`` is what the framework
    raises before anything is built.
    """

    generation: str = "A"
    priority_order: str = "documented"
    task_id: str = "task"
    mode: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    entries: tuple[Entry, ...] = ()
    state: ContextState = field(default_factory=ContextState)
    separator: str = "\n\n"
    registry: DynamicVariableRegistry | None = None
    clock: str | None = None
    platform: str | None = None
    rows: tuple[Row, ...] = ()
    current: str | None = None
    model: str | None = None
    last_input_tokens: int | None = None
    provider: str = "works"
    summary: str = ""
    failure: Failure | None = None
    memo: Memo = field(default_factory=Memo, compare=False, repr=False)
