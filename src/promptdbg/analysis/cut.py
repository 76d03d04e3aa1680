"""Where exactly a text was cut, and what that broke."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from promptdbg.analysis.diff import word_diff
from promptdbg.lengths import utf8_length
from promptdbg.model import Section, SectionStatus, Span
from promptdbg.text import position, shared_start

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cut:
    """The first point at which text is lost, and the whole of what is lost.

    ``line`` and ``column`` count from 1, in the original; ``offset`` is in code points, ``byte``
    in UTF-8 bytes from the start of the text. ``inside`` names what the cut falls inside of:
    ``character``, ``word``, ``line``, ``code fence``; the worst first, empty at a clean edge.
    ``first_lost_line`` is the first line that is lost, whole or in part; ``first_lost_part`` is what is
    lost of it, with ``…`` for what is kept.
    """

    offset: int
    byte: int
    line: int
    column: int
    inside: tuple[str, ...]
    lost_chars: int
    lost_bytes: int
    lost_lines: int
    total_lines: int
    first_lost_line: str
    first_lost_part: str
    lost_headings: tuple[str, ...]


def find_cut(section: Section) -> Cut | None:
    """The cut of a truncated section; ``None`` where nothing of its text is lost, it was switched off, or
    its text is not known here."""
    if section.status is SectionStatus.DISABLED or (
        section.spans and section.spans[-1].end > len(section.text)
    ):
        return None
    lost = [span for span in section.spans if not span.kept]
    if not lost:
        return None
    text = section.text
    first = lost[0]
    # Text cut off at its end is cut where the loss begins; at its start, where the loss ends.
    edge = first.end if first.start == 0 and first.end < len(text) else first.start
    line, column = position(text, edge)
    line_lost = _first_line(text, first)
    return Cut(
        offset=edge,
        byte=utf8_length(text[:edge]),
        line=line,
        column=column,
        inside=_inside(section, edge),
        lost_chars=sum(span.end - span.start for span in lost),
        lost_bytes=sum(utf8_length(text[span.start : span.end]) for span in lost),
        lost_lines=sum(_lines(text, span) for span in lost),
        total_lines=_lines(text, Span(0, len(text), True)),
        first_lost_line=text[line_lost.start : line_lost.end],
        first_lost_part=_lost_part(text, line_lost, first),
        lost_headings=tuple(_headings(text, lost)),
    )


def message_spans(text: str, sent: str | None) -> tuple[Span, ...]:
    """What of a message's text still stands in what is sent, and what does not; none where all of it does.

    Frameworks do not say what they keep of a message, so the two texts are compared.
    """
    if sent is None:
        return (Span(0, len(text), False),) if text else ()
    lost = _lost(text, sent) if len(text) <= _COMPARED_MAX else _lost_inside(text, sent)
    edges = [0, *(edge for stretch in lost for edge in stretch), len(text)]
    spans = [Span(start, end, not number % 2) for number, (start, end) in enumerate(pairwise(edges))]
    return tuple(span for span in spans if span.end > span.start) if lost else ()


_COMPARED_MAX = 200_000
"""Characters up to which two texts are compared line by line, which for more would take too long."""

_PROBE = 40
"""Characters by which the beginning and the end of a long text are found again."""


def _lost(text: str, sent: str) -> list[tuple[int, int]]:
    changes = word_diff(text, sent)
    return [(change.a_start, change.a_end) for change in changes if change.a_end > change.a_start]


def _lost_inside(text: str, sent: str) -> list[tuple[int, int]]:
    """What is lost between the beginning of a text and its end, as far as these stand in what is sent."""
    start = max(sent.find(text[:_PROBE]), 0)
    head = shared_start(text, sent[start:])
    stop = sent.rfind(text[-_PROBE:], start + head)
    after = sent[start + head : stop + _PROBE] if stop >= 0 else ""
    tail = shared_start(text[:head:-1], after[::-1])
    return [(head, len(text) - tail)] if head < len(text) - tail else []


def _inside(section: Section, edge: int) -> tuple[str, ...]:
    text = section.text
    found: list[str] = []
    # Only a cut by bytes can leave half a character behind, seen as U+FFFD in the output.
    if "\ufffd" in section.output and "\ufffd" not in text:
        found.append("character")
    if 0 < edge < len(text):
        before, after = text[edge - 1], text[edge]
        if _in_word(before) and _in_word(after):
            found.append("word")
        if before != "\n" and after != "\n":
            found.append("line")
        if any(start < edge < end for start, end in fences(text)):
            found.append("code fence")
    return tuple(found)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def fences(text: str) -> list[tuple[int, int]]:
    """The fenced code blocks of a Markdown text as offsets, an unclosed one up to the end."""
    blocks: list[tuple[int, int]] = []
    opened: tuple[str, int] | None = None
    for match in _FENCE.finditer(text):
        mark, rest = match[1], match[2]
        if opened is None:
            if mark[0] != "`" or "`" not in rest:
                opened = mark, match.start()
        elif mark[0] == opened[0][0] and len(mark) >= len(opened[0]) and not rest.strip():
            blocks.append((opened[1], match.end()))
            opened = None
    if opened is not None:
        blocks.append((opened[1], len(text)))
    return blocks


def _headings(text: str, lost: list[Span]) -> list[str]:
    code = fences(text)
    found: list[str] = []
    block = 0
    for match in _HEADING.finditer(text):
        while block < len(code) and code[block][1] <= match.start():
            block += 1
        in_code = block < len(code) and code[block][0] <= match.start()
        if not in_code and any(span.start <= match.start() < span.end for span in lost):
            found.append(f"{match[1]} {match[2]}")
    return found


def _lines(text: str, span: Span) -> int:
    """Lines that the span touches."""
    return text.count("\n", span.start, span.end) + (0 if text[span.end - 1 : span.end] == "\n" else 1)


def _first_line(text: str, span: Span) -> Span:
    """The first line that is lost, whole or in part, as it stands in the original: from where to where."""
    at = span.start + 1 if text[span.start] == "\n" else span.start
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return Span(start, len(text) if end < 0 else end, False)


def _lost_part(text: str, line: Span, lost: Span) -> str:
    """What is lost of a line, with ``…`` for what is kept in front of it and behind it."""
    start, end = max(line.start, lost.start), min(line.end, lost.end)
    if start >= end:  # no more than its line feed
        return ""
    front, behind = "…" * (start > line.start), "…" * (end < line.end)
    return f"{front}{text[start:end]}{behind}"
