"""The memory section: which records are offered, and how each is rendered.

Sources: ``cmd/bee/run_knowledge.go::Query``, ``internal/prompt/assemble.go::knowledgeSection``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from promptdbg.engines.bee.blocks import Block, Part
from promptdbg.engines.bee.constants import STALE_DAYS_BYTES, numbered, stand_in
from promptdbg.engines.bee.drafts import Desk, Draft
from promptdbg.engines.bee.gotext import ELLIPSIS, quote, to_bytes, trim_space
from promptdbg.engines.bee.knowledge import (
    MOST_RECORDS,
    Record,
    Scored,
    age_since,
    days_between,
    effective_limit,
    expired,
    newest_first,
    rank_records,
)
from promptdbg.engines.bee.lists import finish, split_words
from promptdbg.engines.bee.rules import (
    MEMORY_BODY,
    MEMORY_EXPIRED,
    MEMORY_OFF,
    MEMORY_SCAN,
    MEMORY_SELECT,
)
from promptdbg.model import Rule, Source, Unit

if TYPE_CHECKING:
    from promptdbg.engines.bee.prompt import PromptInputs

FEW_RECORDS = 2
"""With fewer than this many bee asks a model for tags."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A record that was considered, and whether it reaches the section; ``rule`` and the rest say why
    or why not."""

    record: Record
    taken: bool
    rule: Rule
    because: str
    measured: float | None = None
    limit: float | None = None
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What a selection depends on. ``top_k`` is memory.top_k as configured."""

    text: str
    top_k: int
    now: datetime
    hint_tags: tuple[str, ...] = ()
    enabled: bool = True


def choose(
    records: Sequence[Record], query: Query, off: Callable[[Record], bool]
) -> tuple[Offer | Record, ...]:
    """What bee puts in the prompt for a message, best first; then what it passes over, and why.

    Records that are switched off come last and are not considered.
    """
    live = newest_first(record for record in records if not off(record))
    silent = tuple(record for record in records if off(record))
    if not query.enabled:
        because = "memory.enabled is false: no record is read."
        return tuple(Offer(record, False, MEMORY_OFF, because) for record in live) + silent
    scanned, beyond = live[:MOST_RECORDS], live[MOST_RECORDS:]
    top = effective_limit(query.top_k if query.top_k > 0 else 3)
    ranked = rank_records(scanned, query.text, (), query.now)
    if len(ranked[:top]) < FEW_RECORDS and query.hint_tags:
        ranked = rank_records(scanned, query.text, query.hint_tags, query.now)
    return (*_ranked(ranked, top), *_expired(scanned, query.now), *_beyond(beyond), *silent)


def _ranked(ranked: Sequence[Scored], top: int) -> list[Offer]:
    chosen = f"{top} {'is' if top == 1 else 'are'} chosen"
    return [
        Offer(
            entry.record,
            place <= top,
            MEMORY_SELECT,
            f"Score {entry.score} ({', '.join(entry.parts)}): place {place} of {len(ranked)}; {chosen}.",
            place,
            top,
            "count",
        )
        for place, entry in enumerate(ranked, start=1)
    ]


def _expired(scanned: Sequence[Record], now: datetime) -> list[Offer]:
    return [
        Offer(
            record,
            False,
            MEMORY_EXPIRED,
            f"Expired at {record.expires:%Y-%m-%d %H:%M %Z}; now is {now:%Y-%m-%d %H:%M %Z}.",
        )
        for record in scanned
        if expired(record, now)
    ]


def _beyond(records: Sequence[Record]) -> list[Offer]:
    return [
        Offer(
            record,
            False,
            MEMORY_SCAN,
            f"Number {place:,} from the newest; only {MOST_RECORDS} are considered.",
            place,
            MOST_RECORDS,
            "count",
        )
        for place, record in enumerate(records, start=MOST_RECORDS + 1)
    ]


def wants_hints(records: Sequence[Record], query: Query) -> bool:
    """Whether bee would ask a model for tags: something is stored and fewer than two come back."""
    live = sum(not expired(record, query.now) for record in newest_first(records)[:MOST_RECORDS])
    top = effective_limit(query.top_k if query.top_k > 0 else 3)
    return query.enabled and bool(records) and min(live, top) < FEW_RECORDS


def draft_memory(inputs: PromptInputs, desk: Desk) -> Block:
    """One element for each record taken."""
    block = Block(desk.add(Draft("memory", "Memory", "memory")), b"## Memory\n")
    whole: list[bytes] = []
    for entry in inputs.records:
        record, offer = (entry.record, entry) if isinstance(entry, Offer) else (entry, None)
        draft = desk.add(
            Draft(
                f"memory/{record.key or record.name}",
                record.name,
                "record",
                parent="memory",
                priority=record.priority,
                source=Source(record.path) if record.path else None,
            )
        )
        _record(inputs, desk, draft, record, offer)
        if draft.output:
            block.parts.append(Part(draft))
            whole.append(draft.whole)
    finish(inputs, desk, block, whole)
    return block


def _record(inputs: PromptInputs, desk: Desk, draft: Draft, record: Record, offer: Offer | None) -> None:
    edited = inputs.edited(desk, draft.id)
    if edited is not None:
        record = replace(record, body=edited)
    head = record_head(record, inputs.now)
    body = trim_space(record.body)
    draft.text = record.body
    draft.whole = draft.output = head + body + TAIL
    if inputs.is_off(draft.id, "memory"):
        desk.disable(draft)
        return
    if offer and not offer.taken:
        desk.drop(draft, offer.rule, offer.because, offer.measured, offer.limit, offer.unit)
        return
    if offer:
        desk.keep(draft.id, offer.rule, offer.because, offer.measured, offer.limit, offer.unit)
    cap = inputs.profile.memory_body_chars
    at = cut_at(body, cap)
    if at < len(body):
        because = (
            f"The body has {len(body):,} bytes and memory_body_chars is {cap:,}; it is cut at byte {at:,}, "
            + ("the last space inside the cap" if at < cap else "the cap itself" + split_words(body, at))
            + "."
        )
        desk.cut(
            draft,
            MEMORY_BODY,
            head + body[:at] + ELLIPSIS + TAIL,
            because,
            measured=len(body),
            limit=cap,
            unit="bytes",
        )
        start = record.body.find(body)
        draft.kept = ((start, start + at),)


TAIL = b"\n</memory>"


def record_head(record: Record, now: datetime) -> bytes:
    """The opening tag, and the note on a record that has expired."""
    head = _tag(record.name, age_since(record.modified, now), record.priority)
    if record.expires is None or record.expires > now:
        return head
    days = days_between(record.expires, now)
    note = numbered("stale.days", STALE_DAYS_BYTES, days) if days > 0 else stand_in("stale.today")
    return head + note + b"\n\n"


@lru_cache(maxsize=65_536)
def _tag(name: str, age: str, priority: int) -> bytes:
    quoted = quote(to_bytes(name))
    return b"<memory name=" + quoted + b" age=" + quote(age.encode()) + f" priority={priority}>\n".encode()


def cut_at(body: bytes, cap: int) -> int:
    """Where a body is cut: its end when it fits or ``cap`` is 0 or less, else the last space among its
    first ``cap`` bytes unless that is the first byte, else ``cap`` (``assemble.go::truncateBody``)."""
    if cap <= 0 or len(body) <= cap:
        return len(body)
    space = body.rfind(b" ", 0, cap)
    return space if space > 0 else cap
