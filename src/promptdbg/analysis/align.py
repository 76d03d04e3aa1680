"""Aligning message lists: which message of one list is which of the next, and what became of it.

Alignment goes by provenance (ids and sources), never by likeness of text, within one assembly. A
recorded request and lists of two sessions have no ids in common; ``adopt`` finds which of their
messages are the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from promptdbg.analysis.adopt import adopt
from promptdbg.analysis.alignment import CHANGES, LEFT, Alignment, CellKind, Column, Run
from promptdbg.analysis.rows import RowPlan
from promptdbg.bulk import collector_at_rest
from promptdbg.errors import UsageError
from promptdbg.model import Assembly, Decision, Message, MessageStatus, Stage, StageKind

Alike: TypeAlias = Callable[[Message, Message], bool]
"""Whether a message of one list is the same as one of another."""


@collector_at_rest
def align(
    stages: Sequence[Stage],
    decisions: Sequence[Decision] = (),
    path: Sequence[Stage] = (),
    *,
    ids: Mapping[int, Sequence[str]] | None = None,
    alike: Alike | None = None,
    without_texts: bool = False,
) -> Alignment:
    """Align the lists of any stages, given in the order they came about.

    Args:
        stages: one column each.
        decisions: those of the assembly; without them cells carry none.
        path: every stage of the assembly, so that what happened between two columns is found;
            without it the stages given.
        ids: for a column whose own ids mean nothing here, what each message is matched by.
        alike: whether two messages are the same; without it by what they say.
        without_texts: the texts were left out, so that what a message became is known by the stages only.
    """
    path = path or stages
    inserted = _inserted(path)
    plan = RowPlan(inserted)
    rows = [plan.add(stage.messages, _names(stage, ids, number)) for number, stage in enumerate(stages)]
    ranks = plan.ranks()
    index = _indexed(decisions, path)
    places = [_place(stage, path) for stage in stages]
    columns: list[Column] = []
    changed = bytearray(len(ranks))
    for number, stage in enumerate(stages):
        standing = _standing(stage, rows[number], ranks)
        moved = {ranks[new]: ranks[old] for new, old in plan.moved[number].items()}
        after = places[number - 1] if number else -1
        gone = {m.id for between in path[after + 1 : places[number] + 1] for m in between.dropped}
        left = columns[-1] if columns else None
        unchanged = _untouched(path, after, places[number]) if without_texts else alike or same
        kinds, others = _compared(left, standing, moved, gone, inserted, changed, unchanged)
        columns.append(
            Column(
                stage=stage,
                messages=tuple(standing),
                kinds=tuple(kinds),
                others=others,
                counts=Counter(kinds),
                tokens=stage.tokens,
                delta=stage.tokens - left.tokens if left else 0,
                after=after,
                upto=places[number],
                index=index,
            )
        )
    return _finished(columns, bytes(changed))


def _names(stage: Stage, ids: Mapping[int, Sequence[str]] | None, number: int) -> Sequence[str]:
    """What each message of a column is matched by."""
    return _once(ids[number] if ids and number in ids else [message.id for message in stage.messages])


def _standing(stage: Stage, rows: Sequence[int], ranks: Sequence[int]) -> list[Message | None]:
    """The messages of a list in the rows they stand in."""
    standing: list[Message | None] = [None] * len(ranks)
    for row, message in zip(rows, stage.messages, strict=True):
        standing[ranks[row]] = message
    return standing


def _finished(columns: Sequence[Column], touched: bytes) -> Alignment:
    runs = tuple(_runs(columns, touched))
    return Alignment(tuple(columns), runs, tuple(run for run in runs if run.changed), touched)


def align_assembly(
    assembly: Assembly, columns: Sequence[str] = (), *, recorded: Stage | None = None
) -> Alignment:
    """The lists of one assembly.

    Args:
        columns: names of stages, in order; without them ``session``, ``initial`` and ``final``, as
            far as the assembly has them.
        recorded: a request that was really sent, as one more column; it is matched by content.
    """
    wanted = set(columns)
    chosen = [stage for stage in assembly.stages if stage.name in wanted]
    if not columns:
        chosen = [stage for stage in assembly.stages if stage.kind is not StageKind.STEP]
    if recorded is None:
        return align(chosen, assembly.decisions, assembly.stages, without_texts=assembly.without_texts)
    last = chosen[-1].messages if chosen else ()
    ids = {len(chosen): adopt(last, recorded.messages)}
    return align([*chosen, recorded], assembly.decisions, assembly.stages, ids=ids)


def align_assemblies(left: Assembly, right: Assembly, stage: StageKind = StageKind.FINAL) -> Alignment:
    """The same list of two assemblies: turn against turn, scenario against scenario, file against file.

    Ids speak where both come from the same session; elsewhere content and role do. The right
    column carries the right assembly's decisions, so what is missing there says why.

    Raises:
        UsageError: one of them does not have the list.
    """
    stages = []
    for assembly in (left, right):
        found = assembly.stage(stage)
        if found is None:
            why = f": the real framework fails: {assembly.failure.message}" if assembly.failure else ""
            where = assembly.session or assembly.workspace
            raise UsageError(f"there is no {stage.value} list{why}", where=where)
        stages.append(found)
    related = (left.workspace, left.session, left.engine.name) == (
        right.workspace,
        right.session,
        right.engine.name,
    )
    ids = {1: adopt(stages[0].messages, stages[1].messages, by_id=related)}
    textless = left.without_texts or right.without_texts
    both = align(stages, ids=ids, alike=_as_large if textless else None)
    indexes = [_indexed(assembly.decisions, assembly.stages) for assembly in (left, right)]
    columns = [
        replace(column, index=index if related or number == 0 else {}, after=-1, upto=len(assembly.stages))
        for number, (column, index, assembly) in enumerate(
            zip(both.columns, indexes, (left, right), strict=True)
        )
    ]
    return _finished(columns, both.touched)


def _as_large(left: Message, right: Message) -> bool:
    """Whether two messages can be the same, where the text of one was left out."""
    return left.role == right.role and left.tokens == right.tokens


def _untouched(path: Sequence[Stage], after: int, upto: int) -> Alike:
    """Whether no stage between two columns did anything to a message, where texts cannot be compared."""
    steps = any(stage.kind is StageKind.STEP for stage in path)
    # The final stage says again what its steps did, since the initial one.
    between = [stage for stage in path[after + 1 : upto + 1] if not (steps and stage.kind is StageKind.FINAL)]
    touched = {name for stage in between for name in stage.statuses}

    def alike(before: Message, here: Message) -> bool:
        # A stored message that is sent under another id was not touched by getting it.
        renamed = before.id != here.id and before.role == here.role and before.tokens == here.tokens
        return renamed or here.id not in touched

    return alike


def same(left: Message, right: Message) -> bool:
    """Whether two messages read the same to the model: equal values under every key they send.

    Content nested deeper than Python can compare counts as different.
    """
    if left is right:
        return True
    try:
        return (
            left.content == right.content
            and left.role == right.role
            and left.tool_calls == right.tool_calls
            and left.tool_call_id == right.tool_call_id
            and left.name == right.name
            and _sends_alike(left, right)
        )
    except RecursionError:
        return False


_COMPARED = frozenset({"content", "role", "tool_calls", "tool_call_id", "name"})


def _sends_alike(left: Message, right: Message) -> bool:
    """Whether the keys sent are the same, and the values of those that ``same`` did not compare."""
    if left.wire != right.wire:
        return left.to_json() == right.to_json()
    if not left.extra or not right.extra:
        return True  # it has no other keys
    return all(key in _COMPARED or left.extra[key] == right.extra[key] for key in left.wire)


def _once(names: Sequence[str]) -> Sequence[str]:
    """The names, with those that come again made different."""
    if len(set(names)) == len(names):
        return names
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name}\0{seen[name]}")
    return out


def _inserted(path: Sequence[Stage]) -> frozenset[str]:
    """Messages that a stage wrote itself; their sources are what they are about, not their text."""
    made: set[str] = set()
    merged: set[str] = set()
    for stage in path:
        for name, status in stage.statuses.items():
            if status is MessageStatus.INSERTED:
                made.add(name)
            elif status is MessageStatus.MERGED:
                merged.add(name)
    return frozenset(made - merged)


def _place(stage: Stage, path: Sequence[Stage]) -> int:
    """The stage's number in the path; a list from elsewhere comes last."""
    return next((place for place, other in enumerate(path) if other.name == stage.name), len(path) - 1)


