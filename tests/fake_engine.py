"""A small engine of our own, for tests of everything that drives an engine.

A workspace is a ``promptdbg.toml`` with ``engine = "fake"``, ``[[sections]]`` (``name``, ``text``,
optional ``priority`` and ``file``) and ``[[messages]]`` (``role``, ``content``). Sections longer than
the knob ``cap`` (code points) are cut, sections over the knob ``budget`` (tokens) are dropped, the
lowest priority first. Then the steps: ``shorten`` cuts tool results to ``tool_cap`` code points,
``merge`` joins neighbours of one role, ``trim`` drops the oldest messages beyond ``keep``.

``install(monkeypatch)`` makes it known by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from promptdbg.engines.base import (
    EDITED,
    SWITCHED_OFF,
    Detection,
    Inputs,
    LoadRequest,
    Trace,
    knob_values,
)
from promptdbg.files.disk import read_file
from promptdbg.model import (
    Action,
    Assembly,
    Boundary,
    Budget,
    EngineInfo,
    Failure,
    Knob,
    Message,
    MessageStatus,
    Notice,
    Part,
    Rule,
    Section,
    SectionStatus,
    Settings,
    Source,
    Span,
    Stage,
    StageKind,
    Turn,
)
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace

if TYPE_CHECKING:
    import pytest

CAP = Rule("fake.sections.cap", "A section is cut at the cap", "fake", "1", "fake_engine.py::_section")
BUDGET = Rule(
    "fake.sections.budget",
    "The lowest priority goes first when the budget is passed",
    "fake",
    "1",
    "fake_engine.py::_over_budget",
    note="Equal priorities: the later one goes.",
)
SHORTEN = Rule(
    "fake.steps.shorten", "A tool result is cut at its cap", "fake", "1", "fake_engine.py::_shorten"
)
MERGE = Rule("fake.steps.merge", "Neighbours of one role are joined", "fake", "1", "fake_engine.py::_merge")
TRIM = Rule(
    "fake.steps.trim",
    "Only the newest messages are kept",
    "fake",
    "1",
    "fake_engine.py::_trim",
    boundary=Boundary("left out"),
)
SYSTEM = Rule("fake.initial.system", "The sections become a system message", "fake", "1", "fake_engine.py")

_SEPARATOR = "\n\n"


@dataclass(frozen=True, kw_only=True)
class FakeInputs(Inputs):
    sections: tuple[Mapping[str, Any], ...] = ()
    messages: tuple[Message, ...] = ()
    tools: int = 0
    fails: str = ""


class FakeEngine:
    name = "fake"
    title = "Fake"
    rules = (CAP, BUDGET, SYSTEM, SHORTEN, MERGE, TRIM, SWITCHED_OFF, EDITED)
    session_format = None

    def detect(self, workspace: Workspace) -> Detection | None:
        return Detection(50, "fake.txt is there") if (workspace.path / "fake.txt").is_file() else None

    def load(self, workspace: Workspace, request: LoadRequest) -> FakeInputs:
        options = workspace.options
        warnings: list[Notice] = []
        sections = [_loaded(workspace, entry, warnings) for entry in options.get("sections", [])]
        rows = list(options.get("messages", []))
        if request.message is not None:
            rows.append({"role": "user", "content": request.message})
        messages = tuple(
            Message(
                id=f"m{number}",
                role=row["role"],
                content=row["content"],
                tokens=0,
                sources=(f"m{number}",),
                source=Source("promptdbg.toml", number + 1, number + 1),
            )
            for number, row in enumerate(rows)
        )
        return FakeInputs(
            workspace=str(workspace.path),
            warnings=tuple(warnings),
            sections=tuple(sections),
            messages=messages,
            tools=options.get("tools", 0),
            fails=options.get("fails", ""),
        )

    def knobs(self, inputs: FakeInputs | None) -> tuple[Knob, ...]:
        return (
            Knob("budget", "System budget", "number", None, unit="tokens", minimum=0, step=10, optional=True),
            Knob("cap", "Cap of a section", "number", 400, unit="chars", minimum=0, maximum=100_000, step=50),
            Knob("tool_cap", "Cap of a tool result", "number", 200, unit="chars", minimum=0, step=50),
            Knob("keep", "Message limit", "number", 1000, unit="messages", minimum=1),
            Knob("merge", "Join neighbours", "toggle", True),
            Knob("mark", "Mark of a cut", "text", "[cut]"),
            Knob("style", "Style", "choice", "plain", choices=("plain", "loud")),
        )

    def turns(self, inputs: FakeInputs) -> tuple[Turn, ...]:
        users = [(row, m) for row, m in enumerate(inputs.messages) if m.role == "user"]
        return tuple(Turn(n, str(m.content)[:60], row) for n, (row, m) in enumerate(users, 1))

    def assemble(self, inputs: FakeInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        values: dict[str, Any] = dict(knob_values(self.knobs(inputs), settings))
        trace = Trace()
        sections = _over_budget(_sections(inputs, settings, values, counter, trace), values, trace)
        stages = _stages(inputs, settings, sections, values, counter, trace)
        failure = Failure("FakeError", "fake_engine.py::assemble", inputs.fails) if inputs.fails else None
        if failure:
            stages = stages[:1]
        return Assembly(
            engine=EngineInfo("fake", "Fake", "1"),
            tokenizer=counter.info,
            workspace=inputs.workspace,
            session=None,
            settings=settings,
            budget=_budget(stages, sections, inputs, values),
            sections=tuple(sections) if failure is None else (),
            stages=tuple(stages),
            decisions=trace.decisions if failure is None else (),
            rules=self.rules,
            warnings=inputs.warnings + trace.notices,
            failure=failure,
            turns=self.turns(inputs),
        )


def _loaded(workspace: Workspace, entry: Mapping[str, Any], warnings: list[Notice]) -> dict[str, Any]:
    name = entry.get("file")
    if name is None:
        return dict(entry)
    read = read_file(workspace.path / name)
    if read.data is None:
        assert read.problem is not None
        warnings.append(Notice("fake.file", f"{name} {read.problem.message}", Source(name)))
        return {**entry, "text": ""}
    return {**entry, "text": read.data.decode("utf-8", "replace")}


def _sections(
    inputs: FakeInputs, settings: Settings, values: Mapping[str, Any], counter: TokenCounter, trace: Trace
) -> list[Section]:
    return [
        _section(number, entry, settings, values, counter, trace)
        for number, entry in enumerate(inputs.sections)
    ]


def _section(
    number: int,
    entry: Mapping[str, Any],
    settings: Settings,
    values: Mapping[str, Any],
    counter: TokenCounter,
    trace: Trace,
) -> Section:
    name = entry["name"]
    text = settings.texts.get(name, entry["text"])
    whole = counter.count(text)
    if name in settings.texts:
        trace.decide(Action.NOTE, name, EDITED, stage="system", because="Its text was edited here.")
    priority = settings.priorities.get(name, entry.get("priority", 0))
    output, status = text, SectionStatus.KEPT if text else SectionStatus.EMPTY
    spans: tuple[Span, ...] = ()
    action, rule, because = Action.KEEP, CAP, ""
    cap = values["cap"]
    if name in settings.off:
        output, status, spans = "", SectionStatus.DISABLED, _lost(text)
        action, rule, because = Action.DISABLE, SWITCHED_OFF, "You switched it off."
    elif len(text) > cap:
        output, status = text[:cap] + values["mark"], SectionStatus.TRUNCATED
        spans = tuple(s for s in (Span(0, cap, True), Span(cap, len(text), False)) if s.end > s.start)
        action, because = Action.TRUNCATE, f"It has {len(text):,} characters and the cap is {cap:,}."
    tokens = counter.count(output)
    if because:
        trace.decide(
            action,
            name,
            rule,
            stage="system",
            because=because,
            before=whole,
            after=tokens,
            measured=len(text),
            limit=cap,
            unit="chars",
        )
    return Section(
        id=name,
        name=name,
        kind="text",
        order=number,
        text=text,
        output=output,
        status=status,
        tokens=tokens,
        tokens_original=whole,
        size=len(output),
        size_original=len(text),
        unit="chars",
        priority=priority,
        source=Source(entry["file"], 1) if "file" in entry else None,
        spans=spans,
    )


def _lost(text: str) -> tuple[Span, ...]:
    return (Span(0, len(text), False),) if text else ()


def _over_budget(sections: list[Section], values: Mapping[str, Any], trace: Trace) -> list[Section]:
    budget = values["budget"]
    used = sum(section.tokens for section in sections)
    left = list(sections)
    while budget is not None and used > budget and any(s.output for s in left):
        out = min((s for s in left if s.output), key=lambda s: (s.priority or 0, -s.order))
        trace.decide(
            Action.DROP,
            out.id,
            BUDGET,
            stage="system",
            because=f"{used:,} tokens are over the budget of {budget:,} and it has the lowest priority.",
            before=out.tokens,
            after=0,
            measured=used,
            limit=budget,
            unit="tokens",
        )
        used -= out.tokens
        gone = replace(out, output="", status=SectionStatus.DROPPED, tokens=0, size=0, spans=_lost(out.text))
        left[out.order] = gone
    return left


def _stages(
    inputs: FakeInputs,
    settings: Settings,
    sections: list[Section],
    values: Mapping[str, Any],
    counter: TokenCounter,
    trace: Trace,
) -> list[Stage]:
    stored = tuple(
        replace(m, tokens=counter.count(m.content)) for m in _until(inputs.messages, settings.turn)
    )
    prompt = _SEPARATOR.join(section.output for section in sections if section.output)
    system = Message("system", "system", prompt, counter.count(prompt))
    kept = tuple(m for m in stored if m.id not in settings.off)
    gone = tuple(m for m in stored if m.id in settings.off)
    trace.decide(
        Action.INSERT,
        "system",
        SYSTEM,
        stage="initial",
        because="Sections first.",
        before=0,
        after=system.tokens,
    )
    for message in gone:
        trace.decide(
            Action.DISABLE,
            message.id,
            SWITCHED_OFF,
            stage="initial",
            because="You switched it off.",
            before=message.tokens,
            after=0,
        )
    session = _stage("session", StageKind.SESSION, stored)
    initial = _stage("initial", StageKind.INITIAL, (system, *kept), {"system": MessageStatus.INSERTED}, gone)
    steps = [session, initial]
    steps.append(_shorten(steps[-1].messages, values["tool_cap"], values["mark"], counter, trace))
    if values["merge"]:
        steps.append(_merge(steps[-1].messages, counter, trace))
    steps.append(_trim(steps[-1].messages, values["keep"], trace))
    return [*steps, _final(steps)]


def _until(messages: tuple[Message, ...], turn: int | None) -> tuple[Message, ...]:
    if turn is None:
        return messages
    users = [row for row, m in enumerate(messages) if m.role == "user"]
    return messages[: users[turn - 1] + 1]


def _stage(
    name: str,
    kind: StageKind,
    messages: tuple[Message, ...],
    statuses: dict[str, MessageStatus] | None = None,
    dropped: tuple[Message, ...] = (),
) -> Stage:
    return Stage(
        name=name,
        kind=kind,
        title=name.capitalize(),
        messages=messages,
        dropped=dropped,
        statuses=MappingProxyType(statuses or {}),
        tokens=sum(m.tokens for m in messages),
    )


def _shorten(
    messages: tuple[Message, ...], cap: int, mark: str, counter: TokenCounter, trace: Trace
) -> Stage:
    out: list[Message] = []
    statuses: dict[str, MessageStatus] = {}
    for message in messages:
        if message.role == "tool" and len(message.content) > cap:
            content = message.content[:cap] + mark
            short = replace(message, content=content, tokens=counter.count(content))
            trace.decide(
                Action.TRUNCATE,
                message.id,
                SHORTEN,
                stage="shorten",
                because=f"The result has {len(message.content):,} characters and the cap is {cap:,}.",
                before=message.tokens,
                after=short.tokens,
                measured=len(message.content),
                limit=cap,
                unit="chars",
            )
            statuses[message.id] = MessageStatus.REWRITTEN
            message = short
        out.append(message)
    return _stage("shorten", StageKind.STEP, tuple(out) if statuses else messages, statuses)


def _merge(messages: tuple[Message, ...], counter: TokenCounter, trace: Trace) -> Stage:
    out: list[Message] = []
    statuses: dict[str, MessageStatus] = {}
    for message in messages:
        if not out or out[-1].role != message.role or message.role == "tool":
            out.append(message)
            continue
        first = out.pop()
        content = f"{first.content}\n{message.content}"
        joined = replace(
            first, content=content, tokens=counter.count(content), sources=first.sources + message.sources
        )
        trace.decide(
            Action.MERGE,
            first.id,
            MERGE,
            stage="merge",
            because=f"The next message is also of role {message.role}.",
            before=first.tokens + message.tokens,
            after=joined.tokens,
        )
        statuses[first.id] = MessageStatus.MERGED
        out.append(joined)
    return _stage("merge", StageKind.STEP, tuple(out) if statuses else messages, statuses)


def _trim(messages: tuple[Message, ...], keep: int, trace: Trace) -> Stage:
    over = max(len(messages) - 1 - keep, 0)
    dropped = messages[1 : 1 + over]
    for message in dropped:
        trace.decide(
            Action.DROP,
            message.id,
            TRIM,
            stage="trim",
            because=f"Only the newest {keep:,} are kept.",
            before=message.tokens,
            after=0,
            measured=len(messages) - 1,
            limit=keep,
            unit="messages",
        )
    rest = messages[:1] + messages[1 + over :] if over else messages
    return _stage("trim", StageKind.STEP, rest, {}, dropped)


def _final(steps: list[Stage]) -> Stage:
    last = steps[-1].messages
    statuses: dict[str, MessageStatus] = {}
    for step in steps[2:]:
        statuses.update(step.statuses)
    here = {m.id for m in last}
    return _stage(
        "final",
        StageKind.FINAL,
        last,
        {item: status for item, status in statuses.items() if item in here},
        tuple(m for step in steps[2:] for m in step.dropped),
    )


def _budget(
    stages: list[Stage], sections: list[Section], inputs: FakeInputs, values: Mapping[str, Any]
) -> Budget:
    last = stages[-1].messages
    system = sum(s.tokens for s in sections)
    whole = sum(m.tokens for m in last if m.id == "system")
    messages = sum(m.tokens for m in last if m.id != "system")
    parts = (
        Part("sections", system),
        Part("joins", whole - system),
        Part("messages", messages),
        Part("tools", inputs.tools),
    )
    limit = values["budget"]
    return Budget(limit, sum(p.tokens for p in parts), "tokens", parts, knob="budget")


ENGINE = FakeEngine()


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the engine known as ``fake`` for one test."""
    from promptdbg import engines

    monkeypatch.setitem(engines._ENGINES, "fake", "tests.fake_engine:ENGINE")
