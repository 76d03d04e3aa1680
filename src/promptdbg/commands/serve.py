"""The terminal UI in a browser, on this machine only (needs the extra "serve"). The page asks for
nothing from elsewhere.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from promptdbg.commands import options
from promptdbg.commands.open import add_screen
from promptdbg.errors import InputError, UsageError

HOST = "127.0.0.1"

# textual-serve's page fetches a web font; the style sheet names ordinary ones behind it.
_OUTSIDE_LINK = re.compile(r"<link\b[^>]*\bhref=\"https?://[^\"]*\"[^>]*>")


_HINT = "pip install textual-serve where promptdbg is installed, or: pipx inject promptdbg textual-serve"


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    add_screen(parser, plain=False)
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="default: 8000")


def run(arguments: argparse.Namespace) -> int:
    try:
        import textual_serve
        from textual_serve.server import Server
    except ImportError as error:
        raise UsageError("textual-serve is not installed", hint=_HINT) from error
    if not 1 <= arguments.port <= 65_535:
        raise UsageError(f"no port {arguments.port}", where="--port")
    # What cannot be opened is said here, not in an empty page.
    options.debugger(arguments)
    with tempfile.TemporaryDirectory(prefix="promptdbg-serve-") as folder:
        source = Path(str(textual_serve.__file__)).parent / "templates"
        templates = local_templates(source, Path(folder))
        server = Server(
            command(sys.argv[1:]), HOST, arguments.port, title="promptdbg", templates_path=templates
        )
        print(f"promptdbg: http://{HOST}:{arguments.port} (ctrl-c ends it)", file=sys.stderr)
        try:
            server.serve()
        except OSError as error:
            raise InputError(
                f"port {arguments.port} cannot be used: {error.strerror}", hint="--port N names another"
            ) from error
    return 0


def local_templates(source: Path, folder: Path) -> Path:
    """The page templates with everything that a browser would fetch from elsewhere taken out."""
    for template in source.glob("*.html"):
        text = template.read_text("utf-8")
        (folder / template.name).write_text(_OUTSIDE_LINK.sub("", text), "utf-8")
    return folder


def command(words: list[str]) -> str:
    """The command line of the UI itself: these words without ``serve`` and its own options."""
    kept: list[str] = []
    skip = False
    for word in words[words.index("serve") + 1 :] if "serve" in words else words:
        if skip:
            skip = False
        elif word == "--port":
            skip = True
        elif not word.startswith("--port="):
            kept.append(word)
    return joined([sys.executable, "-m", "promptdbg", *kept])


def joined(words: list[str], windows: bool = os.name == "nt") -> str:
    """The words as a line for the system's shell, which reads each as it is."""
    if not windows:
        return shlex.join(words)
    # cmd.exe reads these as its own unless they stand in double quotes.
    special = re.compile(r'[\s&<>|^()%!"]')
    return " ".join(
        f'"{word}"' if special.search(word) and '"' not in word else subprocess.list2cmdline([word])
        for word in words
    )
