"""The command that opens a person's own editor at a line."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from promptdbg.errors import UsageError

_FALLBACKS = ("sensible-editor", "vi", "nano", "notepad")
_GOTO = {"code", "codium", "cursor", "windsurf"}
_COLON = {"subl", "zed", "hx", "helix", "micro"}
_WINDOWED = {*_GOTO, "subl", "zed", "notepad", "notepad++", "gvim"}
_SCRIPTS = {".bat", ".cmd"}
_SPECIAL = frozenset('"%&<>^|!\r\n')
_WINDOWS = os.name == "nt"


def editor_command(
    path: Path, line: int | None, environment: Mapping[str, str] = os.environ
) -> list[str] | None:
    """The arguments to run, from ``VISUAL`` or ``EDITOR``, else an editor that is there.

    ``None`` when there is no editor at all.

    Raises:
        UsageError: the editor is a batch file, and the file's name would be a command to it.
    """
    words = _words(environment.get("VISUAL") or environment.get("EDITOR") or "")
    if not words:
        found = next((name for name in _FALLBACKS if shutil.which(name)), None)
        if found is None:
            return None
        words = [found]
    name = _name(words[0])
    if _WINDOWS:
        words[0] = _program(words[0], path)
    if line is None or name == "notepad":
        return [*words, str(path)]
    if name in _GOTO:
        return [*words, "--goto", f"{path}:{line}"]
    if name in _COLON:
        return [*words, f"{path}:{line}"]
    if name == "notepad++":
        return [*words, f"-n{line}", str(path)]
    return [*words, f"+{line}", str(path)]


def has_window(command: list[str]) -> bool:
    """Whether the editor opens a window of its own, and so can run beside the terminal's program."""
    return _name(command[0]) in _WINDOWED


def _words(text: str) -> list[str]:
    """The words of a command line. On Windows ``\\`` is a part of paths and quotes nothing."""
    if _WINDOWS and shutil.which(text):
        return [text]  # one program, in a folder with blanks in its name
    try:
        words = shlex.split(text, posix=not _WINDOWS)
    except ValueError:  # an open quote
        return text.split()
    return [word.strip('"') for word in words] if _WINDOWS else words


def _name(program: str) -> str:
    return (PureWindowsPath if _WINDOWS else PurePosixPath)(program).stem.lower()


def _program(word: str, path: Path) -> str:
    """The program's whole name: Windows starts ``code`` only as ``code.cmd``, which a shell reads."""
    found = shutil.which(word) or word
    if PureWindowsPath(found).suffix.lower() in _SCRIPTS and _SPECIAL.intersection(str(path)):
        raise UsageError(f"{word} cannot be given a file of this name", where=str(path))
    return found
