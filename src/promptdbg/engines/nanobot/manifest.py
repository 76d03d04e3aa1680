"""What a ``promptdbg.toml`` gives to nanobot beside its own files: tools, media, rows of a turn.

The keys are listed in ``inputs``.
"""

from __future__ import annotations

import base64
import json
import mimetypes
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from promptdbg.engines.named import broken
from promptdbg.files.disk import Problem, read_file
from promptdbg.files.skills import read_strict
from promptdbg.files.structured import json_reason
from promptdbg.model import Json, Notice, Source
from promptdbg.times import is_iso_time
from promptdbg.workspace import Workspace

_MEDIA_LIMIT = 64 * 1024 * 1024
LIST_LIMIT = 64 * 1024 * 1024
"""Bytes of a text file at the most: lists, memory, history."""


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A file that comes with the message; ``mime`` as nanobot would guess it, ``data`` if readable."""

    path: str
    exists: bool
    mime: str | None
    data: bytes | None
    text: str | None = None
    """What 0.2.2 puts into the message for a document; ``None`` where that cannot be rebuilt."""

    @property
    def is_image(self) -> bool:
        return bool(self.mime and self.mime.startswith("image/"))

    @property
    def url(self) -> str:
        return f"data:{self.mime};base64,{base64.b64encode(self.data or b'').decode()}"


@dataclass(frozen=True, slots=True)
class RuntimeBlock:
    """A block of runtime context that a channel or a tool adds to the message."""

    source: str
    content: str


class Options:
    """The manifest's keys, with a clear error for a value of the wrong kind."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._data = workspace.options

    def value(self, key: str) -> Json:
        return self._data.get(key)

    def text(self, key: str) -> str:
        value = self._data.get(key)
        if value is not None and not isinstance(value, str):
            raise self._workspace.wrong("must be a text", key)
        return value or ""

    def choice(self, key: str, choices: Collection[str]) -> str:
        value = self.text(key)
        if value and value not in choices:
            raise self._workspace.wrong(f"must be one of {', '.join(choices)}, not {value!r}", key)
        return value

    def time(self, key: str) -> str:
        value = self.text(key)
        if value and not is_iso_time(value):
            raise self._workspace.wrong(f"must be an ISO time, not {value!r}", key)
        return value

    def path(self, key: str) -> str:
        value = (self.table("paths") or {}).get(key, "")
        if not isinstance(value, str):
            raise self._workspace.wrong("must be a text", "paths", key)
        return value

    def table(self, key: str) -> dict[str, Json] | None:
        value = self._data.get(key)
        if value is not None and not isinstance(value, dict):
            raise self._workspace.wrong("must be a table", key)
        return value

    def texts(self, key: str) -> list[str] | None:
        """A list of texts; ``None`` where the manifest does not name it."""
        value = self._data.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self._workspace.wrong("must be a list of texts", key)
        return value

    def list(self, key: str) -> list[Json]:
        value = self._data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._workspace.wrong("must be a list", key)
        return value


def read_tools(workspace: Workspace, options: Options, notices: list[Notice]) -> tuple[Json, ...] | None:
    """The tool schemas, which nanobot has in its code and we in a file; ``None`` where there is none.

    Raises:
        InputError: the file is there and cannot be used.
    """
    value = options.value("tools")
    if isinstance(value, list):
        return tuple(value)
    if value is not None and not isinstance(value, str):
        raise workspace.wrong("must be a file name or a list of tools", "tools")
    path = workspace.path / (value or "tools.json")
    place = Source(str(path))
    read = read_file(path, limit=LIST_LIMIT)
    if read.data is None:
        _check_missing(read.problem, place)
        if value is not None:
            notices.append(Notice("tools.unreadable", "the tool schemas do not exist", place))
        return None
    try:
        parsed = json.loads(read.data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise broken(f"column {error.colno}: {error.msg}", Source(str(path), error.lineno)) from error
    except (ValueError, RecursionError) as error:
        raise broken(f"is not JSON: {json_reason(error)}", place) from error
    if isinstance(parsed, dict):
        parsed = parsed.get("tools")
    if isinstance(parsed, list):
        return tuple(parsed)
    if value is not None:
        raise broken("must hold a list of tools", place)
    # Another program's file of that name.
    notices.append(Notice("tools.broken", "not a list of tools; tools are unknown", place))
    return None


def _check_missing(problem: Problem | None, place: Source) -> None:
    """
    Raises:
        InputError: what is wrong with a file is something else than that it is not there.
    """
    if problem is not None and problem.kind != "missing":
        raise broken(problem.message, place)


def read_inflight(
    workspace: Workspace, options: Options, notices: list[Notice]
) -> tuple[Mapping[str, Json], ...]:
    """The rows of a turn that is under way.

    Raises:
        InputError: their file is there and cannot be used; a broken line is a notice.
    """
    value = options.value("inflight")
    rows: list[Json] = []
    if isinstance(value, str):
        path = workspace.path / value
        file = read_strict(path, limit=LIST_LIMIT)
        if file.text is None and file.error:
            raise broken(file.error, Source(str(path)))
        if file.text is None:
            notices.append(Notice("inflight.unreadable", "does not exist", Source(str(path))))
        for number, line in enumerate((file.text or "").split("\n"), start=1):
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except (ValueError, RecursionError) as error:
                    notices.append(Notice("inflight.line", f"not JSON ({error})", Source(str(path), number)))
    elif value is not None:
        rows = options.list("inflight")
    return tuple(row for row in rows if isinstance(row, dict))


def read_media(workspace: Workspace, options: Options, shown: str) -> tuple[MediaFile, ...]:
    return tuple(
        _media_file(workspace.path / name, f"{shown}/{name}") for name in options.texts("media") or ()
    )


def _media_file(path: Path, shown: str) -> MediaFile:
    read = read_file(path, limit=_MEDIA_LIMIT)
    mime = image_type(read.data or b"") or mimetypes.guess_type(shown)[0]
    return MediaFile(shown, read.data is not None, mime, read.data, _document_text(path, read.data))


_TEXT_SUFFIXES = frozenset(
    (
        ".txt",
        ".md",
        ".csv",
        ".json",
        ".xml",
        ".html",
        ".htm",
        ".log",
        ".yaml",
        ".yml",
        ".toml",
        ".ini",
        ".cfg",
    )
)


def _document_text(path: Path, data: bytes | None) -> str | None:
    """What 0.2.2 extracts from plain-text formats; office formats need parsers and stay unknown."""
    if data is None or path.suffix.lower() not in _TEXT_SUFFIXES:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# How the image formats that nanobot knows begin, as (offset, bytes) that must all be there.
_IMAGE_STARTS: tuple[tuple[str, tuple[tuple[int, bytes], ...]], ...] = (
    ("image/png", ((0, b"\x89PNG\r\n\x1a\n"),)),
    ("image/jpeg", ((0, b"\xff\xd8\xff"),)),
    ("image/gif", ((0, b"GIF87a"),)),
    ("image/gif", ((0, b"GIF89a"),)),
    ("image/webp", ((0, b"RIFF"), (8, b"WEBP"))),
)


def image_type(data: bytes) -> str | None:
    """The image format the first bytes tell (``utils/helpers.py::detect_image_mime``)."""
    for mime, starts in _IMAGE_STARTS:
        if all(data.startswith(magic, at) for at, magic in starts):
            return mime
    return None


def read_blocks(options: Options) -> tuple[RuntimeBlock, ...]:
    return tuple(
        RuntimeBlock(str(entry.get("source", "")), str(entry.get("content", "")))
        for entry in options.list("runtime_context")
        if isinstance(entry, dict)
    )
