"""The formats of an export, and what a workspace says about hiding."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from promptdbg.debug import Opened
from promptdbg.errors import UsageError
from promptdbg.export import FORMATS
from promptdbg.export.levels import Export
from promptdbg.export.redact import Rules, machine_words, rules_from
from promptdbg.model import Assembly
from promptdbg.paths import is_windows


def rules_of(opened: Opened) -> Rules:
    """What the redacted level hides of a workspace beyond the default: its ``[redact]`` table, and
    the names of this user, this machine and their folders.

    Raises:
        InputError: the table is not of the form.
    """
    workspace = opened.workspace
    words = {**machine_words(), **_spellings(str(workspace.path), "workspace")}
    home = os.path.expanduser("~")
    if home != "~":  # a user that the machine does not know, with no HOME
        words |= _spellings(home, "home")
    return rules_from(workspace.options, workspace.source, words)


def _spellings(path: str, kind: str) -> dict[str, str]:
    """A path as texts may spell it: on Windows also with ``/``, and with JSON's doubled backslashes."""
    forms = (path, path.replace("\\", "/"), path.replace("\\", "\\\\")) if is_windows(path) else (path,)
    return dict.fromkeys(forms, kind)


def rendered(made: Export, form: str, svg: Callable[[Assembly], str]) -> str:
    """An export in a format, as text.

    Args:
        svg: draws the picture; drawing is the shell's, not the export's.

    Raises:
        UsageError: there is no such format.
    """
    if form == "json":
        return json.dumps(made.document, ensure_ascii=False, indent=1) + "\n"
    if form == "md":
        from promptdbg.export.markdown import markdown

        return markdown(made.document, made.report())
    if form not in FORMATS:
        raise UsageError(f"unknown format {form!r}", where="--format")
    assembly = made.assembly
    if assembly is None:
        from promptdbg.export.load import assembly_from

        assembly = assembly_from(made.document)
    if form == "html":
        from promptdbg.export.html import html

        return html(assembly, made.report())
    return svg(assembly)
