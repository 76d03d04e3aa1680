"""A small engine for tests of the screens: parts, every status, a budget that drops, stages, turns.

Everything comes from one TOML document, so that a test changes a file and reloads. Sections over
the knob ``cap`` (code points) are cut; while the sections' words pass the knob ``budget``, the one
of the lowest priority is dropped. ``keep`` bounds the messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from promptdbg import engines
from promptdbg.debug import Debugger, OpenRequest, open_workspace
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
    TokenizerInfo,
    Turn,
)
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace

CAP = Rule("sample.cap", "Cut at the cap", "sample", "1.2", "sample.py::cap")
BUDGET = Rule(
    "sample.budget",
    "Lowest priority goes first",
    "sample",
    "1.2",
    "sample.py::fit",
    note="Equal priorities: the later one goes.",
)
SHADOW = Rule("sample.shadow", "One file of a folder is read", "sample", "1.2", "sample.py::shadow")
LITERAL = Rule("sample.literal", "A missing import stays as typed", "sample", "1.2", "sample.py::imports")
SYSTEM = Rule("sample.system", "Sections become the system message", "sample", "1.2", "sample.py::system")
TRIM = Rule(
    "sample.trim",
    "Only the newest messages are kept",
    "sample",
    "1.2",
    "sample.py::trim",
    boundary=Boundary("left out"),
)
RULES = (CAP, BUDGET, SHADOW, LITERAL, SYSTEM, TRIM, SWITCHED_OFF, EDITED)


_WORD = re.compile(r"\S+")


@dataclass
class WordCounter:
    """One token a word: figures that a person can check."""

    info: TokenizerInfo = field(default_factory=lambda: TokenizerInfo("words", exact=True))

    _known: dict[str, int] = field(default_factory=dict)

    def count(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            # Word by word, because one call on megabytes would keep every other thread waiting.
            known = self._known[text] = sum(1 for _ in _WORD.finditer(text))
        return known


@dataclass(frozen=True, kw_only=True)
class SampleInputs(Inputs):
    document: Mapping[str, Any]
    knobs: tuple[Knob, ...] = ()


def _knobs(document: Mapping[str, Any]) -> tuple[Knob, ...]:
    return (
        Knob(
            "budget",
            "System budget",
            "number",
            document.get("budget", 200),
            group="Budget",
            help="Words that the sections may have.",
            unit="tokens",
            minimum=0,
            maximum=100_000,
            step=10,
        ),
        Knob(
            "cap",
            "Cap of a section",
            "number",
            400,
            group="Budget",
            unit="chars",
            minimum=0,
            step=50,
            caps=("identity", "result", "retrieved"),
        ),
        Knob("keep", "Message limit", "number", 100, group="History", unit="messages", minimum=1),
        Knob("memory", "Memory", "toggle", True, group="Sections", help="Read MEMORY.md."),
        Knob("style", "Style", "choice", "plain", group="Sections", choices=("plain", "loud", "terse")),
        Knob("mark", "Mark of a cut", "text", "[cut]", group="Sections"),
        Knob("owner", "Owner", "text", None, group="Sections", optional=True),
    )


class SampleEngine:
    name = "sample"
    title = "Sample"
    rules = RULES
    session_format = None

    def __init__(self) -> None:
        self.before_assemble: Callable[[], None] = lambda: None

    def detect(self, workspace: Workspace) -> Detection | None:
        return None

    def load(self, workspace: Workspace, request: LoadRequest) -> SampleInputs:
        warnings = []
        document = dict(workspace.options)
        sections = []
        for entry in document.get("sections", []):
            if "file" in entry:
                read = read_file(workspace.path / entry["file"])
                if read.data is None:
                    assert read.problem is not None
                    line = f"{entry['file']} {read.problem.message}"
                    warnings.append(Notice("sample.file", line, Source(entry["file"])))
                text = (read.data or b"").decode("utf-8", "replace")
                entry = {**entry, "text": text}
            sections.append(entry)
        document["sections"] = sections
        return SampleInputs(
            workspace=str(workspace.path),
            session=document.get("session_name"),
            warnings=(*warnings, *(Notice("sample.note", text) for text in document.get("notes", []))),
            document=document,
            knobs=_knobs(document),
        )

    def knobs(self, inputs: SampleInputs | None) -> tuple[Knob, ...]:
        return inputs.knobs if inputs else _knobs({})

    def turns(self, inputs: SampleInputs) -> tuple[Turn, ...]:
        rows = enumerate(inputs.document.get("messages", []))
        users = [(row, entry) for row, entry in rows if entry["role"] == "user"]
        return tuple(Turn(n, str(entry["content"])[:60], row) for n, (row, entry) in enumerate(users, 1))

    def assemble(self, inputs: SampleInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        self.before_assemble()
        values: dict[str, Any] = dict(knob_values(inputs.knobs, settings))
        trace = Trace()
        sections = _Sections(inputs.document, settings, values, counter, trace).build()
        stages = _stages(inputs.document, settings, values, sections, counter, trace)
        failure = None
        if problem := inputs.document.get("fails"):
            failure = Failure("KeyError", "sample.py::assemble", problem)
            stages = stages[:1]
        roots = [section for section in sections if section.parent is None]
        parts = [Part(section.name, section.tokens) for section in roots]
        messages = sum(message.tokens for message in stages[-1].messages if message.id != "system")
        parts.append(Part("messages", messages))
        return Assembly(
            engine=EngineInfo("sample", "Sample", "1.2", inputs.document.get("fidelity", "exact")),
            tokenizer=counter.info,
            workspace=inputs.workspace,
            session=inputs.session,
            settings=settings,
            budget=Budget(
                values["budget"] + messages,
                sum(part.tokens for part in parts),
                "tokens",
                tuple(parts),
                reserved=(Part("answer", 64),),
                knob="budget",
            ),
            sections=tuple(sections) if failure is None else (),
            stages=tuple(stages),
            decisions=trace.decisions if failure is None else (),
            rules=RULES,
            warnings=inputs.warnings,
            failure=failure,
            turns=self.turns(inputs),
        )


class _Sections:
    """Builds the sections of one assembly."""

    def __init__(
        self,
        document: Mapping[str, Any],
        settings: Settings,
        values: Mapping[str, Any],
        counter: TokenCounter,
        trace: Trace,
    ) -> None:
        self.entries = document.get("sections", [])
        self.settings = settings
        self.values = values
        self.count = counter.count
        self.trace = trace

    def build(self) -> list[Section]:
        children: dict[str, list[Mapping[str, Any]]] = {}
        for entry in self.entries:
            children.setdefault(entry.get("parent", ""), []).append(entry)
        groups: list[list[Section]] = []
        for number, entry in enumerate(children.get("", [])):
            parts = [self._leaf(i, part) for i, part in enumerate(children.get(entry["name"], []))]
            if children.get(entry["name"]):
                groups.append([self._parent(number, entry, parts), *parts])
            else:
                groups.append([self._leaf(number, entry)])
        return [section for group in self._fit(groups) for section in group]

    def _decide(self, action: Action, section: str, rule: Rule, because: str, **numbers: Any) -> None:
        self.trace.decide(action, section, rule, stage="system", because=because, **numbers)

    def _leaf(self, order: int, entry: Mapping[str, Any]) -> Section:
        name = entry["name"]
        item = f"{entry['parent']}/{name}" if "parent" in entry else name
        text = self.settings.texts.get(item, entry.get("text", ""))
        whole = self.count(text)
        output, status = text, SectionStatus.KEPT if text else SectionStatus.EMPTY
        spans: tuple[Span, ...] = ()
        lost = (Span(0, len(text), False),) if text else ()
        if item in self.settings.texts:
            self._decide(Action.NOTE, item, EDITED, "Its text was edited here.")
        if item in self.settings.off:
            output, status, spans = "", SectionStatus.DISABLED, lost
            self._decide(Action.DISABLE, item, SWITCHED_OFF, "You switched it off.", before=whole, after=0)
        elif entry.get("shadowed"):
            output, status, spans = "", SectionStatus.SHADOWED, lost
            because = f"{entry['shadowed']} stands in the same folder and is read instead."
            self._decide(Action.SHADOW, item, SHADOW, because, before=whole, after=0)
        elif entry.get("literal"):
            output, status = f"@{name}", SectionStatus.LITERAL
            because = f"There is no file {name}, so the import stays as typed."
            self._decide(Action.LITERAL, item, LITERAL, because, before=whole, after=self.count(output))
        elif len(text) > self.values["cap"]:
            cap = self.values["cap"]
            output, status = text[:cap] + self.values["mark"], SectionStatus.TRUNCATED
            spans = tuple(s for s in (Span(0, cap, True), Span(cap, len(text), False)) if s.end > s.start)
            self._decide(
                Action.TRUNCATE,
                item,
                CAP,
                f"It has {len(text):,} characters and the cap is {cap:,}: the rest is cut.",
                before=whole,
                after=self.count(output),
                measured=len(text),
                limit=cap,
                unit="chars",
            )
        return self._section(entry, item, order, text, output, status, whole, spans)

    def _section(
        self,
        entry: Mapping[str, Any],
        item: str,
        order: int,
        text: str,
        output: str,
        status: SectionStatus,
        whole: int,
        spans: tuple[Span, ...] = (),
    ) -> Section:
        priority = entry.get("priority")
        return Section(
            id=item,
            name=entry["name"],
            kind=entry.get("kind", "text"),
            order=order,
            text=text,
            output=output,
            status=status,
            tokens=self.count(output),
            tokens_original=whole,
            size=len(output),
            size_original=len(text),
            unit="chars",
            parent=entry.get("parent"),
            priority=self.settings.priorities.get(item, priority),
            source=Source(entry["file"], 1) if "file" in entry else None,
            place=entry.get("place", "system"),
            spans=spans,
            stand_in=entry.get("stand_in", ""),
        )

    def _parent(self, order: int, entry: Mapping[str, Any], parts: list[Section]) -> Section:
        text = "\n".join(part.text for part in parts)
        output = "\n".join(part.output for part in parts if part.output)
        lost = any(part.lost for part in parts)
        status = SectionStatus.TRUNCATED if lost else SectionStatus.KEPT
        if entry["name"] in self.settings.off:
            output, status = "", SectionStatus.DISABLED
            because = "You switched it off."
            self._decide(Action.DISABLE, entry["name"], SWITCHED_OFF, because, before=0, after=0)
        return self._section(entry, entry["name"], order, text, output, status, self.count(text))

    def _fit(self, groups: list[list[Section]]) -> list[list[Section]]:
        budget = self.values["budget"]
        used = sum(group[0].tokens for group in groups)
        leaves = {n for n, group in enumerate(groups) if len(group) == 1 and group[0].output}
        while used > budget and leaves:
            number = min(leaves, key=lambda n: (groups[n][0].priority or 0, -n))
            leaves.remove(number)
            section = groups[number][0]
            self._decide(
                Action.DROP,
                section.id,
                BUDGET,
                f"{used:,} words are over the budget of {budget:,} and its priority is the lowest.",
                before=section.tokens,
                after=0,
                measured=used,
                limit=budget,
                unit="tokens",
            )
            used -= section.tokens
            spans = (Span(0, len(section.text), False),)
            groups[number] = [
                replace(
                    section,
                    output="",
                    tokens=0,
                    size=0,
                    spans=spans,
                    offset=None,
                    status=SectionStatus.DROPPED,
                )
            ]
        return groups


def _stages(
    document: Mapping[str, Any],
    settings: Settings,
    values: Mapping[str, Any],
    sections: list[Section],
    counter: TokenCounter,
    trace: Trace,
) -> list[Stage]:
    rows = list(_rows(document.get("messages", []), settings.turn))
    stored = tuple(
        Message(f"m{n}", row["role"], row["content"], counter.count(row["content"]), (f"m{n}",))
        for n, row in rows
    )
    outputs = [s.output for s in sections if s.parent is None and s.output and s.place == "system"]
    prompt = "\n\n".join(outputs)
    system = Message("system", "system", prompt, counter.count(prompt))
    trace.decide(
        Action.INSERT,
        "system",
        SYSTEM,
        stage="initial",
        because="The sections are put in front of the messages.",
        before=0,
        after=system.tokens,
    )
    initial, gone = [system], []
    for message in stored:
        if message.id in settings.off:
            gone.append(message)
            trace.decide(
                Action.DISABLE,
                message.id,
                SWITCHED_OFF,
                stage="initial",
                because="You switched it off.",
                before=message.tokens,
                after=0,
            )
        else:
            initial.append(message)
    keep = values["keep"]
    over = max(len(initial) - 1 - keep, 0)
    dropped = tuple(initial[1 : 1 + over])
    for message in dropped:
        trace.decide(
            Action.DROP,
            message.id,
            TRIM,
            stage="trim",
            because=f"{len(initial) - 1:,} messages are more than the {keep:,} that are kept.",
            before=message.tokens,
            after=0,
            measured=len(initial) - 1,
            limit=keep,
            unit="messages",
        )
    before = tuple(initial)
    after = (system, *initial[1 + over :]) if over else before
    inserted = {"system": MessageStatus.INSERTED}
    return [
        _stage("session", StageKind.SESSION, stored, {}),
        _stage("initial", StageKind.INITIAL, before, inserted, tuple(gone)),
        _stage("trim", StageKind.STEP, after, {}, dropped),
        _stage("final", StageKind.FINAL, after, {}, dropped),
    ]


def _rows(messages: list[Any], turn: int | None) -> Iterable[tuple[int, Any]]:
    users = 0
    for number, row in enumerate(messages):
        if row["role"] == "user":
            users += 1
            if turn is not None and users > turn:
                return
        yield number, row


def _stage(
    name: str,
    kind: StageKind,
    messages: tuple[Message, ...],
    statuses: dict[str, MessageStatus],
    dropped: tuple[Message, ...] = (),
) -> Stage:
    tokens = sum(message.tokens for message in messages)
    return Stage(name, kind, name.upper(), messages, dropped, MappingProxyType(statuses), tokens)


ENGINE = SampleEngine()

DOCUMENT = """\
engine = "sample"
budget = 200
session_name = "nightly.jsonl"

