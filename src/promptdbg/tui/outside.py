"""What leaves the program: texts to the terminal's clipboard, files to the person's own editor."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from promptdbg.model import Source
from promptdbg.text import safe
from promptdbg.tui.editor import editor_command

if TYPE_CHECKING:
    from promptdbg.tui.app import PromptdbgApp

COPY_MAX = 1_000_000
"""Characters handed to the terminal's clipboard at the most; longer ones are for a file."""


def copy(app: PromptdbgApp, text: str) -> None:
    """Copy selected text, else this one, to the clipboard of the terminal."""
    text = app.screen.get_selected_text() or text
    if len(text) > COPY_MAX:
        app.refuse(f"{len(text):,} characters are too many for a clipboard; promptdbg export writes a file")
        return
    app.copy_to_clipboard(text)
    app.say(f"copied {len(text):,} characters to the clipboard, if the terminal allows it")


def edit(app: PromptdbgApp, workspace: str, source: Source | None) -> None:
    """The person's own editor on a file, at its line; then everything is read again."""
    if source is None:
        app.refuse("it has no file of its own")
        return
    path = Path(workspace) / source.path
    shown = safe(str(path), lines=False)
    if not path.is_file():
        app.refuse(f"{shown} is not a file")
        return
    command = editor_command(path, source.start_line)
    if command is None:
        app.refuse("no editor found: set EDITOR")
        return
    try:
        with app.suspend():
            code = subprocess.run(command, check=False).returncode
    except SuspendNotSupported:
        app.refuse(f"this terminal cannot start an editor; the file is {shown}")
    except OSError as error:
        app.refuse(f"{command[0]} cannot be started: {error.strerror or error}")
    else:
        if code:
            app.refuse(f"{command[0]} ended with code {code}")
        app.driver.reload()
