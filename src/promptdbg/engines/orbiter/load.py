"""Reading an Orbiter workspace: ``orbiter.yaml``, state, messages, custom neurons.

Every problem is a notice with file and line; what the framework itself would refuse is a failure of
the inputs. Python of the workspace runs only with trust.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from promptdbg.engines.base import LoadRequest
from promptdbg.engines.named import Reading, named_files, read_table, read_whole, start_reading, told
from promptdbg.engines.orbiter.config import ContextConfig, LimitConfig
from promptdbg.engines.orbiter.inputs import Condition, Entry, OrbiterInputs
from promptdbg.engines.orbiter.neurons import DEFAULT_PRIORITY, PRIORITIES
from promptdbg.engines.orbiter.state import ContextState
from promptdbg.engines.orbiter.trusted import Trusted, run_trusted
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry, resolver_from
from promptdbg.engines.rows import rows_from
from promptdbg.files.structured import Parsed
from promptdbg.model import Failure, Json, Notice, Source, is_finite
from promptdbg.times import is_iso_time
from promptdbg.workspace import Workspace

CONFIG = "orbiter.yaml"
FILES = {
    "config": CONFIG,
    "state": "state.json",
    "parent_state": "parent_state.json",
    "messages": "messages.json",
}

_NUMBERS = (set(ContextConfig.__dataclass_fields__) | set(LimitConfig.__dataclass_fields__)) - {
    "mode",
    "extra",
    "neuron_names",
}
_KEYS = _NUMBERS | {
    "generation",
    "preset",
    "mode",
    "task_id",
    "entries",
    "separator",
    "variables",
    "clock",
    "platform",
    "neuron_names",
    "priority_order",
    "provider",
    "summary",
    "model",
    "last_input_tokens",
    "python",
    "extra",
}
# Ids that messages have; a neuron of such a name gets another.
_MESSAGE_ID = re.compile(r"m\d+|current|summary|usage-tag|system-prompt")


@dataclass(slots=True)
class _Reading(Reading):
    def read(self, name: str) -> Parsed:
        parsed = read_whole(self.workspace.path / name)
        self.notices += parsed.notices
        return parsed

    def typed(self, key: str, kind: type, default: Any) -> Any:
        """A key's value where it is of its kind; else the default, with a notice when it was set."""
        value = self.data.get(key, default)
        if value is default or _fits(value, kind):
            return value
        self.warn("bad-value", f"{key} must be {_KIND_WORDS[kind]}, not {told(value)}", key)
        return default


def _fits(value: Json, kind: type) -> bool:
    """Whether a value is of a kind; a number only where arithmetic can take it."""
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and is_finite(value)
    return isinstance(value, kind)


_KIND_WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}


def load(workspace: Workspace, request: LoadRequest) -> OrbiterInputs:
    """Read everything an assembly depends on.

    Raises:
        InputError: a file is broken.
    """
    files, wrong = named_files(workspace, "orbiter", FILES)
    config = read_table(workspace.path / files["config"])
    reading = start_reading(_Reading, workspace, "orbiter", config, _KEYS)
    reading.notices += wrong
    state = _state(reading, files)
    messages = reading.read(files["messages"])
    if not messages.found and files["messages"] == "messages.json":
        messages = reading.read("messages.jsonl")
    conversation = messages.value if isinstance(messages.value, dict) else {"messages": messages.value}
    clock = request.now or _clock(reading) or datetime.now(UTC).isoformat(timespec="seconds")
    where = _platform(reading)
    trusted = _trusted(reading, workspace, request, state, clock, where)
    registry = _registry(reading, trusted)
    entries = _entries(reading, workspace, trusted)
    rows, notices = rows_from("orbiter", messages, conversation.get("messages"))
    reading.notices += notices
    call = {**reading.data, **{k: v for k, v in conversation.items() if k != "messages"}}
    reading.data = call
    return OrbiterInputs(
        workspace=str(workspace.path),
        session=str(messages.path) if messages.found else None,
        generation=reading.chosen("generation", ("A", "B"), "A"),
        priority_order=reading.chosen("priority_order", ("documented", "coded"), "documented"),
        task_id=_task_id(reading),
        mode=reading.typed("preset", str, None) or reading.typed("mode", str, None),
        numbers=MappingProxyType({k: v for k, v in reading.data.items() if k in _NUMBERS}),
        entries=entries,
        state=state,
        separator=reading.typed("separator", str, "\n\n"),
        registry=registry,
        clock=clock,
        platform=where,
        rows=rows,
        current=request.message,
        model=reading.typed("model", str, None),
        last_input_tokens=reading.typed("last_input_tokens", int, None),
        provider=reading.chosen("provider", ("works", "fails", "none"), "works"),
        summary=reading.typed("summary", str, "(summary of the older messages)"),
        warnings=tuple(reading.notices),
        failure=reading.failure,
    )


