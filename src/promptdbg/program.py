"""For Python programs that want to see their own prompt: ``promptdbg.inspect(assembly)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.model import Assembly


def inspect(prompt: Assembly | Mapping[str, Any] | Any) -> int:
    """Open the terminal UI on a prompt, or print its table where there is no terminal.

    Args:
        prompt: an ``Assembly``; anything with an ``assembly()`` that returns one (the builders of
            ``promptdbg.engines`` have it); or a trace as the dictionary that ``docs/trace-format.md``
            describes.

    Returns:
        The exit code of the UI; 0 where it was printed.

    Raises:
        InputError: the dictionary is not a trace.
        TypeError: it is none of these.
    """
    import sys

    from promptdbg.debug import Debugger, opened_assembly

    debugger = Debugger(opened_assembly(as_assembly(prompt)))
    if sys.stdin.isatty() and sys.stdout.isatty():
        from promptdbg.tui.start import run

        return run(lambda: debugger, watch=False)
    from promptdbg.commands.inspect import print_table

    print_table(debugger)
    return 0


def as_assembly(prompt: Assembly | Mapping[str, Any] | Any) -> Assembly:
    """The assembly that ``prompt`` is, has, or describes; see ``inspect``."""
    if isinstance(prompt, Assembly):
        return prompt
    if isinstance(prompt, Mapping):
        from promptdbg.export.load import assembly_from, is_assembly
        from promptdbg.export.trace_format import assembly_from_trace
        from promptdbg.tokens import tokenizer

        document = dict(prompt)
        if is_assembly(document):
            return assembly_from(document)
        return assembly_from_trace(document, tokenizer())
    made = getattr(prompt, "assembly", None)
    found = made() if callable(made) else made
    if isinstance(found, Assembly):
        return found
    name = type(prompt).__name__
    raise TypeError(f"cannot inspect {name}: an Assembly, a builder of one, or a trace is due")
