"""bee's reference cases: recorded from the real Go code, run through the engine.

Texts of bee's own stand in the cases as ``{{bee:NAME}}``; they are filled with the engine's stand-ins,
which have the same size. A hash of a text that holds such prose cannot be compared, everything else is.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from promptdbg.engines.bee import (
    Config,
    ContextFile,
    Record,
    Tool,
    apply_profile,
    filter_tools,
    fuzzy_find,
    history,
    knowledge_query,
    load_context_files,
    resolve_auto_profile,
    scale_profile,
    scan_store,
    should_auto_compact,
    should_warn,
)
from promptdbg.engines.bee.api import built, disk
from promptdbg.engines.bee.config import PROFILES, active_profile
from promptdbg.engines.bee.constants import numbered, stand_in
from promptdbg.engines.bee.context import expand_attachments
from promptdbg.engines.bee.engine import ENGINE
from promptdbg.engines.bee.gotext import to_bytes, wire
from promptdbg.engines.bee.inputs import BeeInputs, Place
from promptdbg.model import Assembly, Settings
from promptdbg.tokens import tokenizer
from tests import invariants
from tests.reference import Case

Json = Any

NOW = datetime(2026, 5, 30, 12, 0, tzinfo=UTC)
_DOCUMENT = {
    "project",
    "commit",
    "name",
    "description",
    "oracle",
    "operation",
    "inputs",
    "notes",
    "constants",
    "expected",
}


def collect(folder: Path) -> list[Case]:
    return [Case(f"bee/{path.stem}", path) for path in sorted(folder.glob("*.json"))]


def check(case: Case) -> None:
    document = json.loads(case.path.read_text("utf-8"))
    _only(document, _DOCUMENT)
    operations: dict[str, Callable[[Json, Json, bool], None]] = {
        "assemble": _assemble,
        "load_context": _load_context,
        "expand_at": _expand_at,
        "fuzzy": _fuzzy,
        "query": _query,
        "profiles": _profiles,
        "warnings": _warnings,
        "loop_filters": _filters,
        "loop_compact": _compact,
        "loop_autocompact": _autocompact,
        "tools_truncate": _truncate,
    }
    assert document["operation"] in operations, f"unknown operation {document['operation']}"
    for name, about in document.get("constants", {}).items():
        _check_constant(name, about)
    comparable = not document.get("constants")
    operations[document["operation"]](document["inputs"], document["expected"], comparable)


def _only(table: Mapping[str, Json], known: set[str]) -> None:
    unknown = set(table) - known
    assert not unknown, f"unknown keys: {sorted(unknown)}"


# ---- texts ------------------------------------------------------------------------------------------

_FIXED = {
    "caveman.lite": "caveman.lite",
    "caveman.full": "caveman.full",
    "caveman.ultra": "caveman.ultra",
    "tiny_discipline": "discipline",
    "identity.off.head": "identity.off.head",
    "identity.off.cwd_label": "identity.off.cwd",
    "identity.off.root_label": "identity.off.root",
    "identity.terse.head": "identity.terse.head",
    "identity.terse.project_label": "identity.terse.root",
    "identity.terse.root_label": "identity.terse.root",
    "context_cut_note": "context.cut",
    "attach_cut_note": "attach.cut",
    "stale.today": "stale.today",
    "compact.request_head": "compact.request",
    "compact.system": "compact.system",
}
_NUMBERED = {
    "stale.days": ("stale.days", 45, 1),
    "warn.context": ("warn.context", 122, 2),
    "toolcut.head": ("toolcut.head", 60, 1),
    "toolcut.headtail": ("toolcut.headtail", 55, 1),
}
_PLACEHOLDER = re.compile(rb"\{\{bee:([a-z_.]+)(?::([0-9,]+))?\}\}")


def _constant(name: str, numbers: tuple[int, ...]) -> bytes:
    if name in _FIXED:
        assert not numbers
        return stand_in(_FIXED[name])
    assert name in _NUMBERED, f"unknown text of bee's own: {name}"
    ours, size, times = _NUMBERED[name]
    return numbered(ours, size, *(numbers * times))


def _check_constant(name: str, about: Mapping[str, Json]) -> None:
    """The case's figures for a text of bee's own against the stand-in's."""
    _only(about, {"bytes", "chars", "params", "bytes_without_params"})
    short = name.removeprefix("bee:")
    if short in _NUMBERED:
        size = about.get("bytes_without_params", _NUMBERED[short][1])
        assert size == _NUMBERED[short][1], f"{name} has {size} bytes"
    else:
        assert len(_constant(short, ())) == about["bytes"], f"{name} has {about['bytes']} bytes"


