"""What an engine with input files of its own reads: which files a manifest names, keys of it that go
before those of the configuration, and that a file which cannot be read is an error.

Nothing can be said of a prompt whose input is broken: a picture of what is left would be blamed on the
framework. In the UI the last good picture stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from promptdbg.errors import InputError
from promptdbg.files.structured import Parsed, read_structured
from promptdbg.model import Json, Notice, Source
from promptdbg.workspace import Workspace


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


def laid_over(workspace: Workspace, engine: str) -> tuple[Mapping[str, Json], list[Notice]]:
    """The manifest's table of the engine's name, which is laid over the configuration."""
    table = workspace.options.get(engine, {})
    if isinstance(table, dict):
        return table, []
    return {}, [Notice(f"{engine}.manifest", f"[{engine}] must be a table", workspace.source(engine))]


def place_laid_over(workspace: Workspace, engine: str, *keys: str | int) -> Source | None:
    """Where a key stands in that table; ``None`` where the table does not name it."""
    table = workspace.options.get(engine)
    if not keys or not isinstance(table, dict) or keys[0] not in table:
        return None
    names = [key for key in keys if isinstance(key, str)]
    return workspace.source(engine, *names)
