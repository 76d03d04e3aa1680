"""promptdbg: an interactive terminal debugger for LLM prompts.

Nothing is imported here until it is used, so that the commands start fast.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to import than everything here
    from typing import Any

__version__ = "0.1.0"

_LAZY: dict[str, str] = {
    "open_workspace": "promptdbg.debug",
    "Debugger": "promptdbg.debug",
    "Settings": "promptdbg.model",
    "Assembly": "promptdbg.model",
    "inspect": "promptdbg.program",
}

__all__ = ["Assembly", "Debugger", "Settings", "__version__", "inspect", "open_workspace"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
