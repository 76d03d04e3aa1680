"""Orbiter's reference cases: one JSON file per case, made by the real package (exo: its source retyped)."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from promptdbg.engines import orbiter
from promptdbg.engines.orbiter.assemble import assemble
from promptdbg.engines.orbiter.processors import (
    artifact_note,
    compressed,
    summary_candidates,
    truncated_note,
)
from promptdbg.engines.orbiter.variables import resolver_from
from promptdbg.model import Assembly, SectionStatus, Settings
from promptdbg.tokens import tokenizer
from tests import invariants
from tests.reference import Case, expanded, only_keys

Data = dict[str, Any]

_FORMS: dict[str, Callable[[Any], Any]] = {"object": lambda entry: SimpleNamespace(**entry)}
"""``$object`` is an object with attributes."""


def collect(folder: Path) -> list[Case]:
    return [Case(f"orbiter/{path.stem}", path) for path in sorted(folder.glob("*.json"))]


def check(case: Case) -> None:
    data = json.loads(case.path.read_text("utf-8"))
    operation = _OPERATIONS.get(data["operation"])
    assert operation is not None, f"unknown operation {data['operation']}"
    operation(expanded(data["inputs"], _FORMS), data["expected"])


# ---- the builder --------------------------------------------------------------------------------


class _Text(orbiter.Neuron):
    def __init__(self, name: str, text: str, priority: int) -> None:
        super().__init__(name, priority=priority)
        self._text = text

    async def format(self, ctx: Any, **kwargs: Any) -> str:
        return self._text


def _builder(inputs: Data) -> orbiter.PromptBuilder:
    only_keys(
        inputs,
        "clock",
        "platform",
        "config",
        "state",
        "parent_state",
        "separator",
        "variables",
        "neurons",
        "task_id",
    )
    parent = None
    place = inputs["platform"]
    common: Data = {"clock": inputs["clock"], "platform": f"{place['system']} {place['release']}"}
    config = _config(inputs.get("config", {}))
    if "parent_state" in inputs:
        parent = orbiter.Context("parent", state=inputs["parent_state"], config=config)
    context = orbiter.Context(
        inputs.get("task_id", "t-1"), config=config, parent=parent, state=inputs.get("state", {}), **common
    )
    variables = None
    if "variables" in inputs:
        variables = orbiter.DynamicVariableRegistry()
        for path, value in inputs["variables"].items():
            only_keys(value, "static", "state_key", "default", "raises")
            variables.register(path, resolver_from(value))
    builder = orbiter.PromptBuilder(
        context,
        variables=variables,
        separator=inputs.get("separator", "\n\n"),
        priority_order="coded",
    )
    for neuron in inputs["neurons"]:
        only_keys(neuron, "add", "custom")
        if "add" in neuron:
            builder.add(neuron["add"])
        else:
            custom = neuron["custom"]
            only_keys(custom, "name", "text", "priority")
            builder.add_neuron(_Text(custom["name"], custom["text"], custom.get("priority", 50)))
    return builder


def _build(inputs: Data, expected: Data) -> None:
    only_keys(expected, "sections", "prompt", "chars", "error_type")
    if "error_type" in expected:
        _fails(lambda: _builder(inputs).build(), expected["error_type"])
        try:
            builder = _builder(inputs)
        except orbiter.PromptBuilderError:
            return
        failure = builder.assembly().failure
        assert failure is not None
        assert failure.error == expected["error_type"]
        return
    builder = _builder(inputs)
    assembly = builder.assembly()
    invariants.check(assembly)
    # Without a registry a section's output is the neuron's own text, which is what a case lists.
    plain = assemble(
        builder.inputs(), Settings(values={"priority_order": "coded", "variables": False}), tokenizer()
    )
    invariants.check(plain)
    found = [
        {
            "neuron": section.name,
            "priority": section.priority,
            "included": section.status in (SectionStatus.KEPT, SectionStatus.TRUNCATED),
            "text": section.output,
        }
        for section in plain.sections
        if section.parent is None
    ]
    assert found == expected["sections"]
    assert assembly.system_text == expected["prompt"]
    assert len(assembly.system_text) == expected["chars"]
    assert builder.build() == expected["prompt"]
    assert _placed(assembly)


def _placed(assembly: Assembly) -> bool:
    """Every kept neuron stands at its offset in the prompt."""
    kept = [s for s in assembly.sections if s.parent is None and s.status is SectionStatus.KEPT and s.output]
    return all(section.offset is not None for section in kept)


def _fails(call: Callable[[], Any], error_type: str) -> None:
    try:
        call()
    except Exception as error:
        assert type(error).__name__ == error_type, repr(error)  # noqa: PT017 - any type may be asked for
    else:
        raise AssertionError(f"no {error_type}")


# ---- configuration ------------------------------------------------------------------------------


def _config(values: Data) -> orbiter.ContextConfig:
    numbers = dict(values)
    preset = numbers.pop("preset", None)
    unknown = set(numbers) - set(orbiter.ContextConfig.__dataclass_fields__)
    assert not unknown, f"unknown configuration {sorted(unknown)}"
    return orbiter.ContextConfig(**numbers) if preset is None else orbiter.make_config(preset, **numbers)


def _config_rows(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "calls")
    only_keys(expected, "rows", "bare")
    for call, row in zip(inputs["calls"], expected["rows"], strict=True):
        only_keys(row, "call", "ok", "error_type")
        if "error_type" in row:
            _fails(lambda call=call: orbiter.make_config(**call), row["error_type"])  # type: ignore[misc]
        else:
            _same_config(orbiter.make_config(**call), row["ok"])
    if "bare" in expected:
        _same_config(orbiter.ContextConfig(), expected["bare"])


def _same_config(config: Any, expected: Data) -> None:
    found = {key: getattr(config, key) for key in expected}
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}
    assert found == expected


def _exo_config(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "configs")
    only_keys(expected, "rows")
    for values, row in zip(inputs["configs"], expected["rows"], strict=True):
        if "error_type" in row:
            _fails(lambda values=values: orbiter.LimitConfig(**values), row["error_type"])  # type: ignore[misc]
        else:
            _same_config(orbiter.LimitConfig(**values), row)


# ---- windowing ----------------------------------------------------------------------------------


def _agent_windowing(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "config", "messages", "force", "provider", "summary_reply")
    _windowing(inputs, expected, _config(inputs["config"]))


def _exo_windowing(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "config", "messages", "force", "provider", "summary_reply")
    _windowing(inputs, expected, orbiter.LimitConfig(**inputs["config"]))


def _windowing(inputs: Data, expected: Data, config: Any) -> None:
    only_keys(expected, "messages_out", "actions", "summarizer_calls", "summarized_text")
    for message in inputs["messages"]:
        only_keys(message, "role", "content", "calls", "id", "name")
    provider = inputs.get("provider", "works")
    calls: list[str] = []

    def summarize(text: str) -> str:
        calls.append(text)
        if provider == "raises":
            raise RuntimeError("as the case says")
        return str(inputs.get("summary_reply", "SUM"))

    assert provider in ("works", "raises", "none", "ok"), f"unknown provider {provider}"
    result = orbiter.apply_context_windowing(
        inputs["messages"],
        config,
        force_summarize=inputs.get("force", False),
        summarize=None if provider == "none" else summarize,
    )
    assert len(result.messages) == len(expected["messages_out"])
    for message, wanted in zip(result.messages, expected["messages_out"], strict=True):
        _same_message(dict(message), wanted)
    actions = [
        {"action": a.action, "before": a.before, "after": a.after, "details": dict(a.details)}
        for a in result.actions
    ]
    assert actions == expected["actions"]
    assert len(calls) == expected["summarizer_calls"]
    if "summarized_text" in expected:
        assert calls == expected["summarized_text"]
        assert list(result.summarized) == calls


_OTHER_NAMES = {"tool_calls": "calls", "tool_call_id": "id"}


def _same_message(message: Data, wanted: Data) -> None:
    """Every key that the case lists, under either of its names."""
    found = {key: message.get(key, message.get(_OTHER_NAMES.get(key, key))) for key in wanted}
    assert found == wanted


# ---- the smaller parts --------------------------------------------------------------------------


def _token_tag(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "rows")
    for row, wanted in zip(inputs["rows"], expected["rows"], strict=True):
        only_keys(row, "used", "total", "system")
        only_keys(wanted, "used", "total", "system", "out")
        messages = [] if row["system"] is None else [{"role": "system", "content": row["system"]}]
        messages.append({"role": "user", "content": "q"})
        assert orbiter.update_system_token_info(messages, row["used"], row["total"]) == wanted["out"]


def _token_tracker(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "steps")
    tracker = orbiter.TokenTracker()
    for agent, prompt, output in inputs["steps"]:
        tracker.add_step(agent, prompt_tokens=prompt, output_tokens=output)
    steps = [[s.agent_id, s.step, s.prompt_tokens, s.output_tokens, s.total_tokens] for s in tracker.steps]
    for key, wanted in expected.items():
        if key == "steps":
            assert steps == wanted
            continue
        usage = tracker.total_usage() if key == "total" else tracker.agent_usage(key.removeprefix("agent_"))
        found = [usage.prompt_tokens, usage.output_tokens, usage.total_tokens, usage.step_count]
        assert found == wanted, key


_STEP = re.compile(r"(\w+)((?: \+\w+ -?\d+)+)?(?:, (\w+)=(-?\d+))?")


def _fork_merge(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "steps")
    contexts = {"parent": orbiter.Context("parent")}
    merged: list[str] = []
    found: Data = {}
    for step in inputs["steps"]:
        words = step.replace(",", "").split()
        if words[0] == "fork":
            contexts.update({name: contexts["parent"].fork(name) for name in words[1:]})
        elif words[0] == "merge":
            contexts["parent"].merge(contexts[words[1]])
            label = f"after_second_{words[1]}" if words[1] in merged else f"after_{words[1]}"
            merged.append(words[1])
            found[label] = contexts["parent"].token_usage
        else:
            match = _STEP.fullmatch(step)
            assert match is not None, f"unknown step {step!r}"
            context = contexts[match[1]]
            usage = re.findall(r"\+(\w+) (-?\d+)", match[2] or "")
            context.add_tokens({name: int(number) for name, number in usage})
            if match[3]:
                context.state.set(match[3], int(match[4]))
    for key, wanted in expected.items():
        assert (found[key] if key in found else contexts["parent"].state.get(key)) == wanted, key


def _knowledge(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "chunk_rows", "store", "searches")
    only_keys(expected, "chunks", "searches")
    for row, wanted in zip(inputs["chunk_rows"], expected["chunks"], strict=True):

        def chunks(row: Data = row) -> list[str]:
            return orbiter.chunk_text(row["text"], chunk_size=row["size"], chunk_overlap=row["overlap"])

        if "error_type" in wanted:
            _fails(chunks, wanted["error_type"])
        else:
            assert chunks() == wanted["chunks"]
    form = inputs["store"]
    store = orbiter.KnowledgeStore(chunk_size=form["chunk_size"], chunk_overlap=form["overlap"])
    for name, text in form["docs"].items():
        store.add(name, text)
    for search, wanted in zip(inputs["searches"], expected["searches"], strict=True):
        hits = [
            {
                "artifact": hit.chunk.artifact_name,
                "index": hit.chunk.index,
                "start": hit.chunk.start,
                "end": hit.chunk.end,
                "score": round(hit.score, 6),
            }
            for hit in store.search(search["query"], top_k=search["top_k"])
        ]
        assert hits == wanted["hits"]


def _offload(inputs: Data, expected: Data) -> None:
    for row, wanted in zip(inputs["rows"], expected["rows"], strict=True):
        only_keys(row, "case", "tool_result", "max_size", "payload_extra")
        only_keys(wanted, "case", "result", "stored")
        result = row["tool_result"]
        if isinstance(result, dict) and set(result) == {"repeat", "times"}:
            result = result["repeat"] * result["times"]
        size = {} if row["max_size"] is None else {"max_size": row["max_size"]}
        context = orbiter.Context("t-1")
        payload = {"tool_result": result, **row["payload_extra"]}
        asyncio.run(orbiter.ToolResultOffloader(**size).process(context, payload))
        _same_offloaded(payload["tool_result"], wanted["result"])
        stored = context.state.get("offloaded_results") or []
        assert [{key: e[key] for key in ("size", "artifact_id")} for e in stored] == wanted["stored"]


_NOTES = re.compile(r"\{\{orbiter:offload\.(truncated|artifact):([^}]*)\}\}")


def _with_notes(text: str) -> str:
    """Placeholders replaced by our stand-ins, which are as long as the framework's sentences."""
    return _NOTES.sub(
        lambda m: truncated_note(int(m[2])) if m[1] == "truncated" else artifact_note(m[2]), text
    )


