"""Run the benchmarks and print them as a Markdown table.

python -m tests.bench [--write] [GROUP]...   (the names in GROUPS)

``--write`` keeps the figures of all groups for the documentation; ``make docs`` puts them there.
"""

from __future__ import annotations

import sys

from tests.bench import analysis, core, items, loading, programs, tables, ui
from tests.bench.report import Row, machine, save, shown

GROUPS = {
    "loading": loading.loading,  # first: it builds the tokenizers, which is done once
    "counting": core.counting,
    "frame": programs.first_frame,
    "tables": tables.beside_a_table,
    "using": ui.using,
    "knob": core.knob,
    "assembling": core.assembling,
    "many": items.many,
    "starting": programs.starting,
    "explaining": analysis.explaining,
    "turning": analysis.turning,
    "aligning": analysis.aligning,
    "redacting": analysis.redacting,
}


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
        for result in GROUPS[name]():
            rows.append(Row(name, result))
            print("| " + " | ".join(shown(result)) + " |", flush=True)
    if write:
        save(rows)
    return 0 if all(row.result.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
