"""Raw archives: what stands in for a summary when the model gives none.

``agent/memory.py::MemoryStore.raw_archive`` and ``utils/helpers.py::strip_think``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from promptdbg.engines.nanobot.appended import take_apart
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.estimate import truncate_chars
from promptdbg.engines.nanobot.rows import Rows
from promptdbg.model import Json

RAW_CHARS = 16_000
_CHANNEL = r"<\|?(?:c|ch|cha|chan|chann|channe|channel)(?:\|?>?)?"


_TAG_MAX = 64
"""More characters than any tag has, and more than a text's end can lose that is not blank."""
_PIECE = 65_536


class _Tags:
    """The patterns of one release's tags, in the order they are applied."""

    def __init__(self, names: tuple[str, ...]) -> None:
        tag = f"(?:{'|'.join(names)})"
        beginnings = {name[:length] for name in names for length in range(1, len(name) + 1)}
        begun = "|".join(sorted(beginnings, key=lambda text: (-len(text), text)))
        alone = (r"^\s*<thinking/>\s*", r"\s*<thinking/>\s*$") if "thinking" in names else ()
        self.opening = re.compile(rf"<(?P<tag>{tag})>")
        self.pair = re.compile(rf"<(?P<tag>{tag})>[\s\S]*?</(?P=tag)>")
        self.broken = re.compile(rf"<{tag}(?![A-Za-z0-9_\-:>/])")
        self.others = (
            *map(re.compile, (rf"^\s*<{tag}>[\s\S]*$", *alone)),
            self.broken,
            re.compile(rf"^\s*</{tag}>\s*"),
            re.compile(rf"\s*</{tag}>\s*$"),
            re.compile(r"^\s*<\|?channel\|?>\s*"),
            re.compile(rf"(?:</?(?:{begun})>?|{_CHANNEL})$"),
            re.compile(r"^\s*<\|?$"),
        )


_TAGS = {False: _Tags(("think", "thinking", "thought")), True: _Tags(("think", "thought"))}


def strip_think(text: str, dialect: Dialect) -> str:
    """A text without reasoning tags and their broken ends, as every history entry is stored."""
    tags = _TAGS[dialect.strict_rows]
    return _stripped(tags.pair.sub("", text), tags)


def _stripped(text: str, tags: _Tags) -> str:
    for pattern in tags.others:
        text = pattern.sub("", text)
    return text.strip()


def _begun(lines: list[str], tags: _Tags, limit: int) -> str:
    """``strip_think`` of the joined lines, as far as its first characters and that there are more.

    The lines may be a whole session, of which thousands of characters are wanted. The first line is
    neither blank nor does it hold a tag, so what is stripped off a text's beginning is not there.
    """
    while lines and (not lines[-1] or lines[-1].isspace()):
        lines.pop()
    kept: list[str] = []
    size, wanted = 0, 2 * limit
    for piece in _outside(lines, tags.opening):
        kept.append(piece)
        size += len(piece)
        if size >= wanted:
            text = tags.broken.sub("", "".join(kept))
            if sum(map(len, text[limit:-_TAG_MAX].split())) > _TAG_MAX:
                return text
            wanted *= 2
    return _stripped("".join(kept), tags)


def _outside(lines: Sequence[str], opening: re.Pattern[str]) -> Iterator[str]:
    """What ``_Tags.pair`` leaves of the joined lines, in pieces, the end without blanks; each tag is
    looked for once."""
    unclosed: set[str] = set()
    number = place = 0
    while number < len(lines):
        line = lines[number] if number + 1 < len(lines) else lines[number].rstrip()
        tag = next((tag for tag in opening.finditer(line, place) if tag["tag"] not in unclosed), None)
        if tag is None:
            for start in range(place, len(line), _PIECE):
                yield line[start : start + _PIECE]
            number, place = number + 1, 0
            if number < len(lines):
                yield "\n"
        elif after := _closed(lines, number, tag.end(), f"</{tag['tag']}>"):
            yield line[place : tag.start()]
            number, place = after
        else:
            unclosed.add(tag["tag"])


def _closed(lines: Sequence[str], number: int, place: int, end: str) -> tuple[int, int] | None:
    """The line and the place after the first ``end`` from a place on."""
    for later in range(number, len(lines)):
        found = lines[later].find(end, place)
        if found >= 0:
            return later, found + len(end)
        place = 0
    return None


def transcript(values: Iterable[Mapping[str, Json]], dialect: Dialect) -> list[str]:
    """Messages as lines of a text, empty ones left out (``_format_messages``).

    Raises:
        Crash: a row holds a value that cannot be written so.
    """
    lines: list[str] = []
    for value in values:
        content = value.get("content") if dialect.strict_rows else _with_media(value)
        if not content:
            continue
        try:
            lines.append(f"{_speaker(value, strict=dialect.strict_rows)}: {content}")
        except (TypeError, KeyError, AttributeError) as error:
            raise Crash(
                type(error).__name__,
                str(error),
                "agent/memory.py::_format_messages",
                "A stored row cannot be archived, so every turn that would archive it fails.",
            ) from error
    return lines


def _speaker(value: Mapping[str, Any], *, strict: bool) -> str:
    """Time, role and tools of a message; odd values raise what Python raises for them."""
    used = value.get("tools_used")
    tools = f" [tools: {', '.join(used)}]" if used else ""
    if strict:
        time, role = value.get("timestamp", "?")[:16], value["role"]
    else:
        stamp = value.get("timestamp")
        time = "?" if stamp is None else str(stamp)[:16]
        role = str(value.get("role") or "unknown")
    return f"[{time}] {role.upper()}{tools}"


def _with_media(value: Mapping[str, Json]) -> Json:
    content, media = value.get("content", ""), value.get("media")
    if value.get("role") != "user" or not isinstance(content, str) or not isinstance(media, list):
        return content
    names = "\n".join(f"[image: {path}]" for path in media if isinstance(path, str) and path)
    if not names:
        return content
    return f"{content}\n{names}" if content else names


def public(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """A message without the runtime context that was appended to it (``public_history_message``)."""
    parts = take_apart(value.get("content"), value.get("_runtime_context"))
    return value if parts is None else {**value, "content": parts.said}


def raw_archive(rows: Rows, dialect: Dialect) -> str:
    """The entry that takes a failed summary's place: a head line, then the messages as text."""
    values = [row.value if dialect.strict_rows else public(row.value) for row in rows]
    head, lines = f"[RAW] {len(rows)} messages", transcript(values, dialect)
    if dialect.compacts_requests:
        return truncate_chars(_begun([head, *lines], _TAGS[dialect.strict_rows], RAW_CHARS), RAW_CHARS)
    return f"{head}\n{truncate_chars(_joined(lines, RAW_CHARS), RAW_CHARS)}"


def _joined(lines: Iterable[str], limit: int) -> str:
    """The joined lines, or as many of them as are longer than the limit."""
    size, first = 0, []
    for line in lines:
        first.append(line)
        size += len(line) + 1
        if size > limit + 1:
            break
    return "\n".join(first)
