"""The figures as they were last kept, with the machine they were taken on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tests.bench.measuring import Result

KEPT = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class Row:
    """A result, and the group of benchmarks it is of."""

    group: str
    result: Result


def machine() -> str:
    """What the figures were taken on, in one line."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("textual", "tiktoken"))
    cores = f"{os.cpu_count()} cores of {_processor()}"
    return f"{cores}, {platform.system()}, Python {platform.python_version()}, {packages}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def shown(result: Result) -> tuple[str, str, str]:
    """The cells of a row."""
    return result.what, result.figure, result.goal if result.met else f"**{result.goal}: missed**"


def save(rows: Iterable[Row]) -> None:
    """Keep the figures."""
    kept = {
        "machine": machine(),
        "date": date.today().isoformat(),
        "rows": [{"group": row.group, **asdict(row.result)} for row in rows],
    }
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def kept() -> tuple[str, str, tuple[Row, ...]]:
    """The machine, the day and the figures that were kept last."""
    stored = json.loads(KEPT.read_text(encoding="utf-8"))
    rows = tuple(Row(row.pop("group"), Result(**row)) for row in stored["rows"])
    return stored["machine"], stored["date"], rows