def _filled(text: str) -> bytes:
    return _fill(to_bytes(text))


def _fill(data: bytes) -> bytes:
    def constant(match: re.Match[bytes]) -> bytes:
        numbers = tuple(int(number) for number in (match[2] or b"").split(b",") if number)
        return _constant(match[1].decode(), numbers)

    return _PLACEHOLDER.sub(constant, data)


def _lossy(data: bytes) -> str:
    """As the cases write bytes that are not UTF-8; runs of the mark count as one."""
    return re.sub("\ufffd+", "\ufffd", wire(data))


def _begins(got: bytes, expected: str) -> None:
    """A given beginning may itself stop inside a character."""
    assert _lossy(got).startswith(_lossy(_filled(expected)).rstrip("\ufffd"))


def _ends(got: bytes, expected: str) -> None:
    assert _lossy(got).endswith(_lossy(_filled(expected)).lstrip("\ufffd"))


def _same_text(got: bytes, expected: str) -> None:
    assert _lossy(got) == _lossy(_filled(expected))


def _same_blob(got: bytes, expected: Mapping[str, Json], comparable: bool, keys: set[str]) -> None:
    """A text given whole, in base64, or by size, hash, beginning and end."""
    _only(expected, {"bytes", "sha256", "starts", "ends", "text", "body", "text_b64", "body_b64", *keys})
    assert len(got) == expected["bytes"]
    for key in ("text", "body"):
        if key in expected:
            _same_text(got, expected[key])
        if f"{key}_b64" in expected:
            assert got == _fill(base64.b64decode(expected[f"{key}_b64"]))
    if comparable and "sha256" in expected:
        assert hashlib.sha256(got).hexdigest() == expected["sha256"]
    if "starts" in expected:
        _begins(got, expected["starts"])
    if "ends" in expected:
        _ends(got, expected["ends"])


# ---- files ------------------------------------------------------------------------------------------