def _clock(reading: _Reading) -> str | None:
    value: str | None = reading.typed("clock", str, None)
    if value is not None and not is_iso_time(value):
        reading.warn("bad-value", f"clock must be an ISO time, not {told(value)}", "clock")
        return None
    return value


def _state(reading: _Reading, files: Mapping[str, str]) -> ContextState:
    levels = []
    for key in ("parent_state", "state"):
        parsed = reading.read(files[key])
        if parsed.value is not None and not isinstance(parsed.value, dict):
            message = "must be an object"
            reading.notices.append(Notice("orbiter.bad-value", message, parsed.source()))
        levels.append(parsed.value if isinstance(parsed.value, dict) else None)
    parent = ContextState(levels[0]) if levels[0] is not None else None
    return ContextState(levels[1], parent=parent)


def _task_id(reading: _Reading) -> str:
    value = reading.data.get("task_id", "task")
    if not value and reading.failure is None:
        message = "task_id must not be empty"
        reading.failure = Failure("ContextError", "context/context.py::Context", message)
    return str(value)


def _platform(reading: _Reading) -> str:
    value = reading.data.get("platform")
    if isinstance(value, dict):
        return f"{value.get('system', '')} {value.get('release', '')}"
    if value is not None and not isinstance(value, str):
        reading.warn(
            "bad-value", f"platform must be a text or system and release, not {told(value)}", "platform"
        )
    return value if isinstance(value, str) else f"{platform.system()} {platform.release()}"


def _registry(reading: _Reading, trusted: Trusted | None) -> DynamicVariableRegistry | None:
    if "variables" not in reading.data:
        return trusted.variables if trusted else None
    table = reading.typed("variables", dict, {})
    registry = trusted.variables.copy() if trusted and trusted.variables else DynamicVariableRegistry()
    for path, value in (table or {}).items():
        registry.register(str(path), resolver_from(value))
    return registry


# ---- neurons ------------------------------------------------------------------------------------


def _trusted(
    reading: _Reading, workspace: Workspace, request: LoadRequest, state: ContextState, clock: str, where: str
) -> Trusted | None:
    """The workspace's own Python, where it names a file and is trusted."""
    name = workspace.options.get("python", reading.data.get("python"))
    if not isinstance(name, str):
        return None
    if not request.trust:
        message = "neurons in Python are not run without --trust"
        reading.notices.append(Notice("orbiter.not-trusted", message, Source(str(workspace.path / name))))
        return Trusted()
    task = str(reading.data.get("task_id") or "task")
    trusted = run_trusted(workspace.path / name, task, state, clock, where)
    reading.notices += trusted.notices
    reading.failure = reading.failure or trusted.failure
    return trusted


