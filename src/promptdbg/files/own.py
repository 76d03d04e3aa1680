"""The folder of this user's own settings of promptdbg: ``config.toml``, and the salt of exports."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_WINDOWS = os.name == "nt"


def own_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where it lies, whether it is there or not; ``None`` where there is no home."""
    if named := _named(environment):
        return Path(named, "promptdbg")
    if _WINDOWS and (roaming := environment.get("APPDATA")):
        return Path(roaming, "promptdbg")
    if home := environment.get("HOME") or environment.get("USERPROFILE"):
        return Path(home, ".config", "promptdbg")
    return None


def make_own_folder(folder: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Make it, for the user alone, and a ``.config`` around it in a home that has none. A folder that
    ``XDG_CONFIG_HOME`` names must be there: a slip in the name must not make folders elsewhere.

    Raises:
        OSError: it cannot be made.
    """
    if not _named(environment):
        with suppress(OSError):
            folder.parent.mkdir(0o700)
    folder.mkdir(0o700, exist_ok=True)


def _named(environment: Mapping[str, str]) -> str:
    named = environment.get("XDG_CONFIG_HOME", "")
    return named if os.path.isabs(named) else ""  # a relative one is to be passed over, as XDG has it
