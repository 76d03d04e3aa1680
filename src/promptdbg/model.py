"""The vocabulary of promptdbg as frozen values: what an engine returns and everything else draws.

Nothing here reads a file, counts a token or knows an engine. Offsets are code points, half open.
JSON values that came from disk (message contents, tool schemas) are kept as they are and are
never changed in place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from promptdbg.bulk import quick
from promptdbg.errors import UsageError
from promptdbg.paths import below

Json: TypeAlias = Any
"""A JSON value as ``json.loads`` returns it."""

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None
"""A knob's value. ``None`` means "not set" (the framework's own default applies)."""

Unit: TypeAlias = Literal["tokens", "bytes", "chars", "utf16", "lines", "count", "messages"]
"""What a number counts. ``chars`` are code points; ``utf16`` are UTF-16 code units."""

Place: TypeAlias = Literal["system", "tools", "message"]
"""Where a section's text travels: the system prompt, the tool schemas, or a message."""


class SectionStatus(StrEnum):
    """What became of a section."""

    KEPT = "kept"
    TRUNCATED = "truncated"
    DROPPED = "dropped"
    EMPTY = "empty"
    DISABLED = "disabled"
    SHADOWED = "shadowed"
    LITERAL = "literal"


class MessageStatus(StrEnum):
    """What a stage did to a message."""

    KEPT = "kept"
    MERGED = "merged"
    REWRITTEN = "rewritten"
    INSERTED = "inserted"
    DROPPED = "dropped"


class Evidence(StrEnum):
    """How we know: read from a log, rebuilt by rules, or not knowable from what is on disk."""

    RECORDED = "recorded"
    COMPUTED = "computed"
    UNKNOWN = "unknown"


class Action(StrEnum):
    """What a decision did to its item. ``note`` and ``predict`` change nothing."""

    KEEP = "keep"
    TRUNCATE = "truncate"
    DROP = "drop"
    MERGE = "merge"
    REWRITE = "rewrite"
    INSERT = "insert"
    DISABLE = "disable"
    SHADOW = "shadow"
    LITERAL = "literal"
    EMPTY = "empty"
    REPAIR = "repair"
    PREDICT = "predict"
    NOTE = "note"


LOSSES = frozenset({Action.TRUNCATE, Action.DROP, Action.SHADOW, Action.DISABLE, Action.LITERAL})
"""Actions by which text does not reach the model."""

_UNCHANGING = frozenset({Action.KEEP, Action.NOTE, Action.PREDICT})


class StageKind(StrEnum):
    """The four kinds of message list."""

    SESSION = "session"
    INITIAL = "initial"
    STEP = "step"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class Source:
    """Where something stands on disk. Lines count from 1; ``None`` means not known."""

    path: str
    start_line: int | None = None
    end_line: int | None = None

    def __str__(self) -> str:
        return self.path if self.start_line is None else f"{self.path}:{self.start_line}"

    def below(self, folder: str) -> str:
        """The place as a person reads it who looks at ``folder``: relative where it lies in it."""
        return str(Source(below(self.path, folder), self.start_line))


@quick
@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a section's original text, kept or lost."""

    start: int
    end: int
    kept: bool


@quick
@dataclass(frozen=True, slots=True)
class Section:
    """A named fragment of the prompt: what it was, and what of it the model gets.

    ``text`` is the original; ``output`` is what stands in the prompt in its place (wrapper,
    marks of a cut and children included), empty when nothing does. ``tokens`` counts ``output``
    and ``tokens_original`` what ``output`` would be without any loss, both by the assembly's
    tokenizer; ``size`` and ``size_original`` are the framework's own measure in ``unit``.

    ``order`` is the position in which the engine takes the section, 0 first. A section with a
    ``parent`` is part of that section: sums over sections take those without a parent.
    ``offset`` is where ``output`` begins in the text of its place, ``None`` when it is not there.
    ``stand_in`` says what in the text is not the framework's own but stands for it, and for how much;
    empty where it is real. Documents leave it out: the engine's ``fidelity`` tells it of the whole.
    """

    id: str
    name: str
    kind: str
    order: int
    text: str
    output: str
    status: SectionStatus
    tokens: int
    tokens_original: int
    size: int
    size_original: int
    unit: Unit
    parent: str | None = None
    priority: float | None = None
    source: Source | None = None
    place: Place = "system"
    offset: int | None = None
    spans: tuple[Span, ...] = ()
    evidence: Evidence = Evidence.COMPUTED
    stand_in: str = field(default="", compare=False)

    @property
    def lost(self) -> bool:
        """Whether any of it does not reach the model."""
        return self.status not in (SectionStatus.KEPT, SectionStatus.EMPTY)

    @property
    def unknown(self) -> bool:
        """Whether it has no text here only because it is not known what it holds: that is not 0 tokens."""
        return self.evidence is Evidence.UNKNOWN and self.status is SectionStatus.EMPTY


