"""One call of ``constructPrompt``: selection, augmentation, budget, template, tool schemas.

Pure: the same request gives the same construction. What the JavaScript would throw becomes an issue
and an empty prompt, as there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.budget import Issue, Outcome, Setup, Summarizer, budget_of, history_step
from promptdbg.engines.agentos.components import Element, Prepared, SystemPrompt, as_text
from promptdbg.engines.agentos.elements import UNNAMED, Augmented, augment, select
from promptdbg.engines.agentos.estimate import Meter, joined, meter_for, totals
from promptdbg.engines.agentos.log import Log
from promptdbg.engines.agentos.retrieved import retrieved_step
from promptdbg.engines.agentos.templates import ANTHROPIC, TEMPLATES, Output, Scene, render
from promptdbg.engines.agentos.texts import STAND_INS, Texts
from promptdbg.engines.agentos.tools import ANTHROPIC_FORMAT, schemas, supported
from promptdbg.model import Json

OVER_BUDGET = "TOKEN_BUDGET_EXCEEDED_POST_OPT"
TEMPLATE_NOT_FOUND = "TEMPLATE_NOT_FOUND"
UNHANDLED = "UNHANDLED_CONSTRUCTION_ERROR"


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of one call.

    ``context`` is the execution context passed to the call; ``current_context`` the one set on the
    engine, which alone decides about the tool manifest. ``preferences`` are the system prompts made
    from the user's preferences (``preference_prompts``).
    """

    prepared: Prepared
    model: Json
    config: Mapping[str, Json]
    context: Any = None
    current_context: Any = None
    elements: Sequence[Element] = ()
    elements_broken: str = ""
    preferences: Sequence[SystemPrompt] = ()
    template_name: str | None = None
    version: str = rules.PUBLISHED
    summarizer: Summarizer | None = None
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    keep_tool_rounds: bool = False
    texts: Texts = STAND_INS

    @property
    def template(self) -> str:
        """The template's name: the call's, else the model's, else the configured one."""
        return str(template_of(self.template_name, self.model, self.config))


def template_of(name: Any, model: Json, config: Mapping[str, Json]) -> str:
    """``templateName || promptFormatType || defaultTemplateName``."""
    asked = js.get(model, "promptFormatType")
    chosen = name if js.truthy(name) else asked if js.truthy(asked) else config.get("defaultTemplateName")
    return js.to_string(chosen)


@dataclass
class Construction:
    """Everything a call found out. Fields after a failure keep their first values."""

    request: Request
    issues: list[Issue] = field(default_factory=list)
    selected: list[Element] = field(default_factory=list)
    augmented: Augmented | None = None
    outcome: Outcome | None = None
    meter: Meter | None = None
    budget: float = 0
    budgeted: bool = False
    output: Output | None = None
    estimated: float | None = None
    retrieved_tokens: float | None = None
    tool_schemas: list[tuple[str, Json]] | None = None
    failure: Issue | None = None

    @property
    def prompt(self) -> Json:
        return [] if self.output is None else self.output.prompt

    @property
    def contextual_ids(self) -> list[Json]:
        """Ids of the selected elements, as the result's metadata lists them."""
        ids = (js.get(element.raw, "id") for element in self.selected)
        return [name if js.truthy(name) else UNNAMED for name in ids]

    @property
    def persona(self) -> Any:
        """The id of the persona that the tool manifest is looked up by."""
        return js.maybe(js.maybe(self.request.current_context, "activePersona"), "id")


def construct(request: Request, log: Log) -> Construction:
    """Build the prompt, or find out why the framework could not."""
    made = Construction(request)
    try:
        _augment(made, log)
        _budget(made, log)
        _render(made, log)
        _tools(made, log)
    except js.JsError as error:
        made.failure = Issue("error", UNHANDLED, f"the JavaScript {error}")
        made.issues.append(made.failure)
    return made


def _augment(made: Construction, log: Log) -> None:
    request = made.request
    prepared = request.prepared
    if request.elements_broken:
        raise js.JsError(request.elements_broken)
    made.selected = select(request.elements, request.context, log)
    if prepared.broken:
        raise js.JsError(prepared.broken)
    made.augmented = augment(
        prepared.system,
        prepared.user_input,
        prepared.raw.get("customComponents"),
        request.preferences,
        made.selected,
        log,
    )


def _budget(made: Construction, log: Log) -> None:
    request, prepared = made.request, made.request.prepared
    assert made.augmented is not None
    augmented = made.augmented
    meter = meter_for(request.model, prepared.history, request.version, request.env)
    before = totals(prepared, augmented.system, augmented.user_input, meter)
    made.meter, made.budget = meter, budget_of(request.model)
    outcome = Outcome(
        totals=before,
        history=prepared.history,
        retrieved=prepared.retrieved,
        documents=prepared.documents,
        user_input=augmented.user_input,
        original=before.total,
        issues=made.issues,
    )
    made.outcome = outcome
    setup = Setup(
        version=request.version,
        model=request.model,
        config=request.config,
        budget=made.budget,
        meter=meter,
        summarizer=request.summarizer,
        keep_tool_rounds=request.keep_tool_rounds,
    )
    history_step(outcome, setup, prepared.turn_count, log)
    outcome.after_history = outcome.totals.total
    retrieved_step(outcome, setup, joined(prepared), prepared.joiner, log)
    total = outcome.totals.total
    if total > made.budget:
        message = f"{total:,.6g} tokens are still over the budget of {made.budget:,.6g}"
        made.issues.append(Issue("warning", OVER_BUDGET, message, total, made.budget))
    made.budgeted = True


def _render(made: Construction, log: Log) -> None:
    request, prepared = made.request, made.request.prepared
    assert made.augmented is not None
    assert made.outcome is not None
    assert made.meter is not None
    if request.template not in TEMPLATES[request.version]:
        made.failure = Issue("error", TEMPLATE_NOT_FOUND, f"there is no template {request.template!r}")
        made.issues.append(made.failure)
        return
    written = None
    writes_tools = request.template == ANTHROPIC and prepared.tools is not None
    if writes_tools and js.get(js.get(request.model, "toolSupport"), "format") == ANTHROPIC_FORMAT:
        found = schemas(prepared.tools or (), request.model, request.config, made.persona)
        written = [schema for _, schema in found]
    scene = Scene(
        version=request.version,
        model=request.model,
        texts=request.texts,
        system=made.augmented.system,
        vision=prepared.vision,
        image_items=prepared.image_items,
        tool_schemas=written,
    )
    made.output = render(request.template, made.outcome, scene, log)
    made.estimated = js.ceil(made.output.length / made.meter.characters)
    retrieved = made.outcome.retrieved
    if js.truthy(retrieved):
        same = retrieved is prepared.retrieved
        made.retrieved_tokens = made.meter.text(prepared.retrieved_text if same else as_text(retrieved))


def _tools(made: Construction, log: Log) -> None:
    request = made.request
    tools = request.prepared.tools
    if made.failure is not None or not tools:
        return
    found = schemas(tools, request.model, request.config, made.persona, log)
    if supported(request.model):
        made.tool_schemas = found