def _same_offloaded(found: Any, wanted: Any) -> None:
    if isinstance(wanted, dict):
        only_keys(wanted, "chars", "starts", "ends")
        assert len(found) == wanted["chars"]
        assert found.startswith(_with_notes(wanted["starts"]))
        assert found.endswith(_with_notes(wanted["ends"]))
    else:
        assert found == (_with_notes(wanted) if isinstance(wanted, str) else wanted)


def _summarize(inputs: Data, expected: Data) -> None:
    for row, wanted in zip(inputs["rows"], expected["rows"], strict=True):
        history = [{"role": "user", "content": f"m{n}"} for n in range(row["messages"])]
        config = orbiter.ContextConfig(summary_threshold=row["threshold"])
        context = orbiter.Context("t-1", config=config, state={"history": history})
        asyncio.run(orbiter.SummarizeProcessor().process(context, {}))
        candidates = context.state.get("summary_candidates") or []
        found = {
            **row,
            "needs_summary": context.state.get("needs_summary"),
            "candidates": [message["content"] for message in candidates],
        }
        assert found == wanted
        assert summary_candidates(history, row["threshold"]) == candidates
        assert len(context.state.get("history")) == row["messages"]


def _compressor(inputs: Data, expected: Data) -> None:
    only_keys(inputs, "min_tool_chain_length", "history")
    only_keys(expected, "history")

    def text(tools: str, calls: int, results: str) -> str:
        return f"{{{{exo:chain.head}}}}|tools={tools}|calls={calls}|results={results}"

    assert compressed(inputs["history"], inputs["min_tool_chain_length"], text) == expected["history"]


