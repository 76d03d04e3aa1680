"""Which of the sessions that were found is opened: the one asked for, the manifest's, or the latest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from promptdbg.errors import InputError
from promptdbg.files.disk import expanded
from promptdbg.records import SessionRef
from promptdbg.sessions import ref_for
from promptdbg.workspace import MANIFEST_NAME, Workspace

_KEYS_SHOWN = 8


def wanted(workspace: Workspace, asked: str | None = None) -> str | None:
    """The session asked for: on the command line, else by the manifest's ``session``."""
    named = workspace.options.get("session")
    if asked is not None or named is None:
        return asked
    if not isinstance(named, str):
        raise workspace.wrong("must be a file name", "session")
    return str(workspace.path / named)


def choose(found: Sequence[SessionRef], name: str | None, form: str) -> SessionRef | None:
    """The session of that key, file name or path; the latest readable one without a name.

    Raises:
        InputError: there is none of that name; the line has the keys there are.
    """
    if name is None or name == "latest":
        return next((ref for ref in found if ref.readable), None)
    return _named(found, name, form)


def with_named(workspace: Workspace, found: tuple[SessionRef, ...], form: str) -> tuple[SessionRef, ...]:
    """The sessions, before all others the one that the manifest names: it is what is opened."""
    name = wanted(workspace)
    if name is None:
        return found
    try:
        ref = _named(found, name, form)
    except InputError as error:
        ref = SessionRef(name, form, Path(name).stem, readable=False, reason=error.what)
    reason = "; ".join(filter(None, (f"{MANIFEST_NAME} names it", ref.reason)))
    return (replace(ref, reason=reason), *(other for other in found if other.path != ref.path))


def _named(found: Sequence[SessionRef], name: str, form: str) -> SessionRef:
    for ref in found:
        if name in (ref.key, ref.path, Path(ref.path).name):
            return ref
    keys = ", ".join(ref.key for ref in found[:_KEYS_SHOWN])
    more = f" and {len(found) - _KEYS_SHOWN} more" if len(found) > _KEYS_SHOWN else ""
    hint = f"name a session file, or one of: latest, {keys}{more}" if keys else "name a session file"
    return ref_for(expanded(name), form, hint)
