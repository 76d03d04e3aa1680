"""Write an export to share. --level structure (the default) holds no text and no names but
well-known ones; redacted holds the texts, in which keys, passwords, addresses and numbers of known
shape and the names of this user and machine are replaced, while other names and facts in plain words
stay; full holds everything. Says what was hidden before it writes.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from promptdbg.commands import options
from promptdbg.export import FORMATS
from promptdbg.text import plural, safe

if TYPE_CHECKING:
    from promptdbg.debug import Debugger
    from promptdbg.export.levels import Export


_CAUTIONS = {
    "redacted": "secrets are known by their shape; names and facts in plain words stay: look it over before "
    "you share it ([redact] in promptdbg.toml adds patterns)",
    "full": "this file holds every text of the prompt; share it with care",
}


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="where to write; - for the output"
    )
    parser.add_argument("--format", choices=FORMATS, help="default: by FILE's ending, else json")
    parser.add_argument(
        "--level", choices=("structure", "redacted", "full"), default="structure", help="default: structure"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be hidden")


def run(arguments: argparse.Namespace) -> int:
    from promptdbg.commands.picture import svg
    from promptdbg.export.formats import rendered
    from promptdbg.export.write import write_atomically

    form = arguments.format or _form_of(arguments.output)
    debugger = options.debugger(arguments)
    made = make(debugger, arguments.level)
    print(f"promptdbg: {made.report()}", file=sys.stderr)
    for doubt in made.doubts:
        print(f"promptdbg: not judged: {doubt}", file=sys.stderr)
    if arguments.level in _CAUTIONS:
        print(f"promptdbg: {_CAUTIONS[arguments.level]}", file=sys.stderr)
    if arguments.dry_run:
        return 0
    data = rendered(made, form, svg)
    written = data.encode("utf-8", "replace")
    if arguments.output == "-":
        _put_out(written)
    else:
        path = Path(arguments.output)
        write_atomically(path, written, force=arguments.force, private=arguments.level != "structure")
        print(f"promptdbg: wrote {path} ({plural(len(data), 'character')})", file=sys.stderr)
    return 0


def _put_out(data: bytes) -> None:
    """UTF-8, as in a file, whatever the terminal's encoding is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    else:  # a program that calls us has put a text stream there
        sys.stdout.write(data.decode())


def _form_of(output: str) -> str:
    ending = Path(output).suffix.lower().lstrip(".")
    return (
        {"markdown": "md", "htm": "html"}.get(ending, ending)
        if ending in (*FORMATS, "markdown", "htm")
        else "json"
    )


def make(debugger: Debugger, level: str) -> Export:
    """The export of what is open, with a progress line on a terminal's stderr."""
    from promptdbg.export.formats import rules_of
    from promptdbg.export.levels import LEVELS, characters, export
    from promptdbg.export.write import machine_salt

    chosen = LEVELS[LEVELS.index(level)]
    rules = rules_of(debugger.opened)
    total = characters(debugger.assembly) if level == "redacted" and sys.stderr.isatty() else 0

    def progress(done: int) -> None:
        if total:
            sys.stderr.write(f"\rlooking for secrets: {min(done / total, 1):.0%}\r")

    if chosen != "structure":
        return export(debugger.assembly, chosen, b"", rules, progress)
    salt = machine_salt()
    if salt.doubt:
        print(f"promptdbg: {safe(salt.doubt, lines=False)}", file=sys.stderr)
    return export(debugger.assembly, chosen, salt.value, rules, progress)
