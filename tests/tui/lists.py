"""Message lists for the screen tests: an assembly with everything that can happen to a message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from textual.pilot import Pilot

from promptdbg.analysis.alignment import Alignment
from promptdbg.debug import Debugger, opened_assembly
from promptdbg.model import (
    Action,
    Assembly,
    Budget,
    Decision,
    EngineInfo,
    Failure,
    Message,
    MessageStatus,
    Rule,
    Settings,
    Source,
    Stage,
    StageKind,
    TokenizerInfo,
)
from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.message_view import Entry, Plan
from promptdbg.tui.screens.messages import MessagesScreen
from promptdbg.tui.widgets.chrome import Header, Status
from promptdbg.tui.widgets.message_columns import MessageColumns
from tests.tui.conftest import settled

CUT = Rule("lists.results.cap", "A tool result is cut at its cap", "lists", "1", "lists.py::cap")
SNIP = Rule("lists.history.snip", "The oldest rows go first", "lists", "1", "lists.py::snip")
FILL = Rule("lists.calls.fill", "A call without a result gets one", "lists", "1", "lists.py::fill")
JOIN = Rule("lists.turn.join", "Neighbours of one role are joined", "lists", "1", "lists.py::join")
SYSTEM = Rule("lists.system", "The system prompt comes first", "lists", "1", "lists.py::system")
RULES = (SYSTEM, JOIN, FILL, CUT, SNIP)

_CHAT = ("role", "content")
_IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 1200


def message(item: str, role: str, content: Any, **more: Any) -> Message:
    tokens = len(str(content).split()) if isinstance(content, str) else 85
    source = Source("sessions/demo.jsonl", int(item[1:]) + 2) if item[1:].isdigit() else None
    wire = (*_CHAT, *(key for key in more if key != "extra"), *more.get("extra", ()))
    return Message(item, role, content, tokens, sources=(item,), source=source, wire=wire, **more)


def call(name: str, number: str, arguments: str) -> dict[str, Any]:
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


def stage(
    name: str,
    kind: StageKind,
    messages: Sequence[Message],
    dropped: Sequence[Message] = (),
    statuses: Mapping[str, MessageStatus] = MappingProxyType({}),
) -> Stage:
    return Stage(
        name,
        kind,
        name.replace("-", " ").capitalize(),
        tuple(messages),
        tuple(dropped),
        statuses,
        sum(m.tokens for m in messages),
    )


def conversation(equal: int = 24, texts: Sequence[str] = ()) -> Assembly:
    """A session with calls, an image, thinking, and what three steps make of it.

    Args:
        equal: questions and answers in the middle that nothing happens to.
        texts: contents of further user messages at the end.
    """
    rows = [
        message("m0", "user", "An old question that nobody needs any more."),
        message("m1", "assistant", "An old answer."),
        message("m2", "user", "Please look at why test_cli fails on the second run."),
        message(
            "m3",
            "assistant",
            "I look for the call sites.",
            tool_calls=[
                call("grep", "c1", '{"pattern": "load_config"}'),
                call("ls", "c2", '{"path": "src"}'),
            ],
        ),
        message(
            "m4",
            "tool",
            "".join(f"src/app/cli.py:{n}: cfg = load_config()\n" for n in range(14, 60)),
            tool_call_id="c1",
            name="grep",
        ),
        message(
            "m5",
            "user",
            [
                {"type": "image_url", "image_url": {"url": _IMAGE}},
                {"type": "text", "text": "This is what I see."},
            ],
        ),
        message(
            "m6",
            "assistant",
            "It falls back to the default profile.",
            extra=MappingProxyType({"reasoning_content": "The second run finds no file."}),
        ),
    ]
    first = len(rows)
    for number in range(first, first + equal):
        role, word = ("user", "question") if (number - first) % 2 == 0 else ("assistant", "answer")
        rows.append(message(f"m{number}", role, f"{word} {number}"))
    rows += [message(f"m{len(rows) + n}", "user", text) for n, text in enumerate(texts)]
    rows.append(message(f"m{len(rows)}", "user", "Try it without the cache."))
    return _assembled(rows)


def _assembled(rows: list[Message]) -> Assembly:
    system = message("system", "system", "You are a careful coding agent.\nFollow the project notes.")
    last, now = rows[-1], "And tell me what you see."
    joined = replace(
        last,
        content=f"{last.content}\n\n{now}",
        tokens=last.tokens + len(now.split()),
        sources=(last.id, "current"),
    )
    initial = [system, *rows[2:-1], joined]
    filled = message("backfill:c2:0", "tool", "[no result]", tool_call_id="c2", name="ls")
    filled = replace(filled, sources=("m3",))
    repaired = [*initial[:4], filled, *initial[4:]]
    long = rows[4]
    short = replace(long, content=long.content[:90] + "\n[the rest is cut]", tokens=12)
    final = [short if m is long else m for m in repaired]
    old = rows[:2]
    over = f"{len(rows):,} rows are over the cap."
    cut = _decision(CUT, "results", Action.TRUNCATE, short, long.tokens, "It is longer than 90 characters.")
    decisions = [
        _decision(SYSTEM, "initial", Action.INSERT, system, 0, "The system prompt comes first."),
        *(_decision(SNIP, "initial", Action.DROP, replace(m, tokens=0), m.tokens, over) for m in old),
        _decision(JOIN, "initial", Action.MERGE, joined, last.tokens, "The row before has the same role."),
        _decision(FILL, "repair", Action.INSERT, filled, 0, "The call c2 has no result."),
        replace(cut, measured=len(long.content), limit=90, unit="chars"),
    ]
    added, joins, cuts = MessageStatus.INSERTED, MessageStatus.MERGED, MessageStatus.REWRITTEN
    stages = (
        stage("session", StageKind.SESSION, rows),
        stage("initial", StageKind.INITIAL, initial, old, {"system": added, last.id: joins}),
        stage("repair", StageKind.STEP, repaired, statuses={filled.id: added}),
        stage("results", StageKind.STEP, final, statuses={"m4": cuts}),
        stage("final", StageKind.FINAL, final, statuses={"m4": cuts, filled.id: added}),
    )
    numbered = tuple(replace(d, id=f"d{n}") for n, d in enumerate(decisions, 1))
    return assembly(stages, numbered)


def _decision(rule: Rule, where: str, action: Action, item: Message, before: int, because: str) -> Decision:
    return Decision("", where, rule.id, action, item.id, because, before, item.tokens)


def assembly(
    stages: Sequence[Stage], decisions: Sequence[Decision] = (), failure: Failure | None = None
) -> Assembly:
    return Assembly(
        engine=EngineInfo("lists", "Lists", "1"),
        tokenizer=TokenizerInfo("words", exact=True),
        workspace="/srv/demo",
        session="/srv/demo/sessions/demo.jsonl",
        settings=Settings(),
        budget=Budget(None, 0, "tokens"),
        sections=(),
        stages=tuple(stages),
        decisions=tuple(decisions),
        rules=RULES,
        failure=failure,
    )


class Lists:
    """The Messages screen on one assembly, and what a test asks of it."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.pilot = pilot
        app = pilot.app
        assert isinstance(app, PromptdbgApp)
        self.app = app

    @property
    def screen(self) -> MessagesScreen:
        screen = self.app.screen
        assert isinstance(screen, MessagesScreen)
        return screen

    @property
    def columns(self) -> MessageColumns:
        return self.screen.lists

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait for what is aligned and laid out in threads."""
        await self.pilot.pause()
        busy = [worker for worker in self.app.workers if worker.group in ("layout", "align")]
        if busy:
            await self.app.workers.wait_for_complete(busy)
            await self.pilot.pause()

    @property
    def plan(self) -> Plan:
        plan = self.columns.plan
        assert plan is not None
        return plan

    @property
    def alignment(self) -> Alignment:
        return self.plan.alignment

    @property
    def names(self) -> list[str]:
        """The stages that the columns show."""
        return [column.stage.name for column in self.alignment.columns]

    @property
    def entries(self) -> Sequence[Entry]:
        return self.plan.entries

    @property
    def shown(self) -> tuple[int, ...]:
        """The columns in sight."""
        return self.plan.grid.shown

    @property
    def status(self) -> str:
        assert self.app.on_top is not None
        return self.app.on_top.query_one(Status).line

    @property
    def header(self) -> str:
        return " | ".join(cell.text for cell in self.screen.query_one(Header).cells)

    def lines(self) -> list[str]:
        """All lines of the lists, also those out of sight."""
        columns = self.columns
        width = columns.text_width
        head = [columns.draw_head(y, width).text for y in range(columns.head_height)]
        body = [columns.draw_line(line, width).text for line in range(columns.line_count())]
        return [line.rstrip() for line in (*head, *body)]

    def entry(self) -> list[str]:
        """The lines of the entry under the cursor."""
        columns = self.columns
        top = columns.top_of(columns.cursor)
        return self.lines()[2 + top : 2 + top + columns.height_of(columns.cursor)]


@asynccontextmanager
async def lists_of(
    shown: Assembly, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[Lists]:
    """The app with the Messages screen open on an assembly."""
    app = PromptdbgApp(lambda: Debugger(opened_assembly(shown)), watch=False, show_times=False, **options)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        lists = Lists(pilot)
        await pilot.press("m")
        await lists.settle()
        yield lists