def _indexed(
    decisions: Sequence[Decision], path: Sequence[Stage]
) -> Mapping[str, Sequence[tuple[int, Decision]]]:
    places = {stage.name: place for place, stage in enumerate(path)}
    # What was decided on the system prompt and the tools shows in the first list that has them.
    first = next((place for place, stage in enumerate(path) if stage.kind is StageKind.INITIAL), 0)
    found: dict[str, list[tuple[int, Decision]]] = defaultdict(list)
    for decision in decisions:
        found[decision.item].append((places.get(decision.stage, first), decision))
    return found


def _compared(
    left: Column | None,
    standing: list[Message | None],
    moved: Mapping[int, int],
    dropped: set[str],
    inserted: frozenset[str],
    changed: bytearray,
    alike: Alike,
) -> tuple[list[CellKind], dict[int, int]]:
    """What each row of a list is compared with the list to the left; marks the rows that changed."""
    if left is None:
        kinds = [CellKind.ABSENT if message is None else CellKind.LISTED for message in standing]
        return kinds, {}
    others = dict(moved)
    others.update({old: new for new, old in moved.items()})
    holders = {
        source: row
        for row, message in enumerate(standing)
        if message is not None and len(message.sources) > 1 and message.id not in inserted
        for source in message.sources
    }
    kinds = []
    for row, (before, here) in enumerate(zip(left.messages, standing, strict=True)):
        if here is None and before is None:
            kinds.append(CellKind.GONE if left.kinds[row] in LEFT else CellKind.ABSENT)
            continue
        if here is before or (here is not None and before is not None and alike(before, here)):
            kinds.append(CellKind.SAME)
            continue
        changed[row] = 1
        if here is None:
            kind = CellKind.DROPPED
            if row in others:
                kind = CellKind.ELSEWHERE
            elif before is not None and before.id in holders and before.id not in dropped:
                kind = CellKind.ELSEWHERE
                others[row] = holders[before.id]
        elif before is None:
            kind = _new(row, here, moved, inserted)
        elif len(here.sources) > 1 and here.sources != before.sources and here.id not in inserted:
            kind = CellKind.MERGED
        else:
            kind = CellKind.REWRITTEN
        kinds.append(kind)
    return kinds, others


