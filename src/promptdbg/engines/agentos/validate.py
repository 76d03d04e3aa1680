"""The check before a construction (``PromptEngine.ts::validatePromptConfiguration``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.engines.agentos import js
from promptdbg.engines.agentos.budget import Issue, budget_of
from promptdbg.engines.agentos.components import Prepared
from promptdbg.engines.agentos.estimate import meter_for
from promptdbg.engines.agentos.tools import supported
from promptdbg.errors import UsageError
from promptdbg.model import Json

CROWDED = 0.8


def validate(
    prepared: Prepared, model: Json, context: Any, version: str, env: Mapping[str, str]
) -> tuple[tuple[Issue, ...], tuple[str, ...]]:
    """Issues and recommendations; retrieved context, tools and elements are not estimated.

    Raises:
        UsageError: the JavaScript would throw.
    """
    try:
        if prepared.broken:
            raise js.JsError(prepared.broken)
        return _issues(prepared, model, version, env), _recommendations(
            prepared, model, context, version, env
        )
    except js.JsError as error:
        raise UsageError(f"these components cannot be checked: the JavaScript {error}") from error


def _issues(prepared: Prepared, model: Json, version: str, env: Mapping[str, str]) -> tuple[Issue, ...]:
    found = []
    vision = js.maybe(js.get(model, "visionSupport"), "supported")
    if js.truthy(prepared.vision) and js.length(prepared.vision) > 0 and not js.truthy(vision):
        found.append(Issue("error", "VISION_NOT_SUPPORTED", "the model takes no images"))
    if prepared.tools and not supported(model):
        found.append(Issue("error", "TOOLS_NOT_SUPPORTED", "the model supports no tools"))
    tokens, window = _tokens(prepared, model, version, env), js.to_number(js.get(model, "maxContextTokens"))
    if tokens > window:
        message = f"{tokens:,.6g} tokens are more than the window of {window:,.6g}"
        found.append(Issue("warning", "POTENTIAL_TOKEN_OVERFLOW", message, tokens, window))
    return tuple(found)


def _recommendations(
    prepared: Prepared, model: Json, context: Any, version: str, env: Mapping[str, str]
) -> tuple[str, ...]:
    found = []
    tokens, window = _tokens(prepared, model, version, env), js.to_number(js.get(model, "maxContextTokens"))
    if not tokens > window and tokens > budget_of(model) * CROWDED:
        found.append(f"{tokens:,.6g} tokens are over 80% of the window; make the prompt shorter")
    if not prepared.system:
        found.append("there is no system prompt")
    if js.truthy(js.maybe(js.maybe(context, "activePersona"), "contextualPromptElements")):
        found.append("see whether the persona's contextual elements fit the contexts to come")
    return tuple(found)


def _tokens(prepared: Prepared, model: Json, version: str, env: Mapping[str, str]) -> float:
    meter = meter_for(model, prepared.history, version, env)
    system = sum(meter.text(prompt.content) for prompt in prepared.system)
    return system + meter.text(prepared.user_input) + meter.messages(prepared.history or ())
