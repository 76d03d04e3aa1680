"""The files that the new message names with ``@``, as sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptdbg.engines.base import SWITCHED_OFF
from promptdbg.engines.bee.context import IMPORT_BYTES, Attachment
from promptdbg.engines.bee.drafts import Desk, Draft
from promptdbg.engines.bee.lists import split_words
from promptdbg.engines.bee.rules import ATTACH_CUT, ATTACH_EXACT, ATTACH_LITERAL
from promptdbg.files.tree import Files
from promptdbg.model import Action, SectionStatus, Source


def draft_attachments(
    desk: Desk, found: Sequence[Attachment], files: Files, real_path: Callable[[str], str]
) -> None:
    """A section for each attachment, below one for all of them; nothing where there is none."""
    if not found:
        return
    parent = desk.add(Draft("attachments", "Attached files", "attachments", place="message"))
    drafts = [_attachment(desk, attachment, files, real_path) for attachment in found]
    parent.text = parent.whole = b"\n".join(draft.whole for draft in drafts)
    parent.output = b"\n".join(draft.output for draft in drafts)
    if any(draft.status is SectionStatus.TRUNCATED for draft in drafts):
        parent.status = SectionStatus.TRUNCATED


def _attachment(desk: Desk, attachment: Attachment, files: Files, real_path: Callable[[str], str]) -> Draft:
    draft = desk.add(
        Draft(
            f"attachments/@{attachment.ref}",
            f"@{attachment.ref}",
            "attachment",
            parent="attachments",
            place="message",
            source=Source(real_path(attachment.path)) if attachment.path else None,
        )
    )
    draft.text = draft.whole = draft.output = attachment.output
    if attachment.outcome == "exact":
        _found(desk, draft, attachment, files.file(attachment.path).data)
    elif attachment.outcome == "off":
        draft.status = SectionStatus.DISABLED
        desk.decide(Action.DISABLE, draft.id, SWITCHED_OFF, "Switched off here: it stays as typed.")
    else:
        desk.literal(draft, ATTACH_LITERAL, _why(attachment))
    return draft


def _why(attachment: Attachment) -> str:
    if attachment.outcome == "binary":
        return f"{attachment.path} is binary."
    return f"{attachment.path or attachment.ref} {attachment.why}."


def _found(desk: Desk, draft: Draft, attachment: Attachment, data: bytes) -> None:
    draft.text = data
    desk.keep(draft.id, ATTACH_EXACT, f"{attachment.path} is there ({attachment.size:,} bytes).")
    if not attachment.cut:
        return
    head = attachment.output[: attachment.output.index(b"\n```\n") + 5]
    draft.whole = draft.output = head + data.rstrip(b"\n") + b"\n```"
    because = (
        f"{attachment.path} has {attachment.size:,} bytes; {IMPORT_BYTES:,} are put in, and a note"
        f"{split_words(data, IMPORT_BYTES)}."
    )
    desk.cut(
        draft,
        ATTACH_CUT,
        attachment.output,
        because,
        measured=attachment.size,
        limit=IMPORT_BYTES,
        unit="bytes",
    )
    draft.kept = ((0, IMPORT_BYTES),)
