"""``PromptBuilder``: the framework's own interface, on our assembly.

ctx = Context("task-1", state={"task_input": "Fold 3 cranes"})
builder = PromptBuilder(ctx).add("system").add("task").add_neuron(MyNeuron("mine"))
prompt = builder.build()          # the text; ``await builder.build()`` works too
assembly = builder.assembly()     # why it is what it is
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from promptdbg.engines.orbiter.assemble import PromptBuilderError, assemble, prompt_text
from promptdbg.engines.orbiter.config import LimitConfig
from promptdbg.engines.orbiter.driving import drive
from promptdbg.engines.orbiter.inputs import Entry, OrbiterInputs
from promptdbg.engines.orbiter.load import entry_with_id
from promptdbg.engines.orbiter.neurons import (
    BuiltinNeuron,
    Fragment,
    Neuron,
    Registry,
    RegistryError,
    neuron_registry,
)
from promptdbg.engines.orbiter.state import Context
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry
from promptdbg.engines.rows import Row
from promptdbg.model import Assembly, Settings, TokenizerInfo
from promptdbg.tokens import TokenCounter, tokenizer


class Prompt(str):
    """A prompt that can also be awaited, because the framework's ``build`` is a coroutine function
    while its documentation calls it without ``await``."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, str]:
        yield from ()  # nothing to wait for, but an awaitable must give a generator
        return str(self)


class _NoCount:
    """Counts nothing: for a build whose tokens nobody asked for."""

    info = TokenizerInfo("none", exact=False)

    def count(self, text: str) -> int:
        return 0


class PromptBuilder:
    """Composes neurons into a system prompt.

    Args:
        ctx: what the neurons format from.
        variables: resolves ``${path}`` in the final text; without it placeholders stay as typed.
        separator: stands between two fragments.
        priority_order: ``documented`` (high numbers first) or ``coded`` (low numbers first).
        neuron_budget: our addition, tokens over all neurons; whole neurons go, the lowest priority first.
        registry: where ``add`` looks names up; the global ``neuron_registry`` by default.
    """

    def __init__(
        self,
        ctx: Context,
        *,
        variables: DynamicVariableRegistry | None = None,
        separator: str = "\n\n",
        priority_order: str = "documented",
        neuron_budget: int | None = None,
        registry: Registry[Any] | None = None,
    ) -> None:
        self.ctx = ctx
        self._variables = variables
        self._separator = separator
        self._priority_order = priority_order
        self._neuron_budget = neuron_budget
        self._registry = neuron_registry if registry is None else registry
        self._entries: list[tuple[Any, dict[str, Any]]] = []

    def add(self, neuron_name: str, **kwargs: Any) -> PromptBuilder:
        """Add a registered neuron; ``kwargs`` go to its ``format``.

        Raises:
            PromptBuilderError: no neuron of that name is registered.
        """
        try:
            neuron = self._registry.get(neuron_name)
        except RegistryError as error:
            raise PromptBuilderError(f"neuron {neuron_name!r} is not in the registry") from error
        self._entries.append((neuron, kwargs))
        return self

    def add_neuron(self, neuron: Neuron, **kwargs: Any) -> PromptBuilder:
        """Add a neuron itself; the registry is not asked."""
        self._entries.append((neuron, kwargs))
        return self

    add_section = add_neuron
    """Generation B's name for it."""

    def clear(self) -> None:
        """Forget every neuron that was added."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"PromptBuilder(neurons={[getattr(neuron, 'name', neuron) for neuron, _ in self._entries]})"

    def build(self) -> Prompt:
        """The prompt.

        Raises:
            Exception: what a neuron or a variable resolver raises.
            TypeError: the priorities cannot be sorted, or ``format`` is not a coroutine function.
        """
        return self._result(self.inputs())

    async def abuild(self) -> Prompt:
        """The prompt; for neurons that wait for something."""
        return self._result(self._made(await self._formatted()))

    def assembly(self, counter: TokenCounter | None = None, settings: Settings | None = None) -> Assembly:
        """The build with every section, decision and cost; a failure is told in it, not raised."""
        return assemble(self.inputs(), settings or self._settings(), counter or tokenizer())

    def inputs(self, messages: list[dict[str, Any]] | None = None) -> OrbiterInputs:
        """What an assembly of this builder depends on, with a conversation if one is given."""
        if all(_plain(neuron) for neuron, _ in self._entries):
            return self._made([(None, None)] * len(self._entries), messages)
        return self._made(drive(self._formatted()), messages)

    async def _formatted(self) -> list[tuple[Fragment | None, Exception | None]]:
        """What each neuron prints, or raises; nothing for built-in ones, which the assembly formats."""
        found: list[tuple[Fragment | None, Exception | None]] = []
        for neuron, kwargs in self._entries:
            try:
                text = None if _plain(neuron) else await neuron.format(self.ctx, **kwargs)
                found.append((None if _plain(neuron) else Fragment(text or ""), None))
            except Exception as error:
                found.append((None, error))
        return found

    def _made(
        self,
        formatted: list[tuple[Fragment | None, Exception | None]],
        messages: list[dict[str, Any]] | None = None,
    ) -> OrbiterInputs:
        ids: set[str] = set()
        entries = [
            entry_with_id(_entry(neuron, fragment, error), ids)
            for (neuron, _), (fragment, error) in zip(self._entries, formatted, strict=True)
        ]
        config = self.ctx.config
        names = (name for name in type(config).__dataclass_fields__ if name not in ("mode", "extra"))
        return OrbiterInputs(
            workspace="",
            generation="B" if isinstance(config, LimitConfig) else "A",
            priority_order=self._priority_order,
            task_id=self.ctx.task_id,
            numbers={name: getattr(config, name) for name in names},
            entries=tuple(entries),
            state=self.ctx.state,
            separator=self._separator,
            registry=self._variables,
            clock=self.ctx.clock,
            platform=self.ctx.platform,
            rows=tuple(Row(f"m{index}", message) for index, message in enumerate(messages or [])),
        )

    def _settings(self) -> Settings:
        settings = Settings()
        return (
            settings
            if self._neuron_budget is None
            else settings.with_value("neuron_budget", self._neuron_budget)
        )

    def _result(self, inputs: OrbiterInputs) -> Prompt:
        counter: TokenCounter = _NoCount() if self._neuron_budget is None else tokenizer()
        return Prompt(prompt_text(inputs, self._settings(), counter))


def _plain(neuron: Any) -> bool:
    """Whether it is one of the framework's own, formatted as the framework does."""
    return isinstance(neuron, BuiltinNeuron) and type(neuron).format is BuiltinNeuron.format


def _entry(neuron: Any, fragment: Fragment | None, error: Exception | None) -> Entry:
    if isinstance(neuron, BuiltinNeuron) and _plain(neuron):
        return Entry(neuron.name, neuron.name, "builtin", neuron.priority, shape=neuron.kind)
    name = getattr(neuron, "name", type(neuron).__name__)
    name = name if isinstance(name, str) else type(neuron).__name__
    priority = getattr(neuron, "priority", None)
    return Entry(name, name, "python", priority, fragment=fragment, error=error)
