"""Places on disk as people type and read them; nothing here raises, whatever is typed."""

from __future__ import annotations

from pathlib import Path

from promptdbg.files.disk import expanded
from promptdbg.paths import below


def here() -> Path:
    """The current folder; a relative path where it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def home() -> Path:
    """The home folder; ``~`` as it stands where there is none."""
    return expanded("~")


def outside_of(workspace: str) -> Path:
    """The current folder; the home folder where that one is in the workspace, which stays as it is."""
    folder = here()
    return home() if folder.is_relative_to(workspace) else folder


def short_path(path: Path) -> str:
    """A path as people write it: below the current folder or the home folder in short, with ``/``."""
    whole = str(path)
    for folder, sign in ((here(), ""), (home(), "~/")):
        if (short := below(whole, str(folder))) != whole:
            return sign + short
    return whole
