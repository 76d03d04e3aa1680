"""nanobot's session files: one JSON value a line, first the metadata, then one line per message.

Where they lie changed twice. 0.2.2 keeps ``<workspace>/sessions/<key with _>.jsonl``; 0.3.0 the same
folder with base64 names; main and 0.3.5 ``<config folder>/sessions/<workspace id>/``, and of those
only base64 names are ever read. ``find`` lists all of them and says which a version would read.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from promptdbg.files.disk import FileRead, entries, is_file, is_folder, read_file
from promptdbg.model import Json, Notice, Source
from promptdbg.records import Record, SessionRef, StoredSession
from promptdbg.workspace import Workspace

FORMAT = "nanobot"
_HEAD = 65_536
_WORKSPACE_ID = re.compile(r"[0-9a-f]{32}")
_SIDECAR_LIMIT = 64 * 1024 * 1024


def find(workspace: Workspace, home: Path) -> tuple[SessionRef, ...]:
    """Every session of the workspace, newest first; files no current version reads come with a reason."""
    stores = [
        folder for config in config_folders(workspace, home) for folder in _stores(config, workspace.path)
    ]
    upgraded = any(_sessions_in(store) for store in stores)
    refs: list[SessionRef] = []
    for store in stores:
        refs.extend(_ref(path, *_in_store(path)) for path in _sessions_in(store))
    for path in _sessions_in(workspace.path / "sessions"):
        refs.append(_ref(path, *_in_workspace(path, upgraded)))
    for path in _sessions_in(home / ".nanobot" / "sessions"):
        refs.append(_ref(path, *_legacy(upgraded)))
    unique = {ref.path: ref for ref in refs}
    return tuple(sorted(unique.values(), key=lambda ref: (-ref.modified, ref.path)))


def config_folders(workspace: Workspace, home: Path) -> tuple[Path, ...]:
    """The folders a nanobot configuration of this workspace may lie in, the likeliest first.

    The manifest's ``config`` names the file; else the folder above the workspace if it has a
    ``config.json`` (nanobot's own layout), then ``~/.nanobot``.
    """
    named = workspace.options.get("config")
    if isinstance(named, str):
        return ((workspace.path / named).parent,)
    folders = [home / ".nanobot"]
    if is_file(workspace.path.parent / "config.json"):
        folders.insert(0, workspace.path.parent)
    return tuple(dict.fromkeys(folders))


def storage_key(key: str) -> str:
    """The file stem of a session key since 0.3.0 (``session/manager.py::storage_key``)."""
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def decoded_key(stem: str) -> str | None:
    """The key a stem stands for; ``None`` unless encoding it again gives the same stem."""
    try:
        key = base64.urlsafe_b64decode(stem + "=" * (-len(stem) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return key if storage_key(key) == stem else None


def _stores(config: Path, workspace: Path) -> Iterator[Path]:
    """The session folders under a config folder that belong to a workspace."""
    root = config / "sessions"
    marker = _line(workspace / ".nanobot" / "workspace-id")
    if marker is not None and _WORKSPACE_ID.fullmatch(marker):
        yield root / marker
        return
    for folder in sorted(path for path in entries(root) if is_folder(path)):
        if _line(folder / ".workspace") == str(workspace):
            yield folder


def _sessions_in(folder: Path) -> list[Path]:
    return sorted(path for path in entries(folder) if path.suffix == ".jsonl")


def _line(path: Path) -> str | None:
    read = read_file(path, limit=_HEAD, cut=True)
    return None if read.data is None else read.data.decode("utf-8", "replace").strip()


def _in_store(path: Path) -> tuple[bool, str]:
    if decoded_key(path.stem) is not None:
        return True, ""
    return False, "main and 0.3.5 read only base64 names here; an upgrade from 0.2.2 left this one behind"


def _in_workspace(path: Path, upgraded: bool) -> tuple[bool, str]:
    if decoded_key(path.stem) is not None:
        return True, "0.3.0's name; main and 0.3.5 move it to the config folder at their next start"
    if upgraded:
        return False, "0.2.2's name; main and 0.3.5 move it to the config folder and never read it again"
    return True, "0.2.2's name; an upgrade to main or 0.3.5 would hide it"


def _legacy(upgraded: bool) -> tuple[bool, str]:
    if upgraded:
        return False, "from before 0.2; main and 0.3.5 do not look here"
    return True, "from before 0.2; 0.2.2 moves it into the workspace when its key is used"


def _ref(path: Path, readable: bool, reason: str) -> SessionRef:
    read = read_file(path, limit=_HEAD, cut=True)
    key = decoded_key(path.stem) or _key_of(read) or path.stem
    if read.problem is not None:
        return SessionRef(str(path), FORMAT, key, readable=False, reason=read.problem.message)
    return SessionRef(str(path), FORMAT, key, read.size, read.modified, readable, reason)


def _key_of(read: FileRead) -> str | None:
    """The key in a file's metadata line."""
    data = read.data or b""
    end = data.find(b"\n")
    try:
        value = json.loads(data[: end if end >= 0 else None].decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    key = value.get("key") if isinstance(value, dict) else None
    return key if isinstance(key, str) and key else None


def read(ref: SessionRef) -> StoredSession:
    """The whole file: every line that is not blank a record, what is beside it as ``sidecar``."""
    path = Path(ref.path)
    found = read_file(path)
    decoded = decoded_key(path.stem)
    if ref.key == path.stem:
        named = _key_of(found)
        ref = replace(ref, key=decoded if decoded and ":" in decoded else named or decoded or ref.key)
    if found.problem is not None:
        code = f"session.{found.problem.kind}"
        return StoredSession(
            ref, problem=Notice(code, f"the session {found.problem.message}", Source(ref.path))
        )
    assert found.data is not None
    ref = replace(ref, size=found.size, modified=found.modified)
    sidecar = _sidecar(path)
    try:
        return StoredSession(ref, tuple(_records(found.data)), sidecar=sidecar)
    except UnicodeDecodeError as error:
        start = error.start
    return StoredSession(
        ref,
        problem=Notice(
            "session.not-utf8",
            f"byte {start} is not UTF-8: nanobot takes the whole session as absent, and its "
            "next save overwrites the file",
            Source(ref.path, found.data.count(b"\n", 0, start) + 1),
        ),
        sidecar=sidecar,
    )


def _records(data: bytes) -> Iterator[Record]:
    for number, line in enumerate(_lines(data), start=1):
        stripped = line.strip()
        if not stripped:
            continue
        try:
            yield Record(number, json.loads(stripped))
        except json.JSONDecodeError as error:
            yield Record(number, error=str(error))
        except RecursionError:
            yield Record(number, error="RecursionError: nested too deeply", fatal=True)
        except ValueError as error:
            yield Record(number, error=f"ValueError: {error}", fatal=True)


def _lines(data: bytes) -> Iterator[str]:
    """Each line, decoded by itself: a whole session at once would stop every other thread.

    Python's text mode ends lines at LF, CR and CRLF and nowhere else; str.splitlines would also
    cut at U+2028 and others that stand raw inside JSON strings.

    Raises:
        UnicodeDecodeError: its place is that in all the data.
    """
    start = 0
    while start <= len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        try:
            line = data[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            place = start + error.start, start + error.end
            raise UnicodeDecodeError(error.encoding, data, *place, error.reason) from None
        yield from (line.removesuffix("\r") if end < len(data) else line).split("\r")
        start = end + 1


def _sidecar(path: Path) -> Json:
    """0.3.5's checkpoint file: its payload, and whether it is older than the session (then ignored)."""
    beside = path.with_name(f"{path.stem}.checkpoint.json")
    found = read_file(beside, limit=_SIDECAR_LIMIT)
    if found.problem is not None:
        if found.problem.kind == "missing":
            return None
        return {"path": str(beside), "problem": found.problem.message}
    assert found.data is not None
    try:
        stale = path.stat().st_mtime_ns > beside.stat().st_mtime_ns
        payload = json.loads(found.data.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return {"path": str(beside), "problem": f"is not JSON: {error}"}
    return {"path": str(beside), "stale": stale, "payload": payload}
