"""One turn, rebuilt: from the stored session to the list a provider gets.

The order is nanobot's own (``agent/loop.py``: restore, compact, build, run), so that where the real
program would raise, ours has got just as far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from promptdbg.engines.base import Trace
from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.beforehand import (
    archived_summary,
    measure_only,
    prompt_parts,
    restore_crashed,
    run_consolidation,
    start,
    summary_problem,
)
from promptdbg.engines.nanobot.consolidation import Consolidated
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.current import Message, build_current
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.estimate import Estimator
from promptdbg.engines.nanobot.events import Event, Step, absorbed, dropped, inserted
from promptdbg.engines.nanobot.governor import Governor
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.knobs import resolve
from promptdbg.engines.nanobot.ledger import report
from promptdbg.engines.nanobot.merge import META, joined_content
from promptdbg.engines.nanobot.prompt import (
    PromptRequest,
    Summary,
    build_prompt,
    usable_skills,
)
from promptdbg.engines.nanobot.recorder import Recorder
from promptdbg.engines.nanobot.replay import history
from promptdbg.engines.nanobot.requests import EVENTS_BEFORE, Compactor, TurnRow, run_requests
from promptdbg.engines.nanobot.rows import Row, Rows, dumps, said
from promptdbg.engines.nanobot.saving import check_saving
from promptdbg.engines.nanobot.state import TITLES, Turn
from promptdbg.engines.nanobot.toolresults import ResultRules
from promptdbg.engines.nanobot.tools import order_tools
from promptdbg.engines.nanobot.turn import produced, session_turns, view, what_if
from promptdbg.model import Json, Settings, StageKind
from promptdbg.tokens import TokenCounter


def rebuild(inputs: NanobotInputs, settings: Settings, counter: TokenCounter) -> Turn:
    """One turn with all its parts; ``Turn.assembly`` is the engine's answer.

    Raises:
        UsageError: a setting does not fit, or there is no such turn.
    """
    options = resolve(inputs, settings)
    reuse = inputs.reuse
    reuse.begin()
    loaded = inputs.loaded(options.dialect.name)
    trace = Trace()
    estimator = reuse(Estimator, options.dialect, options.tokenizer)
    tools = reuse(order_tools, inputs.tools, settings.off)
    turns = session_turns(inputs, options.dialect.name)
    turn = Turn(
        inputs=inputs,
        settings=settings,
        options=options,
        loaded=loaded,
        seen=reuse(view, loaded, turns, settings.turn),
        prose=inputs.prose[options.dialect.name],
        estimator=estimator,
        tools=tools,
        trace=trace,
        recorder=Recorder(counter, estimator, tools, trace, reuse),
    )
    try:
        _run(turn)
    except Crash as crash:
        turn.crash = crash.bare()
    turn.assembly = report(turn, counter)
    return turn


def _run(turn: Turn) -> None:
    start(turn)
    if turn.loaded.crash is not None:
        raise turn.loaded.crash.bare()
    restore_crashed(turn)
    turn.summary = archived_summary(turn)
    turn.prompt_parts = prompt_parts(turn)
    if turn.options.dialect.consolidates:
        run_consolidation(turn)
    else:
        measure_only(turn)
    _replay(turn)
    late_save = not turn.options.dialect.explicit_skills
    if not late_save:
        _invoke_skills(turn)
        _save(turn)
    _build(turn)
    if late_save:
        _save(turn)
    _send(turn)


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
        reuse=turn.inputs.reuse,
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
    own = row is None and text == inputs.message and not inputs.message_given
    return Message(
        text=text,
        stand_in="a stand-in for the message to come, which --message gives" if own else "",
        media=media,
        blocks=blocks,
        channel=options.channel,
        chat_id=options.chat_id,
        sender=options.sender,
        now=options.now,
        timezone=options.timezone,
        extract_documents=inputs.config.extract_documents,
    )


def _invoke_skills(turn: Turn) -> None:
    """Any message may name a skill, so all are judged before it is stored; a bad one stops it there."""
    assert turn.prompt_parts is not None
    if _message(turn).text:
        usable_skills(turn.prompt_parts)


def _save(turn: Turn) -> None:
    """Storing the session comes before the request, and a lone surrogate cannot be stored.

    A blank message is not stored then (``agent/loop.py::_persist_user_message_early``).
    """
    assert turn.restored is not None
    message, dialect = _message(turn), turn.options.dialect
    blocks = message.blocks if dialect.explicit_skills else ()
    if turn.settings.turn is None and (message.text.strip() or message.media or blocks):
        check_saving(turn.inputs.reuse, turn.rows, turn.restored.metadata, dialect, message.text)


def _build(turn: Turn) -> None:
    options = turn.options
    assert turn.prompt_parts is not None
    request = _prompt_request(turn, turn.summary)
    turn.prompt = turn.first_prompt = build_prompt(turn.prompt_parts, request)
    skills = tuple(usable_skills(turn.prompt_parts))
    turn.current = build_current(
        _message(turn), options.dialect, skills, turn.settings.off, turn.settings.texts
    )
    reuse = turn.inputs.reuse
    system = reuse(said, "system", "system", turn.prompt.text)
    row = reuse(_joining, turn.current.value, turn.seen.current)
    step = reuse(_initial, turn.recorder.rows, system, row, options.dialect)
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
        summary_problem=summary_problem(turn) if summary is None else "",
    )


def _joining(value: Mapping[str, Json], stored: Row | None) -> Row:
    """The message as it joins the list; ``stored`` is the row it was stored as, if it was."""
    if stored is None:
        return Row("current", value)
    return Row(stored.id, value, source=stored.source, evidence=stored.evidence)


def _initial(replayed: Rows, system: Row, row: Row, dialect: Dialect) -> Step:
    """The system prompt and the message around the history."""
    first = inserted(system, rules.SYSTEM_BUILT, "built from the workspace for every turn")
    last = replayed[-1] if replayed else None
    if last is None or last.role != "user" or not dialect.merges_initial:
        added = inserted(row, rules.CURRENT_ADDED, "the message this turn answers")
        return Step((system, *replayed, row), (first, added))
    keep_empty = not dialect.explicit_skills
    value = {
        **last.value,
        "content": joined_content(last.content, row.content, keep_empty_right=keep_empty),
    }
    if META in row.value:
        value[META] = row.value[META]
    after = last.replaced(value, (*last.sources, *row.sources))
    because = f"{last.id} before it is a user message too, so both become one"
    return Step(
        (system, *replayed[:-1], after), (first, absorbed(last, after, rules.CURRENT_MERGED, because))
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
        reuse=turn.inputs.reuse,
    )
    seen, settings = turn.seen, turn.settings
    rows = turn.inputs.reuse(
        _turn_rows,
        seen.following if seen.current is not None else None,
        settings.off,
        settings.texts,
        turn.inputs.inflight,
    )
    # Odd rows before the first answer stand for one, as in ``run_requests``.
    known = 1 + sum(added.row.role == "assistant" or not index for index, added in enumerate(rows))
    turn.requests = known
    number = min(options.request, known)
    before, request = run_requests(turn.governor, turn.initial, rows, number, _compactor(turn))
    turn.request = request
    if before.rows is not turn.initial or before.events:
        turn.recorder.step(EVENTS_BEFORE, TITLES[EVENTS_BEFORE], before)
    for named in request.steps:
        turn.recorder.step(named.name, TITLES[named.name], named.step, measured=True)
    if request.failure is not None:
        raise request.failure.bare()
    turn.recorder.finish(TITLES["final"])


def _turn_rows(
    following: Rows | None,
    off: frozenset[str],
    texts: Mapping[str, str],
    inflight: tuple[Mapping[str, Json], ...],
) -> tuple[TurnRow, ...]:
    """What the turn produced: the stored rows that follow, or for the next turn the manifest's."""
    if following is None:
        return tuple(TurnRow(Row(f"t{index}", value), fresh=True) for index, value in enumerate(inflight))
    stored = what_if(following, 0, off, texts).step.rows
    return tuple(TurnRow(produced(row), fresh=False) for row in stored)


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
