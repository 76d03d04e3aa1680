"""Reading a Phronomy workspace: ``phronomy.yaml``, messages, candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from promptdbg.engines.base import LoadRequest
from promptdbg.engines.named import Reading, named_files, read_table, read_whole, start_reading, told
from promptdbg.engines.phronomy.budget import ModelInfo
from promptdbg.engines.phronomy.chunks import Chunk
from promptdbg.engines.phronomy.errors import PhronomyError
from promptdbg.engines.phronomy.estimate import TOKENIZERS, Estimate
from promptdbg.engines.phronomy.history import Range
from promptdbg.engines.phronomy.inputs import GENERATIONS, Compact, Knowledge, PhronomyInputs, Tool
from promptdbg.engines.phronomy.items import Item, current_input, item_from, tool_from
from promptdbg.engines.rows import Row, rows_from
from promptdbg.files.disk import is_file
from promptdbg.files.structured import Parsed
from promptdbg.model import Failure, Json, Notice, is_finite
from promptdbg.workspace import Workspace

CONFIG = "phronomy.yaml"

_BUDGET = ("context_window", "max_output_tokens", "overhead", "model", "provider", "max_input_tokens")
_KEYS = {
    "generation",
    "budget",
    "models",
    "tokenizer",
    "instruction",
    "knowledge",
    "tools",
    "execution_id",
    "call_mode",
    "current_input",
    "trim",
    "compact",
    "share",
    *_BUDGET,
}
# What these names mean elsewhere in an assembly.
_TAKEN = frozenset({"tools", "current", "current-input", "system", "compaction"})


@dataclass(slots=True)
class _Reading(Reading):
    estimate: Estimate = TOKENIZERS["chars/4"]

    def refuse(self, error: PhronomyError, where: str) -> None:
        """Keep what the framework raises first."""
        self.failure = self.failure or Failure(error.ruby, where, str(error))

    def typed(self, key: str, kind: type, default: Any) -> Any:
        value = self.data.get(key)
        if value is None or isinstance(value, kind):
            return default if value is None else value
        self.warn("bad-value", f"{key} must be a {_KIND_WORDS[kind]}, not {told(value)}", key)
        return default


_KIND_WORDS: dict[type, str] = {str: "text", list: "list", dict: "table"}


def load(workspace: Workspace, request: LoadRequest) -> PhronomyInputs:
    """Read everything an assembly depends on.

    Raises:
        InputError: a file is broken.
    """
    names, wrong = _files(workspace)
    config = read_table(workspace.path / names["config"])
    reading = _start(workspace, config)
    reading.notices += wrong
    generation = _generation(reading)
    messages = read_whole(workspace.path / names["messages"])
    candidates = read_whole(workspace.path / names["candidates"])
    reading.notices += [*messages.notices, *candidates.notices]
    value = messages.value.get("messages") if isinstance(messages.value, dict) else messages.value
    rows, notices = rows_from("phronomy", messages, value)
    reading.notices += notices
    execution = reading.data.get("execution_id")
    current = request.message if request.message is not None else reading.data.get("current_input")
    stored = candidates if generation == "3" else messages
    return PhronomyInputs(
        workspace=str(workspace.path),
        session=str(stored.path) if stored.found else None,
        generation=generation,
        budget=MappingProxyType(_budget(reading)),
        models=MappingProxyType(_models(reading)),
        tokenizer=reading.chosen("tokenizer", tuple(TOKENIZERS), "chars/4"),
        instruction=_instruction(reading),
        instruction_source=config.source("instruction"),
        knowledge=_knowledge(reading),
        tools=_tools(reading),
        rows=rows,
        current=current if isinstance(current, str) else None,
        trim=tuple(n for n in reading.typed("trim", list, []) if isinstance(n, int)),
        compact=_compact(reading),
        items=_items(reading, candidates, rows),
        tool_items=_tool_items(reading),
        current_input=_current(reading, current, execution),
        call_mode=reading.chosen("call_mode", ("ask", "complete"), "ask"),
        execution_id=None if execution is None else str(execution),
        share=_share(reading),
        warnings=tuple(reading.notices),
        policy_failure=reading.failure,
    )


def _share(reading: _Reading) -> float | None:
    """The what-if of another share for the conversation; ``None`` for the framework's own."""
    value = reading.data.get("share")
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and is_finite(value):
        return value
    reading.warn("bad-value", f"share must be a number, not {told(value)}", "share")
    return None


