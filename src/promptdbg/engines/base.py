"""What an engine is: the protocol every framework implements, and the Trace that records decisions.

To add a framework: one module (or package) under ``engines/`` that fulfils ``Engine``, one line in
``engines/__init__.py``, its cases under ``tests/cases/``. Nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from promptdbg.errors import UsageError
from promptdbg.model import (
    Action,
    Assembly,
    Decision,
    Knob,
    Notice,
    Rule,
    Settings,
    Source,
    Turn,
    Unit,
    Value,
)
from promptdbg.records import StoredSession
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Detection:
    """Why a workspace looks like an engine's. ``score`` orders them: 100 a manifest says so,
    50 files only this framework writes, 10 files several frameworks share."""

    score: int
    reason: str


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What to load beside the workspace itself.

    ``session`` is the stored session, already read; ``message`` the text of the turn to build
    (``None``: the engine's own default); ``now`` an ISO time to freeze the clock at, ``None`` for
    the machine's; ``trust`` allows Python of the workspace to run; ``home`` stands in for the
    user's home folder.
    """

    session: StoredSession | None = None
    message: str | None = None
    now: str | None = None
    trust: bool = False
    home: str | None = None


@dataclass(frozen=True, slots=True)
class FoundVersion:
    """Which version of a framework a workspace is for, why, and the knob that chooses another."""

    name: str
    reason: str
    knob: str


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Everything an assembly depends on, in memory. Engines extend it.

    ``found_version`` is set where the version of the framework was found out.
    """

    workspace: str
    session: str | None = None
    warnings: tuple[Notice, ...] = ()
    found_version: FoundVersion | None = None


InputsT = TypeVar("InputsT")


class Engine(Protocol[InputsT]):
    """One framework's prompt assembly, reproduced."""

    @property
    def name(self) -> str:
        """The id used on the command line."""

    @property
    def title(self) -> str:
        """The name people know."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The catalogue: every rule a decision may name, in the order they apply."""

    @property
    def session_format(self) -> str | None:
        """The name of the stored session format in ``sessions``, ``None`` if it has none."""

    def detect(self, workspace: Workspace) -> Detection | None:
        """Whether the workspace looks like this framework's, and why."""

    def load(self, workspace: Workspace, request: LoadRequest) -> InputsT:
        """Read everything, through ``files/disk.py``, which notes what is to be watched. Problems
        become warnings with file and line; nothing is executed without trust and nothing is written.

        Raises:
            InputError: the workspace cannot be used at all.
        """

    def knobs(self, inputs: InputsT | None) -> tuple[Knob, ...]:
        """The live parameters, with the workspace's own defaults where inputs are given."""

    def turns(self, inputs: InputsT) -> tuple[Turn, ...]:
        """The user messages of the session; empty where there is none."""

    def assemble(self, inputs: InputsT, settings: Settings, counter: TokenCounter) -> Assembly:
        """The prompt, rebuilt. Pure: the same arguments give an equal assembly."""


AnyEngine = Engine[Any]


def knob_values(knobs: Iterable[Knob], settings: Settings) -> dict[str, Value]:
    """Every knob's value: what was set, else its default.

    Raises:
        UsageError: a setting names no knob, or its value does not fit.
    """
    known = {knob.name: knob for knob in knobs}
    for name in settings.values:
        if name not in known:
            raise UsageError(f"unknown knob {name!r}", hint="one of " + ", ".join(sorted(known)))
    return {
        name: knob.check(settings.values[name]) if name in settings.values else knob.default
        for name, knob in known.items()
    }


def holding(own: float | None, low: float, high: float) -> tuple[float, float]:
    """The range of a knob, which holds the workspace's own value even where that makes little sense."""
    return (low, high) if own is None else (min(low, own), max(high, own))


class Trace:
    """Collects the decisions of one assembly, where and when they are made."""

    def __init__(self) -> None:
        self._decisions: list[Decision] = []
        self._notices: list[Notice] = []

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(self._decisions)

    @property
    def notices(self) -> tuple[Notice, ...]:
        return tuple(self._notices)

    def decide(
        self,
        action: Action,
        item: str,
        rule: Rule,
        *,
        stage: str,
        because: str,
        before: int | None = None,
        after: int | None = None,
        measured: float | None = None,
        limit: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """Record one decision; the arguments are the fields of ``Decision``."""
        number = f"d{len(self._decisions) + 1}"
        # By position: with ten thousand decisions the names cost a quarter of the time.
        self._decisions.append(
            Decision(number, stage, rule.id, action, item, because, before, after, measured, limit, unit)
        )

    @property
    def number(self) -> int:
        """The number of the next decision."""
        return len(self._decisions) + 1

    def add(self, decisions: Iterable[Decision]) -> None:
        """Record decisions that were numbered from ``number`` on."""
        self._decisions.extend(decisions)

    def warn(self, code: str, message: str, source: Source | None = None) -> None:
        """Record a warning that is not about one item."""
        self._notices.append(Notice(code, message, source))


SWITCHED_OFF = Rule(
    id="promptdbg.off",
    title="Switched off here",
    framework="promptdbg",
    version="1",
    source="settings",
    note="A what-if of this session; nothing on disk is changed.",
)
EDITED = Rule(
    id="promptdbg.edited",
    title="Text edited here",
    framework="promptdbg",
    version="1",
    source="settings",
    note="A what-if of this session; nothing on disk is changed.",
)
"""Rules of our own that every engine's catalogue includes."""
