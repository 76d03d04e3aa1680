"""The context section: each file, the imports inside it, and what the cap cuts off.

Sources: ``internal/prompt/{context,imports}.go``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptdbg.engines.base import SWITCHED_OFF
from promptdbg.engines.bee.blocks import Block, Inner, Part
from promptdbg.engines.bee.context import (
    CONTEXT_BYTES,
    IMPORT_BYTES,
    ContextFile,
    Passed,
    context_block,
    context_head,
    import_head,
    wrap_import,
)
from promptdbg.engines.bee.drafts import Desk, Draft
from promptdbg.engines.bee.lists import finish, split_words
from promptdbg.engines.bee.rules import (
    CONTEXT_CAP,
    CONTEXT_SHADOW,
    CONTEXT_UNREADABLE,
    IMPORT_BINARY,
    IMPORT_CUT,
    IMPORT_DEPTH,
    IMPORT_EXACT,
    IMPORT_FUZZY,
    IMPORT_MISSING,
    IMPORT_REFUSED,
    IMPORT_VISITED,
)
from promptdbg.files.imports import Import, Outcome, source_offset
from promptdbg.model import Action, Rule, SectionStatus, Source

if TYPE_CHECKING:
    from promptdbg.engines.bee.prompt import PromptInputs


def draft_context(inputs: PromptInputs, desk: Desk) -> Block:
    """One element for each context file taken; those passed over are shown too."""
    block = Block(desk.add(Draft("context", "Project context", "context")), b"## Project Context\n")
    whole: list[bytes] = []
    for entry in inputs.context:
        if isinstance(entry, Passed):
            _passed(inputs, desk, entry)
            continue
        part = _file(inputs, desk, entry)
        if part.draft.output:
            block.parts.append(part)
            whole.append(part.draft.whole)
    finish(inputs, desk, block, whole)
    return block


def _draft(inputs: PromptInputs, desk: Desk, key: str, path: str, text: bytes) -> Draft:
    source = Source(inputs.real_path(path), 1, text.count(b"\n") + 1)
    return desk.add(Draft(f"context/{key}", key, "context-file", text, parent="context", source=source))


def _passed(inputs: PromptInputs, desk: Desk, passed: Passed) -> None:
    candidate = passed.candidate
    draft = _draft(inputs, desk, passed.key or candidate.path, candidate.path, candidate.entry.data)
    if candidate.entry.kind != "file":
        because = f"{candidate.path} {candidate.entry.why}; the next name in the folder is tried."
        desk.drop(draft, CONTEXT_UNREADABLE, because)
        return
    draft.whole = draft.output = context_block(candidate.path, candidate.entry.data)
    if passed.off:
        desk.disable(draft)
    else:
        desk.shadow(draft, CONTEXT_SHADOW, f"{passed.by} is in the same folder and wins by its name.")


def _file(inputs: PromptInputs, desk: Desk, file: ContextFile) -> Part:
    draft = _draft(inputs, desk, file.key or file.path, file.path, file.text)
    part = Part(draft)
    head = context_head(file.path)
    draft.whole = draft.output = head + file.body + b"\n</context>"
    for made in file.imports:
        _import(inputs, desk, part, made, draft.id, len(head) + made.at)
    if inputs.is_off(draft.id, "context"):
        _disable_all(desk, part)
    elif len(file.body) > CONTEXT_BYTES:
        _cap(desk, part, file, len(head))
    return part


def _disable_all(desk: Desk, part: Part) -> None:
    for inner in part.inner:
        desk.disable(inner.draft)
    desk.disable(part.draft)


def _cap(desk: Desk, part: Part, file: ContextFile, head: int) -> None:
    """Cut a body over 8,192 bytes, and with it the imports that lie beyond."""
    raw = source_offset(len(file.text), file.imports, CONTEXT_BYTES)
    line = file.text.count(b"\n", 0, raw) + 1
    because = (
        f"With its imports the file has {len(file.body):,} bytes; {CONTEXT_BYTES:,} are kept"
        f"{split_words(file.body, CONTEXT_BYTES)}. What is lost begins in line {line}."
    )
    output = context_block(file.path, file.body)
    desk.cut(part.draft, CONTEXT_CAP, output, because, len(file.body), CONTEXT_BYTES, "bytes")
    part.draft.kept = ((0, raw),)
    end = head + CONTEXT_BYTES
    for inner in part.inner:
        if inner.at >= end:
            why = f"It begins at byte {inner.at - head:,} of the file; only {CONTEXT_BYTES:,} are kept."
            desk.drop(inner.draft, CONTEXT_CAP, why, inner.at - head, CONTEXT_BYTES, "bytes")
        elif inner.at + len(inner.draft.output) > end:
            _cap_import(desk, inner, end - inner.at, inner.at - head)
    part.inner = [inner for inner in part.inner if inner.at < end]


def _cap_import(desk: Desk, inner: Inner, room: int, at: int) -> None:
    draft = inner.draft
    why = f"It spans byte {CONTEXT_BYTES:,} of its context file, where that is cut."
    end = at + len(draft.output)
    desk.cut(draft, CONTEXT_CAP, draft.output[:room], why, end, CONTEXT_BYTES, "bytes")
    kept = source_offset(len(draft.text), inner.imports, max(0, room - inner.content))
    most = draft.kept[0][1] if draft.kept else len(draft.text)
    draft.kept = ((0, min(kept, most)),)


# ---- imports ----------------------------------------------------------------------------------------


def _import(inputs: PromptInputs, desk: Desk, part: Part, made: Import, parent: str, at: int) -> None:
    """The draft of one import and of everything inside it; ``at`` is its byte within the element."""
    name = f"@{made.reference.ref}"
    source = Source(inputs.real_path(made.resolution.path)) if made.resolution.path else None
    draft = desk.add(
        Draft(f"{part.draft.id}{made.key}", name, "import", made.text, parent=parent, source=source)
    )
    draft.whole = draft.output = made.output
    if not made.expanded:
        part.inner.append(Inner(draft, at))
        _literal(desk, draft, made)
        return
    content = len(import_head(made.resolution.path))
    part.inner.append(Inner(draft, at, content, made.children))
    _found(desk, draft, made)
    for child in made.children:
        _import(inputs, desk, part, child, draft.id, at + content + child.at)


def _found(desk: Desk, draft: Draft, made: Import) -> None:
    found = made.resolution
    size = f"{found.size:,} bytes"
    if made.outcome == "exact":
        because = f"{found.path} is there ({size}); it is {made.depth} deep."
        desk.keep(draft.id, IMPORT_EXACT, because, measured=made.depth, unit="count")
    else:
        because = (
            f"No file of that name; of {found.candidates:,} files below the folder {_runners(made)}; "
            f"{found.path} ({size}) takes its place."
        )
        desk.keep(draft.id, IMPORT_FUZZY, because, measured=found.runners[0][1], unit="count")
    if found.size > IMPORT_BYTES:
        lost = found.rest
        draft.text = made.text + lost
        draft.whole = wrap_import(found.path, made.text + lost)
        output, draft.output = draft.output, draft.whole
        because = (
            f"{found.path} has {found.size:,} bytes; {IMPORT_BYTES:,} are read, without a note"
            f"{split_words(made.text + lost, IMPORT_BYTES)}."
        )
        desk.cut(draft, IMPORT_CUT, output, because, measured=found.size, limit=IMPORT_BYTES, unit="bytes")
        draft.kept = ((0, len(made.text)),)


def _runners(made: Import) -> str:
    best, *others = made.resolution.runners
    text = f"{best[0]} matches best with {best[1]} points"
    if others:
        text += ", before " + ", ".join(f"{path} ({points})" for path, points in others)
    return text


_LITERAL: dict[Outcome, Rule] = {
    "visited": IMPORT_VISITED,
    "depth": IMPORT_DEPTH,
    "missing": IMPORT_MISSING,
    "folder": IMPORT_MISSING,
    "binary": IMPORT_BINARY,
    "refused": IMPORT_REFUSED,
    "unread": IMPORT_REFUSED,
}


def _literal(desk: Desk, draft: Draft, made: Import) -> None:
    if made.outcome == "off":
        draft.status = SectionStatus.DISABLED
        desk.decide(Action.DISABLE, draft.id, SWITCHED_OFF, "Switched off here: it stays as typed.")
        return
    found = made.resolution
    where = found.path or made.reference.ref
    if made.outcome == "depth":
        because = (
            f"{where} ({found.size:,} bytes) would be {made.depth} deep; imports go {made.depth - 1} deep."
        )
        desk.literal(draft, IMPORT_DEPTH, because, measured=made.depth, limit=made.depth - 1, unit="count")
        return
    if made.outcome == "visited":
        because = f"{where} already stands in this context file, or is around this place; it is put in once."
    elif made.outcome == "binary":
        because = f"{where} is binary."
    elif made.outcome in ("missing", "folder"):
        what = "does not exist" if made.outcome == "missing" else "is a folder"
        because = f"{where} {what}" + (
            f", and none of the {found.candidates:,} files below the folder matches."
            if found.candidates
            else "."
        )
    else:
        because = f"{where} {found.why}; bee would open it."
    if found.runners:
        because = f"By fuzzy match: {_runners(made)}. " + because
    desk.literal(draft, _LITERAL[made.outcome], because)
