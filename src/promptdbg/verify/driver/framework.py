"""The installed nanobot: its modules, prepared once for being watched.

Everything is looked up by name at run time, because two major shapes of the program exist:
0.2.x, whose runner governs the context itself, and 0.3.x, which has a ContextGovernor.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

from . import clock
from .recorder import GOVERNOR_STEPS, RUNNER_STEPS, Recorder


class Sent(BaseException):
    """Ends a run once the last request has been seen. Not an Exception: nanobot catches those."""


class Framework:
    """nanobot's modules and the recorder that watches them."""

    def __init__(self) -> None:
        self.version = metadata.version("nanobot-ai")
        self.package = str(next(iter(_module("nanobot").__path__)))
        self.loop = _module("nanobot.agent.loop")
        self.runner = _module("nanobot.agent.runner")
        self.memory = _module("nanobot.agent.memory")
        self.skills = _module("nanobot.agent.skills")
        self.sessions = _module("nanobot.session.manager")
        self.helpers = _module("nanobot.utils.helpers")
        self.providers = _module("nanobot.providers.base")
        self.tools = _module("nanobot.agent.tools.base")
        self.registry = _module("nanobot.agent.tools.registry")
        self.bus = _module("nanobot.bus.queue")
        self.events = _module("nanobot.bus.events")
        self.context = _optional("nanobot.runtime_context")
        governance = _optional("nanobot.agent.context_governance")
        _module("loguru").logger.disable("nanobot")

        self.recorder = Recorder()
        self.steps_of = governance.ContextGovernor if governance else self.runner.AgentRunner
        for step in GOVERNOR_STEPS if governance else RUNNER_STEPS:
            self.recorder.watch(self.steps_of, step)
        summarises = self.recorder.watch_compaction(self.steps_of)
        self.dialect = "0.2.2" if governance is None else "0.3.5" if summarises else "main"

        # A blank answer makes the runner ask again without adding a row; turn.py uses that to
        # feed the rows of a turn one request at a time, so the limit on retries must not bite.
        self.runner._MAX_EMPTY_RETRIES = 1 << 30
        self._encoding = self.helpers._get_token_encoding
        self.sort_skills = False
        self._order_skills()
        clock.install("nanobot")

    def use_tokenizer(self, name: str) -> None:
        """``cl100k_base``, or ``unavailable``: as if its data could not be had."""
        self.helpers._get_token_encoding = self._encoding if name == "cl100k_base" else _no_encoding

    def channels(self, *, extract_documents: bool) -> Any:
        """nanobot's settings of channels; 0.2.2 takes the text of documents into the message or not."""
        config = _module("nanobot.config.schema").ChannelsConfig()
        config.extract_document_text = extract_documents
        return config

    def _order_skills(self) -> None:
        """List skills by name where that is asked for; nanobot takes them as the folder does."""
        loader = self.skills.SkillsLoader
        real = loader._skill_entries_from_dir

        def listed(*arguments: Any, **named: Any) -> Any:
            entries = real(*arguments, **named)
            return sorted(entries, key=lambda entry: entry["name"]) if self.sort_skills else entries

        loader._skill_entries_from_dir = listed

    def measure(self, provider: Any, tools: list[Any], messages: list[Any]) -> dict[str, Any]:
        """nanobot's estimate of the request, how it was made, and of each message alone."""
        try:
            tokens, source = self.helpers.estimate_prompt_tokens_chain(provider, "stub", messages, tools)
            sizes = [self.helpers.estimate_message_tokens(message) for message in messages]
        except Exception as error:  # lone surrogates cannot be encoded at all
            return {"size": None, "measured_by": f"raises {type(error).__name__}", "sizes": None}
        return {"size": tokens, "measured_by": source, "sizes": sizes}

    def provider(self, answer: Callable[[], Any], max_tokens: int) -> Any:
        """A model provider without a model: every request ends in ``answer``."""

        class Provider(self.providers.LLMProvider):  # type: ignore[misc,name-defined]
            async def chat(self, *arguments: Any, **named: Any) -> Any:
                return answer()

            async def chat_with_retry(self, *arguments: Any, **named: Any) -> Any:
                return answer()

            async def chat_stream_with_retry(self, *arguments: Any, **named: Any) -> Any:
                return answer()

            def get_default_model(self) -> str:
                return "stub/model"

        try:
            made = Provider(provider_name="promptdbg")
        except TypeError:  # before 0.3.5 a provider has no name
            made = Provider()
        made.generation = self.providers.GenerationSettings(max_tokens=max_tokens)
        return made

    def tool_registry(self, schemas: list[dict[str, Any]]) -> Any:
        """nanobot's registry, filled with tools that have a schema and do nothing."""
        base = self.tools.Tool
        registry = self.registry.ToolRegistry()
        for schema in schemas:
            body = {
                "name": schema.get("name"),
                "description": schema.get("description", ""),
                "parameters": schema.get("parameters", {}),
                "execute": _never,
            }
            registry.register(type("SchemaOnly", (base,), body)())
        return registry


def _module(name: str) -> Any:
    return import_module(name)


def _optional(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def _no_encoding() -> Any:
    raise RuntimeError("the encoding is not available")


async def _never(self: Any, **named: Any) -> str:  # noqa: ARG001 - a method of the framework's tools
    raise AssertionError("no tool runs while verifying")