@quick
@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a message list.

    ``id`` stays the same from stage to stage for as long as the message lives, whatever happens
    to its content. ``sources`` names the input items it was made from: a stored row names itself,
    a merged message names both, a back-filled result names the message with the call it answers.
    ``tokens`` is by the assembly's tokenizer, ``size`` by the framework's own estimate.
    ``extra`` holds the other keys that travel with it (``reasoning_content`` and the like).
    """

    id: str
    role: str
    content: Json
    tokens: int
    sources: tuple[str, ...] = ()
    tool_calls: Json = None
    tool_call_id: Json = None
    name: Json = None
    extra: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    size: int | None = None
    evidence: Evidence = Evidence.COMPUTED
    source: Source | None = None
    wire: tuple[str, ...] = ("role", "content")
    """The keys the framework's object has, in its order; ``to_json`` writes exactly these."""

    def to_json(self) -> dict[str, Json]:
        """The message as the framework has it: its keys, in its order."""
        known = {
            "role": self.role,
            "content": self.content,
            "tool_calls": self.tool_calls,
            "tool_call_id": self.tool_call_id,
            "name": self.name,
        }
        return {key: known[key] if key in known else self.extra[key] for key in self.wire}


@dataclass(frozen=True, slots=True)
class Stage:
    """One message list, and what was done to reach it from the list before.

    ``messages`` is exactly the list at this point. ``dropped`` holds the messages that left here.
    ``statuses`` is sparse: a message it does not name is ``kept``. The final stage's ``statuses``
    and ``dropped`` are cumulative since ``initial``, all others since the stage before.
    A stage that changes nothing shares the tuple of the stage before.
    ``size`` is the framework's own estimate of the whole request and ``measured_by`` how it was
    made (``tiktoken``, ``bytes``, …); ``tokens`` is the sum over the messages.
    """

    name: str
    kind: StageKind
    title: str
    messages: tuple[Message, ...]
    dropped: tuple[Message, ...] = ()
    statuses: Mapping[str, MessageStatus] = field(default_factory=lambda: MappingProxyType({}))
    tokens: int = 0
    size: int | None = None
    unit: Unit | None = None
    measured_by: str = ""

    def status_of(self, message_id: str) -> MessageStatus:
        """What this stage did to a message that it holds."""
        return self.statuses.get(message_id, MessageStatus.KEPT)

    @property
    def changed(self) -> bool:
        """Whether the stage did anything."""
        return bool(self.statuses or self.dropped)


@quick
@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that happened to one item.

    ``before`` and ``after`` are the item's tokens by the assembly's tokenizer. ``measured`` and
    ``limit`` are the framework's own numbers in ``unit``: the comparison that decided.
    ``because`` is one plain sentence.
    """

    id: str
    stage: str
    rule: str
    action: Action
    item: str
    because: str
    before: int | None = None
    after: int | None = None
    measured: float | None = None
    limit: float | None = None
    unit: Unit | None = None


def settling(decisions: Iterable[Decision]) -> Decision | None:
    """The decision of one item's that settled what became of it: the last that took something from
    it, else the last that changed it, else the last one. What is noted behind a loss says nothing of why
    it was lost."""
    found: Decision | None = None
    for decision in decisions:
        if found is None or _weight(decision.action) >= _weight(found.action):
            found = decision
    return found


def _weight(action: Action) -> int:
    return 2 if action in LOSSES else 0 if action in _UNCHANGING else 1


@dataclass(frozen=True, slots=True)
class Boundary:
    """What a rule draws through a conversation: from the turn on at which it first acts, messages of
    earlier turns no longer reach the model as they were.

    ``word`` is what became of them: ``archived``, ``summarised``, ``compacted``, ``wiped``, ``left out``;
    rules of one word draw one boundary. ``into`` are the sections that hold what is left of them; a
    message that the rule itself puts in their place needs no naming. ``evidence`` is ``recorded`` where
    the rule obeys a mark in the session: that it was done is then known, and when is not.
    """

    word: str
    into: tuple[str, ...] = ()
    evidence: Evidence = Evidence.COMPUTED


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a framework, and where it was read: ``source`` is ``file::function`` or a document.

    ``note`` says what a user should know beyond it, such as documentation that says otherwise.
    ``boundary`` is set where the rule takes messages of earlier turns out from then on; documents
    leave it out, for they hold one request.
    """

    id: str
    title: str
    framework: str
    version: str
    source: str
    note: str = ""
    boundary: Boundary | None = field(default=None, compare=False)


