"""What the child may not do: write outside its own folder, open a connection, start a program.

An audit hook, because it sees every such call whichever function makes it and cannot be removed.
Reading is not restricted.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NETWORK = frozenset(
    {
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyaddr",
        "socket.gethostbyname",
        "socket.sendmsg",
        "socket.sendto",
    }
)
_PROGRAMS = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
# Event -> which of its arguments are paths it changes, and where a descriptor of the folder they
# are relative to stands (None: it takes none). The target of a symbolic link is only a text.
_CHANGES: dict[str, tuple[tuple[int, ...], int | None]] = {
    "os.chmod": ((0,), 2),
    "os.chown": ((0,), 3),
    "os.link": ((0, 1), 2),
    "os.mkdir": ((0,), 2),
    "os.remove": ((0,), 1),
    "os.removexattr": ((0,), None),
    "os.rename": ((0, 1), 2),
    "os.rmdir": ((0,), 1),
    "os.setxattr": ((0,), None),
    "os.symlink": ((1,), 2),
    "os.truncate": ((0,), None),
    "os.utime": ((0,), 3),
}

# Taken before anything replaces them: the guard looks at real paths.
_realpath, _readlink, _fspath, _fsdecode = os.path.realpath, os.readlink, os.fspath, os.fsdecode


class Refused(PermissionError):
    """The run tried something that verifying never needs."""


def install(root: str) -> None:
    """From now on only paths below ``root`` can be changed, and nothing can leave the machine."""
    inside = _realpath(root)

    def allowed(path: Any, folder: Any) -> bool:
        if isinstance(path, int):
            return True  # a descriptor that was opened under this guard
        text = _fsdecode(_fspath(path))
        if isinstance(folder, int) and folder >= 0 and not os.path.isabs(text):
            text = os.path.join(_folder_of(folder), text)
        # The last part itself is not followed: it may not exist yet, or be a link to be removed.
        real = os.path.join(_realpath(os.path.dirname(text) or "."), os.path.basename(text))
        return real == inside or real.startswith(inside + os.sep) or real == os.devnull

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITE and not allowed(path, None):
                raise Refused(f"write outside the copy: {path}")
        elif event in _CHANGES:
            paths, at = _CHANGES[event]
            folder = arguments[at] if at is not None and at < len(arguments) else None
            for path in (arguments[index] for index in paths):
                if not allowed(path, folder):
                    raise Refused(f"{event} outside the copy: {path}")
        elif event in _NETWORK:
            raise Refused(f"no network while verifying ({event})")
        elif event in _PROGRAMS:
            raise Refused(f"no other program while verifying ({event})")

    sys.addaudithook(hook)


def _folder_of(descriptor: int) -> str:
    try:
        if sys.platform == "darwin":
            from fcntl import F_GETPATH, fcntl

            return _fsdecode(fcntl(descriptor, F_GETPATH, bytes(1024)).rstrip(b"\0"))
        else:
            return _readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return os.sep  # cannot be told on this system: refused, unless the root is the whole disk
