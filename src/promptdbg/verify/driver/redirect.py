"""Lets a copy of a folder appear at the place of the original.

nanobot prints absolute paths into the prompt and counts their tokens. Run on a copy in a temporary
folder it would print, count and cut by other paths; so the original's path stays in every string
and only the calls into the file system go to the copy. A call that is not covered here reads the
original, which has the same content, and cannot change it: ``guard`` refuses.
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Sequence
from typing import Any

_ONE = (
    "access",
    "chdir",
    "chmod",
    "listdir",
    "lstat",
    "mkdir",
    "open",
    "readlink",
    "remove",
    "rmdir",
    "scandir",
    "stat",
    "statvfs",
    "truncate",
    "unlink",
    "utime",
)
_TWO = ("link", "rename", "replace", "symlink")

_pairs: list[tuple[str, str]] = []
_installed = False


def place(pairs: Sequence[tuple[str, str]]) -> None:
    """Show each copy at its original's path: ``(original, copy)``, replacing earlier pairs."""
    _install()
    # The longest first: a project may lie inside the workspace.
    _pairs[:] = sorted(pairs, key=lambda pair: -len(pair[0]))


def _real(path: Any) -> Any:
    if isinstance(path, int) or not _pairs:
        return path
    try:
        text = os.fspath(path)
    except TypeError:
        return path
    if not isinstance(text, str):
        return path
    for shown, copy in _pairs:
        if text == shown or text.startswith(shown + os.sep):
            return copy + text[len(shown) :]
    return path


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    for name in _ONE:
        if hasattr(os, name):
            setattr(os, name, _first(getattr(os, name)))
    for name in _TWO:
        if hasattr(os, name):
            setattr(os, name, _both(getattr(os, name)))
    opener = _first(io.open)
    io.open = opener
    builtins.open = opener
    os.listdir = _in_original_order(os.listdir)


def _first(function: Callable[..., Any]) -> Callable[..., Any]:
    def redirected(path: Any = ".", *rest: Any, **named: Any) -> Any:
        if "path" in named:
            named["path"] = _real(named["path"])
            return function(*rest, **named)
        if "file" in named:
            named["file"] = _real(named["file"])
            return function(*rest, **named)
        return function(_real(path), *rest, **named)

    return redirected


def _both(function: Callable[..., Any]) -> Callable[..., Any]:
    def redirected(source: Any, target: Any, *rest: Any, **named: Any) -> Any:
        return function(_real(source), _real(target), *rest, **named)

    return redirected


_plain_listdir = os.listdir


def _in_original_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """Skills are listed in the folder's own order, which a copy need not share."""

    def listed(path: Any = ".") -> Any:
        names = function(path)
        if _real(path) is path:
            return names
        try:
            order = {name: at for at, name in enumerate(_plain_listdir(path))}
        except OSError:
            return names
        return sorted(names, key=lambda name: order.get(name, len(order)))

    return listed