def _entries(reading: _Reading, workspace: Workspace, trusted: Trusted | None) -> tuple[Entry, ...]:
    """The builder's entries: those listed, then the custom neurons that none of them names."""
    registered = _registered(reading, workspace, trusted)
    listed = reading.typed("entries", list, None)
    if listed is None:
        listed = reading.typed("neuron_names", list, [])
        if listed:
            message = "neuron_names is not read by the framework's builder; its names are added here"
            reading.warn("neuron-names", message, "neuron_names")
    ids: set[str] = set()
    entries = [
        _entry(reading, index, value, registered, ids, trusted) for index, value in enumerate(listed or [])
    ]
    found = [entry for entry in entries if entry is not None]
    named = {entry.name for entry in found}
    for name, entry in registered.items():
        if name not in named:
            found.append(entry_with_id(entry, ids))
    return tuple(found)


def _registered(reading: _Reading, workspace: Workspace, trusted: Trusted | None) -> dict[str, Entry]:
    """Custom neurons by name: ``[[neurons]]`` of the manifest and those of trusted Python."""
    registered: dict[str, Entry] = {}
    table = workspace.options.get("neurons", [])
    values = table if isinstance(table, list) else [table]
    places = workspace.table_sources("neurons", len(values))
    found = [
        _custom(value, place) for value, place in zip(values, places, strict=True) if isinstance(value, dict)
    ]
    if not isinstance(table, list) or len(found) != len(table):
        message = "[[neurons]] must be tables with name and text"
        reading.notices.append(Notice("orbiter.bad-value", message, workspace.source("neurons")))
    for entry in [*found, *(trusted.entries if trusted else ())]:
        if entry.name in PRIORITIES or entry.name in registered:
            message = f"{entry.name!r} is already registered in neuron_registry"
            reading.failure = reading.failure or Failure(
                "RegistryError", "core/registry.py::Registry.register", message
            )
        registered.setdefault(entry.name, entry)
    return registered


def _custom(value: Mapping[str, Json], source: Source) -> Entry:
    name = str(value.get("name", "custom"))
    text = value.get("text", "")
    return Entry(
        id=name,
        name=name,
        kind="custom",
        priority=value.get("priority", DEFAULT_PRIORITY),
        text=text if isinstance(text, str) else str(text),
        condition=condition_from(value.get("when")),
        source=source,
    )


def condition_from(value: Json) -> Condition | None:
    """A condition from a workspace file: ``path``, ``not path``, or a table with ``path`` and any of
    ``equals`` and ``not``."""
    if isinstance(value, dict) and isinstance(value.get("path"), str):
        return Condition(value["path"], value.get("equals"), bool(value.get("not", False)))
    if isinstance(value, str) and value.strip():
        negated = value.strip().startswith("not ")
        return Condition(value.strip().removeprefix("not ").strip(), None, negated)
    return None


def _entry(
    reading: _Reading,
    index: int,
    value: Json,
    registered: Mapping[str, Entry],
    ids: set[str],
    trusted: Trusted | None,
) -> Entry | None:
    """One item of ``entries``: a name, or a table with a name; with a text it is a custom neuron."""
    if isinstance(value, dict):
        value = value.get("custom", value.get("add", value))
    source = reading.config.source("entries", index)
    if isinstance(value, dict) and "text" in value:
        return entry_with_id(_custom(value, source), ids)
    table = value if isinstance(value, dict) else {"name": value}
    name = table.get("name")
    if not isinstance(name, str):
        reading.warn(
            "bad-value", f"entry {index} is neither a name nor a table with a name", "entries", index
        )
        return None
    if name in registered:
        return entry_with_id(registered[name], ids)
    missing = trusted is not None and not trusted.ran and name not in PRIORITIES
    entry = Entry(
        id=name,
        name=name,
        kind="unknown" if missing else "builtin",
        priority=table.get("priority", PRIORITIES.get(name, DEFAULT_PRIORITY)),
        source=source,
    )
    return entry_with_id(entry, ids)


def entry_with_id(entry: Entry, ids: set[str]) -> Entry:
    """The entry with an id that no entry before it, no part and no message has."""
    base = entry.name.replace("/", "_") or "neuron"
    number, found = 1, base
    if _MESSAGE_ID.fullmatch(base):
        found = f"{base}#1"
    while found in ids:
        number += 1
        found = f"{base}#{number}"
    ids.add(found)
    return replace(entry, id=found)
