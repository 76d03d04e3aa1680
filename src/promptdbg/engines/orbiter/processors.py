"""Processors: what the framework runs before a model call and after a tool call.

The two sentences that a processor puts in place of a result are stand-ins of the same length as the
framework's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from promptdbg.engines.orbiter.state import Context


class ProcessorError(Exception):
    """A processor has no event."""


class ContextProcessor(ABC):
    """Reacts to one event with the context and a payload.

    Raises:
        ProcessorError: the event is empty.
    """

    def __init__(self, event: str, *, name: str | None = None) -> None:
        if not event:
            raise ProcessorError("a processor needs an event")
        self.event = event
        self.name = name or type(self).__name__

    @abstractmethod
    async def process(self, ctx: Context, payload: dict[str, Any]) -> None:
        """React; may change ``ctx.state`` and the payload."""


class ProcessorPipeline:
    """Processors by event, run in the order they were registered; what one raises comes through."""

    def __init__(self) -> None:
        self._processors: dict[str, list[ContextProcessor]] = {}

    def register(self, processor: ContextProcessor) -> ProcessorPipeline:
        self._processors.setdefault(processor.event, []).append(processor)
        return self

    def unregister(self, processor: ContextProcessor) -> None:
        """Remove a processor; one that is not registered is no error."""
        found = self._processors.get(processor.event, [])
        if processor in found:
            found.remove(processor)

    async def fire(self, event: str, ctx: Context, payload: dict[str, Any] | None = None) -> None:
        data = {} if payload is None else payload
        for processor in self._processors.get(event, []):
            await processor.process(ctx, data)

    def has_processors(self, event: str) -> bool:
        return bool(self._processors.get(event))

    def list_processors(self, event: str | None = None) -> list[ContextProcessor]:
        if event is not None:
            return list(self._processors.get(event, []))
        return [processor for group in self._processors.values() for processor in group]

    def clear(self) -> None:
        self._processors.clear()

    def __len__(self) -> int:
        return sum(map(len, self._processors.values()))


class SummarizeProcessor(ContextProcessor):
    """Marks the oldest messages beyond summary_threshold; it never shortens anything (generation A)."""

    def __init__(self, *, name: str = "summarize") -> None:
        super().__init__("pre_llm_call", name=name)

    async def process(self, ctx: Context, payload: dict[str, Any]) -> None:
        candidates = summary_candidates(ctx.state.get("history"), ctx.config.summary_threshold)
        if candidates:
            ctx.state.set("needs_summary", True)
            ctx.state.set("summary_candidates", candidates)


def summary_candidates(history: Sequence[Any] | None, threshold: int) -> list[Any]:
    """The oldest messages in excess of the threshold (``context/processor.py::SummarizeProcessor``)."""
    return list(history[: max(len(history) - threshold, 0)]) if history else []


class ToolResultOffloader(ContextProcessor):
    """Stores a long tool result in the state and leaves its first half and a note.

    Args:
        max_size: code points; a result must be longer, or flagged ``large_output``, to go.
    """

    def __init__(self, *, max_size: int = 5000, name: str = "tool_result_offloader") -> None:
        super().__init__("post_tool_call", name=name)
        self.max_size = max_size

    async def process(self, ctx: Context, payload: dict[str, Any]) -> None:
        result = payload.get("tool_result")
        if result is None:
            return
        content = str(result)
        if not payload.get("large_output") and len(content) <= self.max_size:
            return
        artifact = payload.get("artifact_id")
        stored: list[dict[str, Any]] = ctx.state.get("offloaded_results") or []
        stored.append(
            {
                "tool_name": payload.get("tool_name", "unknown"),
                "tool_call_id": payload.get("tool_call_id", "unknown"),
                "content": content,
                "size": len(content),
                "artifact_id": artifact,
            }
        )
        ctx.state.set("offloaded_results", stored)
        payload["tool_result"] = offloaded(content, self.max_size, artifact)


def offloaded(content: str, max_size: int, artifact_id: Any = None) -> str:
    """What stands in a tool result's place (``context/processor.py::ToolResultOffloader``)."""
    if artifact_id is not None:
        return artifact_note(str(artifact_id))
    return f"{content[: max_size // 2]}...\n\n{truncated_note(len(content))}"


def truncated_note(size: int) -> str:
    """65 code points and the size, as long as the framework's sentence."""
    return f"[Shortened; the whole result is kept beside, characters in all: {size}]"


def artifact_note(artifact_id: str) -> str:
    """69 code points and twice the id, as long as the framework's sentence."""
    return f"[The result is artifact {artifact_id}; for its text, now use retrieve_artifact({artifact_id}).]"


class DialogueCompressor(ContextProcessor):
    """Replaces runs of tool messages by one system message (generation B).

    Args:
        min_tool_chain_length: messages, not pairs, from which a run is replaced.
    """

    def __init__(self, *, min_tool_chain_length: int = 3, name: str = "dialogue_compressor") -> None:
        super().__init__("pre_llm_call", name=name)
        self.min_tool_chain_length = min_tool_chain_length

    async def process(self, ctx: Context, payload: dict[str, Any]) -> None:
        history = ctx.state.get("history")
        if history:
            history[:] = compressed(history, self.min_tool_chain_length)


ChainText = Callable[[str, int, str], str]
"""Tool names, number of calls and results, as the text of the message that replaces them."""


def chain_text(tools: str, calls: int, results: str) -> str:
    return f"[Tool run: {tools}; {calls} calls; {results}]"


def compressed(
    history: Sequence[Mapping[str, Any]], minimum: int, text: ChainText = chain_text
) -> list[Mapping[str, Any]]:
    """The history with every run of at least ``minimum`` tool messages as one system message
    (``context/processor.py::DialogueCompressor``). A run need not begin with a call."""
    result: list[Mapping[str, Any]] = []
    run: list[Mapping[str, Any]] = []
    for message in [*history, None]:
        if message is not None and _is_tool(message):
            run.append(message)
            continue
        result += [_chain(run, text)] if run and len(run) >= minimum else run
        run = []
        if message is not None:
            result.append(message)
    return result


def _is_tool(message: Mapping[str, Any]) -> bool:
    role = message.get("role")
    return role == "tool" or (role == "assistant" and bool(message.get("tool_calls")))


def _chain(run: list[Mapping[str, Any]], text: ChainText) -> Mapping[str, Any]:
    names: list[str] = []
    results: list[str] = []
    for message in run:
        if message.get("role") == "tool":
            name = message.get("tool_name") or message.get("name") or "tool"
            results.append(f"{name}: {str(message.get('content', ''))[:100]}")
        else:
            calls = message.get("tool_calls") or []
            names += [str(call.get("name") or "unknown") for call in calls]
    tools = ", ".join(dict.fromkeys(names)) or "tools"
    return {"role": "system", "content": text(tools, len(names), "; ".join(results) or "no results")}
