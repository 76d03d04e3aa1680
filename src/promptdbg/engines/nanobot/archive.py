"""Raw archives: what stands in for a summary when the model gives none.

``agent/memory.py::MemoryStore.raw_archive`` and ``utils/helpers.py::strip_think``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from promptdbg.engines.nanobot.appended import take_apart
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.estimate import truncate_chars
from promptdbg.engines.nanobot.rows import Rows
from promptdbg.model import Json

RAW_CHARS = 16_000
_CHANNEL = r"<\|?(?:c|ch|cha|chan|chann|channe|channel)(?:\|?>?)?"


def _patterns(tags: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    tag = f"(?:{'|'.join(tags)})"
    beginnings = {name[:length] for name in tags for length in range(1, len(name) + 1)}
    begun = "|".join(sorted(beginnings, key=lambda text: (-len(text), text)))
    return (
        re.compile(rf"<(?P<tag>{tag})>[\s\S]*?</(?P=tag)>"),
        re.compile(rf"^\s*<{tag}>[\s\S]*$"),
        *(
            (re.compile(r"^\s*<thinking/>\s*"), re.compile(r"\s*<thinking/>\s*$"))
            if "thinking" in tags
            else ()
        ),
        re.compile(rf"<{tag}(?![A-Za-z0-9_\-:>/])"),
        re.compile(rf"^\s*</{tag}>\s*"),
        re.compile(rf"\s*</{tag}>\s*$"),
        re.compile(r"^\s*<\|?channel\|?>\s*"),
        re.compile(rf"(?:</?(?:{begun})>?|{_CHANNEL})$"),
        re.compile(r"^\s*<\|?$"),
    )


_PATTERNS = {False: _patterns(("think", "thinking", "thought")), True: _patterns(("think", "thought"))}


def strip_think(text: str, dialect: Dialect) -> str:
    """A text without reasoning tags and their broken ends, as every history entry is stored."""
    for pattern in _PATTERNS[dialect.strict_rows]:
        text = pattern.sub("", text)
    return text.strip()


def transcript(values: Iterable[Mapping[str, Json]], dialect: Dialect) -> str:
    """Messages as lines of text, empty ones left out (``_format_messages``).

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
    return "\n".join(lines)


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
    head = f"[RAW] {len(rows)} messages\n"
    if dialect.compacts_requests:
        return truncate_chars(strip_think((head + transcript(values, dialect)).rstrip(), dialect), RAW_CHARS)
    return head + truncate_chars(transcript(values, dialect), RAW_CHARS)
