"""The groups of benchmarks by their names."""

from __future__ import annotations

from tests.bench import analysis, core, items, loading, programs, tables, ui
from tests.bench.measuring import Result

GROUPS = {
    "counting": core.counting,
    "frame": programs.first_frame,
    "tables": tables.beside_a_table,
    "using": ui.using,
    "loading": loading.loading,
    "knob": core.knob,
    "assembling": core.assembling,
    "many": items.many,
    "importing": items.importing,
    "starting": programs.starting,
    "explaining": analysis.explaining,
    "turning": analysis.turning,
    "aligning": analysis.aligning,
    "comparing": analysis.comparing,
    "redacting": analysis.redacting,
}


def run(name: str) -> list[Result]:
    """Measure a group, all of it."""
    return list(GROUPS[name]())
