"""Items by what a person types, and the texts an item holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from promptdbg.errors import UsageError
from promptdbg.model import Assembly, Json, Message, Section

_PATTERN_MAX = 1_000


def item_ids(assembly: Assembly) -> tuple[str, ...]:
    """Every item of an assembly once: sections in order, then messages as they first appear."""
    seen = dict.fromkeys(section.id for section in assembly.sections)
    for stage in assembly.stages:
        seen.update(dict.fromkeys(message.id for message in stage.messages))
    return tuple(seen)


def find_item(assembly: Assembly, wanted: str) -> str:
    """The id of the one item that ``wanted`` means: its id, its name, or the end of its path.

    Raises:
        UsageError: no item, or several; the line names the near ones.
    """
    ids = item_ids(assembly)
    if wanted in ids:
        return wanted
    folded = wanted.casefold()
    matchers = (
        lambda item, name: item.casefold() == folded or name.casefold() == folded,
        lambda item, name: item.casefold().endswith("/" + folded),
        lambda item, name: folded in item.casefold() or folded in name.casefold(),
    )
    names = {section.id: section.name for section in assembly.sections}
    for matches in matchers:
        hits = [item for item in ids if matches(item, names.get(item, item))]
        if len(hits) == 1:
            return hits[0]
        if hits:
            raise UsageError(f"{wanted!r} means {len(hits)} items", hint="one of " + _some(hits))
    near = get_close_matches(wanted, ids, n=5, cutoff=0.4)
    raise UsageError(f"no item {wanted!r}", hint="near: " + _some(near) if near else "see: promptdbg inspect")


def glob(pattern: str) -> Callable[[str], bool]:
    """Whether a name fits a glob pattern.

    Raises:
        UsageError: the pattern is so long that preparing it takes seconds.
    """
    if len(pattern) > _PATTERN_MAX:
        raise UsageError(f"a pattern of {len(pattern):,} characters; {_PATTERN_MAX:,} are the most")
    return lambda name: fnmatchcase(name, pattern)


def match_items(assembly: Assembly, pattern: str) -> tuple[str, ...]:
    """The ids that a glob pattern matches (``memory/*``), or the one item that it names.

    Raises:
        UsageError: nothing matches.
    """
    if any(char in pattern for char in "*?["):
        fits = glob(pattern)
        hits = tuple(item for item in item_ids(assembly) if fits(item))
        if not hits:
            raise UsageError(f"no item matches {pattern!r}", hint="see: promptdbg inspect")
        return hits
    return (find_item(assembly, pattern),)


def _some(items: list[str]) -> str:
    shown = ", ".join(items[:6])
    return shown if len(items) <= 6 else f"{shown} and {len(items) - 6} more"


def find_message(assembly: Assembly, item: str) -> Message | None:
    """The message of that id, as it first appears."""
    for stage in assembly.stages:
        for message in (*stage.messages, *stage.dropped):
            if message.id == item:
                return message
    return None


def need_texts(assembly: Assembly, what: str) -> None:
    """
    Raises:
        UsageError: the texts were left out, so that ``what`` cannot be told.
    """
    if assembly.without_texts:
        raise UsageError(
            f"{what} is not known: this recording was written without its texts",
            hint="open the workspace itself, or a full export",
        )


def message_texts(message: Message) -> Iterator[str]:
    """Every text a message carries to the model, in order: content, reasoning, calls.

    Images and other opaque blocks carry no text.
    """
    yield from _content_texts(message.content)
    for key in ("reasoning_content", "thinking_blocks"):
        if key in message.extra:
            yield from _content_texts(message.extra[key])
    for call in message.tool_calls if isinstance(message.tool_calls, list) else ():
        yield from _call_texts(call)


def _content_texts(content: Json) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for key in ("text", "thinking", "content", "input_text", "output_text"):
            if key in content:
                yield from _content_texts(content[key])
        if "input" in content:
            yield json.dumps(content["input"], ensure_ascii=False)
    elif isinstance(content, (list, tuple)):
        for block in content:
            yield from _content_texts(block)


def _call_texts(call: Json) -> Iterator[str]:
    function = call.get("function") if isinstance(call, dict) else None
    if isinstance(function, dict):
        for key in ("name", "arguments"):
            value = function.get(key)
            if isinstance(value, str):
                yield value
            elif value is not None:
                yield json.dumps(value, ensure_ascii=False)


def section_offset(assembly: Assembly, section: Section) -> int | None:
    """Where the section's output begins in the system prompt; looked for where the engine does not
    say. ``None`` when it is not there."""
    if section.place != "system" or not section.output:
        return None
    if section.offset is not None:
        return section.offset
    found = assembly.system_text.find(section.output)
    return None if found < 0 else found
