"""What was loaded twice: the same text, the same file by two paths, long passages in two places."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from promptdbg.analysis.items import message_texts, need_texts
from promptdbg.model import Assembly, StageKind
from promptdbg.tokens import TokenCounter

DuplicateKind: TypeAlias = Literal["text", "file", "passage"]

_TEXT_MIN = 40
"""Characters below which the same text twice says nothing."""
_PASSAGE_MIN = 240
_LINE_MIN = 12
_GAP_MAX = 1


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same thing in several items. ``tokens`` is what all copies but the first cost.

    ``lines`` are the first line of the passage in each item (from 1); 1 for whole texts.
    """

    kind: DuplicateKind
    items: tuple[str, ...]
    lines: tuple[int, ...]
    tokens: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class _Text:
    item: str
    text: str


def duplicates(assembly: Assembly, counter: TokenCounter) -> tuple[Duplicate, ...]:
    """Everything that reaches the model more than once, the dearest first.

    Raises:
        UsageError: the assembly was read from a file without its texts.
    """
    need_texts(assembly, "what is in it twice")
    texts = list(_texts(assembly))
    whole = list(_same_text(texts, counter))
    paired = {pair for entry in whole for pair in _pairs(entry.items)}
    found = [
        *whole,
        *_same_file(assembly),
        *(entry for entry in _passages(texts, counter) if frozenset(entry.items) not in paired),
    ]
    return tuple(sorted(found, key=lambda entry: -entry.tokens))


def _pairs(items: tuple[str, ...]) -> Iterator[frozenset[str]]:
    for index, left in enumerate(items):
        for right in items[index + 1 :]:
            yield frozenset((left, right))


def _texts(assembly: Assembly) -> Iterator[_Text]:
    parents = {section.parent for section in assembly.sections if section.parent}
    for section in assembly.sections:
        if section.id not in parents and section.place == "system" and section.output:
            kept = "".join(section.text[s.start : s.end] for s in section.spans if s.kept)
            yield _Text(section.id, kept if section.spans else section.text)
    final = assembly.stage(StageKind.FINAL)
    for message in final.messages if final else ():
        if message.role != "system" or not assembly.sections:
            for text in message_texts(message):
                yield _Text(message.id, text)


def _same_text(texts: list[_Text], counter: TokenCounter) -> Iterator[Duplicate]:
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    for entry in texts:
        stripped = entry.text.strip()
        if len(stripped) >= _TEXT_MIN:
            groups[stripped][entry.item] = None
    for text, items in groups.items():
        if len(items) > 1:
            cost = counter.count(text) * (len(items) - 1)
            yield Duplicate("text", tuple(items), (1,) * len(items), cost, _excerpt(text))


def _same_file(assembly: Assembly) -> Iterator[Duplicate]:
    """Sections read from one file by different paths (a link, a second name)."""
    groups: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for section in assembly.sections:
        if section.source and section.output and section.source.start_line in (None, 1):
            path = os.path.join(assembly.workspace, section.source.path)
            groups[os.path.realpath(path)].append((section.id, os.path.normpath(path), section.tokens))
    for entries in groups.values():
        if len({path for _, path, _ in entries}) > 1:
            items = tuple(item for item, _, _ in entries)
            cost = sum(tokens for _, _, tokens in entries[1:])
            yield Duplicate("file", items, (1,) * len(items), cost, os.path.basename(entries[0][1]))


def _passages(texts: list[_Text], counter: TokenCounter) -> Iterator[Duplicate]:
    """Runs of lines that stand in two items, one differing line in between allowed.

    Each line is matched with its first place only, so the cost is linear in the text.
    """
    first: dict[str, tuple[int, int]] = {}  # a line -> (text, line) where it first stood
    for index, entry in enumerate(texts):
        lines = entry.text.split("\n")
        yield from _runs(texts, index, lines, first, counter)
        for number, line in enumerate(lines):
            key = _key(line)
            if key:
                first.setdefault(key, (index, number))


def _key(line: str) -> str:
    folded = " ".join(line.split()).casefold()
    return folded if len(folded) >= _LINE_MIN else ""


def _runs(
    texts: list[_Text],
    index: int,
    lines: list[str],
    first: dict[str, tuple[int, int]],
    counter: TokenCounter,
) -> Iterator[Duplicate]:
    run: list[str] = []
    other = start = there = gap = 0
    for number, line in enumerate([*lines, ""]):
        place = first.get(_key(line)) if number < len(lines) else None
        if place is not None and run and place[0] == other and gap <= _GAP_MAX:
            run.append(line)
            gap = 0
            continue
        if run and number < len(lines) and (place is None and gap < _GAP_MAX):
            gap += 1
            continue
        yield from _passage(texts, other, index, there, start, run, counter)
        run, gap = ([line], 0) if place is not None else ([], 0)
        if place is not None:
            other, there, start = place[0], place[1], number


def _passage(
    texts: list[_Text], other: int, index: int, there: int, here: int, run: list[str], counter: TokenCounter
) -> Iterator[Duplicate]:
    text = "\n".join(run)
    if len(text) >= _PASSAGE_MIN and texts[other].item != texts[index].item:
        yield Duplicate(
            "passage",
            (texts[other].item, texts[index].item),
            (there + 1, here + 1),
            counter.count(text),
            _excerpt(text),
        )


def _excerpt(text: str) -> str:
    return text.strip().partition("\n")[0][:80]
