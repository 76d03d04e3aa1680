"""Prompts by a path: a JSON document, another session of a workspace, another workspace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from promptdbg.debug import Opened, OpenRequest, open_workspace, opened_assembly
from promptdbg.errors import InputError
from promptdbg.export.load import assembly_from, is_assembly, read_json
from promptdbg.export.requests import is_request, trace_of_request
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.files.disk import expanded, is_file, is_folder
from promptdbg.model import Assembly, Json, Settings
from promptdbg.tokens import TokenCounter, tokenizer


def is_document(path: Path) -> bool:
    """Whether a path names a JSON document rather than a workspace or a session."""
    return path.suffix == ".json" and not is_folder(path)


def opened_document(path: Path, counter: TokenCounter | None) -> Opened:
    """An assembly that promptdbg wrote, a trace of another program, or a request that was sent.

    Args:
        counter: ``None`` for the tokenizer of the model that a request names, else the usual one.

    Raises:
        InputError: the file cannot be read, or holds none of these.
    """
    return opened_assembly(document_assembly(read_json(path), counter, str(path)))


def document_assembly(document: Json, counter: TokenCounter | None, where: str = "") -> Assembly:
    """The assembly that a JSON value is or describes; see ``opened_document``.

    Raises:
        InputError: it is nothing of that kind.
    """
    if is_assembly(document):
        return assembly_from(document, where)
    if is_request(document):
        model = document.get("model") if isinstance(document, dict) and counter is None else None
        counted_by = counter or (tokenizer(model) if isinstance(model, str) and model else tokenizer())
        return assembly_from_trace(trace_of_request(document), counted_by, where)
    if isinstance(document, list):
        hint = "a message is an object with a role and content; see docs/trace-format.md"
        raise InputError("is a list, but not one of messages", where=where, hint=hint)
    return assembly_from_trace(document, counter or tokenizer(), where)


def prompt_at(place: str, beside: Opened, settings: Settings, counter: TokenCounter) -> Assembly:
    """The prompt that a path names, as a person types it, to hold against one that is open.

    Args:
        beside: what is open; a session file is one of its workspace.
        settings: what is tried with what is open; a session of the same workspace is tried with it too.

    Raises:
        PromptdbgError: there is no prompt at the path, or it cannot be opened.
    """
    path = expanded(place)
    if is_folder(path):
        opened = open_workspace(path, OpenRequest(trust=beside.request.trust, home=beside.request.home))
        return opened.assemble(opened.base, counter)
    if is_document(path):
        opened = opened_document(path, counter)
        return opened.assemble(opened.base, counter)
    if not is_file(path):
        raise InputError("there is no such file or folder", where=place)
    if beside.engine.session_format is None or beside.recorded:
        raise InputError("is neither a folder nor JSON of a prompt", where=place)
    opened = open_workspace(beside.workspace.path, replace(beside.request, session=str(path)))
    return opened.assemble(settings.with_turn(None), counter)
