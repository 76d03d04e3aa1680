"""The framework's own interface, in Python: build a prompt as AgentOS does, without AgentOS.

::

    from promptdbg.engines.agentos import ModelTargetInfo, PromptComponents, PromptEngine

    engine = PromptEngine({"performance": {"enableCaching": False}})
    result = engine.construct_prompt(
        PromptComponents(system_prompts=[{"content": "Be brief."}], user_input="Hello"),
        ModelTargetInfo("gpt-4o", max_context_tokens=8192),
    )
    result.prompt              # what the provider gets
    result.assembly()          # every item with its status, cost and the rule behind each loss

Names are the framework's in Python's spelling; JSON inside them (messages, tools, contexts) keeps
the framework's keys. Templates given as functions are not supported, since they are JavaScript.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.budget import Issue, Summarizer
from promptdbg.engines.agentos.cache import cache_key
from promptdbg.engines.agentos.components import prepare, prepare_elements
from promptdbg.engines.agentos.config import DEFAULT_WINDOW, merged
from promptdbg.engines.agentos.elements import preference_prompts
from promptdbg.engines.agentos.estimate import divisor, estimate, meter_for
from promptdbg.engines.agentos.log import Log
from promptdbg.engines.agentos.memory import MemoryContext, MemoryInput, assemble_memory
from promptdbg.engines.agentos.pipeline import Construction, Request, construct, template_of
from promptdbg.engines.agentos.texts import STAND_INS, Texts
from promptdbg.errors import UsageError
from promptdbg.model import Assembly, Json, Settings

if TYPE_CHECKING:
    from promptdbg.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class PromptComponents:
    """What a prompt is made of (``IPromptEngine.ts::PromptComponents``)."""

    system_prompts: Sequence[Mapping[str, Any]] | None = None
    conversation_history: Sequence[Mapping[str, Any]] | None = None
    current_turn_message_count: float | None = None
    user_input: str | None = None
    vision_inputs: Sequence[Mapping[str, Any]] | None = None
    audio_input: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] | None = None
    tool_schemas: Sequence[Mapping[str, Any]] | None = None
    retrieved_context: str | Sequence[Mapping[str, Any]] | None = None
    assembled_memory_context: Mapping[str, Any] | None = None
    task_specific_data: Mapping[str, Any] | None = None
    custom_components: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Json]:
        """The components with the framework's keys; what is not given is left out."""
        return _to_json(self)


@dataclass(frozen=True, slots=True)
class ModelTargetInfo:
    """The model a prompt is for (``IPromptEngine.ts::ModelTargetInfo``)."""

    model_id: str
    provider_id: str = "unknown"
    max_context_tokens: float = DEFAULT_WINDOW
    optimal_context_tokens: float | None = None
    capabilities: Sequence[str] = ()
    prompt_format_type: str | None = None
    tool_support: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({"supported": False}))
    vision_support: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Json]:
        """The target with the framework's keys."""
        return _to_json(self)


def _to_json(value: Any) -> dict[str, Json]:
    """The fields of a dataclass with camelCase keys, without the ones that are ``None``."""
    found: dict[str, Json] = {}
    for name in value.__dataclass_fields__:
        entry = getattr(value, name)
        if entry is not None:
            head, *rest = name.split("_")
            found[head + "".join(part.title() for part in rest)] = entry
    return found


@dataclass(frozen=True, slots=True)
class PromptEngineResult:
    """The result of a construction (``IPromptEngine.ts::PromptEngineResult``).

    ``prompt`` is a list of messages, an object or a text, as the template makes it; it must not be
    changed in place.
    """

    prompt: Json
    issues: tuple[Issue, ...]
    was_truncated_or_summarized: bool
    truncated_components: tuple[str, ...]
    summarized_components: tuple[str, ...]
    original_estimated_token_count: float | None
    estimated_token_count: float | None
    formatted_tool_schemas: tuple[Json, ...] | None
    cache_key: str | None
    from_cache: bool
    template_used: str
    selected_contextual_element_ids: tuple[Json, ...]
    total_system_prompts_applied: int
    history_messages_included: int
    rag_context_tokens_used: float | None
    construction: Construction = field(repr=False, compare=False)
    log: Log = field(repr=False, compare=False)

    def assembly(self, counter: TokenCounter | None = None) -> Assembly:
        """Every item with its status and cost, and every decision with its rule and numbers."""
        from promptdbg.engines.agentos.assemble import assembly_of  # draws on the whole model

        return assembly_of(self.construction, self.log, counter)


