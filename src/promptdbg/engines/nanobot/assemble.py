"""One turn, rebuilt: from the stored session to the list a provider gets.

The order is nanobot's own (``agent/loop.py``: restore, compact, build, run), so that where the real
program would raise, ours has got just as far.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from promptdbg.engines.base import Trace
from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.consolidation import Archiver, Consolidated, consolidate
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.current import Current, Message, build_current, moment
from promptdbg.engines.nanobot.estimate import Estimate, Estimator, ToolSet
from promptdbg.engines.nanobot.events import Event, Step, absorbed, dropped, inserted
from promptdbg.engines.nanobot.governance import Governor
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.knobs import Options, resolve
from promptdbg.engines.nanobot.ledger import report
from promptdbg.engines.nanobot.loading import LoadedSession
from promptdbg.engines.nanobot.merge import META, joined_content
from promptdbg.engines.nanobot.prompt import (
    PromptParts,
    PromptRequest,
    Summary,
    SystemPrompt,
    build_prompt,
    usable_skills,
)
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.recent import HistoryEntry
from promptdbg.engines.nanobot.recorder import Recorder
from promptdbg.engines.nanobot.replay import history
from promptdbg.engines.nanobot.requests import EVENTS_BEFORE, Compactor, Request, TurnRow, run_requests
from promptdbg.engines.nanobot.restore import Restored, restore
from promptdbg.engines.nanobot.rows import Row, Rows, dumps
from promptdbg.engines.nanobot.saving import check_saving
from promptdbg.engines.nanobot.skills import Skill, judge
from promptdbg.engines.nanobot.toolresults import ResultRules
from promptdbg.engines.nanobot.tools import order_tools
from promptdbg.engines.nanobot.turn import TurnView, produced, view, what_if
from promptdbg.model import Action, Assembly, Settings, StageKind
from promptdbg.tokens import TokenCounter

TITLES = {
    "session": "Stored session",
    "settings": "Switched off or edited here",
    "restore": "Crashed turn restored",
    "history": "History replayed",
    "initial": "Initial messages",
    EVENTS_BEFORE: "Rows of this turn",
    "strip_placeholder_assistant_messages": "Placeholders removed",
    "strip_malformed_tool_calls": "Malformed calls removed",
    "drop_orphan_tool_results": "Orphan results dropped",
    "backfill_missing_tool_results": "Missing results filled in",
    "microcompact": "Old results compacted",
    "apply_tool_result_budget": "Long results stored in files",
    "compact_inflight_overflow": "Results of this turn compacted",
    "snip_history": "History snipped",
    "snip_history(force)": "History snipped under pressure",
    "drop_orphan_tool_results_2": "Orphan results dropped again",
    "backfill_missing_tool_results_2": "Missing results filled in again",
    "merge_adjacent_user_messages": "User messages merged",
    "compact_request_history": "History replaced by a summary",
    "final": "Sent to the model",
}
_PROVIDER_CHANNEL = "websocket"


@dataclass
class Turn:
    """Everything one assembly computed, for tests and for comparing with the real program."""

    inputs: NanobotInputs
    settings: Settings
    options: Options
    loaded: LoadedSession
    seen: TurnView
    prose: Prose
    estimator: Estimator
    tools: ToolSet
    trace: Trace
    recorder: Recorder
    prompt_parts: PromptParts | None = None
    rows: Rows = ()
    archived: int = 0
    restored: Restored | None = None
    summary: Summary | None = None
    consolidated: Consolidated | None = None
    history: Step | None = None
    current: Current | None = None
    prompt: SystemPrompt | None = None
    """The prompt of the last list; compaction builds another than ``first_prompt``."""
    first_prompt: SystemPrompt | None = None
    initial: Rows = ()
    initial_estimate: Estimate | None = None
    governor: Governor | None = None
    request: Request | None = None
    requests: int = 1
    crash: Crash | None = None
    assembly: Assembly | None = field(default=None, repr=False)

    @property
    def session_key(self) -> str:
        return self.inputs.session_key

    @property
    def project(self) -> str:
        """The folder the turn works in, as shown; only the WebUI's channel has projects."""
        scoped = self.options.channel == _PROVIDER_CHANNEL
        return self.inputs.shown_project if scoped else self.inputs.shown_workspace

    @property
    def ephemeral(self) -> bool:
        return self.options.ephemeral or not self.options.memory


