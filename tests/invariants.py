"""What must hold of every assembly, whatever the engine. Used by every test that makes one."""

from __future__ import annotations

from collections import Counter

from promptdbg.model import Action, Assembly, MessageStatus, SectionStatus, StageKind

_NO_LOSS = {SectionStatus.KEPT, SectionStatus.EMPTY}


def check(assembly: Assembly) -> None:
    """Assert every invariant; the message of a failed one names the item."""
    _ids(assembly)
    _ledger(assembly)
    _sections(assembly)
    _stages(assembly)


def _ids(assembly: Assembly) -> None:
    twice = [i for i, n in Counter(s.id for s in assembly.sections).items() if n > 1]
    assert not twice, f"section ids used twice: {twice}"
    rules = {rule.id for rule in assembly.rules}
    stages = {stage.name for stage in assembly.stages}
    known = {s.id for s in assembly.sections}
    for stage in assembly.stages:
        ids = [m.id for m in stage.messages]
        assert len(ids) == len(set(ids)), f"message ids used twice in stage {stage.name}"
        known.update(ids, (m.id for m in stage.dropped))
        assert set(stage.statuses) <= set(ids), f"stage {stage.name} has statuses of absent messages"
    for decision in assembly.decisions:
        assert decision.rule in rules, f"{decision.id}: rule {decision.rule} is not in the catalogue"
        assert decision.item in known, f"{decision.id}: item {decision.item} does not exist"
        assert decision.stage in stages | {"system", "tools"}, f"{decision.id}: stage {decision.stage}?"
        assert decision.because.strip(), f"{decision.id} gives no reason"
        if decision.measured is not None or decision.limit is not None:
            assert decision.unit is not None, f"{decision.id} has numbers without a unit"
    parents = {s.parent for s in assembly.sections if s.parent}
    assert parents <= {s.id for s in assembly.sections}, f"unknown parents: {parents}"


def _ledger(assembly: Assembly) -> None:
    if assembly.failure is None:
        parts = sum(part.tokens for part in assembly.budget.parts)
        assert parts == assembly.budget.used, f"parts sum to {parts}, used is {assembly.budget.used}"


def _sections(assembly: Assembly) -> None:
    parents = {s.parent for s in assembly.sections if s.parent}
    for section in assembly.sections:
        decisions = assembly.decisions_on(section.id)
        end = 0
        for span in section.spans:
            assert span.start == end, f"{section.id}: spans have gaps"
            assert span.end > span.start, f"{section.id}: an empty span"
            end = span.end
        assert not section.spans or end == len(section.text), f"{section.id}: spans do not cover the text"
        if section.status is SectionStatus.TRUNCATED and section.id not in parents:
            assert any(not span.kept for span in section.spans), f"{section.id}: truncated, nothing lost"
        if section.status not in _NO_LOSS:
            parts = [s for s in assembly.sections if s.parent == section.id]
            assert decisions or any(p.status not in _NO_LOSS for p in parts), (
                f"{section.id} is {section.status} without a decision"
            )
        if section.id not in parents:
            lost = sum(d.before - d.after for d in decisions if d.before is not None and d.after is not None)
            assert lost == section.tokens_original - section.tokens, (
                f"{section.id}: decisions lose {lost}, the section {section.tokens_original - section.tokens}"
            )
        if section.offset is not None and section.place == "system":
            there = assembly.system_text[section.offset : section.offset + len(section.output)]
            assert there == section.output, f"{section.id} is not at its offset"


def _stages(assembly: Assembly) -> None:
    before = None
    for stage in assembly.stages:
        assert stage.tokens == sum(m.tokens for m in stage.messages), f"{stage.name}: tokens do not add up"
        if stage.kind is StageKind.FINAL:
            assert before is None or stage.messages == before.messages, "final is not the last step's list"
            continue
        if before is not None:
            gone = {m.id for m in before.messages} - {m.id for m in stage.messages}
            merged = {
                source
                for m in stage.messages
                if stage.status_of(m.id) is MessageStatus.MERGED
                for source in m.sources
            }
            dropped = {m.id for m in stage.dropped}
            assert dropped <= gone, f"{stage.name}: dropped messages that are still there"
            assert gone <= dropped | merged, f"{stage.name} lost {gone - dropped - merged} without a word"
            old = {m.id: m for m in before.messages}
            for message in stage.messages:
                same = message.id in old and message.to_json() == old[message.id].to_json()
                status = stage.status_of(message.id)
                assert same == (status is MessageStatus.KEPT), f"{stage.name}: {message.id} is {status}"
                if not same:
                    _decided(assembly, stage.name, message.id)
            for message in stage.dropped:
                _decided(assembly, stage.name, message.id)
            moved = sum(
                d.after - d.before
                for d in assembly.decisions
                if d.stage == stage.name and d.before is not None and d.after is not None
            )
            assert moved == stage.tokens - before.tokens, (
                f"{stage.name}: decisions move {moved} tokens, the list {stage.tokens - before.tokens}"
            )
        before = stage


def _decided(assembly: Assembly, stage: str, item: str) -> None:
    assert any(
        d.stage == stage and d.item == item and d.action not in (Action.NOTE, Action.PREDICT)
        for d in assembly.decisions
    ), f"{stage}: {item} changed without a decision"
