"""One adapter per framework: how its reference cases are found, run through the engine and compared.

An adapter has ``collect(folder) -> list[Case]`` and ``check(case) -> None`` (which asserts). An
operation or a file form that it does not know is a case that fails, never one that is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """One test: a case file or folder, and which variant of it (dialect, version) is run."""

    id: str
    path: Path
    variant: str = ""
