"""The folder of knowledge records on disk: which one it is, and what is in it.

Sources: ``internal/knowledge/{paths,scan}.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from promptdbg.engines.bee.knowledge import Record, is_record_name, read_record, slug
from promptdbg.files.disk import is_folder, read_file, scan
from promptdbg.model import Json, Notice, Source
from promptdbg.times import file_time

_RECORD_BYTES = 4 * 1024 * 1024
_MOST_FILES = 20_000


def store_folder(bee_home: Path, git_root: str) -> Path:
    """The folder bee reads records from (``paths.go::StoreDir``).

    Inside a repository it is one of the repository's own; as a last resort, where bee would find
    nothing, the one of no repository is taken, because a bundled workspace has no other.
    """
    own: tuple[Path, ...] = ()
    if git_root:
        own = (bee_home / "store" / slug(git_root), bee_home / "projects" / slug(git_root) / "memory")
    common = bee_home / "store"
    for folder in (*own, common, bee_home / "memory"):
        if is_folder(folder):
            return folder
    return own[0] if own else common


def read_store(
    folder: Path, times: Mapping[str, datetime] = MappingProxyType({})
) -> tuple[tuple[Record, ...], list[Notice]]:
    """Every record of a folder by name, and what could not be read as bee's.

    ``times`` stands in for the files' own times of modification.
    """
    notices: list[Notice] = []
    names = sorted(
        entry.name
        for entry in scan(folder)
        if is_record_name(entry.name) and not entry.is_dir(follow_symlinks=False)
    )
    if len(names) > _MOST_FILES:
        text = f"holds {len(names):,} records; {_MOST_FILES:,} are read"
        notices.append(Notice("bee.limit", text, Source(str(folder))))
    records: list[Record] = []
    for name in names[:_MOST_FILES]:
        path = folder / name
        read = read_file(path, limit=_RECORD_BYTES, cut=True)
        if read.data is None:
            problem = read.problem.message if read.problem else "cannot be read"
            notices.append(Notice("bee.unreadable", problem, Source(str(path))))
            continue
        modified = times.get(name) or file_time(read.modified)
        record, notice = read_record(str(path), read.data, modified)
        records.append(record)
        if notice:
            notices.append(notice)
    return tuple(records), notices


def record_times(table: Json) -> Mapping[str, datetime]:
    """The manifest's ``[modified]``: times by file name.

    Raises:
        ValueError: it is not a table of times; its text is the name of the one that is none.
    """
    if table is None:
        return {}
    if not isinstance(table, dict):
        raise ValueError("")
    times: dict[str, datetime] = {}
    for name, value in table.items():
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise ValueError(name) from None
        times[name] = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return times