def rebuild(inputs: NanobotInputs, settings: Settings, counter: TokenCounter) -> Turn:
    """One turn with all its parts; ``Turn.assembly`` is the engine's answer.

    Raises:
        UsageError: a setting does not fit, or there is no such turn.
    """
    options = resolve(inputs, settings)
    loaded = inputs.loaded(options.dialect.name)
    trace = Trace()
    estimator = Estimator(options.dialect, options.tokenizer)
    tools = order_tools(inputs.tools, settings.off)
    turn = Turn(
        inputs=inputs,
        settings=settings,
        options=options,
        loaded=loaded,
        seen=view(loaded, settings.turn),
        prose=inputs.prose[options.dialect.name],
        estimator=estimator,
        tools=tools,
        trace=trace,
        recorder=Recorder(counter, estimator, tools, trace),
    )
    try:
        _run(turn)
    except Crash as crash:
        turn.crash = crash
    turn.assembly = report(turn, counter)
    return turn


def _run(turn: Turn) -> None:
    _start(turn)
    if turn.loaded.crash is not None:
        raise turn.loaded.crash
    _restore(turn)
    turn.summary = _summary(turn)
    turn.prompt_parts = _prompt_parts(turn)
    if turn.options.dialect.consolidates:
        _consolidate(turn)
    else:
        _probe(turn)
    _replay(turn)
    late_save = not turn.options.dialect.explicit_skills
    if not late_save:
        _save(turn)
    _build(turn)
    if late_save:
        _save(turn)
    _send(turn)


# ---- before history ------------------------------------------------------------------------------


def _start(turn: Turn) -> None:
    turn.recorder.start("session", TITLES["session"], turn.seen.rows)
    for item in turn.loaded.migrated:
        because = "a call of write_stdin is read as one of exec_session"
        if any(row.id == item for row in turn.seen.rows):
            turn.trace.decide(Action.NOTE, item, rules.MIGRATED_CALL, stage="session", because=because)
    changed = what_if(turn.seen.rows, turn.seen.archived, turn.settings.off, turn.settings.texts)
    turn.archived = changed.archived
    if changed.step.events:
        turn.recorder.step("settings", TITLES["settings"], changed.step)
    turn.rows = changed.step.rows


def _restore(turn: Turn) -> None:
    now = _naive(turn.options.now)
    turn.restored = restore(turn.rows, turn.seen.metadata, turn.options.dialect, turn.prose, now)
    turn.rows = turn.restored.rows
    if turn.restored.events:
        turn.recorder.step("restore", TITLES["restore"], Step(turn.rows, turn.restored.events))


def _naive(now: str) -> str:
    """The clock as nanobot writes it: local time without an offset."""
    return datetime.fromisoformat(now).replace(tzinfo=None).isoformat()


def updated_at(turn: Turn) -> str:
    """The session's last change as ISO text; the clock's where none is stored."""
    now = _naive(turn.options.now)
    if turn.restored is not None and turn.restored.updated:
        return now
    stored = turn.loaded.updated_at
    return datetime.fromisoformat(stored).isoformat() if stored else now


def _summary(turn: Turn) -> Summary | None:
    """The archived summary this turn shows; taken before consolidation, so a fresh one misses it."""
    assert turn.restored is not None
    if turn.session_key.startswith("dream:"):
        return None
    if turn.options.dialect.compacts_requests and turn.ephemeral:
        return None
    raw = turn.restored.metadata.get("_last_summary")
    if not isinstance(raw, dict):
        return None
    if turn.options.dialect.strict_summary:
        return _strict_summary(raw)
    text, active = raw.get("text"), raw.get("last_active")
    if not isinstance(text, str) or not text:
        return None
    if isinstance(active, str) and _is_iso(active):
        return Summary(text, active)
    return Summary(text, updated_at(turn))


def _strict_summary(raw: dict[str, object]) -> Summary:
    where, meaning = (
        "agent/autocompact.py::prepare_session",
        "The stored summary makes every turn fail in 0.2.2.",
    )
    for name in ("text", "last_active"):
        if name not in raw:
            raise Crash("KeyError", f"'{name}'", where, meaning)
    active = raw["last_active"]
    if not isinstance(active, str):
        raise Crash("TypeError", "fromisoformat: argument must be str", where, meaning)
    try:
        shown = datetime.fromisoformat(active).isoformat()
    except ValueError as error:
        raise Crash("ValueError", str(error), where, meaning) from error
    return Summary(str(raw["text"]), shown)


