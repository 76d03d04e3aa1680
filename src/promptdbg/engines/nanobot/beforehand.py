"""What a turn does before it reads its history: restore, take the summary, consolidate.

``agent/loop.py::_restore_turn``, ``_compact_session`` and the start of ``_build_turn``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.consolidation import Archiver, Consolidated, consolidate
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.current import Message, build_current, moment
from promptdbg.engines.nanobot.estimate import NO_ESTIMATE
from promptdbg.engines.nanobot.events import Step
from promptdbg.engines.nanobot.historyfile import HistoryEntry, HistoryFile
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.knobs import Options
from promptdbg.engines.nanobot.loading import is_time
from promptdbg.engines.nanobot.prompt import (
    PromptParts,
    PromptRequest,
    Summary,
    build_prompt,
)
from promptdbg.engines.nanobot.restore import restore
from promptdbg.engines.nanobot.saving import check_saving
from promptdbg.engines.nanobot.skills import Skill, judge
from promptdbg.engines.nanobot.state import TITLES, Turn
from promptdbg.engines.nanobot.turn import what_if
from promptdbg.model import Action
from promptdbg.paths import inside


def start(turn: Turn) -> None:
    turn.recorder.start("session", TITLES["session"], turn.seen.rows)
    shown = {row.id for row in turn.seen.rows} if turn.loaded.migrated else set()
    for item in turn.loaded.migrated:
        because = "a call of write_stdin is read as one of exec_session"
        if item in shown:
            turn.trace.decide(Action.NOTE, item, rules.MIGRATED_CALL, stage="session", because=because)
    seen, settings = turn.seen, turn.settings
    changed = turn.inputs.reuse(what_if, seen.rows, seen.archived, settings.off, settings.texts)
    turn.archived = changed.archived
    if changed.step.events:
        turn.recorder.step("settings", TITLES["settings"], changed.step)
    turn.rows = changed.step.rows


def restore_crashed(turn: Turn) -> None:
    now = _naive(turn.options.now)
    turn.restored = turn.inputs.reuse(
        restore, turn.rows, turn.seen.metadata, turn.options.dialect, turn.prose, now
    )
    turn.rows = turn.restored.rows
    if turn.restored.events:
        turn.recorder.step("restore", TITLES["restore"], Step(turn.rows, turn.restored.events))
    if turn.restored.stored:
        check_saving(turn.inputs.reuse, turn.rows, turn.restored.metadata, turn.options.dialect)


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


def archived_summary(turn: Turn) -> Summary | None:
    """The archived summary this turn shows; taken before consolidation, so a fresh one misses it."""
    assert turn.restored is not None
    if turn.session_key.startswith("dream:"):
        return None
    raw = turn.restored.metadata.get("_last_summary")
    if not isinstance(raw, dict):
        return None
    if turn.options.dialect.strict_summary:
        return _strict_summary(raw)
    text, active = raw.get("text"), raw.get("last_active")
    if not isinstance(text, str) or not text:
        return None
    if isinstance(active, str) and is_time(active):
        return Summary(text, active)
    return Summary(text, updated_at(turn))


def summary_problem(turn: Turn) -> str:
    """Why the stored summary is not the archived summary of this turn; empty where none is stored."""
    assert turn.restored is not None
    raw = turn.restored.metadata.get("_last_summary")
    if raw is None or turn.session_key.startswith("dream:") or turn.options.dialect.strict_summary:
        return ""
    return "_last_summary of the session " + ("has no text" if isinstance(raw, dict) else "is no object")


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


# ---- consolidation -------------------------------------------------------------------------------


def prompt_parts(turn: Turn) -> PromptParts:
    return PromptParts(
        inputs=turn.inputs,
        dialect=turn.options.dialect,
        prose=turn.prose,
        read_skills=partial(_skills, turn.inputs, turn.options, turn.settings.texts),
        disabled=turn.options.disabled,
        off=turn.settings.off,
        texts=turn.settings.texts,
        tokenizer=turn.options.tokenizer,
    )


def _skills(inputs: NanobotInputs, options: Options, texts: Mapping[str, str]) -> tuple[Skill, ...]:
    """Every skill on disk, judged.

    Raises:
        Crash: a skill file is not UTF-8, or its metadata makes nanobot raise.
    """
    judged: list[Skill] = []
    roots = (
        ("workspace", inputs.skills, inside(inputs.shown_workspace, "skills")),
        ("builtin", inputs.builtin_skills, inputs.builtin_root),
    )
    for origin, files, root in roots:
        by_name = options.skill_order == "name"
        for file in sorted(files, key=lambda entry: entry.name) if by_name else files:
            item = f"skills/{file.name}" if origin == "workspace" else f"skills/builtin/{file.name}"
            text = texts.get(item, file.file.text)
            if text is None:
                if file.name in options.disabled:
                    continue
                error, _, message = file.file.error.partition(": ")
                meaning = f"The skill {file.name} cannot be read: every turn fails."
                raise Crash(error, message, "agent/skills.py::load_skill", meaning)
            path = inside(root, file.name, "SKILL.md")
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
    known = cache.get("probe")  # one value: turns may be assembled by two threads at once
    if known is None or known[0] != key:
        known = cache["probe"] = (key, build_prompt(turn.prompt_parts, request).text)
    return str(known[1])


def _probe_summary(turn: Turn) -> Summary | None:
    """0.2.2 measures the bare text; the others what a turn would show."""
    assert turn.restored is not None
    if not turn.options.dialect.strict_summary:
        raw = turn.restored.metadata.get("_last_summary")
        text = raw.get("text") if isinstance(raw, dict) else None
        if turn.summary is not None or not isinstance(text, str) or not text:
            return turn.summary
        active = raw.get("last_active") if isinstance(raw, dict) else None
        return Summary(text, active if isinstance(active, str) and is_time(active) else updated_at(turn))
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
        file=HistoryFile(turn.inputs, options.dialect, clock.strftime("%Y-%m-%d %H:%M"), turn.session_key),
        system=lambda extra: _probe_system(turn, extra),
        message=lambda text: _probe_message(turn, text),
        reply=options.summary if options.consolidation == "succeeds" else None,
        acts=options.consolidation in ("succeeds", "fails"),
        save=lambda: _save_archived(turn),
        reuse=turn.inputs.reuse,
    )


def _save_archived(turn: Turn) -> None:
    assert turn.restored is not None
    if turn.settings.turn is None:
        check_saving(turn.inputs.reuse, turn.rows, turn.restored.metadata, turn.options.dialect)


def run_consolidation(turn: Turn) -> None:
    enabled = turn.options.window > 0 and turn.options.consolidation != "off"
    turn.consolidated = consolidate(
        _archiver(turn), turn.rows, turn.archived, ephemeral=turn.ephemeral, enabled=enabled
    )


def measure_only(turn: Turn) -> None:
    """0.3.5 archives nothing before a turn, so this cannot stop it; the size is still worth knowing."""
    try:
        probe = _archiver(turn).probe(turn.rows, turn.archived)
    except Crash:
        probe = NO_ESTIMATE
    turn.consolidated = Consolidated(
        probe, turn.options.consolidation_budget, 0, False, None, turn.archived, turn.archived
    )
