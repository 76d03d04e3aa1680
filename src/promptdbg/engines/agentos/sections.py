"""The sections of an assembly: system prompts, elements, documents, tools, images, memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.components import Document, SystemPrompt
from promptdbg.engines.agentos.elements import FORMAT_ITEM, INPUT_TYPE, VERBOSITY_ITEM
from promptdbg.engines.agentos.lists import decide, whole
from promptdbg.engines.agentos.log import SYSTEM, TEMPLATE, TOOLS, Event
from promptdbg.engines.agentos.pipeline import Construction
from promptdbg.engines.agentos.shown import (
    Disabled,
    Extras,
    all_lost,
    memory_spans,
    priority_of,
    spans_of,
    split_characters,
    text_of,
)
from promptdbg.engines.agentos.templates import COMPLETION, INPUT_ITEM, RETRIEVED_ITEM
from promptdbg.engines.agentos.texts import STAND_INS
from promptdbg.engines.agentos.tools import OPENAI_FORMAT, schema
from promptdbg.engines.base import EDITED, SWITCHED_OFF, Trace
from promptdbg.model import Action, Place, Section, SectionStatus, Span
from promptdbg.tokens import TokenCounter

TOOLS_ITEM = "tools"
MEMORY_ITEM = "retrieved/memory"
INPUT_TEXT_ITEM = "current/text"
UNUSED_KEYS = (
    "assembledMemoryContext",
    "toolSchemas",
    "audioInput",
    "taskSpecificData",
    "customComponents",
)
_LOSSES = frozenset({Action.DROP, Action.TRUNCATE})
_OWN = {
    VERBOSITY_ITEM: "a stand-in of the same length for AgentOS's own words",
    FORMAT_ITEM: "a stand-in of the same length for AgentOS's own words",
    MEMORY_ITEM: "around the memories stand-ins of the same length for AgentOS's own words",
}


class Sections:
    """Builds the sections of one construction, in order, and decides their events."""

    def __init__(
        self,
        made: Construction,
        events: Sequence[Event],
        counter: TokenCounter,
        trace: Trace,
        extras: Extras,
    ) -> None:
        self.made, self.counter, self.trace, self.extras = made, counter, trace, extras
        self.events: dict[str, list[Event]] = {}
        for event in events:
            self.events.setdefault(event.item, []).append(event)
        self.lossy = {event.item for event in events if event.action in _LOSSES}
        self.measure = made.meter.text if made.meter is not None else lambda _: 0
        self.found: list[Section] = []

    def build(self) -> tuple[Section, ...]:
        if self.made.augmented is not None:
            self._system()
            self._elements()
        self._retrieved()
        if self.made.failure is None:
            self._tools()
        self._vision()
        self._unused()
        for entry in self.extras.disabled:
            self._disabled(entry)
        return tuple(self.found)

    # ---- one section ------------------------------------------------------------------------------

    def _add(
        self,
        item: str,
        name: str,
        kind: str,
        text: str,
        output: str,
        status: SectionStatus,
        *,
        place: Place,
        original: int | None = None,
        priority: float | None = None,
        parent: str | None = None,
        offset: int | None = None,
        spans: tuple[Span, ...] = (),
    ) -> Section:
        """``original`` are the tokens without loss, where they are not those of the text."""
        tokens = self.counter.count(output)
        size = whole(self.measure(output))
        section = Section(
            id=item,
            name=name,
            kind=kind,
            order=len(self.found),
            text=text,
            output=output,
            status=status,
            tokens=tokens,
            tokens_original=self.counter.count(text) if original is None else original,
            size=size,
            size_original=size if output == text else whole(self.measure(text)),
            unit="tokens",
            parent=parent,
            priority=priority,
            source=self.extras.source(item),
            place=place,
            offset=offset,
            spans=spans,
            stand_in=self._stand_in(item) if text else "",
        )
        self.found.append(section)
        return section

    def _stand_in(self, item: str) -> str:
        """What AgentOS itself writes into an item, where it is not the real text."""
        if self.made.request.texts is not STAND_INS or item not in _OWN:
            return ""
        edited = any(event.rule is EDITED for event in self.events.get(item, ()))
        return "" if edited else _OWN[item]

    def _events(self, item: str, stage: str, before: int, after: int) -> None:
        """Decide an item's events of a stage that is no list; a loss moves its tokens."""
        for event in self.events.get(item, ()):
            if event.stage == stage:
                lost = event.action in _LOSSES
                decide(self.trace, event, before if lost else None, after if lost else None)

    def _lost_by(self, item: str, stage: str) -> bool:
        return any(e.stage == stage and e.action is Action.DROP for e in self.events.get(item, ()))

    # ---- system prompts and elements --------------------------------------------------------------

    def _system(self) -> None:
        assert self.made.augmented is not None
        prompts = self.made.augmented.system
        joiner = "\n" if self.made.request.template == COMPLETION else "\n\n"
        texts = [text_of(prompt.content) for prompt in prompts]
        joined = joiner.join(texts)
        start, end = 0, len(joined)
        if self.made.request.template != COMPLETION:
            end = len(js.trim(joined))
            start = joined.find(js.trim(joined)) if end else 0
            end += start
        at = 0
        for prompt, text in zip(prompts, texts, strict=True):
            low, high = max(at, start), min(at + len(text), end)
            self._system_section(prompt, text, joined[low:high] if low < high else "", low - start)
            at += len(text) + len(joiner)

    def _system_section(self, prompt: SystemPrompt, text: str, output: str, offset: int) -> None:
        kind, _, name = prompt.item.partition("/")
        label = js.to_string(prompt.source) if prompt.source is not None else f"system prompt {name}"
        tokens = self.counter.count(output)
        self._add(
            prompt.item,
            label,
            kind,
            text,
            output,
            SectionStatus.KEPT if output else SectionStatus.EMPTY,
            place="system",
            original=tokens,
            priority=priority_of(prompt.priority),
            offset=offset if output else None,
        )
        self._events(prompt.item, SYSTEM, tokens, tokens)

    def _elements(self) -> None:
        """Elements that became no system prompt: written into the user input, or not at all."""
        assert self.made.augmented is not None
        shown = {prompt.item for prompt in self.made.augmented.system}
        for element in self.made.request.elements:
            if element.item in shown:
                continue
            text = text_of(js.get(element.raw, "content"))
            kept = js.get(element.raw, "type") == INPUT_TYPE and not self._lost_by(element.item, SYSTEM)
            status = SectionStatus.KEPT if kept and text else SectionStatus.EMPTY
            section = self._add(
                element.item,
                f"contextual:{element.item.partition('/')[2]}",
                "element",
                text,
                text if kept else "",
                status if kept else SectionStatus.DROPPED,
                place="message",
                priority=priority_of(js.get(element.raw, "priority")),
                spans=() if kept else all_lost(text),
            )
            self._events(element.item, SYSTEM, section.tokens_original, section.tokens)

    # ---- retrieved context and memory -------------------------------------------------------------

    def _retrieved(self) -> None:
        prepared, outcome = self.made.request.prepared, self.made.outcome
        if self.extras.memory and all(d.item != MEMORY_ITEM for d in prepared.documents):
            self._add(MEMORY_ITEM, "memory", "document", "", "", SectionStatus.EMPTY, place="message")
            self._memory(0)
        if not js.truthy(prepared.retrieved):
            return
        joined = prepared.joiner.join(text_of(document.content) for document in prepared.documents)
        left = {d.item: d for d in (outcome.documents if outcome else prepared.documents)}
        printed = self.made.output is None or not any(self._lost_by(item, TEMPLATE) for item in left)
        summary = outcome is not None and outcome.retrieved_summary
        output = ""
        if printed and outcome is not None:
            output = prepared.joiner.join(text_of(document.content) for document in left.values())
        whole_kept = output == joined
        status = SectionStatus.KEPT if whole_kept or not joined else SectionStatus.TRUNCATED
        if not output:
            lost = any(self._loses(document.item) for document in prepared.documents)
            status = SectionStatus.DROPPED if lost else SectionStatus.EMPTY
        self._add(
            RETRIEVED_ITEM,
            "retrieved context",
            "context",
            joined,
            output,
            status,
            place="message",
            original=None if prepared.documents else self.counter.count(output),
        )
        for document in prepared.documents:
            kept = text_of(left[document.item].content) if document.item in left else ""
            gone = summary or document.item not in left or not printed
            self._document(document, "" if gone else kept, gone)

    def _document(self, document: Document, output: str, gone: bool) -> None:
        text = text_of(document.content)
        kept = len(output) - split_characters(output, text)
        status = SectionStatus.KEPT
        spans: tuple[Span, ...] = ()
        if gone:
            status, spans = SectionStatus.DROPPED, all_lost(text)
        elif output != text:
            status, spans = SectionStatus.TRUNCATED, spans_of(((0, kept, True), (kept, len(text), False)))
        if (status is SectionStatus.DROPPED and not self._loses(document.item)) or (not text and not gone):
            status = SectionStatus.EMPTY
        source = document.source
        name = "text" if isinstance(source, js.Undefined) else js.to_string(source)
        self._add(
            document.item,
            "memory" if document.item == MEMORY_ITEM else name,
            "document",
            text,
            output,
            status,
            place="message",
            parent=RETRIEVED_ITEM,
            spans=spans,
        )
        self._events(document.item, SYSTEM, 0, 0)
        if document.item == MEMORY_ITEM:
            self._memory(kept if not gone else 0)

    def _loses(self, item: str) -> bool:
        return item in self.lossy

    def _memory(self, kept: int) -> None:
        """The memories in the memory text, of which ``kept`` characters are left."""
        loss = next((e for e in self.events.get(MEMORY_ITEM, ()) if e.action in _LOSSES), None)
        for part in self.extras.memory:
            original = self.counter.count(part.text)
            written = self.counter.count(part.output)
            output = part.output
            spans = memory_spans(part)
            if part.offset is not None and part.offset + len(output) > kept:
                output = output[: max(0, kept - part.offset)]
                spans = spans_of(((0, len(output), True), (len(output), len(part.text), False)))
            lost = not output
            cut = output != part.output or part.lost is not None
            status = SectionStatus.KEPT if not cut else SectionStatus.TRUNCATED
            self._add(
                part.item,
                part.group,
                "memory",
                part.text,
                output,
                SectionStatus.DROPPED if lost else status,
                place="message",
                original=original,
                parent=MEMORY_ITEM,
                spans=all_lost(part.text) if lost else spans,
            )
            self._events(part.item, SYSTEM, original, written)
            if output != part.output and loss is not None:
                event = replace(
                    loss,
                    stage=SYSTEM,
                    action=Action.DROP if lost else Action.TRUNCATE,
                    item=part.item,
                    because=f"Lost with the memory text: {loss.because}",
                )
                decide(self.trace, event, written, self.counter.count(output))

    # ---- tools, images, the rest --------------------------------------------------------------------

    def _tools(self) -> None:
        tools = self.made.request.prepared.tools
        if not tools:
            return
        sent = dict(self.made.tool_schemas or ())
        support = js.get(self.made.request.model, "toolSupport")
        wrapped = js.get(support, "format") == OPENAI_FORMAT
        texts = [js.stringify(sent.get(tool.item) or schema(tool, wrapped)) for tool in tools]
        shown = [text for tool, text in zip(tools, texts, strict=True) if tool.item in sent]
        status = SectionStatus.KEPT if len(shown) == len(tools) else SectionStatus.TRUNCATED
        joined, output = ",".join(texts), ",".join(shown)
        self._add(
            TOOLS_ITEM,
            "tools",
            "tools",
            joined,
            output,
            status if shown else SectionStatus.DROPPED,
            place="tools",
        )
        for tool, text in zip(tools, texts, strict=True):
            kept = tool.item in sent
            section = self._add(
                tool.item,
                tool.item.partition("/")[2],
                "tool",
                text,
                text if kept else "",
                SectionStatus.KEPT if kept else SectionStatus.DROPPED,
                place="tools",
                parent=TOOLS_ITEM,
                spans=() if kept else all_lost(text),
            )
            self._events(tool.item, TOOLS, section.tokens_original, section.tokens)

    def _vision(self) -> None:
        prepared = self.made.request.prepared
        images = prepared.vision if prepared.image_items else ()
        for item, image in zip(prepared.image_items, images, strict=True):
            text = text_of(image.get("data") if isinstance(image, dict) else None)
            kept = self.made.output is not None and not self._lost_by(item, SYSTEM)
            status = SectionStatus.KEPT if text else SectionStatus.EMPTY
            if self._lost_by(item, SYSTEM):
                status = SectionStatus.DROPPED
            section = self._add(
                item,
                f"image {item.partition('/')[2]}",
                "image",
                text,
                text if kept else "",
                status,
                place="message",
                original=None
                if status is SectionStatus.DROPPED
                else self.counter.count(text if kept else ""),
                spans=all_lost(text) if status is SectionStatus.DROPPED else (),
            )
            self._events(item, SYSTEM, section.tokens_original, section.tokens)

    def _unused(self) -> None:
        for key in UNUSED_KEYS:
            value = self.made.request.prepared.raw.get(key)
            if not js.truthy(value) or value in ([], {}):
                continue
            text = js.stringify(value)
            item = f"unused/{key}"
            section = self._add(
                item, key, "component", text, "", SectionStatus.DROPPED, place="message", spans=all_lost(text)
            )
            because = f"No built-in template prints {key}."
            event = Event(SYSTEM, Action.DROP, item, rules.UNUSED_COMPONENT, because)
            decide(self.trace, event, section.tokens_original, 0)

    def _disabled(self, entry: Disabled) -> None:
        # Images or an element can still make a user message, which has the id then.
        item = INPUT_TEXT_ITEM if entry.item == INPUT_ITEM and self._has_input() else entry.item
        section = self._add(
            item,
            entry.name,
            entry.kind,
            entry.text,
            "",
            SectionStatus.DISABLED,
            place=entry.place,
            spans=all_lost(entry.text),
        )
        stage = TOOLS if entry.place == "tools" else SYSTEM
        event = Event(stage, Action.DISABLE, item, SWITCHED_OFF, "Switched off here.")
        decide(self.trace, event, section.tokens_original, 0)

    def _has_input(self) -> bool:
        made = self.made
        if made.augmented is not None and js.truthy(made.augmented.user_input):
            return True
        return made.output is not None and any(piece.item == INPUT_ITEM for piece in made.output.pieces)