@contextmanager
def _files(entries: list[Mapping[str, Json]]) -> Iterator[Path]:
    """The case's files below a temporary root, with their times."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for entry in entries:
            _only(entry, {"path", "text", "repeat", "b64", "dir", "link", "age_minutes", "age_hours"})
            path = root / entry["path"].lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            if entry.get("dir"):
                path.mkdir(exist_ok=True)
            elif "link" in entry:
                target = entry["link"]
                path.symlink_to(root / target.lstrip("/") if target.startswith("/") else target)
            else:
                data = base64.b64decode(entry["b64"]) if "b64" in entry else to_bytes(entry["text"])
                path.write_bytes(data * entry.get("repeat", 1))
                age = entry.get("age_minutes", 0) * 60 + entry.get("age_hours", 0) * 3600
                os.utime(path, (NOW.timestamp() - age,) * 2)
        (root / "w" / "demo").mkdir(parents=True, exist_ok=True)
        yield root


# ---- the system prompt ------------------------------------------------------------------------------


def _config(inputs: Mapping[str, Json]) -> Config:
    given = {
        "default_provider": "provider",
        "default_model": "model",
        "profile": "profile",
        "caveman": "caveman",
    }
    values = {name: inputs[key] for name, key in given.items() if key in inputs}
    values = {name: "" if value == "<empty>" else value for name, value in values.items()}
    config = replace(Config(), **values)
    profiles = {
        name: replace(profile, **inputs.get("profile_override", {})) for name, profile in PROFILES.items()
    }
    config = replace(config, profiles=MappingProxyType(profiles))
    return apply_profile(config) if inputs.get("apply_profile") else config


def _record(entry: Mapping[str, Json]) -> Record:
    _only(entry, {"name", "body", "repeat", "priority", "age_hours", "age_minutes", "expires_in_hours"})
    expires = entry.get("expires_in_hours")
    return Record(
        name=entry["name"],
        body=to_bytes(entry.get("body", "")) * entry.get("repeat", 1),
        priority=entry.get("priority", 0),
        modified=NOW - timedelta(hours=entry.get("age_hours", 0), minutes=entry.get("age_minutes", 0)),
        expires=None if expires is None else NOW + timedelta(hours=expires),
    )


def _tool(entry: Mapping[str, Json]) -> Tool:
    _only(entry, {"Name", "Description", "Snippet"})
    return Tool(entry["Name"], entry.get("Description", ""), entry.get("Snippet", ""))


def _context(entry: Mapping[str, Json]) -> ContextFile:
    _only(entry, {"Path", "Body", "repeat"})
    body = to_bytes(entry["Body"]) * entry.get("repeat", 1)
    return ContextFile(entry["Path"], body, body)


def _assemble(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(
        inputs,
        {
            "caveman", "profile", "provider", "model", "tools", "skills_manifest", "records", "context_files",
            "git_root", "profile_override", "apply_profile", "cwd",
        },
    )  # fmt: skip
    config = _config(inputs)
    made = BeeInputs(
        workspace="/w",
        config=config,
        place=Place(inputs.get("cwd", "/w/demo"), inputs.get("git_root", "")),
        now=NOW,
        context=tuple(_context(entry) for entry in inputs.get("context_files") or ()),
        records=tuple(_record(entry) for entry in inputs.get("records") or ()),
        chosen=True,
        filtered=False,
        apply_profile=False,
        tools=tuple(_tool(entry) for entry in inputs.get("tools") or ()),
        skills=inputs.get("skills_manifest", ""),
    )
    prompt, desk = built(made)
    assembly = ENGINE.assemble(made, Settings(), tokenizer())
    invariants.check(assembly)
    assert assembly.system_text == wire(prompt.text)
    _compare_text(prompt.text, expected, comparable)
    _compare_sections(assembly, {d.id: d.output for d in desk.drafts}, expected["sections"])
    profile = active_profile(config)[1]
    assert expected["budget"] == profile.system_prompt_budget
    assert expected["tokens"] == assembly.budget.used == len(prompt.text) // 4
    assert expected["resolved_profile"] == config.profile
    assert expected["resolved_caveman"] == config.caveman
    kept = [(s.name, bool(s.output)) for s in assembly.sections if s.kind == "record"]
    assert kept == [(entry["name"], entry["kept"]) for entry in expected["records"]]
    kept = [
        (s.source.path if s.source else "", bool(s.output))
        for s in assembly.sections
        if s.kind == "context-file"
    ]
    assert kept == [(entry["path"], entry["kept"]) for entry in expected["context_files"]]
    skills = assembly.section("skills")
    assert skills is not None
    state = "kept" if skills.output else "dropped_or_emptied" if made.skills else "absent"
    assert state == expected["skills_section"]
    _compare_warning(expected["over_budget_warning"], prompt.over, assembly)


def _compare_text(text: bytes, expected: Mapping[str, Json], comparable: bool) -> None:
    _only(
        expected,
        {
            "sections", "text", "bytes", "sha256_with_real_constants", "tokens", "budget", "resolved_profile",
            "resolved_caveman", "records", "skills_section", "context_files", "over_budget_warning",
            "text_placeholders_b64", "text_note", "starts", "ends",
        },
    )  # fmt: skip
    assert len(text) == expected["bytes"]
    if "text" in expected:
        _same_text(text, expected["text"])
    if "starts" in expected:
        _begins(text, expected["starts"])
    if "ends" in expected:
        _ends(text, expected["ends"])
    if "text_placeholders_b64" in expected:
        assert text == _fill(base64.b64decode(expected["text_placeholders_b64"]))
    if comparable:
        assert hashlib.sha256(text).hexdigest() == expected["sha256_with_real_constants"]


_SECTIONS = {
    "caveman_rules": "rules",
    "identity": "identity",
    "discipline": "discipline",
    "tiny_discipline": "discipline",
    "project_context": "context",
    "tools": "tools",
    "skills": "skills",
    "memory": "memory",
}


def _compare_sections(
    assembly: Assembly, outputs: Mapping[str, bytes], expected: list[Mapping[str, Json]]
) -> None:
    shown = [s for s in assembly.sections if s.parent is None and s.place == "system" and s.output]
    assert [section.id for section in shown] == [_SECTIONS[entry["id"]] for entry in expected]
    for section, entry in zip(shown, expected, strict=True):
        _only(entry, {"id", "bytes", "text", "sha256", "starts", "ends"})
        output = outputs[section.id]
        assert section.output == wire(output)
        assert entry["bytes"] is None or section.size == len(output) == entry["bytes"]
        if "text" in entry:
            _same_text(output, entry["text"])
        if "starts" in entry:
            _begins(output, entry["starts"])
        if "ends" in entry:
            _ends(output, entry["ends"])


def _compare_warning(expected: Json, over: bool, assembly: Assembly) -> None:
    assert bool(expected) == over == any(d.rule == "bee.budget.over" for d in assembly.decisions)
    if not over or expected is True:
        return
    figures = {assembly.budget.used, assembly.budget.limit}
    if isinstance(expected, str):
        assert figures <= {int(number) for number in re.findall(r"\d+", expected)}
        return
    _only(expected, {"tokens", "estimate", "budget"})
    assert set(expected.values()) == figures


# ---- files, records ---------------------------------------------------------------------------------


def _load_context(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"files", "cwd", "bee_home", "home"})
    _only(expected, {"context_files"})
    cwd, bee_home = inputs.get("cwd", "/w/demo"), inputs.get("bee_home", "")
    home = inputs.get("home", "/home/inspector/nowhere")
    with _files(inputs["files"]) as root:
        loaded = load_context_files(cwd, bee_home, home=home, files=disk(root))
        assembly = load_context_files(cwd, bee_home, home=home, files=disk(root), explain=True)
    invariants.check(assembly)
    assert [file.path for file in loaded] == [entry["path"] for entry in expected["context_files"]]
    for file, entry in zip(loaded, expected["context_files"], strict=True):
        _same_blob(file.body, entry, comparable, {"path"})
    taken = [
        s
        for s in assembly.sections
        if s.kind == "context-file" and s.size_original and s.status != "shadowed"
    ]
    for section, file in zip(taken, loaded, strict=True):
        assert section.source is not None
        assert section.source.path == file.path
        assert section.size_original == len(f'<context path="{file.path}">\n\n</context>'.encode()) + len(
            file.body
        )


def _expand_at(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"text", "files", "cwd"})
    with _files(inputs["files"]) as root:
        text, _ = expand_attachments(to_bytes(inputs["text"]), inputs.get("cwd", "/w/demo"), disk(root))
    _same_blob(text, expected, comparable, set())


def _fuzzy(inputs: list[Mapping[str, Json]], expected: list[Mapping[str, Json]], comparable: bool) -> None:
    for given, wanted in zip(inputs, expected, strict=True):
        _only(given, {"needle", "paths"})
        _only(wanted, {"needle", "paths", "ranked"})
        ranked = [
            {"path": m.path, "score": m.score, "matched_byte_indexes": list(m.indexes)}
            for m in fuzzy_find(given["needle"], given["paths"])
        ]
        assert ranked == (wanted["ranked"] or []), given["needle"]


def _query(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"cwd", "query", "limit", "files", "hint_tags"})
    _only(expected, {"selected", "scan_newest_first"})
    with _files(inputs["files"]) as root:
        store = root / inputs["cwd"].lstrip("/")
        scanned = scan_store(store)
        chosen = knowledge_query(
            store, inputs["query"], inputs["limit"], hint_tags=inputs.get("hint_tags") or (), now=NOW
        )
    for records, wanted in ((chosen, expected["selected"]), (scanned, expected["scan_newest_first"])):
        assert [record.key for record in records] == [entry["file"] for entry in wanted or ()]
        for record, entry in zip(records, wanted or (), strict=True):
            _compare_record(record, entry)


def _compare_record(record: Record, entry: Mapping[str, Json]) -> None:
    figures = {
        "file": record.key,
        "name": record.name,
        "priority": record.priority,
        "tags": list(record.tags) or None,
        "body": wire(record.body),
        "has_expiry": record.expires is not None,
        "description": record.description,
    }
    _only(entry, set(figures))
    assert {key: figures[key] for key in entry} == dict(entry)


# ---- figures ----------------------------------------------------------------------------------------


def _profiles(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"models", "ctx_windows"})
    _only(expected, {"rows", "scaled"})
    rows = [{"provider": p, "model": m, "profile": resolve_auto_profile(p, m)} for p, m in inputs["models"]]
    assert rows == expected["rows"]
    scaled = []
    for window in inputs["ctx_windows"]:
        profile = scale_profile(PROFILES["tiny"], "tiny", window)
        figures = {"ctx": window, "system_prompt_budget": profile.system_prompt_budget}
        scaled.append({**figures, "tool_output_tokens": profile.tool_output_tokens})
    assert scaled == expected["scaled"]


def _warnings(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"pairs"})
    _only(expected, {"rows"})
    for (used, limit), row in zip(inputs["pairs"], expected["rows"], strict=True):
        _only(row, {"input_tokens", "limit", "warn", "text"})
        assert (row["input_tokens"], row["limit"]) == (used, limit)
        assert should_warn(used, limit) == row["warn"]
        _same_text(history.context_notice(used, limit), row["text"])


def _filters(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"Tools", "Filters"})
    _only(expected, {"rows"})
    for given, row in zip(inputs["Filters"], expected["rows"], strict=True):
        _only(given, {"Mode", "Profile", "Extras", "Disabled"})
        names = filter_tools(
            inputs["Tools"], given["Profile"], given["Mode"], given["Extras"] or (), given["Disabled"] or ()
        )
        assert names == (row or [])


def _messages(messages: list[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    for message in messages:
        _only(message, {"id", "role", "content", "ts", "parent_id"})
        for block in message["content"] or ():
            _only(block, {"type", "text", "tool_use", "tool_result", "media_type", "data"})
    return messages


def _compact(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"Messages", "Reply", "Fail"})
    _only(
        expected,
        {
            "messages_out", "before_msgs", "after_msgs", "before_tokens", "after_tokens", "per_message",
            "provider_calls", "summary_request",
        },
    )  # fmt: skip
    messages = _messages(inputs["Messages"])
    made = history.compact(messages, None if inputs.get("Fail") else inputs["Reply"])
    out = [{"role": message["role"], "content": message["content"]} for message in made.messages]
    assert out == expected["messages_out"]
    assert (len(messages), len(out)) == (expected["before_msgs"], expected["after_msgs"])
    assert (made.before_tokens, made.after_tokens) == (expected["before_tokens"], expected["after_tokens"])
    assert [history.estimate_message(message) for message in messages] == expected["per_message"]
    assert (0 if made.request is None else 1) == expected["provider_calls"]
    if expected.get("summary_request"):
        _only(expected["summary_request"], {"system", "user"})
        assert _filled(expected["summary_request"]["system"]) == stand_in("compact.system")
        assert made.request is not None
        _same_text(made.request, expected["summary_request"]["user"])
    else:
        assert made.request is None


def _autocompact(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"Messages", "Rows", "Scale"})
    _only(expected, {"rows", "scaled"})
    messages = _messages(inputs["Messages"])
    for given, row in zip(inputs["Rows"], expected["rows"], strict=True):
        _only(given, {"Sys", "Actual", "Budget", "Threshold"})
        _only(row, {"trigger"})
        trigger = should_auto_compact(
            given["Sys"],
            messages,
            given["Budget"],
            given["Threshold"],
            actual_input_tokens=given["Actual"],
        )
        assert trigger == row["trigger"], given
    for given, row in zip(inputs["Scale"], expected["scaled"], strict=True):
        _only(given, {"Base", "Budget"})
        assert row == {
            "base": given["Base"],
            "budget": given["Budget"],
            "scaled": history.scaled_threshold(given["Base"], given["Budget"]),
        }


def _truncate(inputs: Mapping[str, Json], expected: Mapping[str, Json], comparable: bool) -> None:
    _only(inputs, {"Trunc"})
    _only(expected, {"rows"})
    for given, row in zip(inputs["Trunc"], expected["rows"], strict=True):
        _only(given, {"Tool", "Unit", "Repeat", "Limit"})
        _only(row, {"truncated", "out", "out_bytes", "out_b64"})
        cut = history.truncate_result(
            given["Tool"], to_bytes(given["Unit"]) * given["Repeat"], given["Limit"]
        )
        assert cut.truncated == row["truncated"]
        assert len(cut.output) == row["out_bytes"]
        _same_text(cut.output, row["out"])
        if "out_b64" in row:
            assert cut.output == _fill(base64.b64decode(row["out_b64"]))