def _new(row: int, message: Message, moved: Mapping[int, int], inserted: frozenset[str]) -> CellKind:
    if row in moved:
        return CellKind.MOVED
    merged = len(message.sources) > 1 and message.id not in inserted
    return CellKind.MERGED if merged else CellKind.INSERTED


def _runs(columns: Sequence[Column], changed: Sequence[int]) -> Iterator[Run]:
    """Neighbouring rows that changed alike (same kinds, same first rule), and those that did not."""
    start = 0
    last: tuple[str, ...] | None = None
    rows = zip(*(column.kinds for column in columns), strict=True)
    for row, (flag, kinds) in enumerate(zip(changed, rows, strict=True)):
        mark = _mark(columns, row, kinds) if flag else ()
        if mark != last:
            if last is not None:
                yield Run(start, row, changed=bool(last))
            start, last = row, mark
    if last is not None:
        yield Run(start, len(changed), changed=bool(last))


def _mark(columns: Sequence[Column], row: int, kinds: tuple[CellKind, ...]) -> tuple[str, ...]:
    """What changed in a row, to compare with its neighbours: its kinds, then each change's first rule."""
    mark: list[str] = list(kinds)
    for number, kind in enumerate(kinds):
        if kind in CHANGES:
            message = columns[number].messages[row] or columns[number - 1].messages[row]
            mark.append(columns[number].first_rule(message.id) if message is not None else "")
    return tuple(mark)
