"""Assemblies from JSON: documents of our own (``promptdbg/assembly/1``, ``promptdbg/structure/1``)
and traces that other programs write (``promptdbg/trace/1``).

A trace needs almost nothing: sections with a name and a text, stages with messages. What it leaves
out is filled in: tokens are counted, a message that is in one list and not in the next was dropped
there, one whose content differs was rewritten. ``docs/trace-format.md`` has the whole form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from promptdbg.errors import InputError
from promptdbg.export.document import KEYS as _KEYS
from promptdbg.export.document import SCHEMA as ASSEMBLY_SCHEMA
from promptdbg.export.document import usual_wire
from promptdbg.export.tree import check_tree
from promptdbg.export.typed import WrongType, check_types
from promptdbg.files.disk import read_file
from promptdbg.model import (
    Action,
    Assembly,
    Budget,
    Counted,
    Decision,
    EngineInfo,
    Evidence,
    Failure,
    Json,
    Message,
    MessageStatus,
    Notice,
    Part,
    Rule,
    Section,
    SectionStatus,
    Settings,
    Source,
    Span,
    Stage,
    StageKind,
    TokenizerInfo,
    Turn,
)

STRUCTURE_SCHEMA = "promptdbg/structure/1"
TRACE_SCHEMA = "promptdbg/trace/1"

Object = Mapping[str, Any]
T = TypeVar("T")


def read_json(path: Path) -> Json:
    """The JSON document in a file.

    Raises:
        InputError: it cannot be read, or is not JSON (with line and column).
    """
    read = read_file(path)
    if read.data is None:
        assert read.problem is not None
        raise InputError(read.problem.message, where=str(path))
    try:
        return json.loads(read.data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", where=str(path)) from error
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", where=f"{path}:{error.lineno}:{error.colno}") from error
    except (RecursionError, ValueError) as error:
        what = "is nested too deeply or holds a number too long to read"
        raise InputError(what, where=str(path)) from error


def is_assembly(document: Json) -> bool:
    """Whether a document is one that ``assembly_from`` reads without a token counter."""
    return isinstance(document, dict) and document.get("schema") in (ASSEMBLY_SCHEMA, STRUCTURE_SCHEMA)


def assembly_from(document: Json, where: str = "") -> Assembly:
    """The assembly of an assembly or structure document.

    Raises:
        InputError: it is of another form; the line names the place in the document.
    """
    if not isinstance(document, dict):
        raise InputError("is not a JSON object", where=where)
    schema = document.get("schema")
    if schema not in (ASSEMBLY_SCHEMA, STRUCTURE_SCHEMA):
        raise InputError(f"has the unknown schema {schema!r}", where=where, hint=f"known: {ASSEMBLY_SCHEMA}")
    try:
        assembly = _assembly(document)
        check_types(assembly)
        check_tree(assembly.sections)
        if assembly.turn is not None and not 1 <= assembly.turn <= len(assembly.turns):
            raise ValueError(f"turn {assembly.turn} is none of the {len(assembly.turns)} turns")
        return assembly
    except (KeyError, TypeError, ValueError, AttributeError, WrongType) as error:
        raise InputError(f"is not a whole {schema} document: {_describe(error)}", where=where) from error


def _describe(error: Exception) -> str:
    return f"the key {error} is missing" if isinstance(error, KeyError) else str(error)


def _assembly(document: Object) -> Assembly:
    engine, tokenizer, failure = document["engine"], document["tokenizer"], document.get("failure")
    by_id = {entry["id"]: _decision(entry) for entry in document["decisions"]}
    return Assembly(
        engine=EngineInfo(
            engine["name"], engine.get("title") or engine["name"], engine["version"], engine["fidelity"]
        ),
        tokenizer=TokenizerInfo(tokenizer["name"], tokenizer["exact"], tokenizer.get("note", "")),
        workspace=document.get("workspace") or "",
        session=document.get("session"),
        settings=_settings(document),
        budget=_budget(document["budget"]),
        sections=tuple(_section(entry) for entry in document["sections"]),
        stages=tuple(_stage(entry) for entry in document["stages"]),
        decisions=tuple(by_id.values()),
        rules=tuple(_rule(entry) for entry in document["rules"]),
        warnings=tuple(_notice(entry) for entry in document["warnings"]),
        failure=Failure(failure["error"], failure["where"], failure["message"]) if failure else None,
        turns=tuple(
            Turn(entry["number"], entry["title"], entry["row"], entry.get("time", ""))
            for entry in document.get("turns", [])
        ),
        without_texts=_without_texts(document),
    )


def _without_texts(document: Object) -> bool:
    """Whether all texts were left out: of a structure always, else where no entry has one."""
    messages = [message for stage in document["stages"] for message in stage["messages"]]
    left_out = all("text" not in entry for entry in document["sections"])
    left_out = left_out and all("content" not in entry for entry in messages)
    return document["schema"] == STRUCTURE_SCHEMA or (left_out and bool(document["sections"] or messages))


def _settings(document: Object) -> Settings:
    entry = document.get("settings") or {}
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.get("values", {}).items()}
    return Settings(
        values=MappingProxyType(values),
        off=frozenset(entry.get("off", [])),
        priorities=MappingProxyType(dict(entry.get("priorities", {}))),
        texts=MappingProxyType({k: "" if v is None else v for k, v in entry.get("texts", {}).items()}),
        turn=document.get("turn"),
    )


def _budget(entry: Object) -> Budget:
    counted = entry.get("counted")
    return Budget(
        limit=entry["limit"],
        used=entry["used"],
        unit=entry["unit"],
        parts=_parts(entry["parts"]),
        window=entry.get("window"),
        reserved=_parts(entry.get("reserved", [])),
        counted=None if counted is None else Counted(counted["tokens"], counted["request"]),
    )


def _parts(entries: Sequence[Object]) -> tuple[Part, ...]:
    return tuple(Part(entry["name"], entry["tokens"]) for entry in entries)


def _source(entry: Object | None) -> Source | None:
    if entry is None:
        return None
    return Source(entry["path"], entry.get("start_line"), entry.get("end_line"))


def _section(entry: Object) -> Section:
    text = entry.get("text") or ""
    output = entry.get("output")
    return Section(
        id=entry["id"],
        name=entry["name"],
        kind=entry["kind"],
        order=entry["order"],
        text=text,
        output=text if output is None else output,
        status=SectionStatus(entry["status"]),
        tokens=entry["tokens"],
        tokens_original=entry["tokens_original"],
        size=entry["size"],
        size_original=entry["size_original"],
        unit=entry["unit"],
        parent=entry.get("parent"),
        priority=entry.get("priority"),
        source=_source(entry.get("source")),
        place=entry.get("place", "system"),
        offset=entry.get("offset"),
        spans=tuple(Span(span["start"], span["end"], span["kept"]) for span in entry.get("spans", [])),
        evidence=Evidence(entry["evidence"]),
    )


def _stage(entry: Object) -> Stage:
    messages = tuple(_message(message) for message in entry["messages"])
    statuses = {
        message["id"]: MessageStatus(message["status"])
        for message in entry["messages"]
        if message["status"] != MessageStatus.KEPT
    }
    return Stage(
        name=entry["name"],
        kind=StageKind(entry["kind"]),
        title=entry.get("title") or entry["name"],
        messages=messages,
        dropped=tuple(_message(message) for message in entry.get("dropped", [])),
        statuses=MappingProxyType(statuses),
        tokens=entry["tokens"],
        size=entry.get("size"),
        unit=entry.get("unit"),
        measured_by=entry.get("measured_by", ""),
    )


def _message(entry: Object) -> Message:
    extra = dict(entry.get("extra") or {})
    wire = tuple(entry["wire"]) if "wire" in entry else usual_wire(entry)
    unknown = [key for key in wire if key not in _KEYS and key not in extra]
    if unknown:
        raise ValueError(f"message {entry['id']} has no {unknown[0]!r}, which its wire names")
    return Message(
        id=entry["id"],
        role=entry["role"],
        content=entry.get("content"),
        tokens=entry["tokens"],
        sources=tuple(entry.get("sources", ())),
        tool_calls=entry.get("tool_calls"),
        tool_call_id=entry.get("tool_call_id"),
        name=entry.get("name"),
        extra=MappingProxyType(extra),
        size=entry.get("size"),
        evidence=Evidence(entry.get("evidence", "recorded")),
        source=_source(entry.get("source")),
        wire=wire,
    )


def _decision(entry: Object) -> Decision:
    return Decision(
        id=entry["id"],
        stage=entry["stage"],
        rule=entry["rule"],
        action=Action(entry["action"]),
        item=entry["item"],
        because=entry["because"],
        before=entry.get("before"),
        after=entry.get("after"),
        measured=entry.get("measured"),
        limit=entry.get("limit"),
        unit=entry.get("unit"),
    )


def _rule(entry: Object) -> Rule:
    return Rule(
        entry["id"],
        entry["title"],
        entry["framework"],
        entry["version"],
        entry["source"],
        entry.get("note", ""),
    )


def _notice(entry: Object) -> Notice:
    return Notice(entry["code"], entry["message"], _source(entry.get("source")))