def _files(workspace: Workspace) -> tuple[dict[str, str], list[Notice]]:
    names = {"config": CONFIG, "messages": "messages.jsonl", "candidates": "candidates.json"}
    if not is_file(workspace.path / "messages.jsonl"):
        names["messages"] = "messages.json"
    return named_files(workspace, "phronomy", names)


def _start(workspace: Workspace, config: Parsed) -> _Reading:
    reading = start_reading(_Reading, workspace, "phronomy", config, _KEYS)
    name = reading.data.get("tokenizer")
    if isinstance(name, str) and name in TOKENIZERS:
        reading.estimate = TOKENIZERS[name]
    return reading


def _generation(reading: _Reading) -> str:
    value = str(reading.data.get("generation", "1"))
    value = {"2": "2-raises"}.get(value, value)
    if value in GENERATIONS:
        return value
    reading.warn(
        "bad-value", f"generation must be one of {', '.join(GENERATIONS)}, not {value}", "generation"
    )
    return "1"


def _budget(reading: _Reading) -> dict[str, Json]:
    table = reading.typed("budget", dict, {})
    for key in table:
        if key not in _BUDGET:
            reading.warn("unknown-key", f"budget: nothing reads the key {key}", "budget", key)
    return {
        key: table.get(key, reading.data.get(key)) for key in _BUDGET if key in table or key in reading.data
    }


def _models(reading: _Reading) -> dict[str, ModelInfo]:
    return {
        str(name): ModelInfo(row.get("context_window"), row.get("max_output_tokens"), row.get("provider"))
        for name, row in reading.typed("models", dict, {}).items()
        if isinstance(row, dict)
    }


def _instruction(reading: _Reading) -> str | None:
    """The instruction of generations 1 and 2: a text, or the texts of a list, line by line."""
    value = reading.data.get("instruction")
    if isinstance(value, list):
        return "\n".join(
            str(entry.get("content", "")) if isinstance(entry, dict) else str(entry) for entry in value
        )
    return None if value is None else str(value)


def _knowledge(reading: _Reading) -> tuple[Knowledge, ...]:
    found: list[Knowledge] = []
    taken: set[str] = set()
    for index, value in enumerate(reading.typed("knowledge", list, [])):
        table = value if isinstance(value, dict) else {"text": value}
        name = str(table.get("name", table.get("source", index)))
        source = table.get("source")
        text = table.get("text")
        chunk = Chunk(
            "" if text is None else str(text),
            str(table.get("type", "")),
            table.get("trusted", False),
            None if source is None else str(source),
        )
        item = _unique(f"knowledge/{name}", taken)
        title = name if name != str(index) else f"knowledge {index}"
        found.append(Knowledge(item, title, chunk, reading.config.source("knowledge", index)))
    return tuple(found)


def _unique(name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}#{number}"
    taken.add(found)
    return found


def _tools(reading: _Reading) -> tuple[Tool, ...]:
    found = []
    taken: set[str] = set()
    for index, value in enumerate(reading.typed("tools", list, [])):
        if not isinstance(value, dict):
            reading.warn("bad-value", f"tool {index} must be a table", "tools", index)
            continue
        definition = value.get("definition", value)
        if not isinstance(definition, dict):
            definition = {}
        name = str(definition.get("name", index))
        parameters = definition.get("parameters") or ()
        found.append(
            Tool(
                _unique(f"tools/{name}", taken),
                name,
                str(definition.get("description") or ""),
                tuple(str(entry) for entry in parameters) if isinstance(parameters, (list, dict)) else (),
                value.get("instance") is True,
                definition,
            )
        )
    return tuple(found)


def _compact(reading: _Reading) -> tuple[Compact, ...]:
    found = []
    for index, value in enumerate(reading.typed("compact", list, [])):
        span = span_from(value.get("range")) if isinstance(value, dict) else None
        if span is None:
            reading.warn(
                "bad-value", f"compact {index} needs a range: an index or [start, end]", "compact", index
            )
        else:
            found.append(Compact(span, str(value.get("summary", ""))))
    return tuple(found)


