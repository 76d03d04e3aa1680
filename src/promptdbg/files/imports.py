"""Imports written in a context file (``@path``), expanded in place and recorded one by one.

How a reference is written, found and wrapped differs between agents: an engine brings a pattern, a
resolver and a wrapper. The walk is the same: depth first, in reading order, every path at most once
per context file, down to a depth. Works on bytes, because agents cut by bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Outcome: TypeAlias = Literal[
    "exact", "fuzzy", "visited", "depth", "missing", "binary", "folder", "refused", "off", "unread"
]
"""How a reference ended. ``exact`` and ``fuzzy`` were expanded; all others stay as typed."""

EXPANDED: frozenset[Outcome] = frozenset({"exact", "fuzzy"})


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference as typed: ``ref`` without the ``@``; offsets are bytes of the text around it."""

    ref: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a reference leads.

    ``path`` and ``data`` are set when something can be imported; ``rest`` is what was read of the file
    beyond the most that is imported, and ``size`` the file's size on disk. ``outcome`` is how it was
    found, or why not. ``runners`` are the best fuzzy matches, best first, as (path, score);
    ``candidates`` is how many files were compared.
    """

    outcome: Outcome
    path: str = ""
    data: bytes = b""
    rest: bytes = b""
    size: int = 0
    runners: tuple[tuple[str, int], ...] = ()
    candidates: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """One reference of a context file, and what became of it.

    ``key`` names it for good: the keys of those around it and the reference as typed, numbered when
    the same text refers to the same thing again. ``output`` is what stands in its place and ``at``
    where that begins in the expanded text around it, in bytes. ``depth`` counts from 1.
    """

    key: str
    reference: Reference
    resolution: Resolution
    outcome: Outcome
    depth: int
    output: bytes
    at: int
    text: bytes = b""
    children: tuple[Import, ...] = ()

    @property
    def expanded(self) -> bool:
        return self.outcome in EXPANDED


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text with its imports in place."""

    body: bytes
    imports: tuple[Import, ...] = ()


class Resolver(Protocol):
    """Finds what a reference of a file in ``folder`` leads to; ``key`` as in ``Import``."""

    def resolve(self, folder: str, ref: str, key: str) -> Resolution: ...


@dataclass(slots=True)
class Expander:
    """Expands the imports of one context file.

    Args:
        pattern: finds references in bytes; group 1 is the character before, which stays, and
            group 2 the reference without its ``@``.
        wrap: the text in place of a reference, from the path and the expanded content.
        max_depth: imports nested deeper stay as typed.
        edited: a file's content, which a what-if may replace, from its key and what was read.
    """

    pattern: re.Pattern[bytes]
    resolver: Resolver
    wrap: Callable[[str, bytes], bytes]
    max_depth: int
    edited: Callable[[str, bytes], bytes]

    def expand(self, path: str, folder: str, text: bytes) -> Expansion:
        """The text of the context file at ``path`` with everything imported in place."""
        return self._expand(text, folder, {path}, 0, "")

    def _expand(self, text: bytes, folder: str, visited: set[str], depth: int, above: str) -> Expansion:
        pieces: list[bytes] = []
        imports: list[Import] = []
        seen: dict[str, int] = {}
        taken, length = 0, 0
        for reference in references(text, self.pattern):
            pieces.append(text[taken : reference.start])
            length += reference.start - taken
            taken = reference.end
            number = seen[reference.ref] = seen.get(reference.ref, 0) + 1
            key = f"{above}/@{reference.ref}" + (f"#{number}" if number > 1 else "")
            made = self._import(reference, text, folder, visited, depth, key, length)
            imports.append(made)
            pieces.append(made.output)
            length += len(made.output)
        pieces.append(text[taken:])
        return Expansion(b"".join(pieces), tuple(imports))

    def _import(
        self,
        reference: Reference,
        text: bytes,
        folder: str,
        visited: set[str],
        depth: int,
        key: str,
        at: int,
    ) -> Import:
        found = self.resolver.resolve(folder, reference.ref, key)
        outcome = found.outcome
        if outcome in EXPANDED:
            if depth >= self.max_depth:
                outcome = "depth"
            elif found.path in visited:
                outcome = "visited"
        typed = text[reference.start : reference.end]
        if outcome not in EXPANDED:
            return Import(key, reference, found, outcome, depth + 1, typed, at, typed)
        visited.add(found.path)
        content = self.edited(key, found.data)
        nested = self._expand(content, found.path.rpartition("/")[0] or "/", visited, depth + 1, key)
        output = self.wrap(found.path, nested.body)
        return Import(key, reference, found, outcome, depth + 1, output, at, content, nested.imports)


def references(text: bytes, pattern: re.Pattern[bytes]) -> Iterator[Reference]:
    """The references in a text, in order."""
    if b"@" not in text:
        return
    for match in pattern.finditer(text):
        yield Reference(match[2].decode("ascii", "surrogateescape"), match.end(1), match.end(2))


def source_offset(length: int, imports: Sequence[Import], at: int) -> int:
    """Where byte ``at`` of an expanded text comes from in the text as typed, of that length.

    Inside an import it is the beginning of the reference.
    """
    shift = 0
    for made in imports:
        end = made.at + len(made.output)
        if at <= made.at:
            break
        if at < end:
            return made.reference.start
        shift = end - made.reference.end
    return min(at - shift, length)
