"""The JSON document ``promptdbg/assembly/1``: an assembly as plain JSON values.

A contract: keys are added, never renamed or removed. Beside the documented keys a section has
``output`` (what stands in the prompt, ``null`` when it is the text itself), ``place`` and
``offset``; a stage has ``dropped`` (the messages that left there) and the framework's own
``size``, ``unit`` and ``measured_by``; the document has ``failure`` and ``turns``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from promptdbg.model import (
    Assembly,
    Budget,
    Decision,
    EngineInfo,
    Failure,
    Message,
    MessageStatus,
    Notice,
    Part,
    Rule,
    Section,
    Settings,
    Source,
    Stage,
    StageKind,
    TokenizerInfo,
    Turn,
)

SCHEMA = "promptdbg/assembly/1"

Document = dict[str, Any]


def document(assembly: Assembly, *, text: bool = True) -> Document:
    """The assembly as a JSON document.

    Args:
        text: include ``text``, ``output`` and ``content``, edited texts and the turns' titles;
            without them the document has the structure and the numbers only.
    """
    text = text and not assembly.without_texts
    by_item: dict[str, list[str]] = defaultdict(list)
    by_stage: dict[tuple[str, str], list[str]] = defaultdict(list)
    for decision in assembly.decisions:
        by_item[decision.item].append(decision.id)
        by_stage[decision.stage, decision.item].append(decision.id)
    return {
        "schema": SCHEMA,
        "engine": _engine(assembly.engine),
        "tokenizer": _tokenizer(assembly.tokenizer),
        "workspace": assembly.workspace,
        "session": assembly.session,
        "turn": assembly.turn,
        "settings": settings_document(assembly.settings, text=text),
        "budget": _budget(assembly.budget),
        "sections": [_section(section, by_item[section.id], text) for section in assembly.sections],
        "stages": [_stage(stage, by_stage, by_item, text) for stage in assembly.stages],
        "decisions": [_decision(decision) for decision in assembly.decisions],
        "rules": [rule_document(rule) for rule in assembly.rules],
        "warnings": [_notice(notice) for notice in assembly.warnings],
        "failure": None if assembly.failure is None else _failure(assembly.failure),
        "turns": [_turn(turn, text) for turn in assembly.turns],
    }


def _engine(engine: EngineInfo) -> Document:
    return {
        "name": engine.name,
        "title": engine.title,
        "version": engine.version,
        "fidelity": engine.fidelity,
    }


def _tokenizer(tokenizer: TokenizerInfo) -> Document:
    return {"name": tokenizer.name, "exact": tokenizer.exact, "note": tokenizer.note}


def settings_document(settings: Settings, *, text: bool = True) -> Document:
    """Settings as JSON; the same keys as a manifest's ``[settings]`` table, grouped.

    Args:
        text: include the edited texts; without them only which items were edited.
    """
    return {
        "values": {k: list(v) if isinstance(v, tuple) else v for k, v in sorted(settings.values.items())},
        "off": sorted(settings.off),
        "priorities": dict(sorted(settings.priorities.items())),
        "texts": {item: edited if text else None for item, edited in sorted(settings.texts.items())},
    }


def _budget(budget: Budget) -> Document:
    entry: Document = {
        "limit": budget.limit,
        "used": budget.used,
        "unit": budget.unit,
        "parts": _parts(budget.parts),
        "window": budget.window,
        "reserved": _parts(budget.reserved),
    }
    return entry | counted_document(budget)


def counted_document(budget: Budget) -> Document:
    """What a provider counted, as a part of the budget; nothing where that is not on record."""
    counted = budget.counted
    return {} if counted is None else {"counted": {"tokens": counted.tokens, "request": counted.request}}


def _parts(parts: Sequence[Part]) -> list[Document]:
    return [{"name": part.name, "tokens": part.tokens} for part in parts]


def _section(section: Section, decisions: list[str], text: bool) -> Document:
    entry: Document = {
        "id": section.id,
        "name": section.name,
        "kind": section.kind,
        "parent": section.parent,
        "order": section.order,
        "priority": section.priority,
        "source": _source(section.source),
        "place": section.place,
        "status": section.status.value,
        "evidence": section.evidence.value,
        "tokens": section.tokens,
        "tokens_original": section.tokens_original,
        "size": section.size,
        "size_original": section.size_original,
        "unit": section.unit,
        "offset": section.offset,
        "spans": [{"start": span.start, "end": span.end, "kept": span.kept} for span in section.spans],
        "decisions": decisions,
    }
    if text:
        entry["text"] = section.text
        entry["output"] = None if section.output == section.text else section.output
    return entry


def _stage(
    stage: Stage,
    by_stage: Mapping[tuple[str, str], list[str]],
    by_item: Mapping[str, list[str]],
    text: bool,
) -> Document:
    def decisions(message: Message) -> list[str]:
        # The final list is the sum of the steps, so its messages carry every decision on them.
        if stage.kind is StageKind.FINAL:
            return by_item.get(message.id, [])
        return by_stage.get((stage.name, message.id), [])

    return {
        "name": stage.name,
        "kind": stage.kind.value,
        "title": stage.title,
        "tokens": stage.tokens,
        "size": stage.size,
        "unit": stage.unit,
        "measured_by": stage.measured_by,
        "messages": [_message(m, stage.status_of(m.id), decisions(m), text) for m in stage.messages],
        "dropped": [_message(m, MessageStatus.DROPPED, decisions(m), text) for m in stage.dropped],
    }


def _message(message: Message, status: MessageStatus, decisions: list[str], text: bool) -> Document:
    entry: Document = {
        "id": message.id,
        "sources": list(message.sources),
        "role": message.role,
        "tool_call_id": message.tool_call_id,
        "name": message.name,
        "tokens": message.tokens,
        "size": message.size,
        "status": status.value,
        "evidence": message.evidence.value,
        "source": _source(message.source),
        "decisions": decisions,
    }
    if text:
        entry["content"] = message.content
        entry["tool_calls"] = message.tool_calls
        entry["extra"] = dict(message.extra)
        if message.wire != usual_wire(entry):
            entry["wire"] = list(message.wire)
    return entry


KEYS = ("role", "content", "tool_calls", "tool_call_id", "name")


def usual_wire(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of a message that a framework sends where its entry does not say: all of them."""
    present = [key for key in KEYS if key in ("role", "content") or entry.get(key) is not None]
    return (*present, *(entry.get("extra") or {}))


def _decision(decision: Decision) -> Document:
    return {
        "id": decision.id,
        "stage": decision.stage,
        "rule": decision.rule,
        "action": decision.action.value,
        "item": decision.item,
        "before": decision.before,
        "after": decision.after,
        "measured": decision.measured,
        "limit": decision.limit,
        "unit": decision.unit,
        "because": decision.because,
    }


def rule_document(rule: Rule) -> Document:
    """A rule as every document holds it."""
    return {
        "id": rule.id,
        "title": rule.title,
        "framework": rule.framework,
        "version": rule.version,
        "source": rule.source,
        "note": rule.note,
    }


def _failure(failure: Failure) -> Document:
    return {"error": failure.error, "where": failure.where, "message": failure.message}


def _turn(turn: Turn, text: bool) -> Document:
    return {"number": turn.number, "title": turn.title if text else "", "row": turn.row, "time": turn.time}


def _notice(notice: Notice) -> Document:
    return {"code": notice.code, "message": notice.message, "source": _source(notice.source)}


def _source(source: Source | None) -> Document | None:
    if source is None:
        return None
    return {"path": source.path, "start_line": source.start_line, "end_line": source.end_line}
