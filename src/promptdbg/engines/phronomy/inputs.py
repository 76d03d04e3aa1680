"""Everything a Phronomy assembly depends on, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from promptdbg.engines.base import Inputs
from promptdbg.engines.phronomy.budget import Registry
from promptdbg.engines.phronomy.chunks import Chunk
from promptdbg.engines.phronomy.estimate import Estimate
from promptdbg.engines.phronomy.history import Range
from promptdbg.engines.phronomy.items import Item
from promptdbg.engines.rows import Memo, Row
from promptdbg.model import Failure, Json, Source

GENERATIONS = ("1", "2-trims", "2-raises", "3")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """One piece of knowledge with its id."""

    id: str
    name: str
    chunk: Chunk
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool by its name, description and parameter names; an instance costs nothing."""

    id: str
    name: str
    description: str = ""
    parameters: tuple[str, ...] = ()
    instance: bool = False
    definition: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Compact:
    """What an on_compact callback does: replace a span by a text."""

    span: int | Range
    summary: str


@dataclass(frozen=True, kw_only=True)
class PhronomyInputs(Inputs):
    """What a workspace (or a Python program) gives.

    ``budget`` holds the numbers as written (``context_window``, ``max_output_tokens``, ``overhead``,
    ``model``, ``provider``, ``max_input_tokens``); ``estimate`` a tokenizer of a Python program's own.
    ``items`` and ``tool_items`` are generation 3's, ``current_input`` its question, and
    ``policy_failure`` what it raises before it has its input.
    """

    generation: str = "1"
    budget: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    models: Registry = field(default_factory=lambda: MappingProxyType({}))
    tokenizer: str = "chars/4"
    estimate: Estimate | None = None
    instruction: str | None = None
    instruction_source: Source | None = None
    knowledge: tuple[Knowledge, ...] = ()
    tools: tuple[Tool, ...] = ()
    rows: tuple[Row, ...] = ()
    current: str | None = None
    trim: tuple[int, ...] = ()
    compact: tuple[Compact, ...] = ()
    items: tuple[Item, ...] = ()
    tool_items: tuple[Item, ...] = ()
    current_input: Item | None = None
    call_mode: str = "ask"
    execution_id: str | None = None
    share: float | None = None
    policy_failure: Failure | None = None
    memo: Memo = field(default_factory=Memo, compare=False, repr=False)
