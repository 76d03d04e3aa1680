"""What leaves the program: texts to the terminal's clipboard, files to the person's own editor."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from textual.app import SuspendNotSupported

from promptdbg.errors import UsageError
from promptdbg.files.disk import expanded, is_file, is_folder
from promptdbg.text import one_line, plural, safe
from promptdbg.tui.editor import editor_command, has_window
from promptdbg.tui.places import outside_of, short_path
from promptdbg.tui.widgets.ask import Ask

if TYPE_CHECKING:
    from promptdbg.model import Source
    from promptdbg.tui.app import PromptdbgApp
    from promptdbg.tui.screens.base import PictureScreen

COPY_MAX = 1_000_000
"""Characters handed to the terminal's clipboard at the most; longer ones are for a file."""

_beside: list[subprocess.Popen[bytes]] = []
"""Editors with windows of their own; they may outlive us."""

COPY_NAME = "prompt.txt"
"""What a copied text is called as a file, until the person says otherwise."""


def copy(app: PromptdbgApp, text: str) -> None:
    """Copy a text to the clipboard of the terminal."""
    if len(text) > COPY_MAX:
        app.refuse(f"{len(text):,} characters are too many for a clipboard; Y writes them to a file")
        return
    app.copy_to_clipboard(text)
    copied = plural(len(text), "character")
    app.say(f"copied {copied} to the clipboard, if the terminal allows it; Y writes a file")


def copy_to_file(app: PromptdbgApp, screen: PictureScreen, workspace: str, text: str) -> None:
    """Write a text where the person says: in a browser a download, else a file that is asked for."""
    if app.is_web:
        app.deliver_text(io.StringIO(text), save_filename=COPY_NAME, open_method="download")
        app.say(f"made a download of {plural(len(text), 'character')}")
        return

    def write(path: Path, *, force: bool) -> None:
        screen.run_worker(
            _written(app, path, text, force=force),
            group="copy",
            exit_on_error=False,
            description="writing the file",
        )

    ask_for_file(screen, "Copy to:", outside_of(workspace) / COPY_NAME, write)


async def _written(app: PromptdbgApp, path: Path, text: str, *, force: bool) -> None:
    from promptdbg.export.write import write_atomically

    data = text.encode("utf-8", "replace")
    await asyncio.to_thread(write_atomically, path, data, force=force, private=True)
    app.say(f"wrote {safe(short_path(path), lines=False)} ({plural(len(data), 'byte')})")


class Write(Protocol):
    """Writes a file, over one that is there where ``force`` says so."""

    def __call__(self, path: Path, *, force: bool) -> object: ...


def ask_for_file(screen: PictureScreen, label: str, start: Path, write: Write) -> None:
    """Ask where a file goes, and before one is replaced."""

    def answered(text: str) -> str | None:
        path = expanded(text.strip())
        if not text.strip():
            return "A file needs a name:"
        if is_folder(path):
            return "That is a folder; a file in it:"
        if os.path.lexists(path):
            ask_to_replace(screen, path, write)
        else:
            write(path, force=False)
        return None

    screen.ask(Ask.Question(label, answered, short_path(start)))


def ask_to_replace(screen: PictureScreen, path: Path, write: Write) -> None:
    """Ask before a file that is there is replaced."""

    def sure(text: str) -> str | None:
        if text.strip().lower() != "yes":
            return "Only yes replaces it, esc leaves it:"
        write(path, force=True)
        return None

    screen.ask(Ask.Question(f"{one_line(path.name)} exists. Type yes to replace it:", sure))


def edit(app: PromptdbgApp, workspace: str, source: Source | None) -> None:
    """The person's own editor on a file, at its line; then everything is read again."""
    if source is None:
        app.refuse("it has no file of its own")
        return
    # Whole: of a name that begins with + or - an editor would make a command.
    path = (Path(workspace) / source.path).absolute()
    if not is_file(path):
        app.refuse(f"{safe(str(path), lines=False)} is not a file")
        return
    try:
        command = editor_command(path, source.start_line)
    except UsageError as error:
        app.refuse(safe(error.line(), lines=False))
        return
    if command is None:
        app.refuse("no editor found: set EDITOR")
        return
    try:
        with app.suspend():
            problem = _lent(command)  # raises nothing: the terminal would not be taken back
    except SuspendNotSupported:
        _run_beside(app, command, path)
        return
    if problem:
        app.refuse(problem)
    app.driver.reload()


def _lent(command: list[str]) -> str:
    """Run an editor in the terminal that is lent to it; what went wrong."""
    try:
        process = subprocess.Popen(command)
    except OSError as error:
        return _not_started(command, error)
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl+c is the editor's
    try:
        code = process.wait()
    finally:
        signal.signal(signal.SIGINT, heard)
    return f"{one_line(command[0])} ended with code {code}" if code else ""


def _run_beside(app: PromptdbgApp, command: list[str], path: Path) -> None:
    """An editor that has a window of its own, where the terminal cannot be lent."""
    if app.is_web or not has_window(command):
        shown = safe(str(path), lines=False)
        app.refuse(f"this terminal cannot start an editor; the file is {shown}")
        return
    try:
        _beside.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
    except OSError as error:
        app.refuse(_not_started(command, error))
    else:
        app.say("opened in the editor; what is saved there is read again here")


def _not_started(command: list[str], error: OSError) -> str:
    return f"{one_line(command[0])} cannot be started: {error.strerror or error}"
