"""The text files of a workspace that its engine does not read: where a lost text may stand."""

from __future__ import annotations

from collections.abc import Iterator

from promptdbg.debug import Opened
from promptdbg.files.scan import TextFile, text_files


def unread_files(opened: Opened) -> Iterator[TextFile]:
    """The text files below a workspace but for those its engine read; none of a recording.

    What the engine reads shows up as items; its own copy on disk is not another place.
    """
    if opened.recorded:
        return
    read = set(opened.watched)
    yield from (file for file in text_files(opened.workspace.path) if str(file.path) not in read)
