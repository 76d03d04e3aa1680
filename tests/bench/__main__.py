"""Run the benchmarks and print them as a Markdown table.

python -m tests.bench [GROUP]...   (the names in GROUPS)
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version

from tests.bench import analysis, core, items, programs, ui

GROUPS = {
    "counting": core.counting,
    "frame": programs.first_frame,
    "knob": core.knob,
    "assembling": core.assembling,
    "many": items.many,
    "starting": programs.starting,
    "explaining": analysis.explaining,
    "turning": analysis.turning,
    "aligning": analysis.aligning,
    "redacting": analysis.redacting,
    "using": ui.using,
}


def main(names: list[str]) -> int:
    """Print the chosen groups, all without a name; 1 where a goal is missed."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("textual", "tiktoken"))
    print(f"Python {platform.python_version()}, {packages}, {os.cpu_count()} cores, {platform.machine()}\n")
    print("| measured | figure | goal |")
    print("| --- | --- | --- |")
    missed = 0
    for name in names or GROUPS:
        for result in GROUPS[name]():
            missed += not result.met
            goal = result.goal if result.met else f"**{result.goal}: missed**"
            print(f"| {result.what} | {result.figure} | {goal} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
