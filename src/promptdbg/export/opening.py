"""Prompts by what a person names: a scenario, a turn, a JSON document, another session of a workspace,
another workspace."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from promptdbg.debug import Debugger, Opened, open_workspace, opened_assembly
from promptdbg.errors import InputError, UsageError
from promptdbg.export.load import assembly_from, is_assembly, read_json
from promptdbg.export.requests import is_request, trace_of_request
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.files.disk import expanded, is_document, is_file, is_folder
from promptdbg.model import Assembly, Json, Settings
from promptdbg.tokens import TokenCounter, tokenizer


def opened_document(path: Path, counter: TokenCounter | None) -> Opened:
    """An assembly that promptdbg wrote, a trace of another program, or a request that was sent.

    Args:
        counter: ``None`` for the tokenizer of the model that a request names, else the usual one.

    Raises:
        InputError: the file cannot be read, or holds none of these.
    """
    assembly = document_assembly(read_json(path), counter, str(path))
    return opened_assembly(assembly, os.path.abspath(path), partial(opened_document, path, counter))


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


def prompt_named(word: str, debugger: Debugger) -> tuple[Assembly, str]:
    """What a person names to hold against the prompt that is open, and what to call it: a scenario, else
    a turn by its number, else what ``prompt_at`` opens. ``./`` names a file that is called as a scenario.

    Raises:
        PromptdbgError: it names nothing, or what it names cannot be opened.
    """
    opened, settings = debugger.opened, debugger.settings
    scenarios = opened.workspace.manifest.scenarios if opened.workspace.manifest else {}
    if word in scenarios:
        return debugger.preview(opened.scenario(word).with_turn(settings.turn)), f"scenario {word}"
    if word.isascii() and word.isdecimal():
        turn = _turn(word, len(opened.turns))
        return debugger.preview(settings.with_turn(turn)), f"turn {turn}"
    path = expanded(word)
    if is_folder(path) or is_file(path):
        return prompt_at(word, debugger, debugger.assembly), word
    raise UsageError(
        f"{word!r} is no scenario, turn, session file, folder or JSON of a prompt",
        where="--against",
        hint=f"scenarios: {', '.join(scenarios) or 'none here'}; turns: {len(opened.turns):,}",
    )


def _turn(word: str, turns: int) -> int:
    number = int(word) if len(word) < 20 else 0  # Python refuses thousands of digits
    if not 1 <= number <= turns:
        raise UsageError(f"no user message {word}, there are {turns:,}", where="--against")
    return number


def prompt_at(place: str, beside: Debugger, current: Assembly) -> Assembly:
    """The prompt that a path names, as a person types it, to hold against one that is open.

    Another folder is opened as this one was (the clock, the message, the engine that was named) and is
    as its own files say: what is tried here is of this workspace's knobs and items. Another session of
    the same workspace is tried with the same, but for what is about single messages: their ids are
    places in their own session.

    Args:
        beside: what is open; a session file is one of its workspace.
        current: the prompt that it is held against, with the settings that are tried.

    Raises:
        PromptdbgError: there is no prompt at the path, or it cannot be opened.
    """
    path, opened, counter = expanded(place), beside.opened, beside.counter
    if is_folder(path):
        other = open_workspace(path, replace(opened.request, session=None))
        return other.assemble(other.base, counter)
    if not is_file(path):
        raise InputError("there is no such file or folder", where=place)
    if is_document(path) or _is_saved(path):
        other = opened_document(path, counter)
        return other.assemble(other.base, counter)
    if opened.engine.session_format is None or opened.recorded:
        raise InputError("is neither a folder nor JSON of a prompt", where=place)
    other = open_workspace(opened.workspace.path, replace(opened.request, session=str(path)))
    return other.assemble(_of_sections(current), counter)


def _is_saved(path: Path) -> bool:
    """Whether a file is a document of ours, whatever it is called."""
    try:
        return is_assembly(read_json(path))
    except InputError:
        return False


def _of_sections(current: Assembly) -> Settings:
    """The settings without the turn and without what is about single messages."""
    settings, ids = current.settings, {section.id for section in current.sections}
    return replace(
        settings,
        turn=None,
        off=settings.off & ids,
        texts=MappingProxyType({item: text for item, text in settings.texts.items() if item in ids}),
        priorities=MappingProxyType({i: number for i, number in settings.priorities.items() if i in ids}),
    )
