"""The prompt templates: components as the messages (or the text) a provider gets.

``PromptEngine.ts::createOpenAIChatTemplate``, ``createAnthropicMessagesTemplate``,
``createGenericCompletionTemplate``. Each gives the prompt itself and, beside it, the same prompt in
pieces that know which items they were made from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.budget import Outcome
from promptdbg.engines.agentos.components import (
    ASSISTANT_ROLE,
    TOOL_ROLE,
    HistoryItem,
    SystemPrompt,
)
from promptdbg.engines.agentos.forms import SUMMARY_ROLE, Form, chat_message, defined, form_of
from promptdbg.engines.agentos.log import SYSTEM, TEMPLATE, Log
from promptdbg.engines.agentos.texts import Texts
from promptdbg.model import Action, Json

CHAT, ANTHROPIC, COMPLETION, GEMINI = (
    "openai_chat",
    "anthropic_messages",
    "generic_completion",
    "google_gemini",
)
TEMPLATES = {
    rules.PUBLISHED: (CHAT, ANTHROPIC, COMPLETION),
    rules.NEWER: (CHAT, GEMINI, ANTHROPIC, COMPLETION),
}

SYSTEM_ITEM, INPUT_ITEM, RETRIEVED_ITEM = "system", "current", "retrieved"
RETRIEVED_MESSAGE = "retrieved/message"
"""The message made of retrieved context where there is no user message to put it in."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One message of the prompt, or one stretch of a completion text.

    ``sources`` are the items merged into it; ``form`` is the message measured, where it was before.
    """

    item: str
    message: Mapping[str, Json]
    sources: tuple[str, ...]
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a template made. ``pieces`` in order; joined or listed they are ``prompt``."""

    prompt: Json
    pieces: tuple[Piece, ...]
    length: float
    """UTF-16 length of the prompt, as text or as JSON: what the final estimate is made from."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a template gets beside the components."""

    version: str
    model: Json
    texts: Texts
    system: Sequence[SystemPrompt]
    vision: Any
    image_items: Sequence[str]
    tool_schemas: Sequence[Json] | None
    """For the Anthropic template: ``None`` where it writes no ``tools`` key."""


def system_text(template: str, system: Sequence[SystemPrompt]) -> str:
    """The system prompts as one text, as the template joins them."""
    contents = (prompt.content for prompt in system)
    if template == COMPLETION:
        return js.join(contents, "\n")
    return js.trim(js.join(contents, "\n\n"))


def render(template: str, outcome: Outcome, scene: Scene, log: Log) -> Output:
    """The prompt by one of the built-in templates.

    Raises:
        JsError: a component is of a kind the template cannot read.
    """
    if template == ANTHROPIC:
        return _anthropic(outcome, scene, log)
    return _completion(outcome, scene, log) if template == COMPLETION else _chat(outcome, scene, log)


# ---- chat -----------------------------------------------------------------------------------------


def _chat(outcome: Outcome, scene: Scene, log: Log) -> Output:
    pieces: list[Piece] = []
    combined = system_text(CHAT, scene.system)
    if combined:
        pieces.append(Piece(SYSTEM_ITEM, {"role": "system", "content": combined}, (SYSTEM_ITEM,)))
    for message in outcome.history or ():
        pieces.append(_chat_piece(message, scene, log))
    parts = _input_parts(outcome, scene, log)
    if parts:
        content: Json = parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts
        if content is parts:
            _note_input(outcome, "Written as parts, with the images.", log)
        pieces.append(Piece(INPUT_ITEM, {"role": "user", "content": content}, (INPUT_ITEM,)))
    if js.truthy(outcome.retrieved):
        _add_retrieved(pieces, outcome, scene, log)
    length = 1 + sum(_length(piece) + 1 for piece in pieces) if pieces else 2
    return Output([dict(piece.message) for piece in pieces], tuple(pieces), length)


def _length(piece: Piece) -> int:
    return int(js.length(js.stringify(piece.message))) if piece.form is None else piece.form.length


def _chat_piece(message: HistoryItem, scene: Scene, log: Log) -> Piece:
    form = message.chat.get(scene.version)
    if form is None:
        content, heading = js.get(message.raw, "content"), scene.texts.summary_heading
        form = form_of(chat_message(message.raw, message.role, content, scene.version, heading))
    if form is not message.given:
        _note_rewritten(message, form.message, log)
    return Piece(message.item, form.message, (message.item,), form)


def _note_rewritten(message: HistoryItem, written: Mapping[str, Json], log: Log) -> None:
    given = message.given.message
    if written == given:
        return
    rule, because = rules.TEMPLATE_MESSAGE, "Written in the chat form"
    if message.role == SUMMARY_ROLE:
        rule, because = rules.TEMPLATE_SUMMARY, "A summary is written as a system message"
    elif written["role"] != message.role:
        because = f"Its role {js.to_string(message.role)} is written as {written['role']}"
    elif "thinkingBlocks" in given and "thinkingBlocks" not in written:
        because = "Its thinking blocks are not written"
    elif "tool_calls" in written:
        because = "Its calls are written as functions with the arguments as text"
    elif written["content"] != given["content"]:
        because = "Its content is written as JSON text"
    log.add(TEMPLATE, Action.REWRITE, message.item, rule, because + ".")


