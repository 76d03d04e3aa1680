"""What an engine with input files of its own reads: which files a manifest names, keys of it that go
before those of the configuration, and that a file which cannot be read is an error.

Nothing can be said of a prompt whose input is broken: a picture of what is left would be blamed on the
framework. In the UI the last good picture stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from promptdbg.engines.base import Detection
from promptdbg.errors import InputError
from promptdbg.files.disk import is_file
from promptdbg.files.structured import Parsed, read_structured
from promptdbg.model import Failure, Json, Notice, Source
from promptdbg.text import clip
from promptdbg.workspace import Workspace


def detected(workspace: Workspace, name: str) -> Detection | None:
    """Whether a file is there that is the engine's alone."""
    return Detection(50, f"{name} is there") if is_file(workspace.path / name) else None


def named_files(
    workspace: Workspace, engine: str, files: Mapping[str, str]
) -> tuple[dict[str, str], list[Notice]]:
    """The input files by their keys; a name that is no text is a notice, and the usual file is read."""
    found, wrong = dict(files), []
    for key, usual in files.items():
        name = workspace.options.get(key)
        if isinstance(name, str) and name:
            found[key] = name
        elif name is not None:
            message = f"{key} must be a file name; {usual} is read"
            wrong.append(Notice(f"{engine}.manifest", message, workspace.source(key)))
    return found, wrong


def read_whole(path: Path) -> Parsed:
    """An input file, parsed; not found where it is not there. Broken lines of JSON Lines are notices.

    Raises:
        InputError: it cannot be read or parsed.
    """
    parsed = read_structured(path)
    if parsed.ok or not parsed.found:
        return parsed
    notice = parsed.notices[0]
    raise broken(notice.message, notice.source or parsed.source())


def read_table(path: Path) -> Parsed:
    """An engine's configuration: a table of keys, or nothing.

    Raises:
        InputError: it cannot be read or parsed, or is something else.
    """
    parsed = read_whole(path)
    if parsed.value is not None and not isinstance(parsed.value, dict):
        raise broken("must be a table of keys", parsed.source())
    return parsed


def broken(what: str, place: Source) -> InputError:
    """The error that a file cannot be used, in the words of all engines."""
    return InputError(what, where=str(place), hint="correct the file; nothing is rebuilt without it")


def told(value: Json) -> str:
    """A wrong value as a sentence can hold it."""
    return clip(repr(value), 60)


@dataclass(slots=True)
class Reading:
    """What is being read, and the problems so far. ``data`` is the configuration with the manifest's table
    of the engine's name laid over it."""

    workspace: Workspace
    engine: str
    config: Parsed
    data: dict[str, Json]
    notices: list[Notice]
    failure: Failure | None = None

    def warn(self, code: str, message: str, *keys: str | int) -> None:
        """A notice with the place of a key, in the manifest if that has it."""
        place = self._in_manifest(*keys) or self.config.source(*keys)
        self.notices.append(Notice(f"{self.engine}.{code}", message, place))

    def chosen(self, key: str, choices: tuple[str, ...], default: str) -> str:
        """A key's value where it is one of the choices; else the default, with a notice."""
        value = self.data.get(key, default)
        if value in choices:
            return str(value)
        self.warn("bad-value", f"{key} must be one of {', '.join(choices)}, not {told(value)}", key)
        return default

    def _in_manifest(self, *keys: str | int) -> Source | None:
        table = self.workspace.options.get(self.engine)
        if not keys or not isinstance(table, dict) or keys[0] not in table:
            return None
        names = [key for key in keys if isinstance(key, str)]
        return self.workspace.source(self.engine, *names)


ReadingT = TypeVar("ReadingT", bound=Reading)


def start_reading(
    kind: type[ReadingT], workspace: Workspace, engine: str, config: Parsed, known: Collection[str]
) -> ReadingT:
    """A configuration with what the manifest lays over it; a key that is not known is a notice."""
    data = {str(key): value for key, value in (config.value or {}).items()}
    notices = list(config.notices)
    for key in data:
        if key not in known:
            message = f"nothing reads the key {key}"
            notices.append(Notice(f"{engine}.unknown-key", message, config.source(key)))
    table = workspace.options.get(engine, {})
    if isinstance(table, dict):
        data.update(table)
    else:
        message = f"[{engine}] must be a table"
        notices.append(Notice(f"{engine}.manifest", message, workspace.source(engine)))
    return kind(workspace, engine, config, data, notices)