@quick
@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth a warning: a stable code, one plain sentence, and where it is."""

    code: str
    message: str
    source: Source | None = None


@quick
@dataclass(frozen=True, slots=True)
class Part:
    """One line of the ledger."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The input tokens that a provider counted, as a log has them: of this request, or of the one before."""

    tokens: int
    request: Literal["this", "before"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What the prompt may cost and what it costs, in the framework's own unit.

    The ``parts`` sum to ``used``. ``limit`` is ``None`` where the framework has none.
    ``reserved`` are amounts already taken off the window (answer, safety margin) and
    ``window`` the whole context window where there is one. ``counted`` is what a provider made of it,
    where that is on record. ``knob`` is the one that sets the limit as things are; documents leave it out,
    for nothing can be turned in them.
    """

    limit: int | None
    used: int
    unit: Unit
    parts: tuple[Part, ...] = ()
    window: int | None = None
    reserved: tuple[Part, ...] = ()
    counted: Counted | None = None
    knob: str = field(default="", compare=False)

    @property
    def left(self) -> int | None:
        """What is free; negative when over."""
        return None if self.limit is None else self.limit - self.used


KnobKind: TypeAlias = Literal["toggle", "number", "choice", "text", "order"]


@dataclass(frozen=True, slots=True)
class Knob:
    """A live parameter that an engine declares.

    ``title`` is a noun that follows "the". ``default`` is what applies to the workspace as loaded
    (its configuration, else the framework's default). ``optional`` knobs may be ``None``. ``step``
    is what one key press changes a number by. ``zero`` is what 0 stands for where that is no
    amount ("no limit"). ``caps`` are the kinds of sections and the roles of messages
    (``message:tool``) of which each may be so large. ``role`` says which figure of a model it is.
    """

    name: str
    title: str
    kind: KnobKind
    default: Value
    group: str = ""
    help: str = ""
    unit: Unit | None = None
    minimum: float | None = None
    maximum: float | None = None
    step: float = 1
    choices: tuple[str, ...] = ()
    optional: bool = False
    zero: str = ""
    caps: tuple[str, ...] = ()
    role: Literal["", "window", "answer"] = ""

    @property
    def unit_word(self) -> str:
        """The unit as it stands behind a number; what is merely counted has none."""
        return "" if self.unit in (None, "count") else str(self.unit)

    def check(self, value: Value) -> Value:
        """The value, of the knob's kind and within its range.

        Raises:
            UsageError: the value does not fit; the line says what does.
        """
        if value is None:
            if self.optional:
                return None
            raise UsageError(f"knob {self.name} needs a value", hint=self.range_text())
        if self.kind == "toggle" and isinstance(value, bool):
            return value
        if self.kind == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
            low = self.minimum is not None and value < self.minimum
            high = self.maximum is not None and value > self.maximum
            if is_finite(value) and not low and not high:
                return value
        if self.kind == "choice" and isinstance(value, str) and value in self.choices:
            return value
        if self.kind == "text" and isinstance(value, str):
            return value
        if self.kind == "order" and isinstance(value, tuple):
            return value
        raise UsageError(f"knob {self.name} cannot be {value!r}", hint=self.range_text())

    def parse(self, text: str) -> Value:
        """The value written as text, as on the command line.

        Raises:
            UsageError: the text is not of the knob's kind.
        """
        word = text.strip().lower()
        if self.optional and word in ("", "none", "null", "default") and text not in self.choices:
            return None
        if self.kind == "toggle":
            if word in ("on", "true", "yes", "1"):
                return True
            if word in ("off", "false", "no", "0"):
                return False
        elif self.kind == "number":
            if (number := _number(word)) is not None:
                return self.check(number)
        elif self.kind == "order":
            return self.check(tuple(part.strip() for part in text.split(",") if part.strip()))
        else:
            return self.check(text)
        raise UsageError(f"knob {self.name} cannot be {text!r}", hint=self.range_text())

    def range_text(self) -> str:
        """What the knob takes, for a person."""
        if self.kind == "toggle":
            return "on or off"
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "number":
            low = "" if self.minimum is None else f"{self.minimum:,}"
            high = "" if self.maximum is None else f"{self.maximum:,}"
            span = f"{low} to {high}" if low and high else f"{low} or more" if low else f"up to {high}"
            number = f"a number of {self.unit_word}" if self.unit_word else "a number"
            return f"{number}, {span}" if low or high else number
        if self.kind == "order":
            return "names separated by commas"
        return "a text"


def is_finite(number: float) -> bool:
    """Whether a number is one that arithmetic can take: neither infinite nor not a number, nor a
    whole number so long that no float can hold it."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


# Commas only between groups of three: "0,5" is somebody's one half and must not become 5.
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")


def _number(word: str) -> int | float | None:
    """The number a text says, whole where it is whole (``1e5`` too); ``None`` where it says none."""
    if _GROUPED.fullmatch(word):
        word = word.replace(",", "")
    try:
        return int(word)
    except ValueError:
        pass
    try:
        number = float(word)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _frozen(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(mapping))


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user changed: knob values, switched-off items, priorities, edited texts, the turn.

    Empty settings mean the workspace as it is. ``turn`` counts user messages from 1; ``None``
    is the next turn (everything stored is history).
    """

    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    off: frozenset[str] = frozenset()
    priorities: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    turn: int | None = None

    def with_value(self, knob: str, value: Value) -> Settings:
        return replace(self, values=_frozen({**self.values, knob: value}))

    def without_value(self, knob: str) -> Settings:
        return replace(self, values=_frozen({k: v for k, v in self.values.items() if k != knob}))

    def with_off(self, items: Iterable[str]) -> Settings:
        return replace(self, off=frozenset(items))

    def toggled(self, item: str) -> Settings:
        return replace(self, off=self.off ^ {item})

    def with_priority(self, item: str, priority: float | None) -> Settings:
        rest = {k: v for k, v in self.priorities.items() if k != item}
        return replace(self, priorities=_frozen(rest if priority is None else {**rest, item: priority}))

    def with_text(self, item: str, text: str | None) -> Settings:
        rest = {k: v for k, v in self.texts.items() if k != item}
        return replace(self, texts=_frozen(rest if text is None else {**rest, item: text}))

    def with_turn(self, turn: int | None) -> Settings:
        return replace(self, turn=turn)

    def overlaid(self, over: Settings) -> Settings:
        """These settings with all that ``over`` says laid over them; ``off`` items add up."""
        return Settings(
            values=_frozen({**self.values, **over.values}),
            off=self.off | over.off,
            priorities=_frozen({**self.priorities, **over.priorities}),
            texts=_frozen({**self.texts, **over.texts}),
            turn=self.turn if over.turn is None else over.turn,
        )

    @property
    def changed(self) -> bool:
        """Whether anything differs from the workspace as it is."""
        return bool(self.values or self.off or self.priorities or self.texts)


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Which framework an assembly reproduces.

    ``version`` is the dialect. ``fidelity`` is ``exact`` or says what is not (stand-in prose).
    """

    name: str
    title: str
    version: str
    fidelity: str = "exact"


@dataclass(frozen=True, slots=True)
class TokenizerInfo:
    """The tokenizer behind ``tokens``. ``exact`` is false where the model's own is not public."""

    name: str
    exact: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """The real framework would fail on this input: what it raises, where, and what that means."""

    error: str
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message of a session: its number from 1, its first line, its row, its time."""

    number: int
    title: str
    row: int
    time: str = ""


@dataclass(frozen=True, slots=True)
class Assembly:
    """One prompt, rebuilt: the whole answer of an engine for one input and one settings.

    ``failure`` is set where the real framework would have failed; the stages then stop there.
    ``sections`` are in order; a section comes before its parts. ``without_texts`` is one that was read
    from a file which leaves all texts out: what they would say is not known then.
    """

    engine: EngineInfo
    tokenizer: TokenizerInfo
    workspace: str
    session: str | None
    settings: Settings
    budget: Budget
    sections: tuple[Section, ...]
    stages: tuple[Stage, ...]
    decisions: tuple[Decision, ...]
    rules: tuple[Rule, ...]
    warnings: tuple[Notice, ...] = ()
    failure: Failure | None = None
    turns: tuple[Turn, ...] = ()
    without_texts: bool = field(default=False, compare=False)

    @property
    def turn(self) -> int | None:
        return self.settings.turn

    def stage(self, kind: StageKind) -> Stage | None:
        """The first stage of a kind."""
        return next((stage for stage in self.stages if stage.kind is kind), None)

    def section(self, item: str) -> Section | None:
        return next((section for section in self.sections if section.id == item), None)

    def rule(self, rule: str) -> Rule | None:
        return next((entry for entry in self.rules if entry.id == rule), None)

    def decisions_on(self, item: str) -> tuple[Decision, ...]:
        """Every decision on an item, in the order they were made."""
        return tuple(decision for decision in self.decisions if decision.item == item)

    def decisions_by_item(self) -> dict[str, tuple[Decision, ...]]:
        """Every decision by the item it is on, in the order they were made: for who asks about many
        items, since each ``decisions_on`` walks them all."""
        found: dict[str, list[Decision]] = {}
        for decision in self.decisions:
            found.setdefault(decision.item, []).append(decision)
        return {item: tuple(made) for item, made in found.items()}

    @property
    def system_text(self) -> str:
        """The system prompt the provider gets; empty when there is none."""
        final = self.stage(StageKind.FINAL) or self.stage(StageKind.INITIAL)
        if final is None:
            return ""
        return "".join(
            message.content
            for message in final.messages
            if message.role == "system" and isinstance(message.content, str)
        )
