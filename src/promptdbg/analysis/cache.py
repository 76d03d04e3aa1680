"""``cache``: the prefix two requests share, the first byte that differs, and what a provider's
prompt cache loses behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from promptdbg.analysis.blocks import title
from promptdbg.analysis.items import need_texts, section_offset
from promptdbg.lengths import utf8_length
from promptdbg.model import LOSSES, Assembly, Message, StageKind
from promptdbg.text import shared_start
from promptdbg.tokens import TokenCounter

_CONTEXT = 40


@dataclass(frozen=True, slots=True)
class Piece:
    """One stretch of a request in the order providers cache it: tools, system, messages."""

    item: str
    title: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Break:
    """Where two requests part.

    ``byte`` counts UTF-8 bytes from the start of the request's text, ``inside`` bytes from the
    start of the piece. ``before`` and ``after`` are the text around the point on each side.
    ``item`` is what changed: what was taken out, put in, or reads differently; ``cause`` says which
    (empty where it does not show).
    """

    item: str
    title: str
    byte: int
    inside: int
    common: str
    before: str
    after: str
    cause: str


@dataclass(frozen=True, slots=True)
class CacheReport:
    """The shared prefix of two requests, in tokens of the second one.

    ``broken`` is ``None`` where the second request begins with all of the first.
    """

    shared_tokens: int
    total_tokens: int
    shared_bytes: int
    broken: Break | None

    @property
    def lost_tokens(self) -> int:
        """Tokens of the second request that are not served from the cache."""
        return self.total_tokens - self.shared_tokens


def pieces(assembly: Assembly) -> tuple[Piece, ...]:
    """The request in cache order; the system prompt by its sections where they are known."""
    found: list[Piece] = []
    for section in assembly.sections:
        if section.place == "tools" and section.parent is not None and section.output:
            found.append(Piece(section.id, section.name, section.output, section.tokens))
    final = assembly.stage(StageKind.FINAL)
    for message in final.messages if final else ():
        if message.role == "system" and isinstance(message.content, str):
            found += _system_pieces(assembly, message)
        else:
            text = json.dumps(message.to_json(), ensure_ascii=False)
            found.append(Piece(message.id, title(message), text, message.tokens))
    return tuple(found)


def _system_pieces(assembly: Assembly, message: Message) -> Iterator[Piece]:
    text = message.content
    at = 0
    top = [section for section in assembly.sections if section.parent is None]
    placed = [(start, s) for s in top if (start := section_offset(assembly, s)) is not None]
    for start, section in sorted(placed, key=lambda pair: pair[0]):
        if start < at or text[start : start + len(section.output)] != section.output:
            continue
        if start > at:
            yield Piece(message.id, "system", text[at:start], 0)
        yield Piece(section.id, section.name, section.output, section.tokens)
        at = start + len(section.output)
    if at < len(text):
        yield Piece(message.id, "system", text[at:], message.tokens if at == 0 else 0)


def compare_prefix(first: Assembly, second: Assembly, counter: TokenCounter) -> CacheReport:
    """What the second request shares with the first, from its start.

    Raises:
        UsageError: one of them was read from a file without its texts.
    """
    for assembly in (first, second):
        need_texts(assembly, "what two requests share")
    old, new = pieces(first), pieces(second)
    total = sum(piece.tokens for piece in new)
    tokens = size = 0
    for index, piece in enumerate(new):
        earlier = old[index] if index < len(old) else None
        if earlier is None:
            return CacheReport(tokens, total, size, None)
        if earlier.text == piece.text:
            tokens += piece.tokens
            size += utf8_length(piece.text)
            continue
        same = shared_start(earlier.text, piece.text)
        changed, cause = _cause(old, new, index, same, second)
        inside = utf8_length(piece.text[:same])
        tokens += min(counter.count(piece.text[:same]), piece.tokens)
        return CacheReport(
            tokens,
            total,
            size + inside,
            Break(
                item=changed.item,
                title=changed.title,
                byte=size + inside,
                inside=inside,
                common=piece.text[max(0, same - _CONTEXT) : same],
                before=earlier.text[same : same + _CONTEXT],
                after=piece.text[same : same + _CONTEXT],
                cause=cause,
            ),
        )
    if len(old) > len(new):
        gone = old[len(new)]
        return CacheReport(
            tokens,
            total,
            size,
            Break(
                gone.item, gone.title, size, 0, "", gone.text[:_CONTEXT], "", "the earlier request is longer"
            ),
        )
    return CacheReport(tokens, total, size, None)


_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?|\d{4}-\d{2}-\d{2}")


def _cause(
    old: tuple[Piece, ...], new: tuple[Piece, ...], index: int, same: int, now: Assembly
) -> tuple[Piece, str]:
    """What changed at the break, the piece it is about first."""
    earlier, piece = old[index], new[index]
    for match in _CLOCK.finditer(piece.text, max(0, same - 20), same + 20):
        if match.start() <= same <= match.end():
            return piece, "a clock: the text holds a time that changes with every request"
    if _moved(old[index:], new[index:]):
        return piece, f"the order is another: {earlier.item} stood here, now {piece.item} does"
    if gone := _gone(old[index:], new[index:]):
        entries = "entry was" if len(gone) == 1 else "entries were"
        return gone[0], f"{len(gone):,} earlier {entries} taken out here{_rules(gone, now)}"
    if earlier.text in (entry.text for entry in new[index:]):
        return piece, "new text was put in here"
    return piece, f"the text of {piece.title} changed" if piece.item == earlier.item else ""


def _moved(old: tuple[Piece, ...], new: tuple[Piece, ...]) -> bool:
    """Whether both the entry that stood here and the one that does now are in both requests, and at
    least one of them unchanged: where both read differently, their order alone explains nothing."""
    earlier, piece = old[0], new[0]
    if earlier.item == piece.item or not (_named(earlier) and _named(piece)):
        return False
    after = next((entry for entry in new if entry.item == earlier.item and _named(entry)), None)
    before = next((entry for entry in old if entry.item == piece.item and _named(entry)), None)
    if after is None or before is None:
        return False
    return after.text == earlier.text or before.text == piece.text


def _gone(old: tuple[Piece, ...], new: tuple[Piece, ...]) -> list[Piece]:
    """What stood here and is not in the request any more, up to what goes on in the new one.

    Where nothing of the old request goes on (all of it was taken out, and what follows is new), that
    is what no entry of the new one is made of.
    """
    old = tuple(filter(_named, old))
    rest = [entry.text for entry in old]
    if new[0].text in rest:
        left = {entry.item for entry in new}
        gone = tuple(entry for entry in old[: rest.index(new[0].text)] if entry.item not in left)
    else:
        left = {entry.item for entry in new if _named(entry)}
        gone = tuple(takewhile(lambda entry: entry.item not in left, old))
    return list(gone)


def _named(piece: Piece) -> bool:
    """Not what joins two sections: that is a piece too, but none that a person would name or count."""
    return piece.tokens > 0


def _rules(gone: list[Piece], now: Assembly) -> str:
    """The rules that took them out, in brackets; empty where none is on record."""
    items = {entry.item for entry in gone}
    found = dict.fromkeys(d.rule for d in now.decisions if d.item in items and d.action in LOSSES)
    return f" [{', '.join(found)}]" if found else ""
