"""Orbiter's context: hierarchical state, forking and merging with net token usage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from promptdbg.engines.orbiter.config import AnyConfig, ContextConfig


class ContextError(Exception):
    """A context is used against its lifecycle."""


_MISSING = object()


class ContextState:
    """Keys and values with a parent: reads fall through to the parent, writes stay here, and a key
    of its own hides the parent's whole value (``context/state.py::ContextState``)."""

    __slots__ = ("_data", "_parent")

    def __init__(self, initial: Mapping[str, Any] | None = None, *, parent: ContextState | None = None):
        self._data: dict[str, Any] = dict(initial) if initial else {}
        self._parent = parent

    @property
    def parent(self) -> ContextState | None:
        return self._parent

    def get(self, key: str, default: Any = None) -> Any:
        state: ContextState | None = self
        while state is not None:
            if key in state._data:
                return state._data[key]
            state = state._parent
        return default

    def __contains__(self, key: object) -> bool:
        return key in self._data or (self._parent is not None and key in self._parent)

    def __getitem__(self, key: str) -> Any:
        value = self.get(key, _MISSING)
        if value is _MISSING:
            raise KeyError(key)
        return value

    def set(self, key: str, value: Any) -> None:
        self._data[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        self._data[key] = value

    def update(self, mapping: Mapping[str, Any] | ContextState | None = None, **values: Any) -> None:
        """Write many keys here; of another state only its own keys are taken."""
        if mapping is not None:
            self._data.update(mapping._data if isinstance(mapping, ContextState) else mapping)
        self._data.update(values)

    def delete(self, key: str) -> None:
        del self._data[key]

    def __delitem__(self, key: str) -> None:
        del self._data[key]

    def pop(self, key: str, *default: Any) -> Any:
        return self._data.pop(key, *default)

    def clear(self) -> None:
        self._data.clear()

    def local_dict(self) -> dict[str, Any]:
        """A copy of the keys of this level."""
        return self._data.copy()

    def to_dict(self) -> dict[str, Any]:
        """All levels merged, this one's keys on top."""
        return {**self._parent.to_dict(), **self._data} if self._parent is not None else self._data.copy()

    def keys(self) -> frozenset[str]:
        return frozenset(self.to_dict())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.to_dict())

    def __bool__(self) -> bool:
        return len(self) > 0

    def __repr__(self) -> str:
        inherited = f", inherited={len(self) - len(self._data)}" if self._parent else ""
        return f"ContextState(local={len(self._data)}{inherited})"


class Context:
    """What a neuron formats from: a task, its configuration, its state, its token usage.

    ``clock`` (an ISO time) and ``platform`` are ours: they freeze what the system neuron prints;
    without them it is the machine's.

    Raises:
        ContextError: ``task_id`` is empty.
    """

    def __init__(
        self,
        task_id: str,
        *,
        config: AnyConfig | None = None,
        parent: Context | None = None,
        state: ContextState | Mapping[str, Any] | None = None,
        clock: str | None = None,
        platform: str | None = None,
    ):
        if not task_id:
            raise ContextError("task_id must not be empty")
        self.task_id = task_id
        self.config: AnyConfig = config or (parent.config if parent else ContextConfig())
        self.parent = parent
        self.clock: str | None = clock if clock is not None or parent is None else parent.clock
        self.platform: str | None = platform if platform is not None or parent is None else parent.platform
        if isinstance(state, ContextState):
            self.state = state
        else:
            self.state = ContextState(state, parent=parent.state if parent else None)
        self._usage: dict[str, int] = parent.token_usage if parent else {}
        self._snapshot = dict(self._usage)
        self._children: list[Context] = []

    @property
    def children(self) -> list[Context]:
        return list(self._children)

    @property
    def token_usage(self) -> dict[str, int]:
        """A copy of the counters."""
        return dict(self._usage)

    def add_tokens(self, usage: Mapping[str, int]) -> None:
        for key, value in usage.items():
            self._usage[key] = self._usage.get(key, 0) + value

    def fork(self, task_id: str) -> Context:
        """A child that reads through to this state and starts from this token usage."""
        child = Context(task_id, parent=self)
        self._children.append(child)
        return child

    def merge(self, child: Context) -> None:
        """Take over a child's own keys, and what it used beyond its fork where that is positive.

        Merging the same child twice adds its usage twice, as in generation A.

        Raises:
            ContextError: it is not a child of this context.
        """
        if child.parent is not self:
            raise ContextError(f"{child.task_id!r} is not a child of {self.task_id!r}")
        self.state.update(child.state)
        for key, value in child._usage.items():
            net = value - child._snapshot.get(key, 0)
            if net > 0:
                self._usage[key] = self._usage.get(key, 0) + net

    def __repr__(self) -> str:
        return f"Context(task_id={self.task_id!r}, children={len(self._children)})"


@dataclass(frozen=True, slots=True)
class TokenStep:
    """The usage of one model call; ``step`` counts an agent's calls from 0."""

    agent_id: str
    step: int
    prompt_tokens: int
    output_tokens: int

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class TokenUsageSummary:
    prompt_tokens: int
    output_tokens: int
    total_tokens: int
    step_count: int


class TokenTracker:
    """Usage per agent and step (``context/token_tracker.py::TokenTracker``)."""

    def __init__(self) -> None:
        self._steps: list[TokenStep] = []
        self._counts: dict[str, int] = {}

    @property
    def steps(self) -> list[TokenStep]:
        return list(self._steps)

    @property
    def agent_ids(self) -> list[str]:
        """In the order first seen."""
        return list(self._counts)

    def add_step(self, agent_id: str, *, prompt_tokens: int, output_tokens: int) -> TokenStep:
        step = TokenStep(agent_id, self._counts.get(agent_id, 0), prompt_tokens, output_tokens)
        self._counts[agent_id] = step.step + 1
        self._steps.append(step)
        return step

    def get_trajectory(self, agent_id: str) -> list[TokenStep]:
        return [step for step in self._steps if step.agent_id == agent_id]

    def total_usage(self) -> TokenUsageSummary:
        return _summary(self._steps)

    def agent_usage(self, agent_id: str) -> TokenUsageSummary:
        return _summary(self.get_trajectory(agent_id))

    def __len__(self) -> int:
        return len(self._steps)


def _summary(steps: list[TokenStep]) -> TokenUsageSummary:
    prompt = sum(step.prompt_tokens for step in steps)
    output = sum(step.output_tokens for step in steps)
    return TokenUsageSummary(prompt, output, prompt + output, len(steps))
