"""What the child is asked: the turn as the engine resolved it, in the terms of nanobot's own code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from promptdbg.engines.nanobot.rows import SENT_KEYS
from promptdbg.engines.nanobot.skills import required
from promptdbg.engines.nanobot.state import Turn
from promptdbg.files.skills import SkillFile
from promptdbg.model import Json
from promptdbg.verify.copying import PROJECT_PARTS, WORKSPACE_PARTS, Copier


def turn_request(turn: Turn, manifest: Mapping[str, Json], root: Path) -> dict[str, Any]:
    """The turn's parameters. Where the files are is not among them; see ``placed``.

    Args:
        manifest: the workspace's own keys; they may say which programs and variables there are.
        root: the only folder the child may change.
    """
    inputs, options = turn.inputs, turn.options
    past = turn.seen.current is not None
    acts = options.consolidation in ("succeeds", "fails") or not options.dialect.consolidates
    return {
        "root": str(root),
        "workspace": inputs.shown_workspace,
        "session_key": turn.session_key,
        "channel": options.channel,
        "chat_id": options.chat_id,
        "sender_id": options.sender,
        "message": _message(turn),
        "media": [] if past else [file.path for file in inputs.media],
        "now": options.now,
        "timezone": options.timezone,
        "context_window_tokens": options.window,
        "max_tokens": options.max_output,
        "context_block_limit": options.block_limit,
        "max_tool_result_chars": options.result_cap,
        "consolidation_ratio": options.consolidation_ratio,
        "consolidate": acts,
        "summary": None if options.consolidation == "fails" else options.summary,
        "max_messages": options.max_messages,
        "unified_session": options.unified,
        "disabled_skills": sorted(options.disabled),
        "builtin_skills": bool(inputs.builtin_root),
        "skill_order": options.skill_order,
        "extract_documents": inputs.config.extract_documents,
        "ephemeral": options.ephemeral,
        "persist": options.memory,
        "tokenizer": "cl100k_base" if options.tokenizer else "unavailable",
        "tools": [schema["function"] for schema in turn.tools.definitions if "function" in schema],
        "runtime_context_blocks": []
        if past
        else [{"source": block.source, "content": block.content} for block in inputs.runtime_blocks],
        "inflight": _rounds(turn),
        "fresh": not past,
        "bins": list(manifest["bins"]) if isinstance(manifest.get("bins"), list) else None,
        "env": _variables(turn) if isinstance(manifest.get("env"), dict) else {},
    }


def placed(turn: Turn, root: Path, copier: Copier) -> dict[str, Any]:
    """The files, copied below ``root``, and at which paths the child is to see them.

    Raises:
        InputError: more than the copier's limits.
    """
    inputs = turn.inputs
    workspace = root / "workspace"
    copier.folder(Path(inputs.workspace), workspace, WORKSPACE_PARTS)
    redirect = [(inputs.shown_workspace, str(workspace))]
    for media in inputs.media:
        inside = media.path.removeprefix(inputs.shown_workspace + "/")
        if inside != media.path and media.exists:
            copier.extra(Path(inputs.workspace) / inside, workspace / inside)
    project = next((file.path.parent for file in inputs.project_files.values()), None)
    if project is not None and inputs.shown_project != inputs.shown_workspace:
        copier.folder(project, root / "project", PROJECT_PARTS)
        redirect.append((inputs.shown_project, str(root / "project")))
    return {"redirect": redirect, **_session(turn, root, copier)}


def _session(turn: Turn, root: Path, copier: Copier) -> dict[str, str | None]:
    """The session's file and what lies beside it, or the session as of an earlier turn."""
    target, beside = root / "session.jsonl", root / "session.checkpoint.json"
    if turn.seen.current is not None:
        target.write_text("".join(f"{json.dumps(line)}\n" for line in _as_of(turn)), encoding="ascii")
        return {"session_file": str(target), "session_sidecar": None}
    if turn.inputs.session is None:
        return {"session_file": None, "session_sidecar": None}
    stored = Path(turn.inputs.session)
    copied = copier.extra(stored, target)
    sidecar = stored.with_name(f"{stored.stem}.checkpoint.json")
    with_sidecar = sidecar.is_file() and copier.extra(sidecar, beside)
    return {
        "session_file": str(target) if copied else None,
        "session_sidecar": str(beside) if with_sidecar else None,
    }


def _as_of(turn: Turn) -> Iterator[Json]:
    """The records of a session file that holds what there was when the turn began."""
    loaded, seen = turn.loaded, turn.seen
    yield {
        "_type": "metadata",
        "key": turn.session_key,
        "created_at": loaded.created_at,
        "updated_at": loaded.updated_at,
        "metadata": dict(seen.metadata),
        "last_consolidated": seen.archived,
    }
    for row in seen.rows:
        yield dict(row.value)


def _message(turn: Turn) -> str:
    row = turn.seen.current
    if row is None or "message" in turn.settings.values:
        return turn.options.message
    content = row.content
    return content if isinstance(content, str) else "" if content is None else json.dumps(content)


def _rounds(turn: Turn) -> list[list[dict[str, Json]]]:
    """The turn's rows by the request they follow, as far as the shown request knows of them."""
    if turn.seen.current is not None:
        rows = [{k: row.value[k] for k in SENT_KEYS if k in row.value} for row in turn.seen.following]
    else:
        rows = [dict(row) for row in turn.inputs.inflight]
    rounds: list[list[dict[str, Json]]] = []
    for row in rows:
        if not rounds or row.get("role") == "assistant":
            rounds.append([])
        rounds[-1].append(row)
    return rounds[: turn.options.request - 1]


def _variables(turn: Turn) -> dict[str, bool]:
    """Which of the variables that skills ask for are set, as the manifest says."""
    skills: tuple[SkillFile, ...] = (*turn.inputs.skills, *turn.inputs.builtin_skills)
    wanted = {name for skill in skills for name in required(skill.file.text or "")[1]}
    return {name: name in turn.inputs.machine.variables for name in sorted(wanted)}
