"""Writing an export: whole or not at all, readable by its owner only, never over another file
unless that was asked for. And the salt that makes hashes comparable on one machine.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from promptdbg.errors import InputError, PromptdbgError, UsageError
from promptdbg.files.disk import is_file, is_folder, read_file
from promptdbg.files.own import make_own_folder, own_folder

_SALT_BYTES = 32


def write_atomically(path: Path, data: bytes, *, force: bool = False, private: bool = True) -> None:
    """Write a file by way of a temporary one beside it; the old file stays until the new one is whole.

    Args:
        force: replace an existing file.
        private: mode 0600, for anything that holds text; else a file that is replaced keeps its
            mode. Windows has no modes: there the folder's own rules hold.

    Raises:
        UsageError: the file exists and ``force`` is not set, or it is a folder or a device.
        InputError: the folder does not exist or cannot be written, or the disk is full.
    """
    if is_folder(path):
        raise UsageError("is a folder; name a file", where=str(path))
    if os.path.exists(path) and not is_file(path):
        # Replacing the name of a device or a pipe would take it away from everybody.
        raise UsageError("is a device, pipe or socket; name a file, or - for the output", where=str(path))
    if os.path.lexists(path) and not force:
        raise UsageError("exists already", where=str(path), hint="--force replaces it")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else "is not a possible file name"
        raise InputError(f"cannot be written: {what}", where=str(path)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            os.chmod(name, _mode(path))
        os.replace(name, path)
    except OSError as error:
        raise InputError(f"was not written: {error.strerror}", where=str(path)) from error
    finally:
        with suppress(OSError):  # gone already when all went well
            os.unlink(name)


def _mode(path: Path) -> int:
    """The mode of the file that is replaced, else what this user's new files have."""
    with suppress(OSError):
        return stat.S_IMODE(os.stat(path).st_mode)
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask


@dataclass(frozen=True, slots=True)
class Salt:
    """What hashes are made with; ``doubt`` is one line where it could not be kept."""

    value: bytes
    doubt: str = ""


def _unkept(salt: bytes, why: str) -> Salt:
    return Salt(salt, f"its hashes cannot be compared with those of other exports: {why}")


def machine_salt(folder: Path | None = None) -> Salt:
    """The salt of this machine and user, made on first use; a fresh one where it cannot be kept.

    Args:
        folder: where it is kept; the user's own folder by default.
    """
    folder = folder or own_folder()
    if folder is None:
        return _unkept(secrets.token_bytes(_SALT_BYTES), "there is no home folder to keep their salt in")
    path = folder / "salt"
    kept = read_file(path, limit=_SALT_BYTES)
    if kept.data is not None and len(kept.data) == _SALT_BYTES:
        return Salt(kept.data)
    salt = secrets.token_bytes(_SALT_BYTES)
    try:
        make_own_folder(folder)
        write_atomically(path, salt, force=True)
    except OSError as error:
        return _unkept(salt, f"{folder} cannot be made: {error.strerror}")
    except PromptdbgError as error:
        return _unkept(salt, error.line())
    return Salt(salt)
