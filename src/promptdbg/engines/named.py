"""What a manifest says to an engine with a configuration file of its own: other files, and keys that go
before those of the configuration."""

from __future__ import annotations

from collections.abc import Mapping

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