def _input_parts(outcome: Outcome, scene: Scene, log: Log) -> list[dict[str, Json]]:
    parts: list[dict[str, Json]] = []
    if js.truthy(outcome.user_input):
        parts.append({"type": "text", "text": outcome.user_input})
    for image in _images(scene, log):
        data = js.get(image, "data")
        if js.get(image, "type") == "base64":
            kind = js.get(image, "mimeType")
            data = (
                f"data:{js.to_string(kind) if js.truthy(kind) else 'image/jpeg'};base64,{js.to_string(data)}"
            )
        parts.append({"type": "image_url", "image_url": defined({"url": data})})
    return parts


def _note_input(outcome: Outcome, because: str, log: Log) -> None:
    action = Action.REWRITE if js.truthy(outcome.user_input) else Action.INSERT
    log.add(TEMPLATE, action, INPUT_ITEM, rules.TEMPLATE_INPUT, because)


def _images(scene: Scene, log: Log) -> list[Json]:
    """The images the model gets; none, without a word, when it takes none."""
    if not js.truthy(scene.vision):
        return []
    if js.truthy(js.maybe(js.get(scene.model, "visionSupport"), "supported")):
        return js.array(scene.vision, "forEach")
    _drop_images(scene, "The model takes no images.", log)
    return []


def _drop_images(scene: Scene, because: str, log: Log) -> None:
    for item in scene.image_items:
        log.add(SYSTEM, Action.DROP, item, rules.TEMPLATE_VISION, because)


def _add_retrieved(pieces: list[Piece], outcome: Outcome, scene: Scene, log: Log) -> None:
    texts = scene.texts
    items = tuple(document.item for document in outcome.documents)
    if isinstance(outcome.retrieved, str):
        context = outcome.retrieved
    else:
        context = "\n\n".join(
            f"Source: {js.to_string(document.source)}\nContent: {js.to_string(document.content)}"
            for document in outcome.documents
        )
    if not pieces or pieces[-1].message["role"] != "user":
        content: Json = texts.rag_alone_head + context + texts.rag_alone_tail
        sources = items or (RETRIEVED_MESSAGE,)
        pieces.append(Piece(RETRIEVED_MESSAGE, {"role": "user", "content": content}, sources))
        because = "The last message is not a user's, so the retrieved context becomes one."
        log.add(
            TEMPLATE,
            Action.MERGE if items else Action.INSERT,
            RETRIEVED_MESSAGE,
            rules.TEMPLATE_RETRIEVED,
            because,
        )
        return
    last = pieces[-1]
    old = last.message["content"]
    because = "The retrieved context is written in front of it."
    if scene.version == rules.NEWER and isinstance(old, list):
        part = {"type": "text", "text": texts.rag_head + context + texts.rag_query_label_multimodal}
        content = [part, *old]
    else:
        content = texts.rag_head + context + texts.rag_query_label + js.to_string(old)
        if isinstance(old, list):
            because = "The retrieved context is written in front of it, and its parts become [object Object]."
    pieces[-1] = replace(
        last,
        message={**last.message, "content": content},
        sources=(*last.sources, *items),
        form=None,
    )
    log.add(TEMPLATE, Action.MERGE if items else Action.REWRITE, last.item, rules.TEMPLATE_RETRIEVED, because)


# ---- Anthropic ------------------------------------------------------------------------------------


def _anthropic(outcome: Outcome, scene: Scene, log: Log) -> Output:
    system = system_text(ANTHROPIC, scene.system)
    given = bool(system)
    summaries: list[str] = []
    pieces: list[Piece] = []
    for message in outcome.history or ():
        if message.role == SUMMARY_ROLE:
            system = "\n\n".join(filter(None, (system, scene.texts.summary_heading + _summary_text(message))))
            summaries.append(message.item)
        elif (written := _anthropic_message(message)) is None:
            because = f"This template has no place for the role {js.to_string(message.role)}."
            log.add(TEMPLATE, Action.DROP, message.item, rules.TEMPLATE_SKIPPED, because)
        else:
            pieces.append(Piece(message.item, written, (message.item,)))
            _note_anthropic(message, log)
    parts = _anthropic_input(outcome, scene, log)
    if parts:
        pieces.append(Piece(INPUT_ITEM, {"role": "user", "content": parts}, (INPUT_ITEM,)))
        _note_input(outcome, "Written as parts.", log)
    for document in outcome.documents if js.truthy(outcome.retrieved) else ():
        because = "The Anthropic template never prints retrieved context."
        log.add(TEMPLATE, Action.DROP, document.item, rules.TEMPLATE_NO_RETRIEVED, because)
    prompt: dict[str, Json] = {"messages": [dict(piece.message) for piece in pieces]}
    if system:
        prompt["system"] = system
        sources = (*((SYSTEM_ITEM,) if given else ()), *summaries)
        pieces.insert(0, Piece(SYSTEM_ITEM, {"role": "system", "content": system}, sources))
        if summaries:
            because = f"{len(summaries)} summaries are written under the system prompts."
            log.add(TEMPLATE, Action.MERGE, SYSTEM_ITEM, rules.TEMPLATE_SUMMARY, because)
    if scene.tool_schemas is not None:
        prompt["tools"] = list(scene.tool_schemas)
    return Output(prompt, tuple(pieces), js.length(js.stringify(prompt)))


