"""The parts of a prompt as items: prepared once from JSON, never changed.

What does not depend on a setting is measured here, so that an assembly of ten thousand messages
only adds numbers up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from promptdbg.bulk import quick
from promptdbg.engines.agentos import js
from promptdbg.engines.agentos.forms import Form, chat_forms, given_form
from promptdbg.engines.rows import Memo
from promptdbg.model import Json

MESSAGE_OVERHEAD = 5
IMAGE_TOKENS = 70
IMAGE_HIGH_DETAIL_TOKENS = 65
ROUGH_OTHER_CHARS = 50

TOOL_ROLE = "tool"
ASSISTANT_ROLE = "assistant"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a message costs before the model is known.

    ``lengths`` are the texts to estimate (each is rounded up on its own), ``fixed`` the tokens that
    no divisor changes, ``rough`` the characters of the cut's own estimate, ``thinking`` the texts
    that count only where the target receives thinking.
    """

    lengths: tuple[float, ...]
    fixed: int
    rough: float
    thinking: tuple[float, ...] = ()
    thinking_unread: bool = False


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """One system prompt. ``priority`` and ``source`` are as given (``None``: missing)."""

    item: str
    content: Any
    priority: Any = None
    source: Any = None


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One history message: as given, and as the chat template of each version writes it."""

    item: str
    raw: Json
    role: Any
    cost: Cost
    given: Form
    chat: Mapping[str, Form]

    @property
    def id(self) -> Json:
        """The id the message was given, if any."""
        return js.get(self.raw, "id") or None


@quick
@dataclass(frozen=True, slots=True)
class Document:
    """One retrieved document; ``source`` is ``UNDEFINED`` for a plain text."""

    item: str
    content: Any
    source: Any = js.UNDEFINED


@dataclass(frozen=True, slots=True)
class Tool:
    item: str
    raw: Json


@dataclass(frozen=True, slots=True)
class Element:
    """One contextual element of the persona."""

    item: str
    raw: Json


@dataclass(frozen=True, slots=True)
class Prepared:
    """Components as items. ``history`` and ``tools`` are ``None`` where there is none at all.

    ``retrieved`` is the retrieved context as given, ``retrieved_text`` that as one text (JSON of a
    list), ``documents`` its items and ``joiner`` what stands
    between two of them when they are one text. ``broken`` is what the
    JavaScript would throw on, empty if nothing.
    """

    raw: Mapping[str, Json]
    system: tuple[SystemPrompt, ...] = ()
    history: tuple[HistoryItem, ...] | None = None
    turn_count: Any = js.UNDEFINED
    user_input: Any = None
    retrieved: Any = None
    documents: tuple[Document, ...] = ()
    tools: tuple[Tool, ...] | None = None
    vision: Any = None
    image_items: tuple[str, ...] = ()
    retrieved_text: str = ""
    joiner: str = "\n"
    broken: str = ""
    memo: Memo = field(default_factory=Memo, compare=False, repr=False)


def prepare(components: Mapping[str, Json]) -> Prepared:
    """Components (plain JSON) as items. What is broken is kept for the construction to report."""
    raw = dict(components)
    retrieved = raw.get("retrievedContext")
    try:
        return Prepared(
            raw=raw,
            system=tuple(_system(raw.get("systemPrompts"))),
            history=_history(raw.get("conversationHistory")),
            turn_count=raw.get("currentTurnMessageCount", js.UNDEFINED),
            user_input=raw.get("userInput"),
            retrieved=retrieved,
            retrieved_text=as_text(retrieved),
            documents=tuple(_documents(retrieved)),
            tools=_tools(raw.get("tools")),
            vision=raw.get("visionInputs"),
            image_items=_image_items(raw.get("visionInputs")),
        )
    except js.JsError as error:
        return Prepared(raw=raw, broken=str(error))


def _system(prompts: Any) -> Iterable[SystemPrompt]:
    if not js.truthy(prompts):
        return
    for number, prompt in enumerate(js.array(prompts, "push")):
        priority, source = js.get(prompt, "priority"), js.get(prompt, "source")
        yield SystemPrompt(
            f"system/{number}",
            js.get(prompt, "content"),
            None if js.nullish(priority) else priority,
            None if js.nullish(source) else source,
        )


def _history(messages: Any) -> tuple[HistoryItem, ...] | None:
    if not js.truthy(messages):
        return None
    return tuple(history_item(f"m{row}", raw) for row, raw in enumerate(js.array(messages, "forEach")))


def history_item(item: str, raw: Json) -> HistoryItem:
    """One message, measured.

    Raises:
        JsError: it is null, or one of its parts is.
    """
    role, content = js.get(raw, "role"), js.get(raw, "content")
    given = given_form(raw, role, content)
    return HistoryItem(item, raw, role, _cost(raw, content), given, chat_forms(raw, role, content, given))


def _cost(raw: Json, content: Any) -> Cost:
    lengths: list[float] = []
    fixed, rough = MESSAGE_OVERHEAD, float(ROUGH_OTHER_CHARS)
    if isinstance(content, str):
        rough = js.length(content)
        lengths.append(rough)
    elif isinstance(content, list):
        rough = js.length(js.stringify(content))
        for part in content:
            kind = js.get(part, "type")
            text = js.get(part, "text")
            if kind == "text" and isinstance(text, str):
                lengths.append(js.length(text))
            elif kind == "image_url" and js.truthy(image := js.get(part, "image_url")):
                high = js.get(image, "detail") == "high"
                fixed += IMAGE_TOKENS + (IMAGE_HIGH_DETAIL_TOKENS if high else 0)
    elif isinstance(content, dict):
        lengths.append(js.length(js.stringify(content)))
    thinking, unread = _thinking(js.get(raw, "thinkingBlocks"))
    return Cost(tuple(lengths), fixed, rough, thinking, unread)


def _thinking(blocks: Any) -> tuple[tuple[float, ...], bool]:
    """Lengths of thinking texts, and whether one is missing, which throws once it is needed."""
    if js.nullish(blocks):
        return (), False
    if not isinstance(blocks, list):
        return (), not isinstance(blocks, str)
    lengths: list[float] = []
    for block in blocks:
        if block is None:
            return (), True
        text = js.get(block, "thinking" if js.get(block, "type") == "thinking" else "data")
        if js.nullish(text):
            return (), True
        lengths.append(js.length(text))
    return tuple(lengths), False


def _documents(retrieved: Any) -> Iterable[Document]:
    if not js.truthy(retrieved):
        return
    if isinstance(retrieved, str):
        yield Document("retrieved/0", retrieved)
        return
    for number, entry in enumerate(js.array(retrieved, "map")):
        yield Document(f"retrieved/{number}", js.get(entry, "content"), js.get(entry, "source"))


def as_text(retrieved: Any) -> str:
    """Retrieved context as the text whose tokens the result reports."""
    if not js.truthy(retrieved):
        return ""
    return retrieved if isinstance(retrieved, str) else js.stringify(retrieved)


def _tools(tools: Any) -> tuple[Tool, ...] | None:
    if not js.truthy(tools):
        return None
    names = Names()
    found = []
    for number, raw in enumerate(js.array(tools, "map")):
        name = js.get(raw, "id") or js.get(raw, "name")
        found.append(Tool(names.unique("tools/" + (name if isinstance(name, str) else str(number))), raw))
    return tuple(found)


def _image_items(vision: Any) -> tuple[str, ...]:
    return tuple(f"vision/{number}" for number in range(len(vision) if isinstance(vision, list) else 0))


def prepare_elements(context: Json) -> tuple[tuple[Element, ...], str]:
    """The persona's contextual elements, and what the JavaScript would throw on (empty if nothing)."""
    try:
        elements = js.maybe(js.maybe(context, "activePersona"), "contextualPromptElements")
        if not js.truthy(elements) or isinstance(elements, str):
            return (), ""
        names = Names()
        found = []
        for number, raw in enumerate(js.array(elements, "an iterator")):
            name = js.get(raw, "id") or js.get(raw, "type")
            label = name if isinstance(name, str) else str(number)
            found.append(Element(names.unique(f"element/{label}"), raw))
        return tuple(found), ""
    except js.JsError as error:
        return (), str(error)


class Names:
    """Makes ids unique: a second ``a`` becomes ``a#2``."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def unique(self, name: str) -> str:
        count = self._seen.get(name, 0) + 1
        self._seen[name] = count
        return name if count == 1 else self.unique(f"{name}#{count}")
