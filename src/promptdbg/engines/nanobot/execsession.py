"""0.3.5 renamed the tool ``write_stdin`` and rewrites old calls of it when a session is loaded.

``session/manager.py::_migrate_legacy_exec_session_records``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from promptdbg.model import Json

_OLD, _NEW = "write_stdin", "exec_session"
_DROPPED = ("yield_time_ms", "wait_timeout_ms", "max_output_chars", "max_output_tokens")


def migrate_exec_session(value: Mapping[str, Json], *, call: bool = False) -> Mapping[str, Json]:
    """The message (or, with ``call``, the tool call) in today's words; itself when nothing changes."""
    if call:
        return _call(value)
    changes: dict[str, Json] = {}
    if value.get("name") == _OLD:
        changes["name"] = _NEW
    calls = value.get("tool_calls")
    if isinstance(calls, list):
        renamed = [_call(entry) if isinstance(entry, dict) else entry for entry in calls]
        if any(new is not old for new, old in zip(renamed, calls, strict=True)):
            changes["tool_calls"] = renamed
    return {**value, **changes} if changes else value


def _call(call: Mapping[str, Json]) -> Mapping[str, Json]:
    function = call.get("function")
    body: Mapping[str, Json] = function if isinstance(function, dict) else call
    if body.get("name") not in (_OLD, _NEW):
        return call
    changed = dict(body)
    if body.get("name") == _OLD:
        changed["name"] = _NEW
    arguments = _arguments(body.get("arguments"))
    if arguments is not None:
        changed["arguments"] = arguments
    if changed == dict(body):
        return call
    return {**call, "function": changed} if isinstance(function, dict) else changed


def _arguments(raw: Json) -> Json:
    """The arguments under their new names; ``None`` when they stay as they are."""
    try:
        decoded = json.loads(raw) if isinstance(raw, str) else raw
    except (ValueError, RecursionError):
        return None
    if not isinstance(decoded, dict):
        return None
    arguments = dict(decoded)
    if "chars" in arguments:
        arguments.setdefault("input", arguments["chars"])
        del arguments["chars"]
    waits = arguments.get("wait_for") or arguments.get("until_exit")
    wait = "wait_timeout_ms" if waits else "yield_time_ms"
    if "timeout_ms" not in arguments and wait in arguments:
        arguments["timeout_ms"] = arguments[wait]
    for name in _DROPPED:
        arguments.pop(name, None)
    if arguments.keys() == decoded.keys():
        return None
    return (
        json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        if isinstance(raw, str)
        else arguments
    )
