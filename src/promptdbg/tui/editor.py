"""The command that opens a person's own editor at a line."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

_FALLBACKS = ("sensible-editor", "vi", "nano", "notepad")
_GOTO = {"code", "codium", "cursor", "windsurf"}
_COLON = {"subl", "zed", "hx", "helix", "micro"}


def editor_command(
    path: Path, line: int | None, environment: Mapping[str, str] = os.environ
) -> list[str] | None:
    """The arguments to run, from ``VISUAL`` or ``EDITOR``, else an editor that is there.

    ``None`` when there is no editor at all.
    """
    words = _words(environment.get("VISUAL") or environment.get("EDITOR") or "")
    if not words:
        found = next((name for name in _FALLBACKS if shutil.which(name)), None)
        if found is None:
            return None
        words = [found]
    name = Path(words[0]).stem.lower()
    if line is None or name == "notepad":
        return [*words, str(path)]
    if name in _GOTO:
        return [*words, "--goto", f"{path}:{line}"]
    if name in _COLON:
        return [*words, f"{path}:{line}"]
    return [*words, f"+{line}", str(path)]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an open quote
        return text.split()
