"""A session file as it stands on disk, before any framework's rules.

Readers in ``sessions`` make these; engines apply their framework's own loading rules to them.
Reading never repairs: a broken line is a record with an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptdbg.model import Json, Notice


@dataclass(frozen=True, slots=True)
class Record:
    """One line (or entry) of a session file. ``error`` is set where it is not JSON.

    ``fatal`` marks an error that is not one of syntax: the parser itself gave up (nesting too
    deep, a number too long), which programs that only expect bad syntax do not catch.
    """

    line: int
    value: Json = None
    error: str = ""
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class SessionRef:
    """A session that was found: enough to list it without reading it whole.

    ``readable`` is false, with a ``reason``, where the framework itself would not read the file
    (an old name after an upgrade, the wrong folder).
    """

    path: str
    format: str
    key: str
    size: int = 0
    modified: float = 0.0
    readable: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session file, read whole. ``problem`` is set where it could not be read as text."""

    ref: SessionRef
    records: tuple[Record, ...] = ()
    problem: Notice | None = None
    sidecar: Json = None
    """What stands beside the session in a file of its own (nanobot 0.3.5's checkpoint)."""
