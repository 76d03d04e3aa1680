"""Writing an export: whole or not at all, readable by its owner only, never over another file
unless that was asked for. And the salt that makes hashes comparable on one machine.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from promptdbg.errors import InputError, UsageError
from promptdbg.files.disk import is_folder, read_file

_SALT_BYTES = 32


def write_atomically(path: Path, data: bytes, *, force: bool = False, private: bool = True) -> None:
    """Write a file by way of a temporary one beside it; the old file stays until the new one is whole.

    Args:
        force: replace an existing file.
        private: mode 0600, for anything that holds text.

    Raises:
        UsageError: the file exists and ``force`` is not set, or it is a folder or a device.
        InputError: the folder does not exist or cannot be written, or the disk is full.
    """
    if is_folder(path):
        raise UsageError("is a folder; name a file", where=str(path))
    if path.exists() and not path.is_file():
        # Replacing the name of a device or a pipe would take it away from everybody.
        raise UsageError("is a device, pipe or socket; name a file, or - for the output", where=str(path))
    if os.path.lexists(path) and not force:
        raise UsageError("exists already", where=str(path), hint="--force replaces it")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        raise InputError(f"was not written: {error.strerror}", where=str(path)) from error
    finally:
        with suppress(OSError):  # gone already when all went well
            os.unlink(name)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def machine_salt(folder: Path | None = None) -> bytes:
    """The salt of this machine and user, made on first use; a fresh one where it cannot be kept.

    Args:
        folder: where it is kept; the user's configuration folder by default.
    """
    if folder is None:
        from platformdirs import user_config_path

        folder = user_config_path("promptdbg", appauthor=False)
    path = folder / "salt"
    kept = read_file(path, limit=_SALT_BYTES)
    if kept.data is not None and len(kept.data) == _SALT_BYTES:
        return kept.data
    salt = secrets.token_bytes(_SALT_BYTES)
    with suppress(InputError, UsageError, OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, salt, force=True)
    return salt
