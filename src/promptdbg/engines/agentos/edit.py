"""Settings applied to the inputs: switched-off items, edited texts, priorities, the turn, knobs.

Gives the request of one construction and what was done to reach it. Items keep their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from promptdbg.engines.agentos import gmi, js, rules
from promptdbg.engines.agentos.cache import SYSTEM_CHARS, cache_key
from promptdbg.engines.agentos.components import (
    Document,
    Element,
    HistoryItem,
    Prepared,
    SystemPrompt,
    Tool,
    as_text,
    history_item,
    prepare_elements,
)
from promptdbg.engines.agentos.elements import preference_prompts
from promptdbg.engines.agentos.load import AgentosInputs
from promptdbg.engines.agentos.log import INITIAL, SYSTEM, Event, Log
from promptdbg.engines.agentos.memory import MemoryContext, assemble_memory
from promptdbg.engines.agentos.pipeline import Request
from promptdbg.engines.agentos.sections import MEMORY_ITEM
from promptdbg.engines.agentos.shown import Disabled
from promptdbg.engines.agentos.stages import Given
from promptdbg.engines.agentos.target import Target
from promptdbg.engines.agentos.templates import INPUT_ITEM
from promptdbg.engines.agentos.texts import STAND_INS
from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.model import Action, Json, Notice, Place, Rule, Settings, Value

TOOL_PLACE: Place = "tools"
SYSTEM_PLACE: Place = "system"
MESSAGE_PLACE: Place = "message"

T = TypeVar("T", SystemPrompt, Element, Tool, Document, HistoryItem)


@dataclass(frozen=True)
class Edited:
    """One construction to make, and what the assembly must say beside it."""

    request: Request
    given: Given
    disabled: tuple[Disabled, ...]
    notes: tuple[Event, ...]
    memory: MemoryContext | None
    warnings: tuple[Notice, ...]


def apply(inputs: AgentosInputs, settings: Settings, values: Mapping[str, Value]) -> Edited:
    """The request that inputs, settings and knob values ask for."""
    return _Editor(inputs, settings, values).run()


class _Editor:
    def __init__(self, inputs: AgentosInputs, settings: Settings, values: Mapping[str, Value]) -> None:
        self.inputs, self.settings, self.values = inputs, settings, values
        self.disabled: list[Disabled] = []
        self.log = Log()
        self.memory: MemoryContext | None = None
        self.warnings: list[Notice] = []

    def run(self) -> Edited:
        target = Target(self.inputs, self.settings, self.values)
        context = target.context()
        elements, broken = prepare_elements(context)
        prepared, given = self._history(self.inputs.prepared)
        prepared = self._components(prepared)
        preferences = preference_prompts(context, STAND_INS)
        if self.values["version"] == rules.NEWER:
            prepared = replace(prepared, turn_count=self._turn_count(prepared, given))
        request = Request(
            prepared=prepared,
            model=target.model(),
            config=target.config(),
            context=context,
            current_context=context if self.values["manifest"] else None,
            elements=self._kept(elements, self._element, "element", MESSAGE_PLACE),
            elements_broken=broken,
            preferences=self._kept(preferences, self._prompt, "preference", SYSTEM_PLACE),
            template_name=target.template(),
            version=str(self.values["version"]),
            summarizer=target.summarizer(),
            env=target.env(),
            keep_tool_rounds=bool(self.values["keep_tool_rounds"]),
        )
        if self.values["cache"]:
            self._cache_key(request)
        return Edited(
            request, given, tuple(self.disabled), tuple(self.log.events), self.memory, tuple(self.warnings)
        )

    # ---- items -------------------------------------------------------------------------------------

    def _kept(self, items: tuple[T, ...], change: Callable[[T], T], kind: str, place: Place) -> tuple[T, ...]:
        """The items that are on, with their edits; the others are kept to be shown."""
        settings = self.settings
        if not (settings.off or settings.texts or settings.priorities):
            return items
        kept = []
        for item in items:
            if item.item in settings.off:
                self._switch_off(item.item, kind, _content(item), place)
            else:
                kept.append(change(item))
        return tuple(kept)

    def _switch_off(self, item: str, kind: str, text: Any, place: Place) -> None:
        shown = "" if js.nullish(text) else text if isinstance(text, str) else js.stringify(text)
        self.disabled.append(Disabled(item, item.partition("/")[2] or item, kind, shown, place))

    def _edited_text(self, item: str, text: Any, stage: str = SYSTEM) -> Any:
        if item not in self.settings.texts:
            return text
        self.log.add(stage, Action.NOTE, item, EDITED, "Its text was edited here.")
        return self.settings.texts[item]

    def _prompt(self, prompt: SystemPrompt) -> SystemPrompt:
        return replace(
            prompt,
            content=self._edited_text(prompt.item, prompt.content),
            priority=self.settings.priorities.get(prompt.item, prompt.priority),
        )

    def _element(self, element: Element) -> Element:
        raw = element.raw
        if element.item in self.settings.texts:
            raw = {**raw, "content": self._edited_text(element.item, None)}
        if element.item in self.settings.priorities:
            raw = {**raw, "priority": self.settings.priorities[element.item]}
        return element if raw is element.raw else replace(element, raw=raw)

    def _components(self, prepared: Prepared) -> Prepared:
        if prepared.broken:
            return prepared
        for prompt in prepared.system[: self.inputs.gmi_prompts]:
            if prompt.item not in self.settings.off:
                because = "Given by the GMI, from the persona or with the turn."
                self.log.add(SYSTEM, Action.NOTE, prompt.item, rules.GMI_PROMPTS, because)
        prepared = self._with_memory(prepared)
        changed = replace(
            prepared,
            system=self._kept(prepared.system, self._prompt, "system", SYSTEM_PLACE),
            tools=None
            if prepared.tools is None
            else self._kept(prepared.tools, lambda tool: tool, "tool", TOOL_PLACE),
            user_input=self._input(prepared.user_input),
        )
        return self._raw(self._images(self._retrieved(changed)), prepared)

    def _input(self, text: Any) -> Any:
        if INPUT_ITEM in self.settings.off:
            if js.truthy(text):
                self._switch_off(INPUT_ITEM, "input", text, MESSAGE_PLACE)
            return None
        return self._edited_text(INPUT_ITEM, text, INITIAL)

    def _images(self, prepared: Prepared) -> Prepared:
        items = prepared.image_items
        kept = [number for number, item in enumerate(items) if item not in self.settings.off]
        if len(kept) == len(items):
            return prepared
        for item, image in zip(items, prepared.vision, strict=True):
            if item in self.settings.off:
                self._switch_off(item, "image", js.get(image, "data"), MESSAGE_PLACE)
        return replace(
            prepared,
            vision=[prepared.vision[number] for number in kept],
            image_items=tuple(items[number] for number in kept),
        )

    def _retrieved(self, prepared: Prepared) -> Prepared:
        settings = self.settings
        if not any(d.item in settings.off or d.item in settings.texts for d in prepared.documents):
            return prepared
        if MEMORY_ITEM in settings.texts:
            self.memory = None  # an edited text has no memories in known places
        kept = self._kept(
            prepared.documents,
            lambda d: replace(d, content=self._edited_text(d.item, d.content, INITIAL)),
            "document",
            MESSAGE_PLACE,
        )
        if isinstance(prepared.retrieved, str):
            retrieved: Json = prepared.joiner.join(js.to_string(document.content) for document in kept)
        else:
            left = {document.item: document for document in kept}
            retrieved = [
                {**raw, "content": left[document.item].content} if document.item in settings.texts else raw
                for document, raw in zip(prepared.documents, prepared.retrieved, strict=True)
                if document.item in left
            ]
        retrieved = retrieved if kept else None
        return replace(prepared, documents=kept, retrieved=retrieved, retrieved_text=as_text(retrieved))

    def _raw(self, changed: Prepared, before: Prepared) -> Prepared:
        """The components as JSON again, where something was changed: the cache key is made of them."""
        if changed == before and before.raw is self.inputs.prepared.raw:
            return changed
        raw = {
            **changed.raw,
            "systemPrompts": [
                _defined({"content": p.content, "priority": p.priority, "source": p.source})
                for p in changed.system
            ],
            "userInput": changed.user_input,
            "retrievedContext": changed.retrieved,
            "visionInputs": changed.vision,
        }
        if changed.tools is not None:
            raw["tools"] = [tool.raw for tool in changed.tools]
        if changed.history is not None:
            raw["conversationHistory"] = [message.raw for message in changed.history]
        return replace(changed, raw={key: value for key, value in raw.items() if value is not None})

    # ---- history and turn --------------------------------------------------------------------------

    def _history(self, prepared: Prepared) -> tuple[Prepared, Given]:
        stored = prepared.history or ()
        history, turn_item = stored, None
        user_input = prepared.user_input
        if self.settings.turn is not None:
            stored, history, user_input, turn_item = self._turn(stored)
        left_out: dict[str, tuple[Rule, str]] = {}
        limit = self.values["gmi_history"]
        if isinstance(limit, (int, float)) and len(history) > limit:
            because = f"A GMI keeps the newest {limit:g} of {len(history)} messages."
            cut = len(history) - int(limit)
            left_out.update((message.item, (rules.GMI_HISTORY, because)) for message in history[:cut])
            history = history[cut:]
        edited: set[str] = set()
        history = (
            tuple(self._message(m, edited) for m in history if self._on(m, left_out))
            if (self.settings.off or self.settings.texts)
            else history
        )
        given = Given(
            history=stored,
            left_out=MappingProxyType(left_out),
            edited=frozenset(edited),
            turn_item=turn_item,
        )
        if history is prepared.history or (prepared.history is None and not history):
            return replace(prepared, user_input=user_input) if turn_item else prepared, given
        return replace(prepared, history=history, user_input=user_input, raw=dict(prepared.raw)), given

    def _on(self, message: HistoryItem, left_out: dict[str, tuple[Rule, str]]) -> bool:
        if message.item not in self.settings.off:
            return True
        left_out[message.item] = (SWITCHED_OFF, "Switched off here.")
        return False

    def _message(self, message: HistoryItem, edited: set[str]) -> HistoryItem:
        if message.item not in self.settings.texts or not isinstance(message.raw, dict):
            return message
        edited.add(message.item)
        return history_item(message.item, {**message.raw, "content": self.settings.texts[message.item]})

    def _turn(
        self, stored: tuple[HistoryItem, ...]
    ) -> tuple[tuple[HistoryItem, ...], tuple[HistoryItem, ...], Any, str | None]:
        """The history up to a turn: a plain text travels as user input, other content as history
        (``GMI.ts::buildPromptConversation``)."""
        users = [row for row, message in enumerate(stored) if message.role == "user"]
        number = self.settings.turn or 0
        if not 1 <= number <= len(users):
            return stored, stored, self.inputs.prepared.user_input, None
        row = users[number - 1]
        content = js.get(stored[row].raw, "content")
        item = stored[row].item
        if isinstance(content, str) and content and item not in self.settings.off:
            return stored[: row + 1], stored[:row], self.settings.texts.get(item, content), item
        return stored[: row + 1], stored[: row + 1], None, None

    def _turn_count(self, prepared: Prepared, given: Given) -> Any:
        if "turn_count" in self.settings.values:
            return self.values["turn_count"]
        if self.settings.turn is None:
            return prepared.turn_count
        return 0 if given.turn_item is not None else 1

    # ---- memory ------------------------------------------------------------------------------------

    def _with_memory(self, prepared: Prepared) -> Prepared:
        memory = self.inputs.memory
        if memory is None:
            return prepared
        if MEMORY_ITEM in self.settings.off:
            self._switch_off(MEMORY_ITEM, "document", "", MESSAGE_PLACE)
            return prepared
        budget = self.values["memory_budget"]
        assert isinstance(budget, (int, float))
        log = Log()
        try:
            self.memory = assemble_memory(replace(memory, budget=budget), self.inputs.now, log)
        except js.JsError as error:
            self.warnings.append(Notice("agentos.memory", f"no memory text: the JavaScript {error}"))
            return prepared
        self.log.events += log.events
        text = self.memory.text
        if not text:
            return prepared
        retrieved = prepared.retrieved if isinstance(prepared.retrieved, str) else ""
        joined = gmi.retrieved_context(text, retrieved)
        because = "A GMI puts the memory text in front of the retrieved context."
        self.log.add(INITIAL, Action.NOTE, MEMORY_ITEM, rules.GMI_MEMORY, because)
        return replace(
            prepared,
            documents=(Document(MEMORY_ITEM, text), *prepared.documents),
            retrieved=joined,
            retrieved_text=joined,
            joiner=gmi.MEMORY_JOINER,
            raw=dict(prepared.raw),
        )

    # ---- the cache key -----------------------------------------------------------------------------

    def _cache_key(self, request: Request) -> None:
        raw = request.prepared.raw
        try:
            key = cache_key(request.version, raw, request.model, request.context, request.template, STAND_INS)
        except js.JsError as error:
            self.warnings.append(Notice("agentos.cache-key", f"no cache key: the JavaScript {error}"))
            return
        self.warnings.append(Notice("agentos.cache-key", f"the prompt is cached as {key}"))
        if request.version != rules.PUBLISHED:
            return
        for item, what in self._unkeyed(request):
            because = (
                f"{what} is no part of the cache key: a prompt that differs only there is served this one."
            )
            self.log.add(SYSTEM, Action.NOTE, item, rules.CACHE_KEY, because)

    def _unkeyed(self, request: Request) -> list[tuple[str, str]]:
        """Items whose text the published key does not, or not wholly, hold."""
        found = [
            (prompt.item, f"What follows its first {SYSTEM_CHARS} characters")
            for prompt in request.prepared.system
            if isinstance(prompt.content, str) and js.length(prompt.content) > SYSTEM_CHARS
        ]
        return found + [(document.item, "It") for document in request.prepared.documents]


def _content(item: SystemPrompt | Element | Tool | Document | HistoryItem) -> Any:
    if isinstance(item, (SystemPrompt, Document)):
        return item.content
    if isinstance(item, Element):
        return js.get(item.raw, "content")
    return item.raw


def _defined(entry: Mapping[str, Any]) -> dict[str, Json]:
    return {key: value for key, value in entry.items() if not js.nullish(value)}
