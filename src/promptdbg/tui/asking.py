"""Boxes that ask for a change: another text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptdbg.model import Section
from promptdbg.text import one_line, safe
from promptdbg.tui.changes import with_text
from promptdbg.tui.screens.boxes import EditBox

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp

EDIT_MAX = 100_000
"""Characters a text to try may have; the editor widget is slow beyond."""


def ask_text(app: PromptdbgApp, section: Section) -> None:
    """Another text for a section, where a person can edit it here."""
    text = section.text
    if len(text) > EDIT_MAX:
        app.refuse(f"{len(text):,} characters are too many to edit here; e opens the file in your editor")
        return
    if safe(text.replace("\t", " ")) != text.replace("\t", " "):
        app.refuse("it has hidden or control characters; e opens the file")
        return

    def done(new: str) -> None:
        if new == text:
            app.refuse("the text is as it was")
        else:
            app.driver.change(with_text(section, new))

    app.push_screen(EditBox(f"Try another text for {one_line(section.name)}", text, done))
