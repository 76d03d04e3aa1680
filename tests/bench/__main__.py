"""Run the benchmarks and print them as a Markdown table.

python -m tests.bench [--write] [GROUP]...   (the names in GROUPS)

``--write`` keeps the figures of all groups for the documentation; ``make docs`` puts them there.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.bench.groups import GROUPS, run
from tests.bench.measuring import Result
from tests.bench.report import Row, machine, save, shown


def _measured(name: str) -> list[Result]:
    """A group in a process of its own, so that what one leaves behind slows no other down."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(run, name).result()


def main(words: list[str]) -> int:
    """Print the chosen groups, all without a name; 1 where a goal is missed, 2 where a word is unknown."""
    write = "--write" in words
    names = [word for word in words if word != "--write"]
    if (unknown := set(names) - set(GROUPS)) or (write and names):
        said = (
            f"no group {', '.join(sorted(unknown))}" if unknown else "--write keeps all groups, so name none"
        )
        print(f"{said}; the groups: {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    print(f"{machine()}\n\n| measured | figure | goal |\n| --- | --- | --- |")
    rows = []
    for name in names or GROUPS:
        for result in _measured(name):
            rows.append(Row(name, result))
            print("| " + " | ".join(shown(result)) + " |", flush=True)
    if write:
        save(rows)
    return 0 if all(row.result.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
