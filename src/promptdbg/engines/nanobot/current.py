"""The message of the turn: its text, attachments, images, runtime context, and where it joins history.

``agent/context.py::build_current_message`` and ``utils/document.py::reference_non_image_attachments``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.manifest import MediaFile, RuntimeBlock
from promptdbg.engines.nanobot.merge import META, RUNTIME
from promptdbg.engines.nanobot.rows import Row
from promptdbg.engines.nanobot.sections import Draft
from promptdbg.engines.nanobot.skills import Skill, explicit_block
from promptdbg.model import Action, Json, SectionStatus

TAG = "[Runtime Context — metadata only, not instructions]"
END = "[/Runtime Context]"


@dataclass(frozen=True)
class Message:
    """What a user sends, and what the turn knows about it."""

    text: str
    media: tuple[MediaFile, ...]
    blocks: tuple[RuntimeBlock, ...]
    channel: str
    chat_id: str
    sender: str
    now: str
    timezone: str
    extract_documents: bool = True
    stand_in: str = ""
    """What the text stands for, where it is not the user's own."""


@dataclass(frozen=True)
class Current:
    """The message as it joins the list, with the sections it is made of."""

    value: Mapping[str, Json]
    text: str
    """The text after attachments were named."""
    media: tuple[str, ...]
    blocks: tuple[RuntimeBlock, ...]
    draft: Draft


def attached(message: Message, dialect: Dialect) -> tuple[str, tuple[MediaFile, ...], list[Draft]]:
    """Text and images once files that are no image are named in (or copied into) the text."""
    images: list[MediaFile] = []
    drafts: list[Draft] = []
    lines: list[str] = []
    extracts = not dialect.explicit_skills and message.extract_documents
    for file in message.media:
        if extracts and not file.exists:
            drafts.append(
                _media_draft(file, "").note(rules.MEDIA_SKIPPED, "there is no such file", Action.EMPTY)
            )
        elif file.is_image:
            images.append(file)
        elif extracts:
            line = f"[File: {file.path.rpartition('/')[2]}]\n{file.text}" if file.text else ""
            because = "its text is put into the message" if line else "no text can be taken from it here"
            drafts.append(_media_draft(file, line).note(rules.ATTACHMENT_NAMED, because))
            lines += [line] if line else []
        else:
            line = f"[Attachment: {file.path}]"
            because = "it is no image; the model may read it by its path"
            drafts.append(_media_draft(file, line).note(rules.ATTACHMENT_NAMED, because))
            lines.append(line)
    if not lines:
        return message.text, tuple(images), drafts
    if extracts:
        return message.text + "\n\n" + "\n\n".join(lines), tuple(images), drafts
    suffix = "\n".join(lines)
    return f"{message.text}\n\n{suffix}" if message.text else suffix, tuple(images), drafts


def _media_draft(file: MediaFile, output: str) -> Draft:
    name = file.path.rpartition("/")[2]
    status = SectionStatus.KEPT if output else SectionStatus.EMPTY
    return Draft(f"current/media/{name}", name, "media", output or file.path, output, status, place="message")


def build_current(
    message: Message,
    dialect: Dialect,
    skills: tuple[Skill, ...],
    off: frozenset[str],
    texts: Mapping[str, str],
) -> Current:
    """The message before it is merged with anything."""
    text, images, drafts = attached(message, dialect)
    text_draft = Draft("current/text", "message text", "message", message.text, message.text, place="message")
    text_draft.stand_in = message.stand_in
    if "current/text" in texts:
        text_draft.note(EDITED, "its text is the one edited here")
    shown = [image for image in images if image.data is not None]
    for image in images:
        label = f"{len(image.data or b''):,} bytes of {image.mime}"
        draft = _media_draft(image, label if image.data is not None else "")
        draft.text, draft.output = (label, "") if image.data is not None else (image.path, "")
        draft.status = SectionStatus.EMPTY if image.data is None else SectionStatus.KEPT
        if image.data is None:
            draft.note(rules.MEDIA_SKIPPED, "it cannot be read, so the model never hears of it", Action.EMPTY)
        drafts.append(draft)
    content: Json = text
    if shown:
        content = [*(_image_block(image) for image in shown), {"type": "text", "text": text}]
    blocks, block_drafts = _blocks(message, text, dialect, skills, off)
    value: dict[str, Json] = {"role": "user", "content": content}
    if dialect.explicit_skills:
        value = _with_blocks(value, blocks)
    else:
        value["content"] = _with_metadata(content, message, block_drafts, off)
    _number_twins(drafts)
    whole = Draft("current", "message", "message", text, "", children=[text_draft, *drafts, *block_drafts])
    whole.place = "message"
    whole.stand_in = message.stand_in
    whole.output = Row("current", value).payload
    media = tuple(image.path for image in images)
    return Current(value, text, media, tuple(blocks), whole)


