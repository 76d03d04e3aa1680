"""The neurons: what each prints from the state, and the registry that knows them by name.

The formatting is data (an opening line, one line per entry, a closing line), so that an entry can be
told apart from its neuron; ``Neuron.format`` joins it. Nothing is escaped, as in the framework.
"""

from __future__ import annotations

import platform as machine
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from promptdbg.bulk import quick
from promptdbg.engines.orbiter.config import AnyConfig
from promptdbg.engines.orbiter.state import ContextState
from promptdbg.times import iso_time

DEFAULT_PRIORITY = 50


class RegistryError(Exception):
    """A name is registered already, or is not registered."""


class FormatContext(Protocol):
    """What a built-in neuron reads."""

    @property
    def task_id(self) -> str: ...
    @property
    def state(self) -> ContextState: ...
    @property
    def config(self) -> AnyConfig: ...
    @property
    def clock(self) -> str | None: ...
    @property
    def platform(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One entry's line. ``error`` is what formatting it raises in the framework."""

    name: str
    text: str
    error: Exception | None = None


@quick
@dataclass(frozen=True, slots=True)
class Fragment:
    """What a neuron prints: nothing, a text, or lines between an opening and a closing one.

    ``parts`` says whether the lines are entries of a list in the state.
    """

    text: str = ""
    opening: str | None = None
    closing: str = ""
    lines: tuple[Line, ...] = ()
    parts: bool = False

    def render(self) -> str:
        """The text.

        Raises:
            Exception: what the framework raises on an entry of the wrong kind.
        """
        if self.opening is None:
            return self.text
        for line in self.lines:
            if line.error is not None:
                raise line.error
        return "\n".join([self.opening, *(line.text for line in self.lines), self.closing])


NOTHING = Fragment()


# ---- the built-in formats (context/neuron.py) -----------------------------------------------------


def task(ctx: FormatContext) -> Fragment:
    """The task: always present; input, output and plan where the state has them."""
    lines = [f"Task ID: {ctx.task_id}"]
    if value := ctx.state.get("task_input"):
        lines.append(f"Input: {value}")
    if value := ctx.state.get("task_output"):
        lines.append(f"Output: {value}")
    if steps := ctx.state.get("subtasks"):
        lines.append("Plan:")
        lines += [f"  <step{number}>{step}</step{number}>" for number, step in enumerate(steps, 1)]
    return Fragment(
        opening="<task_info>", closing="</task_info>", lines=tuple(Line("", line) for line in lines)
    )


def system(ctx: FormatContext) -> Fragment:
    """Date, time (UTC) and platform: always present."""
    now = instant(ctx.clock)
    where = ctx.platform if ctx.platform is not None else f"{machine.system()} {machine.release()}"
    lines = (f"Current date: {now:%Y-%m-%d}", f"Current time: {now:%H:%M:%S} UTC", f"Platform: {where}")
    return Fragment(
        opening="<system_info>", closing="</system_info>", lines=tuple(Line("", line) for line in lines)
    )


def instant(clock: str | None) -> datetime:
    """The time a text names, in UTC; the machine's when there is none.

    Raises:
        ValueError: it is not an ISO time.
    """
    if clock is None:
        return datetime.now(UTC)
    time = iso_time(clock)
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _history(entry: Any) -> Line:
    role, content = entry.get("role", "unknown"), entry.get("content", "")
    return Line(str(role), f"[{role}]: {content}")


def _todo(entry: Any) -> Line:
    item = entry.get("item", "")
    return Line(str(item), f"  {'[x]' if entry.get('done', False) else '[ ]'} {item}")


def _knowledge(entry: Any) -> Line:
    source, content = entry.get("source", "unknown"), entry.get("content", "")
    return Line(str(source), f"  [{source}]: {content}")


def _artifact(entry: Any) -> Line:
    name, kind, size = entry.get("name", "unnamed"), entry.get("type", "file"), entry.get("size")
    return Line(str(name), f"  {name} [{kind}]" + (f" ({size} bytes)" if size is not None else ""))


def _skill(entry: Any) -> Line:
    name, about = entry.get("name", "unnamed"), entry.get("description", "")
    return Line(str(name), f"  - {name}: {about}" + ("" if entry.get("active", True) else " [inactive]"))


def _fact(entry: Any) -> Line:
    return Line(str(entry), f"  - {entry}")


def _entity(entry: Any) -> Line:
    name, kind = entry.get("name", "unknown"), entry.get("type", "unknown")
    return Line(str(name), f"  {name} ({kind})")


@dataclass(frozen=True, slots=True)
class Listing:
    """A neuron that prints one line per entry of a list in the state, nothing when it is empty.

    ``window`` says whether only the last history_rounds × 2 entries are printed.
    """

    key: str
    tag: str
    part: str
    line: Callable[[Any], Line]
    window: bool = False

    def fragment(self, state: ContextState) -> Fragment:
        """All entries, before any window; an entry of the wrong kind carries its error."""
        entries = state.get(self.key)
        if not entries:
            return NOTHING
        if self.window:
            entries = entries[:]  # raises for what cannot be cut, as the framework's slice does
        lines = tuple(self._line(entry) for entry in entries)
        return Fragment(opening=f"<{self.tag}>", closing=f"</{self.tag}>", lines=lines, parts=True)

    def _line(self, entry: Any) -> Line:
        try:
            return self.line(entry)
        except Exception as error:  # raised where the framework would: when the entry is printed
            return Line(type(entry).__name__, "", error)


LISTINGS: Mapping[str, Listing] = MappingProxyType(
    {
        "history": Listing("history", "conversation_history", "message", _history, window=True),
        "todo": Listing("todos", "todo_list", "todo", _todo),
        "knowledge": Listing("knowledge_items", "knowledge", "knowledge", _knowledge),
        "workspace": Listing("workspace_artifacts", "workspace", "artifact", _artifact),
        "skill": Listing("skills", "available_skills", "skill", _skill),
        "fact": Listing("facts", "facts", "fact", _fact),
        "entity": Listing("entities", "entities", "entity", _entity),
    }
)

PRIORITIES: Mapping[str, int] = MappingProxyType(
    {
        "system": 100,
        "task": 1,
        "history": 10,
        "todo": 2,
        "knowledge": 20,
        "workspace": 30,
        "skill": 40,
        "fact": 50,
        "entity": 60,
    }
)
"""The built-in neurons of generation A, in the order they are registered, with their priorities."""

EXO_NAMES = ("system", "task", "history")
"""The built-in neurons of generation B."""


def fragment(name: str, ctx: FormatContext) -> Fragment:
    """What a built-in neuron prints, before the history's window."""
    if name == "task":
        return task(ctx)
    if name == "system":
        return system(ctx)
    return LISTINGS[name].fragment(ctx.state)


# ---- the Python interface -----------------------------------------------------------------------


class Neuron(ABC):
    """A prompt fragment with a name and a priority.

    Subclasses implement ``async def format(self, ctx, **kwargs) -> str`` and pass a name to
    ``__init__``; class attributes do not do, although the documentation shows them.
    """

    def __init__(self, name: str, *, priority: int = DEFAULT_PRIORITY) -> None:
        self._name = name
        self._priority = priority

    @property
    def name(self) -> str:
        return self._name

    @property
    def priority(self) -> int:
        return self._priority

    @abstractmethod
    async def format(self, ctx: Any, **kwargs: Any) -> str:
        """The fragment; an empty text to contribute nothing."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self._name!r}, priority={self._priority})"


class BuiltinNeuron(Neuron):
    """One of the framework's own."""

    kind: str

    def __init__(self, name: str | None = None, *, priority: int | None = None) -> None:
        super().__init__(name or self.kind, priority=PRIORITIES[self.kind] if priority is None else priority)

    async def format(self, ctx: Any, **kwargs: Any) -> str:
        whole = fragment(self.kind, ctx)
        if self.kind == "history" and whole.parts:
            lines = whole.lines[-ctx.config.history_rounds * 2 :]
            whole = Fragment(opening=whole.opening, closing=whole.closing, lines=lines)
        return whole.render()


class SystemNeuron(BuiltinNeuron):
    kind = "system"


class TaskNeuron(BuiltinNeuron):
    kind = "task"


class HistoryNeuron(BuiltinNeuron):
    kind = "history"


class TodoNeuron(BuiltinNeuron):
    kind = "todo"


class KnowledgeNeuron(BuiltinNeuron):
    kind = "knowledge"


class WorkspaceNeuron(BuiltinNeuron):
    kind = "workspace"


class SkillNeuron(BuiltinNeuron):
    kind = "skill"


class FactNeuron(BuiltinNeuron):
    kind = "fact"


class EntityNeuron(BuiltinNeuron):
    kind = "entity"


_BUILTINS: tuple[type[BuiltinNeuron], ...] = (
    SystemNeuron,
    TaskNeuron,
    HistoryNeuron,
    TodoNeuron,
    KnowledgeNeuron,
    WorkspaceNeuron,
    SkillNeuron,
    FactNeuron,
    EntityNeuron,
)

T = TypeVar("T")


class Registry(Generic[T]):
    """Items by unique name (``core/registry.py::Registry``)."""

    def __init__(self, name: str = "registry") -> None:
        self._name = name
        self._items: dict[str, T] = {}

    def register(self, name: str, item: T | None = None) -> Any:
        """Register an item, or give a decorator that does.

        Raises:
            RegistryError: the name is taken.
        """
        if item is None:
            return lambda value: self.register(name, value)
        if name in self._items:
            raise RegistryError(f"{name!r} is already registered in {self._name}")
        self._items[name] = item
        return item

    def get(self, name: str) -> T:
        """
        Raises:
            RegistryError: there is no such item.
        """
        if name not in self._items:
            raise RegistryError(f"{name!r} is not registered in {self._name}")
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def list_all(self) -> list[str]:
        return list(self._items)


def builtin_registry(names: tuple[str, ...] | None = None) -> Registry[Any]:
    """A fresh registry with the built-in neurons; all nine, or those named."""
    registry: Registry[Any] = Registry("neuron_registry")
    for kind in _BUILTINS:
        if names is None or kind.kind in names:
            registry.register(kind.kind, kind())
    return registry


neuron_registry: Registry[Any] = builtin_registry()
"""The registry ``PromptBuilder.add`` looks in, as the framework's global of the same name."""