def span_from(value: Json) -> int | Range | None:
    """An index, ``[start, end]`` or ``[start, end, "exclusive"]``."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, list) and 2 <= len(value) <= 3 and all(isinstance(n, int) for n in value[:2]):
        return Range(value[0], value[1], value[2:] == ["exclusive"])
    return None


# ---- generation 3 ---------------------------------------------------------------------------------


def _items(reading: _Reading, candidates: Parsed, rows: tuple[Row, ...]) -> tuple[Item, ...]:
    """The instructions and knowledge of the configuration, then the candidates of their file; without
    such a file the stored messages take their place."""
    found: list[Item] = []
    instruction = reading.data.get("instruction")
    listed = instruction if isinstance(instruction, list) else [] if instruction is None else [instruction]
    for index, value in enumerate(listed):
        _take(reading, found, _table(value, f"instruction-{index}", "content"), "instruction")
    for index, value in enumerate(reading.typed("knowledge", list, [])):
        _take(reading, found, _table(value, f"knowledge-{index}", "text"), "knowledge")
    value = (
        candidates.value if candidates.found else [_candidate(row, index) for index, row in enumerate(rows)]
    )
    if isinstance(value, dict):
        value = value.get("candidates")
    if value is not None and not isinstance(value, list):
        reading.notices.append(Notice("phronomy.bad-value", "candidates must be a list", candidates.source()))
        value = None
    for index, candidate in enumerate(value or []):
        if isinstance(candidate, dict) and "id" in candidate:
            _take(reading, found, candidate, "")
        else:
            message = f"candidate {index} has no id; it is left out"
            reading.notices.append(Notice("phronomy.bad-candidate", message, candidates.source(index)))
    return keyed(found)


_CATEGORIES = {"assistant": "assistant_message", "tool": "tool_message"}


def _candidate(row: Row, index: int) -> dict[str, Json]:
    """A stored message as a candidate of the conversation."""
    message = dict(row.value)
    role = str(message["role"])
    category = _CATEGORIES.get(role, "external_message")
    calls = message.get("tool_calls") or []
    return {
        "id": row.id,
        "category": category,
        "role": role,
        "sequence": index + 1,
        "content": message if category != "external_message" else message.get("content"),
        "tool_call_id": message.get("tool_call_id"),
        "tool_call_ids": [call.get("id") for call in calls if isinstance(call, dict)],
    }


def _table(value: Json, name: str, text: str) -> Mapping[str, Json]:
    """An instruction or knowledge entry of the configuration as a candidate."""
    if not isinstance(value, dict):
        return {"id": name, "content": value}
    content = {"content": value[text]} if "content" not in value and text in value else {}
    return {"id": value.get("name", name), **value, **content}


def _take(reading: _Reading, found: list[Item], candidate: Mapping[str, Json], category: str) -> None:
    try:
        found.append(item_from(candidate, reading.estimate, category))
    except PhronomyError as error:
        reading.refuse(error, "context/context_policy_input_builder.rb::build")


def _tool_items(reading: _Reading) -> tuple[Item, ...]:
    found = []
    for value in reading.typed("tools", list, []):
        try:
            found.append(tool_from(value if isinstance(value, dict) else {}, reading.estimate))
        except PhronomyError as error:
            reading.refuse(error, "context/context_policy_input.rb::ToolItem")
    return tuple(replace(item, key=f"tools/{item.definition.get('name')}") for item in keyed(found))


def _current(reading: _Reading, value: Json, execution: Json) -> Item | None:
    if value is None:
        return None
    try:
        return current_input(value, None if execution is None else str(execution), reading.estimate)
    except PhronomyError as error:
        reading.refuse(error, "agent/context_assembly/initial_preparation.rb::current_input_item")
        return None


def keyed(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items with keys of their own: the id, numbered from the second of that id on."""
    taken = set(_TAKEN)
    return tuple(replace(item, key=_unique(item.id, taken)) for item in items)
