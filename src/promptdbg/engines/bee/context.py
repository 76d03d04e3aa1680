"""Context files and attachments: what bee reads from disk, by its own rules.

Sources: ``internal/prompt/{context,imports,atexpand}.go``. Nothing here opens a file: everything is
asked of a ``Files``, on disk while loading and in memory while assembling.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from promptdbg.engines.bee.constants import stand_in
from promptdbg.engines.bee.fuzzy import Candidates
from promptdbg.engines.bee.gotext import quote, to_bytes
from promptdbg.files.imports import EXPANDED, Expander, Import, Outcome, Resolution, references
from promptdbg.files.tree import FileEntry, Files, clean
from promptdbg.files.walkup import Candidate
from promptdbg.paths import is_windows

NAMES = ("AGENTS.md", "CLAUDE.md")
"""In the order of preference within one folder."""

MAX_DEPTH = 5
IMPORT_BYTES = 65_536
CONTEXT_BYTES = 8_192
MOST_CANDIDATES = 2_000
PRUNED = frozenset({".git", "node_modules", "vendor", ".bee"})
RUNNERS = 5
"""How many fuzzy matches are kept to show."""

_BEFORE = rb"""(\A|[\t\n\f\r (\[{"'`])@"""
IMPORT = re.compile(_BEFORE + rb"((?:~/|/)?[A-Za-z0-9_./-]+)")
ATTACHMENT = re.compile(_BEFORE + rb"([A-Za-z0-9_./-]+)")


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A context file as the prompt gets it. ``text`` is what is on disk, ``body`` with its imports in
    place; ``key`` is the id of its section below ``context/``."""

    path: str
    body: bytes
    text: bytes = b""
    imports: tuple[Import, ...] = ()
    key: str = ""
    size: int = 0


def is_binary(data: bytes) -> bool:
    """A NUL, or over 30 % control bytes, in the first 4,096 (``atexpand.go::isBinaryBytes``)."""
    head = data[:4096]
    if not head:
        return False
    if b"\0" in head:
        return True
    return len(head.translate(None, _TEXT)) * 100 // len(head) > 30


_TEXT = bytes(byte for byte in range(256) if (byte >= 0x20 and byte != 0x7F) or byte in b"\t\n\r\f\b")


def wrap_import(path: str, nested: bytes) -> bytes:
    """An import element: the path quoted, the content without its trailing newlines."""
    return import_head(path) + nested.rstrip(b"\n") + b"\n</import>"


def import_head(path: str) -> bytes:
    """The opening tag of an import element, line feed included."""
    return b"<import path=" + quote(to_bytes(path)) + b">\n"


@dataclass(frozen=True, slots=True)
class BeeResolver:
    """Finds what an import leads to (``imports.go::resolveImport``).

    Args:
        candidates: the files below a folder, for the fuzzy search.
        home: the user's home folder; ``None`` where there is none, then ``~/`` is a plain name.
        off: import keys switched off.
    """

    files: Files
    candidates: Callable[[str], Candidates]
    home: str | None = None
    fuzzy: bool = True
    off: frozenset[str] = frozenset()

    def resolve(self, folder: str, ref: str, key: str) -> Resolution:
        if key in self.off:
            return Resolution("off")
        target = ref
        if ref.startswith("~/") and self.home is not None:
            target = posixpath.join(self.home, ref[2:])
        absolute = target.startswith("/") or (is_windows(folder) and is_windows(target))
        path = clean(target if absolute else posixpath.join(folder, target))
        entry = self.files.file(path)
        exact = _importable(entry)
        if exact == "exact":
            return Resolution("exact", path, entry.data[:IMPORT_BYTES], entry.data[IMPORT_BYTES:], entry.size)
        missed = Resolution(exact, path, size=entry.size, why=entry.why)
        if absolute or not self.fuzzy:
            return missed
        return self._matched(folder, target, missed)

    def _matched(self, folder: str, needle: str, missed: Resolution) -> Resolution:
        found = self.candidates(folder)
        matches = found.rank(needle)
        runners = tuple((match.path, match.score) for match in matches[:RUNNERS])
        count = len(found.paths)
        if not matches:
            return Resolution(missed.outcome, missed.path, size=missed.size, candidates=count, why=missed.why)
        best = clean(posixpath.join(folder, matches[0].path))
        entry = self.files.file(best)
        outcome = _importable(entry)
        if outcome == "exact":
            data, rest = entry.data[:IMPORT_BYTES], entry.data[IMPORT_BYTES:]
            return Resolution("fuzzy", best, data, rest, entry.size, runners, count)
        return Resolution(outcome, best, b"", b"", entry.size, runners, count, entry.why)


def _importable(entry: FileEntry) -> Outcome:
    if entry.kind == "file":
        return "binary" if is_binary(entry.data) else "exact"
    return {"folder": "folder", "missing": "missing", "unread": "unread"}.get(entry.kind, "refused")  # type: ignore[return-value]


def expander(resolver: BeeResolver, depth: int, edited: Callable[[str, bytes], bytes]) -> Expander:
    """bee's import walk."""
    return Expander(IMPORT, resolver, wrap_import, depth, edited)


def read_imports(resolver: BeeResolver, texts: Iterable[tuple[str, bytes]], depth: int) -> None:
    """Ask ``resolver.files`` for everything that the context files (path, text) can come to import.

    Goes by files, not by the places they are named at, so that whatever is switched off, edited in
    order or made deeper later, its file has been read; files nested deeper than ``depth`` are not.
    """
    seen: set[str] = set()
    pending = deque((path, text, 0) for path, text in texts)
    while pending:
        path, text, level = pending.popleft()
        if path in seen:
            continue
        seen.add(path)
        folder = posixpath.dirname(path)
        for reference in references(text, IMPORT):
            found = resolver.resolve(folder, reference.ref, "")
            if found.outcome in EXPANDED and level < depth:
                pending.append((found.path, found.data, level + 1))


@dataclass(frozen=True, slots=True)
class Passed:
    """A candidate that is not in the prompt: hidden by the file at ``by`` in its folder, not
    readable, or switched off."""

    candidate: Candidate
    key: str = ""
    by: str = ""
    off: bool = False


def choose(candidates: Iterable[Candidate], off: Callable[[str], bool]) -> list[Candidate | Passed]:
    """For each candidate, in order, whether it is taken (``context.go::tryLoad``): the first readable
    one of each folder is. ``off`` says which paths are switched off."""
    chosen: list[Candidate | Passed] = []
    taken: Candidate | None = None
    for candidate in candidates:
        if taken and (taken.folder != candidate.folder or taken.rank >= candidate.rank):
            taken = None
        if off(candidate.path):
            chosen.append(Passed(candidate, off=True))
        elif candidate.entry.kind != "file":
            chosen.append(Passed(candidate))
        elif taken:
            chosen.append(Passed(candidate, by=taken.path))
        else:
            taken = candidate
            chosen.append(candidate)
    return chosen


def context_block(path: str, body: bytes) -> bytes:
    """One context element, its body cut at 8,192 bytes (``context.go::renderContextSection``)."""
    if len(body) > CONTEXT_BYTES:
        body = body[:CONTEXT_BYTES] + b"\n" + stand_in("context.cut")
    return context_head(path) + body + b"\n</context>"


def context_head(path: str) -> bytes:
    return b'<context path="' + to_bytes(path) + b'">\n'


# ---- attachments ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attachment:
    """One ``@path`` of a message: ``output`` in its place; ``outcome`` as for imports, with
    ``refused`` also for a path that leads out of the working folder."""

    ref: str
    start: int
    outcome: Outcome
    output: bytes
    path: str = ""
    size: int = 0
    cut: bool = False
    why: str = ""


def expand_attachments(
    text: bytes, cwd: str, files: Files, off: frozenset[str] = frozenset()
) -> tuple[bytes, tuple[Attachment, ...]]:
    """A user's text with the files it names in place (``atexpand.go::ExpandAtPaths``)."""
    pieces: list[bytes] = []
    made: list[Attachment] = []
    taken = 0
    for reference in references(text, ATTACHMENT):
        attachment = _attachment(reference.ref, reference.start, cwd, files, off)
        pieces += (text[taken : reference.start], attachment.output)
        taken = reference.end
        made.append(attachment)
    return b"".join((*pieces, text[taken:])), tuple(made)


def _attachment(ref: str, start: int, cwd: str, files: Files, off: frozenset[str]) -> Attachment:
    typed = b"@" + to_bytes(ref)
    if ref in off:
        return Attachment(ref, start, "off", typed)
    if ref.startswith("/"):
        return Attachment(ref, start, "refused", typed, why="is an absolute path")
    base = clean(cwd)
    path = clean(posixpath.join(cwd, clean(ref)))
    if path != base and not path.startswith(base + "/"):
        return Attachment(ref, start, "refused", typed, path, why="leads out of the working folder")
    entry = files.file(path)
    outcome = _importable(entry)
    if outcome != "exact":
        return Attachment(ref, start, outcome, typed, path, entry.size, why=entry.why)
    body = entry.data[:IMPORT_BYTES].rstrip(b"\n")
    output = b"### " + typed + b"\n```\n" + body + b"\n```"
    cut = entry.size > IMPORT_BYTES
    if cut:
        output += b"\n" + stand_in("attach.cut")
    return Attachment(ref, start, outcome, output, path, entry.size, cut)


def attached_paths(text: bytes, cwd: str) -> Iterator[str]:
    """The paths that a message's attachments would be read from."""
    for reference in references(text, ATTACHMENT):
        if not reference.ref.startswith("/"):
            yield clean(posixpath.join(cwd, clean(reference.ref)))
