"""Speaks with promptdbg: one JSON document a line, in on stdin, out on stdout.

Greeting: ``{"protocol", "version", "dialect", "runtime", "system", "package"}``, or ``{"error"}`` and
the end. ``dialect`` is which of the known shapes the program has, ``package`` the folder it was
imported from, ``runtime`` and ``system`` how the program names the machine in its prompt.
Then one answer for each request, in order. A request is what ``verify.request`` makes; an answer is
``turn.run``'s report, or ``{"error": text}`` for a request the driver itself could not serve.

All messages in an answer are JSON texts inside the JSON, as nanobot's lists were at that moment.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from typing import Any

from . import PROTOCOL, guard


def main(root: str) -> None:
    # nanobot and what it uses may print; the answers must stay alone on their stream.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii", newline="\n")
    sys.stdout = sys.stderr

    def say(document: dict[str, Any]) -> None:
        out.write(json.dumps(document, default=str) + "\n")
        out.flush()

    guard.install(root)
    os.chdir(root)
    try:
        from . import turn
        from .framework import Framework

        framework = Framework()
    except ModuleNotFoundError as error:
        # importlib.metadata's error is of this class too, and names the distribution.
        if error.name in ("nanobot", "nanobot-ai"):
            say({"error": "nanobot is not installed there"})
        else:
            say({"error": f"nanobot cannot be used here: {error}"})
        return
    except Exception as error:
        say({"error": f"nanobot cannot be used here: {type(error).__name__}: {error}"})
        traceback.print_exc()
        return
    say(
        {
            "protocol": PROTOCOL,
            "version": framework.version,
            "dialect": framework.dialect,
            "runtime": _runtime(),
            "system": platform.system(),
            "package": framework.package,
        }
    )
    for line in sys.stdin:
        try:
            say(turn.run(framework, json.loads(line)))
        except Exception as error:
            traceback.print_exc()
            say({"error": f"{type(error).__name__}: {error}"})


def _runtime() -> str:
    """As ``agent/context.py::_get_identity`` puts it."""
    system = platform.system()
    name = "macOS" if system == "Darwin" else system
    return f"{name} {platform.machine()}, Python {platform.python_version()}"