class _ClassAttributes(orbiter.Neuron):
    name = "custom"
    priority = 15

    async def format(self, ctx: Any, **kwargs: Any) -> str:
        return "never reached"


class _Synchronous(orbiter.Neuron):
    def format(self, ctx: Any, **kwargs: Any) -> str:  # type: ignore[override]
        return "plain"


def _documentation(inputs: Data, expected: Data) -> None:
    context = orbiter.Context("t-1")

    def with_class() -> None:
        registry: orbiter.Registry[Any] = orbiter.Registry()
        registry.register("custom", _ClassAttributes)
        orbiter.PromptBuilder(context, registry=registry).add("custom").build()

    examples: dict[str, Callable[[], Any]] = {
        "instance of a class-attribute neuron without arguments": lambda: _ClassAttributes(),  # type: ignore[call-arg]
        "synchronous format": lambda: orbiter.PromptBuilder(context).add_neuron(_Synchronous("s")).build(),
        "registering a class instead of an instance": with_class,
        "registering an existing name": lambda: orbiter.neuron_registry.register("task", _Text("t", "", 1)),
        "build() without await": lambda: orbiter.PromptBuilder(context).add("task").build(),
    }
    for row in expected["rows"]:
        only_keys(row, "example", "error_type", "returns_coroutine")
        call = examples[row["example"]]
        if "error_type" in row:
            _fails(call, row["error_type"])
        else:
            assert inspect.isawaitable(call()) is row["returns_coroutine"]


_OPERATIONS: dict[str, Callable[[Data, Data], None]] = {
    "agent_windowing": _agent_windowing,
    "build": _build,
    "config": _config_rows,
    "documentation": _documentation,
    "exo_config": _exo_config,
    "exo_dialogue_compressor": _compressor,
    "exo_windowing": _exo_windowing,
    "fork_merge": _fork_merge,
    "knowledge": _knowledge,
    "offload_processor": _offload,
    "summarize_processor": _summarize,
    "token_tag": _token_tag,
    "token_tracker": _token_tracker,
}