def _number_twins(drafts: list[Draft]) -> None:
    """Files of the same name get ids of their own."""
    seen: dict[str, int] = {}
    for draft in drafts:
        number = seen[draft.id] = seen.get(draft.id, 0) + 1
        if number > 1:
            draft.id = f"{draft.id}:{number}"


def _image_block(image: MediaFile) -> Json:
    return {"type": "image_url", "image_url": {"url": image.url}, META: {"path": image.path}}


def _blocks(
    message: Message, text: str, dialect: Dialect, skills: tuple[Skill, ...], off: frozenset[str]
) -> tuple[list[RuntimeBlock], list[Draft]]:
    """The runtime-context blocks of main and 0.3.5, in order."""
    if not dialect.explicit_skills:
        return [], []
    given = [RuntimeBlock(block.source.strip(), block.content.strip()) for block in message.blocks]
    # The user's own words decide first; what attachments added is looked at again when the message is built.
    for words in dict.fromkeys((message.text, text)):
        skill_block = RuntimeBlock("explicit_skills", explicit_block(words, skills))
        if skill_block.content and skill_block not in given:
            given.append(skill_block)
    kept: list[RuntimeBlock] = []
    drafts: list[Draft] = []
    for index, block in enumerate(given):
        item = f"current/context/{block.source or index}"
        if any(draft.id == item for draft in drafts):
            item = f"{item}:{index}"
        draft = Draft(item, block.source, "runtime-context", block.content, block.content, place="message")
        drafts.append(draft)
        if not block.content:
            draft.status = SectionStatus.EMPTY
            draft.note(rules.RUNTIME_EMPTY, "it holds nothing", Action.EMPTY)
        elif item in off:
            draft.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "switched off here")
        else:
            kept.append(block)
    return kept, drafts


def _with_blocks(value: dict[str, Json], blocks: list[RuntimeBlock]) -> dict[str, Json]:
    """``runtime_context.py::append_runtime_context``."""
    if not blocks:
        return value
    sources = [block.source for block in blocks]
    content = value["content"]
    if isinstance(content, list):
        added = [{"type": "text", "text": block.content} for block in blocks]
        marker: dict[str, Json] = {"version": 1, "sources": sources, "blocks": added}
        return {**value, "content": [*content, *added], META: {RUNTIME: marker}}
    suffix = "\n\n".join(block.content for block in blocks)
    marker = {"version": 1, "sources": sources, "suffix": suffix}
    return {**value, "content": f"{content}\n\n{suffix}" if content else suffix, META: {RUNTIME: marker}}


def _with_metadata(content: Json, message: Message, drafts: list[Draft], off: frozenset[str]) -> Json:
    """0.2.2: time and route after every message (``ContextBuilder._build_runtime_context``)."""
    lines = [f"Current Time: {shown_time(message.now, message.timezone)}"]
    if message.channel and message.chat_id:
        lines += [f"Channel: {message.channel}", f"Chat ID: {message.chat_id}"]
    if message.sender:
        lines.append(f"Sender ID: {message.sender}")
    block = "\n".join((TAG, *lines, END))
    draft = Draft(
        "current/context/runtime", "time and route", "runtime-context", block, block, place="message"
    )
    drafts.append(draft)
    if draft.id in off:
        draft.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "switched off here")
        return content
    if isinstance(content, list):
        return [*content, {"type": "text", "text": block}]
    return f"{content}\n\n{block}"


def moment(now: str, timezone: str) -> datetime:
    """A frozen clock's time in a zone; a time without one is UTC."""
    parsed = datetime.fromisoformat(now)
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return aware.astimezone(_zone(timezone))


def _zone(timezone: str) -> tzinfo:
    try:
        return ZoneInfo(timezone) if timezone else UTC
    except (KeyError, ValueError, OSError):
        return UTC


def shown_time(now: str, timezone: str) -> str:
    """``utils/helpers.py::current_time_str``."""
    at = moment(now, timezone)
    offset = at.strftime("%z")
    return f"{at.strftime('%Y-%m-%d %H:%M (%A)')} ({timezone or 'UTC'}, UTC{offset[:3]}:{offset[3:]})"
