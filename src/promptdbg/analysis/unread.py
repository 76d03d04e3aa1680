"""The text files of a workspace: where a text may stand that no item holds, and what is said of a file that
is asked for by its path and not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from promptdbg.analysis.items import item_ids
from promptdbg.analysis.trace import unread_reason
from promptdbg.analysis.why import Why
from promptdbg.debug import Opened
from promptdbg.files.disk import is_file, read_file, resolved
from promptdbg.files.scan import FILE_SIZE_MAX, TextFile, text_files
from promptdbg.model import Assembly, Source
from promptdbg.tokens import TokenCounter


def workspace_files(opened: Opened) -> Iterator[TextFile]:
    """The text files below a workspace but for its manifest, which is ours; none of a recording."""
    if opened.recorded:
        return
    manifest, *read = opened.watched
    used = set(read)
    for file in text_files(opened.workspace.path):
        if str(file.path) != manifest:
            yield replace(file, used=str(file.path) in used)


def named_file(opened: Opened, word: str) -> Path | None:
    """The file of the workspace that a word names, from the workspace or from here; ``None`` where it
    names none, and in a recording, whose files are elsewhere."""
    folder = opened.workspace.path
    if opened.recorded:
        return None
    found = (resolved(path) for path in (folder / word, Path(word)) if is_file(path))
    return next((path for path in found if folder in path.parents), None)


def items_from(opened: Opened, assembly: Assembly, path: Path) -> tuple[str, ...]:
    """The items that were read from a file, in order."""
    folder = opened.workspace.path
    placed = {section.id: section.source for section in assembly.sections}
    placed |= {message.id: message.source for stage in assembly.stages for message in stage.messages}
    sources = ((item, placed[item]) for item in item_ids(assembly))
    return tuple(item for item, source in sources if source and resolved(folder / source.path) == path)


def why_not_read(opened: Opened, assembly: Assembly, path: Path, counter: TokenCounter) -> Why:
    """The answer about a file that the engine does not read: what ``trace`` says of its texts."""
    relative = path.relative_to(opened.workspace.path).as_posix()
    data = read_file(path, limit=FILE_SIZE_MAX, cut=True).data or b""
    return Why(
        item=relative,
        name=relative,
        kind="file",
        status="not read",
        tokens=0,
        tokens_original=counter.count(data.decode("utf-8", "replace")),
        evidence="computed",
        source=Source(str(path)),
        life=(),
        rulings=(),
        around=(),
        unit="tokens",
        because=unread_reason(assembly, relative),
    )