def _summary_text(message: HistoryItem) -> str:
    content = js.get(message.raw, "content")
    if isinstance(content, js.Undefined):
        return "undefined"
    return content if isinstance(content, str) else js.stringify(content)


def _anthropic_message(message: HistoryItem) -> dict[str, Json] | None:
    content = js.get(message.raw, "content")
    if message.role in ("user", ASSISTANT_ROLE):
        if isinstance(content, str):
            return {"role": message.role, "content": [{"type": "text", "text": content}]}
        return {"role": message.role, "content": list(content) if isinstance(content, list) else []}
    if message.role != TOOL_ROLE:
        return None
    result = {
        "type": "tool_result",
        "tool_use_id": js.get(message.raw, "tool_call_id"),
        "content": content if isinstance(content, (str, js.Undefined)) else js.stringify(content),
    }
    return {"role": "user", "content": [defined(result)]}


def _note_anthropic(message: HistoryItem, log: Log) -> None:
    rule, because = rules.TEMPLATE_MESSAGE, "Written as parts."
    if "tool_calls" in message.given.message:
        rule, because = rules.TEMPLATE_CALLS_LOST, "Its tool calls are not written."
    elif message.role == TOOL_ROLE:
        because = "A tool result is written as a part of a user message."
    log.add(TEMPLATE, Action.REWRITE, message.item, rule, because)


def _anthropic_input(outcome: Outcome, scene: Scene, log: Log) -> list[dict[str, Json]]:
    parts: list[dict[str, Json]] = []
    if js.truthy(outcome.user_input):
        parts.append({"type": "text", "text": outcome.user_input})
    for image in _images(scene, log):
        parts.append({"type": "image", "source": defined(_image_source(image))})
    return parts


def _image_source(image: Json) -> dict[str, Any]:
    data, kind = js.get(image, "data"), js.get(image, "mimeType")
    encoded = js.get(image, "type") == "base64"
    if not isinstance(data, str) and not (encoded and js.truthy(kind)):
        raise js.JsError("calls startsWith on image data that is not a text")
    if not js.truthy(kind):
        kind = "image/jpeg" if data.startswith("data:image/jpeg") else "image/png"
    if not encoded and data.startswith("data:") and "," in data:
        data = data.split(",")[1]
    return {"type": "base64" if encoded else "url", "media_type": kind, "data": data}


# ---- completion -----------------------------------------------------------------------------------


def _completion(outcome: Outcome, scene: Scene, log: Log) -> Output:
    """The prompt is one text. Its pieces, joined without anything between, are that text."""
    system, history = system_text(COMPLETION, scene.system), outcome.history
    pieces = [Piece(SYSTEM_ITEM, _stretch(system + "\n\n"), (SYSTEM_ITEM,))]
    because = "A blank line follows the system prompts, even where there are none."
    log.add(TEMPLATE, Action.REWRITE if system else Action.INSERT, SYSTEM_ITEM, rules.TEMPLATE_LINES, because)
    for number, message in enumerate(history or (), 1):
        end = "\n\n" if number == len(history or ()) else "\n"
        content = js.get(message.raw, "content")
        shown = content if isinstance(content, (str, js.Undefined)) else js.stringify(content)
        line = f"{js.to_string(message.role)}: {js.to_string(shown)}{end}"
        pieces.append(Piece(message.item, _stretch(line), (message.item,)))
        log.add(
            TEMPLATE,
            Action.REWRITE,
            message.item,
            rules.TEMPLATE_LINES,
            "Written as a line with its role in front.",
        )
    if history is not None and not history:
        pieces[0] = replace(pieces[0], message=_stretch(f"{pieces[0].message['content']}\n\n"))
    if js.truthy(outcome.user_input):
        line = f"user: {js.to_string(outcome.user_input)}\nassistant:"
        pieces.append(Piece(INPUT_ITEM, _stretch(line), (INPUT_ITEM,)))
        _note_input(outcome, "Written as a line, with the assistant's turn opened under it.", log)
    for document in outcome.documents if js.truthy(outcome.retrieved) else ():
        because = "The completion template never prints retrieved context."
        log.add(TEMPLATE, Action.DROP, document.item, rules.TEMPLATE_NO_RETRIEVED, because)
    _drop_images(scene, "The completion template never writes images.", log)
    text = "".join(piece.message["content"] for piece in pieces)
    return Output(text, tuple(pieces), js.length(text))


def _stretch(text: str) -> dict[str, Json]:
    return {"content": text}