[[sections]]
name = "identity"
kind = "identity"
priority = 100
text = "You are a careful coding agent who reads before writing and says what is not known."

[[sections]]
name = "safety rules"
kind = "policy"
priority = 100
text = "Never run a command that deletes files unless the user names them."

[[sections]]
name = "context"
kind = "context"
priority = 90

[[sections]]
name = "AGENTS.md"
kind = "file"
parent = "context"
file = "AGENTS.md"

[[sections]]
name = "CLAUDE.md"
kind = "file"
parent = "context"
text = "Use tabs."
shadowed = "AGENTS.md"

[[sections]]
name = "docs/missing.md"
kind = "import"
parent = "context"
text = "docs/missing.md"
literal = true

[[sections]]
name = "skills"
kind = "skills"
priority = 80

[[sections]]
name = "git"
kind = "skill"
parent = "skills"
text = "Commit often with short subjects."

[[sections]]
name = "deploy"
kind = "skill"
parent = "skills"
text = "Ask before a release."

[[sections]]
name = "MEMORY.md"
kind = "memory"
priority = 70
file = "MEMORY.md"

[[sections]]
name = "user profile"
kind = "memory"
priority = 65
text = ""

[[sections]]
name = "tool result: grep"
kind = "result"
priority = 60
file = "grep.txt"