def _is_iso(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


# ---- consolidation -------------------------------------------------------------------------------


def _prompt_parts(turn: Turn) -> PromptParts:
    return PromptParts(
        inputs=turn.inputs,
        dialect=turn.options.dialect,
        prose=turn.prose,
        skills=_skills(turn),
        disabled=turn.options.disabled,
        off=turn.settings.off,
        texts=turn.settings.texts,
        tokenizer=turn.options.tokenizer,
    )


def _skills(turn: Turn) -> tuple[Skill, ...]:
    """Every skill on disk, judged.

    Raises:
        Crash: a skill file is not UTF-8, or its metadata makes nanobot raise.
    """
    inputs, options = turn.inputs, turn.options
    judged: list[Skill] = []
    roots = (
        ("workspace", inputs.skills, f"{inputs.shown_workspace}/skills"),
        ("builtin", inputs.builtin_skills, inputs.builtin_root),
    )
    for origin, files, root in roots:
        by_name = options.skill_order == "name"
        for file in sorted(files, key=lambda entry: entry.name) if by_name else files:
            item = f"skills/{file.name}" if origin == "workspace" else f"skills/builtin/{file.name}"
            text = turn.settings.texts.get(item, file.file.text)
            if text is None:
                if file.name in options.disabled:
                    continue
                error, _, message = file.file.error.partition(": ")
                meaning = f"The skill {file.name} cannot be read: every turn fails."
                raise Crash(error, message, "agent/skills.py::load_skill", meaning)
            path = str(PurePosixPath(root) / file.name / "SKILL.md")
            judged.append(judge(file, origin, path, text, inputs.machine, options.dialect))
    return tuple(judged)


def _probe_system(turn: Turn, extra: tuple[HistoryEntry, ...]) -> str:
    """The system prompt of a probe: the agent's own workspace, the channel in the session's key."""
    channel = turn.session_key.split(":", 1)[0] if ":" in turn.session_key else ""
    summary = _probe_summary(turn)
    request = PromptRequest(
        channel=channel,
        project=turn.inputs.shown_workspace,
        summary=summary,
        session_key=turn.session_key,
        unified=turn.options.unified,
        extra_history=extra,
    )
    assert turn.prompt_parts is not None
    key = (
        "probe",
        turn.options,
        turn.settings.off,
        tuple(sorted(turn.settings.texts.items())),
        summary,
        extra,
    )
    cache = turn.inputs.cache
    if cache.get("probe-key") != key:
        cache["probe-key"], cache["probe-text"] = key, build_prompt(turn.prompt_parts, request).text
    return str(cache["probe-text"])


def _probe_summary(turn: Turn) -> Summary | None:
    """0.2.2 measures the bare text; the others what a turn would show."""
    assert turn.restored is not None
    if not turn.options.dialect.strict_summary:
        raw = turn.restored.metadata.get("_last_summary")
        text = raw.get("text") if isinstance(raw, dict) else None
        if turn.summary is not None or not isinstance(text, str) or not text:
            return turn.summary
        active = raw.get("last_active") if isinstance(raw, dict) else None
        return Summary(text, active if isinstance(active, str) and _is_iso(active) else updated_at(turn))
    raw = turn.restored.metadata.get("_last_summary")
    text = raw.get("text") if isinstance(raw, dict) else raw
    return Summary(text, None) if isinstance(text, str) and text else None


def _probe_message(turn: Turn, text: str) -> str:
    """The probe's user text; 0.2.2 appends the time and the route of the session's key."""
    if turn.options.dialect.explicit_skills:
        return text
    channel, _, chat = turn.session_key.partition(":")
    if not chat and ":" not in turn.session_key:
        channel = ""
    message = Message(text, (), (), channel, chat, "", turn.options.now, turn.options.timezone)
    built = build_current(message, turn.options.dialect, (), turn.settings.off, {})
    return str(built.value["content"])


def _archiver(turn: Turn) -> Archiver:
    options = turn.options
    clock = moment(options.now, "UTC") if "+" in options.now else datetime.fromisoformat(options.now)
    return Archiver(
        dialect=options.dialect,
        estimator=turn.estimator,
        tools=turn.tools,
        prose=turn.prose,
        budget=options.consolidation_budget,
        target=options.consolidation_target,
        max_messages=options.max_messages,
        session_key=turn.session_key,
        now=clock.strftime("%Y-%m-%d %H:%M"),
        system=lambda extra: _probe_system(turn, extra),
        message=lambda text: _probe_message(turn, text),
        reply=options.summary if options.consolidation == "succeeds" else None,
        acts=options.consolidation in ("succeeds", "fails"),
        memo=turn.inputs.replays,
    )


def _consolidate(turn: Turn) -> None:
    enabled = turn.options.window > 0 and turn.options.consolidation != "off"
    turn.consolidated = consolidate(
        _archiver(turn), turn.rows, turn.archived, ephemeral=turn.ephemeral, enabled=enabled
    )


def _probe(turn: Turn) -> None:
    """0.3.5 archives nothing before a turn; the probe's size is still worth knowing."""
    archiver = _archiver(turn)
    probe = archiver.probe(turn.rows, turn.archived)
    turn.consolidated = Consolidated(
        probe, turn.options.consolidation_budget, 0, False, None, turn.archived, turn.archived
    )


# ---- history and initial list --------------------------------------------------------------------


def _replay(turn: Turn) -> None:
    options, consolidated = turn.options, turn.consolidated
    assert consolidated is not None
    archived = consolidated.last_after
    step = history(
        turn.rows,
        archived,
        options.dialect,
        turn.estimator,
        cap=options.replay_budget if options.dialect.token_cap else 0,
        count=options.max_messages,
        memo=turn.inputs.replays,
    )
    turn.history = replace(step, events=_archived_now(step.events, turn, consolidated))
    turn.recorder.step("history", TITLES["history"], turn.history)


def _archived_now(events: tuple[Event, ...], turn: Turn, consolidated: Consolidated) -> tuple[Event, ...]:
    """Rows that left because this very turn archived them say so."""
    if consolidated.last_after == consolidated.last_before:
        return events
    moved = {row.id for row in turn.rows[consolidated.last_before : consolidated.last_after]}
    overflow = {
        row.id for part in consolidated.rounds if part.overflow for row in turn.rows[part.start : part.end]
    }
    probe = consolidated.probe.tokens
    out: list[Event] = []
    for event in events:
        if event.item in moved and event.rule is rules.HISTORY_START:
            if event.item in overflow:
                because = "it was archived now: more rows were stored than are replayed"
                out.append(dropped(event.before[0], rules.OVERFLOW_ARCHIVED, because))
                continue
            because = f"the prompt would be {probe:,} tokens, {consolidated.budget:,} fit: archived just now"
            row = event.before[0]
            out.append(
                dropped(
                    row,
                    rules.ARCHIVED_NOW,
                    because,
                    measured=probe,
                    limit=consolidated.budget,
                    unit="tokens",
                )
            )
        else:
            out.append(event)
    return tuple(out)


def _message(turn: Turn) -> Message:
    options, inputs, row = turn.options, turn.inputs, turn.seen.current
    text = options.message
    blocks, media = inputs.runtime_blocks, inputs.media
    if row is not None and "message" not in turn.settings.values:
        content = row.content
        text = content if isinstance(content, str) else dumps(content) if content is not None else ""
        blocks, media = (), ()
    for item in ("current/text", "current"):
        text = turn.settings.texts.get(item, text)
    if row is not None:
        text = turn.settings.texts.get(row.id, text)
    return Message(
        text=text,
        media=media,
        blocks=blocks,
        channel=options.channel,
        chat_id=options.chat_id,
        sender=options.sender,
        now=options.now,
        timezone=options.timezone,
        extract_documents=inputs.config.extract_documents,
    )


def _save(turn: Turn) -> None:
    """Storing the session comes before the request, and a lone surrogate cannot be stored."""
    assert turn.restored is not None
    if turn.settings.turn is None:
        text = _message(turn).text
        check_saving(turn.rows, turn.restored.metadata, text, turn.options.dialect)


def _build(turn: Turn) -> None:
    options = turn.options
    assert turn.prompt_parts is not None
    skills = tuple(usable_skills(turn.prompt_parts))
    turn.current = build_current(
        _message(turn), options.dialect, skills, turn.settings.off, turn.settings.texts
    )
    request = _prompt_request(turn, turn.summary)
    turn.prompt = turn.first_prompt = build_prompt(turn.prompt_parts, request)
    step = _initial(turn, turn.prompt.text, turn.current)
    turn.initial = step.rows
    turn.initial_estimate = turn.recorder.step(
        "initial", TITLES["initial"], step, kind=StageKind.INITIAL, measured=True
    )


def _prompt_request(turn: Turn, summary: Summary | None) -> PromptRequest:
    assert turn.consolidated is not None
    return PromptRequest(
        channel=turn.options.channel,
        project=turn.project,
        summary=summary,
        session_key=turn.session_key,
        unified=turn.options.unified,
        memory=turn.options.memory or not turn.options.dialect.explicit_skills,
        recent=not turn.ephemeral,
        extra_history=tuple(turn.consolidated.entries),
    )


def _initial(turn: Turn, system: str, current: Current) -> Step:
    replayed = turn.recorder.rows
    system_row = Row("system", {"role": "system", "content": system})
    first = inserted(system_row, rules.SYSTEM_BUILT, "built from the workspace for every turn")
    row = Row("current", current.value)
    if turn.seen.current is not None:
        stored = turn.seen.current
        row = Row(stored.id, current.value, source=stored.source, evidence=stored.evidence)
    last = replayed[-1] if replayed else None
    if last is None or last.role != "user" or not turn.options.dialect.merges_initial:
        added = inserted(row, rules.CURRENT_ADDED, "the message this turn answers")
        return Step((system_row, *replayed, row), (first, added))
    keep_empty = not turn.options.dialect.explicit_skills
    value = {
        **last.value,
        "content": joined_content(last.content, row.content, keep_empty_right=keep_empty),
    }
    if META in row.value:
        value[META] = row.value[META]
    after = last.replaced(value, (*last.sources, *row.sources))
    because = f"{last.id} before it is a user message too, so both become one"
    return Step(
        (system_row, *replayed[:-1], after), (first, absorbed(last, after, rules.CURRENT_MERGED, because))
    )


# ---- requests ------------------------------------------------------------------------------------


def _send(turn: Turn) -> None:
    options = turn.options
    turn.governor = Governor(
        dialect=options.dialect,
        prose=turn.prose,
        estimator=turn.estimator,
        tools=turn.tools,
        results=ResultRules(options.dialect, turn.prose, turn.project, turn.session_key, options.result_cap),
        budget=options.input_budget,
        inflight_start=len(turn.initial),
        compaction=options.compaction,
    )
    rows = _turn_rows(turn)
    known = 1 + sum(added.row.role == "assistant" for added in rows)
    turn.requests = known
    number = min(options.request, known)
    before, request = run_requests(turn.governor, turn.initial, rows, number, _compactor(turn))
    turn.request = request
    if before.rows is not turn.initial or before.events:
        turn.recorder.step(EVENTS_BEFORE, TITLES[EVENTS_BEFORE], before)
    for named in request.steps:
        turn.recorder.step(named.name, TITLES[named.name], named.step, measured=True)
    if request.failure is not None:
        raise request.failure
    turn.recorder.finish(TITLES["final"])


def _turn_rows(turn: Turn) -> tuple[TurnRow, ...]:
    if turn.seen.current is not None:
        stored = what_if(turn.seen.following, 0, turn.settings.off, turn.settings.texts).step.rows
        return tuple(TurnRow(produced(row), fresh=False) for row in stored)
    return tuple(
        TurnRow(Row(f"t{index}", value), fresh=True) for index, value in enumerate(turn.inputs.inflight)
    )


def _compactor(turn: Turn) -> Compactor:
    options = turn.options

    def system_with(summary: str) -> Row:
        clock = datetime.fromisoformat(options.now)
        active = clock.isoformat() if clock.tzinfo else f"{clock.isoformat()}+00:00"
        assert turn.prompt_parts is not None
        turn.prompt = build_prompt(turn.prompt_parts, _prompt_request(turn, Summary(summary, active)))
        return Row("system", {"role": "system", "content": turn.prompt.text})

    return Compactor(
        persistent=not turn.ephemeral,
        window=options.window,
        max_output=options.max_output,
        session_key=turn.session_key,
        tokenizer=options.tokenizer,
        reply=None if options.consolidation == "fails" else options.summary,
        enabled=options.compaction and options.consolidation != "off",
        rebuild=system_with,
        active_summary=turn.summary.text if turn.summary else None,
    )
