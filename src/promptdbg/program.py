"""For Python programs that want to see their own prompt: ``promptdbg.inspect(assembly)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.model import Assembly


def inspect(prompt: Assembly | Mapping[str, Any] | Any) -> int:
    """Open the terminal UI on a prompt, or print its table where there is no terminal.

    Args:
        prompt: the list of messages that is given to the provider, or the whole request as a
            dictionary; a trace as the dictionary that ``docs/trace-format.md`` describes; an
            ``Assembly``; or anything with an ``assembly()`` that returns one (the builders of
            ``promptdbg.engines`` have it).

    Returns:
        The exit code of the UI; 0 where it was printed.

    Raises:
        InputError: the list or dictionary is neither.
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
    if isinstance(prompt, (Mapping, list, tuple)):
        from promptdbg.export.opening import document_assembly

        return document_assembly(_plain(prompt), None)
    made = getattr(prompt, "assembly", None)
    found = made() if callable(made) else made
    if isinstance(found, Assembly):
        return found
    name = type(prompt).__name__
    raise TypeError(
        f"cannot inspect {name}: a list of messages, a request, a trace (docs/trace-format.md), an Assembly "
        "or a builder of one is due"
    )


def _plain(value: Any) -> Any:
    """Lists and dictionaries as JSON has them. An answer that was appended to a list of messages is an
    object of the provider's library; those can give themselves as a dictionary."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    dump = getattr(value, "model_dump", None)
    return _plain(dump(exclude_none=True)) if callable(dump) else value