[[sections]]
name = "retrieved: auth.md"
kind = "retrieved"
priority = 40
file = "auth.md"

[[sections]]
name = "retrieved: api.md"
kind = "retrieved"
priority = 40
text = "The API answers in JSON and has a limit of sixty calls a minute for each key."

[[messages]]
role = "user"
content = "Please look at why the tests fail on the second run."

[[messages]]
role = "assistant"
content = "The cache is not cleared between runs."

[[messages]]
role = "user"
content = "Fix it and run them again."

[[messages]]
role = "assistant"
content = "Done: all tests pass twice."

[[messages]]
role = "user"
content = "Now write the change log."

[scenarios.small]
budget = 60
"""

FILES = {
    "AGENTS.md": "Run the tests before every commit.\nKeep functions short.\n"
    "No new dependencies without a word.\n",
    "MEMORY.md": "The user works in Berlin and likes short answers.\n",
    "grep.txt": "".join(f"src/app/cli.py:{n}: from .config import load_config\n" for n in range(11, 31)),
    "auth.md": "Every request carries a bearer token. Tokens expire after fifteen minutes.\n" * 14,
}


def write_workspace(folder: Path, document: str = DOCUMENT, files: Mapping[str, str] = FILES) -> Path:
    """A workspace of the sample engine on disk."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "promptdbg.toml").write_text(document, encoding="utf-8")
    return folder


def opener(folder: Path, counter: TokenCounter | None = None) -> Callable[[], Debugger]:
    """Opens the workspace as the app does: in its thread."""
    return lambda: Debugger(
        open_workspace(folder, OpenRequest(now="2026-01-15T10:00:00")), counter=counter or WordCounter()
    )


def install() -> None:
    """Make the engine known by its name; idempotent."""
    engines._ENGINES["sample"] = "tests.tui.sample:ENGINE"
    engines.engine.cache_clear()