@dataclass(frozen=True, slots=True)
class Validation:
    """What a check before the construction says."""

    is_valid: bool
    issues: tuple[Issue, ...]
    recommendations: tuple[str, ...]


class PromptEngine:
    """AgentOS's prompt engine (``PromptEngine.ts::PromptEngine``) in one of two versions.

    Args:
        config: changes to the framework's default configuration, with its keys.
        utility_ai: what summarizes; without one nothing is summarized.
        version: ``published`` (0.9.164) or ``newer``.
        texts: the texts the framework itself writes; stand-ins of the same lengths by default.
        env: environment variables that the newer version reads.
        clock: seconds, for the age of cached prompts.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        utility_ai: Summarizer | None = None,
        *,
        version: str = rules.PUBLISHED,
        texts: Texts = STAND_INS,
        env: Mapping[str, str] | None = None,
        keep_tool_rounds: bool = False,
        clock: Any = time.monotonic,
    ) -> None:
        if version not in rules.VERSIONS:
            raise UsageError(f"unknown version {version!r}", hint="one of " + ", ".join(rules.VERSIONS))
        self.config = merged(_plain(config or {}, "config"))
        self.hits = 0
        self.misses = 0
        self._utility = utility_ai
        self._version, self._texts, self._env = version, texts, dict(env or {})
        self._keep_tool_rounds = keep_tool_rounds
        self._clock = clock
        self._context: Any = None
        self._cache: dict[str, tuple[float, PromptEngineResult]] = {}

    def set_current_execution_context(self, context: Mapping[str, Any] | None) -> None:
        """Set the context whose persona decides which tools are sent; ``None`` clears it."""
        self._context = _plain(context, "context")

    def construct_prompt(
        self,
        components: PromptComponents | Mapping[str, Any],
        model_target_info: ModelTargetInfo | Mapping[str, Any],
        execution_context: Mapping[str, Any] | None = None,
        template_name: str | None = None,
    ) -> PromptEngineResult:
        """Build the prompt, or take it from the cache as the framework would.

        Raises:
            UsageError: an argument is not JSON, or the published cache key cannot be made of it.
        """
        given = _plain(components, "components")
        model = _plain(model_target_info, "model target")
        context = _plain(execution_context, "execution context")
        key = self._key(given, model, context, template_name)
        if key is not None and (found := self._cached(key)) is not None:
            return replace(found, from_cache=True)
        request = self._request(given, model, context, template_name)
        log = Log()
        result = _result(construct(request, log), log, key)
        if key is not None and not any(issue.type == "error" for issue in result.issues):
            self._cache[key] = (self._clock(), result)
        return result

    def _request(self, given: Json, model: Json, context: Json, template: str | None) -> Request:
        elements, broken = prepare_elements(context)
        return Request(
            prepared=prepare(given),
            model=model,
            config=self.config,
            context=context,
            current_context=self._context,
            elements=elements,
            elements_broken=broken,
            preferences=preference_prompts(context, self._texts),
            template_name=template,
            version=self._version,
            summarizer=self._utility,
            env=self._env,
            keep_tool_rounds=self._keep_tool_rounds,
            texts=self._texts,
        )

    def _key(self, given: Json, model: Json, context: Json, template: str | None) -> str | None:
        if not js.truthy(js.get(self.config.get("performance", {}), "enableCaching")):
            return None
        name = template_of(template, model, self.config)
        try:
            return cache_key(self._version, given, model, context, name, self._texts)
        except js.JsError as error:
            raise UsageError(f"the cache key cannot be made: the JavaScript {error}") from error

    def _cached(self, key: str) -> PromptEngineResult | None:
        seconds = js.to_number(js.get(self.config["performance"], "cacheTimeoutSeconds"))
        found = self._cache.get(key)
        if found is not None and self._clock() - found[0] < seconds:
            self.hits += 1
            return found[1]
        self.misses += 1
        return None

    def clear_cache(self) -> None:
        """Forget every cached prompt and the counts of hits and misses."""
        self._cache.clear()
        self.hits = self.misses = 0

    def estimate_token_count(self, content: str, model_id: str | None = None) -> float:
        """Tokens of a text for a model (``estimateTokenCount``)."""
        return estimate(content, divisor(js.UNDEFINED if model_id is None else model_id))

    def calculate_tokens_for_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        model_target_info: ModelTargetInfo | Mapping[str, Any],
    ) -> float:
        """Tokens of messages, five for each included (``calculateTokensForMessages``)."""
        history = prepare({"conversationHistory": _plain(messages, "messages")})
        if history.broken:
            raise UsageError(f"these messages cannot be counted: the JavaScript {history.broken}")
        model = _plain(model_target_info, "model target")
        return meter_for(model, history.history, self._version, self._env).messages(history.history or ())

    def validate_prompt_configuration(
        self,
        components: PromptComponents | Mapping[str, Any],
        model_target_info: ModelTargetInfo | Mapping[str, Any],
        execution_context: Mapping[str, Any] | None = None,
    ) -> Validation:
        """What stands against a construction before it is tried (``validatePromptConfiguration``).

        Retrieved context, tools and contextual elements are not estimated.
        """
        from promptdbg.engines.agentos.validate import validate

        prepared = prepare(_plain(components, "components"))
        model = _plain(model_target_info, "model target")
        context = _plain(execution_context, "execution context")
        issues, recommendations = validate(prepared, model, context, self._version, self._env)
        return Validation(not any(issue.type == "error" for issue in issues), issues, recommendations)


def assemble_memory_context(
    given: MemoryInput, *, now: float | None = None, texts: Texts = STAND_INS
) -> MemoryContext:
    """The memory text within its budget (``MemoryPromptAssembler.ts::assembleMemoryContext``).

    Args:
        now: milliseconds since 1970, for the ages of memories; the machine's clock by default.

    Raises:
        UsageError: a trace lacks what its style prints.
    """
    try:
        return assemble_memory(given, math.floor(time.time() * 1000) if now is None else now, Log(), texts)
    except js.JsError as error:
        raise UsageError(f"the memory text cannot be made: the JavaScript {error}") from error


def memory_assembly(
    given: MemoryInput, *, now: float | None = None, counter: TokenCounter | None = None
) -> Assembly:
    """The memory text as an assembly: every memory with its status, cost and the rule behind a loss."""
    from promptdbg.engines.agentos.engine import ENGINE  # both draw on this module's neighbours
    from promptdbg.engines.agentos.load import AgentosInputs
    from promptdbg.tokens import DEFAULT_ENCODING, tokenizer

    inputs = AgentosInputs(
        workspace="",
        model={"modelId": "", "toolSupport": {"supported": False}},  # no window: nothing else is cut
        config=merged({}),
        memory=given,
        now=math.floor(time.time() * 1000) if now is None else now,
    )
    return ENGINE.assemble(inputs, Settings(), counter or tokenizer(DEFAULT_ENCODING))


def _plain(value: Any, what: str) -> Json:
    if isinstance(value, (PromptComponents, ModelTargetInfo)):
        value = value.to_json()
    try:
        return js.plain(value)
    except (TypeError, js.TooDeep) as error:
        raise UsageError(f"the {what} cannot be used: {error}") from error


def _result(made: Construction, log: Log, key: str | None) -> PromptEngineResult:
    outcome = made.outcome if made.budgeted else None
    finished = made.output is not None
    schemas = made.tool_schemas
    return PromptEngineResult(
        prompt=made.prompt,
        issues=tuple(made.issues),
        was_truncated_or_summarized=outcome is not None and outcome.modified,
        truncated_components=tuple(outcome.truncated) if outcome else (),
        summarized_components=tuple(outcome.summarized) if outcome else (),
        original_estimated_token_count=outcome.original if outcome else None,
        estimated_token_count=made.estimated,
        formatted_tool_schemas=None if schemas is None else tuple(schema for _, schema in schemas),
        cache_key=key,
        from_cache=False,
        template_used=made.request.template,
        selected_contextual_element_ids=tuple(made.contextual_ids),
        total_system_prompts_applied=len(made.augmented.system) if made.augmented and finished else 0,
        history_messages_included=len(outcome.history or ()) if outcome and finished else 0,
        rag_context_tokens_used=made.retrieved_tokens,
        construction=made,
        log=log,
    )
