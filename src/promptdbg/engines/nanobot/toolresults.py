"""What nanobot makes of a tool result before a model sees it: notes for empty ones, files for long ones.

``agent/context_governance.py::normalize_tool_result`` and ``utils/helpers.py::maybe_persist_tool_result``.
Nothing is written here: a stored file is only told by its name, its size and what stands in its place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import OFFLOAD_EXEMPT, PREVIEW_CHARS, Dialect
from promptdbg.engines.nanobot.estimate import truncate_chars
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.rows import text_blocks
from promptdbg.lengths import utf8_length
from promptdbg.model import Json, Rule

_UNSAFE = re.compile(r'[<>:"/\\|?*]')
_FOLDER = ".nanobot/tool-results"


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A file nanobot would have written, below the project: its name and its size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class ResultRules:
    """What normalising depends on. ``limit`` is in code points; ``project`` as the prompt shows it."""

    dialect: Dialect
    prose: Prose
    project: str
    session_key: str
    limit: int


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a result; numbers are code points."""

    rule: Rule
    because: str
    measured: int | None = None
    limit: int | None = None


@dataclass(frozen=True)
class Normalized:
    """A result as the model gets it, with what was done."""

    content: Json
    changes: tuple[Change, ...] = ()
    files: tuple[Offloaded, ...] = ()


def normalize(given: ResultRules, call_id: str, tool: str, content: Json) -> Normalized:
    """One tool result, by the rules of the dialect."""
    changes: tuple[Change, ...] = ()
    if _is_empty(content):
        changes = (Change(rules.EMPTY_RESULT, f"{tool} returned nothing; a short note says so"),)
        content = given.prose.about("empty_result", tool)
    if tool == OFFLOAD_EXEMPT:
        return Normalized(content, changes)
    if given.dialect.keeps_reference:
        return _blockwise(given, call_id, content, changes)
    return _whole(given, call_id, content, changes)


def _is_empty(content: Json) -> bool:
    if content is None:
        return True
    if isinstance(content, str):
        return not content.strip()
    if isinstance(content, list):
        text = text_blocks(content)
        return not content or (text is not None and not text.strip())
    return False


def _whole(given: ResultRules, call_id: str, content: Json, changes: tuple[Change, ...]) -> Normalized:
    """0.2.2 and main: one file for the whole result, then a plain cut."""
    files: tuple[Offloaded, ...] = ()
    text = (
        content if isinstance(content, str) else text_blocks(content) if isinstance(content, list) else None
    )
    if text is not None and given.limit > 0 and len(text) > given.limit:
        suffix = "txt" if isinstance(content, str) else "json"
        stored = text if suffix == "txt" else json.dumps(content, ensure_ascii=False, indent=2)
        path = _path(given, call_id, suffix)
        files = (Offloaded(path, utf8_length(stored)),)
        changes = (*changes, _offloaded(text, given.limit, path))
        content = _reference(given, path, text)
    if isinstance(content, str) and len(content) > given.limit > 0:
        because = f"{len(content):,} characters are still over the limit of {given.limit:,}"
        changes = (*changes, Change(rules.REFERENCE_CUT, because, len(content), given.limit))
        content = truncate_chars(content, given.limit)
    return Normalized(content, changes, files)


def _blockwise(given: ResultRules, call_id: str, content: Json, changes: tuple[Change, ...]) -> Normalized:
    """0.3.5: each text by itself, and a reference is never cut."""
    files: list[Offloaded] = []
    made = list(changes)

    def offload(text: str, name: str) -> str:
        if given.limit <= 0 or len(text) <= given.limit:
            return text
        path = _path(given, name, "txt")
        files.append(Offloaded(path, utf8_length(text)))
        made.append(_offloaded(text, given.limit, path))
        reference = _reference(given, path, text)
        return reference if len(reference) <= given.limit else f"[truncated: {path}]"

    result: Json = content
    if isinstance(content, str):
        result = offload(content, call_id)
    elif isinstance(content, list) and all(_is_block(block) for block in content):
        result = [
            {**block, "text": offload(block["text"], f"{call_id}_text_{index}")}
            if block["type"] == "text"
            else block
            for index, block in enumerate(content)
        ]
    return Normalized(result, tuple(made), tuple(files))


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    return block["type"] != "text" or isinstance(block.get("text"), str)


def _offloaded(text: str, limit: int, path: str) -> Change:
    because = f"{len(text):,} characters are over the limit of {limit:,}; stored in {path}"
    return Change(rules.OFFLOADED, because, len(text), limit)


def _path(given: ResultRules, name: str, suffix: str) -> str:
    folder = safe_name(given.session_key or "default")
    return f"{given.project}/{_FOLDER}/{folder}/{safe_name(name)}.{suffix}"


def safe_name(name: str) -> str:
    """A key as a file name (``utils/helpers.py::safe_filename``)."""
    return _UNSAFE.sub("_", name).strip()


def _reference(given: ResultRules, path: str, text: str) -> str:
    fixed = given.prose.fixed
    size = f"{fixed('persist.size')}{len(text)}{fixed('persist.preview')}"
    result = f"{fixed('persist.head')}{path}{size}{text[:PREVIEW_CHARS]}"
    if len(text) > PREVIEW_CHARS:
        return result + fixed("persist.more")
    return result + fixed("persist.tail") if given.dialect.keeps_reference else result
