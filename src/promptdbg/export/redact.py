"""Texts made fit to share: every secret and personal datum replaced by a typed, stable placeholder
(``‹api-key-2›``), the same value by the same placeholder wherever it stands.

Two passes: the first finds secrets by shape in all texts; the second replaces them, and every other
place where one of their values stands, also where no shape would know it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import regex

from promptdbg.errors import InputError
from promptdbg.export.secrets import Found, Shape, base64_runs, find
from promptdbg.export.shapes import default_shapes
from promptdbg.export.views import views
from promptdbg.model import Json, Span
from promptdbg.workspace import MANIFEST_NAME

_REPEAT_MIN = 6
"""Characters below which a value is not looked for elsewhere: ``admin`` is also a word."""

_WORDS_ONLY = frozenset({"user", "host"})
"""Kinds whose values are looked for as whole words: a name may be part of one."""


_PATTERN_SECONDS = 2.0


class Bounded:
    """A regular expression of a user's, which must not be able to hang the program."""

    def __init__(self, pattern: str) -> None:
        self._pattern = regex.compile(pattern)
        self.groups: int = self._pattern.groups

    def finditer(self, text: str, start: int, end: int) -> Iterator[re.Match[str]]:
        """
        Raises:
            InputError: it takes too long on this text.
        """
        try:
            yield from self._pattern.finditer(text, start, end, timeout=_PATTERN_SECONDS)
        except TimeoutError as error:
            raise InputError(
                f"the pattern {self._pattern.pattern!r} takes too long", where="[redact.patterns]"
            ) from error


@dataclass(frozen=True, slots=True)
class Rules:
    """What is hidden beyond the default shapes, and what never is.

    ``own`` are patterns by kind; ``words`` are literal values by kind (the user's name, the
    machine's name); ``allow`` are values that stay.
    """

    own: Mapping[str, Bounded] = field(default_factory=lambda: MappingProxyType({}))
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Redacted:
    """A redacted text, and how offsets of the original map into it."""

    text: str
    _edges: tuple[tuple[int, int, int], ...] = ()

    def offset(self, original: int) -> int:
        """Where an offset of the original stands; inside a placeholder, at the placeholder's end."""
        moved = 0
        for start, end, length in self._edges:
            if original <= start:
                break
            if original < end:
                return start + moved + length
            moved += length - (end - start)
        return original + moved

    def spans(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Spans of the original, in the redacted text."""
        moved = (Span(self.offset(s.start), self.offset(s.end), s.kept) for s in spans)
        return tuple(span for span in moved if span.end > span.start)


class Redactor:
    """Finds the secrets of a set of texts, and redacts any text by what was found.

    Args:
        texts: every text of the export; what is found in one is hidden in all.
        rules: what else to hide, and what never.
        progress: told the characters done so far, after each text.
    """

    def __init__(
        self,
        texts: Iterable[str],
        rules: Rules | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._rules = rules or Rules()
        self._shapes: Sequence[Shape] = (
            *default_shapes(),
            *(Shape(kind, pattern) for kind, pattern in self._rules.own.items()),
        )
        self._names: dict[str, str] = {}  # value -> placeholder
        self._numbers: Counter[str] = Counter()
        self._used: set[str] = set()
        for value, kind in self._rules.words.items():
            self._name(value, kind)
        self._found: dict[str, list[Found]] = {}  # texts without any are searched once, too
        done = 0
        for text in dict.fromkeys(texts):
            for found in self._search(text):
                self._name(found.value, found.kind)
            done += len(text)
            progress(done)
        self._known = _Known(self._names)
        self._cache: dict[str, Redacted] = {}

    def _search(self, text: str) -> list[Found]:
        if text not in self._found:
            found = find(text, self._shapes)
            self._found[text] = [entry for entry in found if entry.value not in self._rules.allow]
        return self._found[text]

    @property
    def kinds(self) -> dict[str, int]:
        """How many different values were hidden so far, by kind."""
        return dict(sorted(Counter(_kind(name) for name in self._used).items()))

    def _name(self, value: str, kind: str) -> str:
        if value not in self._names:
            self._numbers[kind] += 1
            self._names[value] = f"‹{kind}-{self._numbers[kind]}›"
        return self._names[value]

    def redact(self, text: str) -> Redacted:
        """The text without any secret."""
        known = self._cache.get(text)
        if known is None:
            known = self._cache[text] = self._redacted(text)
        return known

    def _redacted(self, text: str) -> Redacted:
        found = [(f.start, f.end, self._name(f.value, f.kind)) for f in self._search(text)]
        found += self._known.places(text)
        pieces: list[str] = []
        edges: list[tuple[int, int, int]] = []
        at = 0
        for start, end, name in _joined(found):
            pieces += (text[at:start], name)
            edges.append((start, end, len(name)))
            self._used.add(name)
            at = end
        pieces.append(text[at:])
        return Redacted("".join(pieces), tuple(edges))

    def json(self, value: Json) -> Json:
        """A JSON value with every text in it redacted, keys included."""
        if isinstance(value, str):
            return self.redact(value).text
        if isinstance(value, dict):
            return {self.redact(str(key)).text: self.json(entry) for key, entry in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.json(entry) for entry in value]
        return value


_PERSONAL = ("‹e-mail-", "‹phone-", "‹ip-", "‹user-", "‹host-")


def _joined(found: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Overlapping stretches as one, under the name of the longest; a secret's before a person's
    (``name:password@host`` also looks like an address)."""

    def weight(entry: tuple[int, int, str]) -> tuple[bool, int]:
        return not entry[2].startswith(_PERSONAL), entry[1] - entry[0]

    group: list[tuple[int, int, str]] = []
    reach = 0
    for entry in sorted(found, key=lambda entry: (entry[0], -entry[1])):
        if group and entry[0] >= reach:
            yield group[0][0], reach, max(group, key=weight)[2]
            group = []
        group.append(entry)
        reach = max(reach if len(group) > 1 else 0, entry[1])
    if group:
        yield group[0][0], reach, max(group, key=weight)[2]


class _Known:
    """Values that were found somewhere, to be found everywhere."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        plain = [v for v, name in names.items() if len(v) >= _REPEAT_MIN and _kind(name) not in _WORDS_ONLY]
        words = [v for v, name in names.items() if len(v) >= 3 and _kind(name) in _WORDS_ONLY]
        patterns = [_trie_pattern(plain)] if plain else []
        patterns += [rf"(?<!\w)(?:{_trie_pattern(words)})(?!\w)"] if words else []
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where known values stand, in any reading of the text or in a base64 run of it."""
        if self._pattern is None:
            return
        for view in views(text):
            for match in self._pattern.finditer(view.text):
                yield (*view.span(match.start(), match.end()), self._names[match[0]])
        for start, end, decoded in base64_runs(text):
            inside = self._pattern.search(decoded)
            if inside is not None:
                yield start, end, self._names[inside[0]]


def _kind(name: str) -> str:
    """The kind that a placeholder names."""
    return name.strip("‹›").rpartition("-")[0]


_TRIE_DEPTH = 6


def _trie_pattern(values: Sequence[str], depth: int = _TRIE_DEPTH) -> str:
    """A pattern for many literals, the longest first. Common beginnings are written once, so that a
    text is run through once whatever their number; only the first ``depth`` characters branch, so
    that no set of values can nest it deeply."""
    if depth == 0 or len(values) == 1:
        return "(?:" + "|".join(re.escape(v) for v in sorted(values, key=len, reverse=True)) + ")"
    branches: dict[str, list[str]] = {}
    for value in values:
        branches.setdefault(value[:1], []).append(value[1:])
    ends = branches.pop("", None)
    written = [re.escape(char) + _trie_pattern(rest, depth - 1) for char, rest in branches.items()]
    return "(?:" + "|".join(written) + ")" + ("?" if ends else "")


def rules_from(
    options: Mapping[str, Json],
    place: Callable[..., object] = lambda *keys: MANIFEST_NAME,
    words: Mapping[str, str] | None = None,
) -> Rules:
    """The rules of a manifest's ``[redact]`` table: ``patterns`` by kind, ``allow`` a list.

    Args:
        place: where a key of the manifest stands, for errors.
        words: names of this user and machine to hide, by value.

    Raises:
        InputError: a pattern is not a regular expression, or a value is of the wrong kind.
    """
    table = options.get("redact", {})
    if not isinstance(table, dict):
        raise InputError("[redact] must be a table", where=str(place("redact")))
    patterns = table.get("patterns", {})
    allow = table.get("allow", [])
    if not isinstance(patterns, dict) or not all(isinstance(p, str) for p in patterns.values()):
        raise InputError(
            "[redact.patterns] must map a kind to a regular expression",
            where=str(place("redact", "patterns")),
        )
    if not isinstance(allow, list) or not all(isinstance(value, str) for value in allow):
        raise InputError("redact.allow must be a list of texts", where=str(place("redact", "allow")))
    own: dict[str, Bounded] = {}
    for kind, pattern in patterns.items():
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", kind):
            where = str(place("redact", "patterns", kind))
            raise InputError(f"redact.patterns.{kind}: a kind is a word in lower case", where=where)
        try:
            own[kind] = Bounded(pattern)
        except regex.error as error:
            where = str(place("redact", "patterns", kind))
            what = f"redact.patterns.{kind} is not a regular expression: {error}"
            raise InputError(what, where=where) from error
    return Rules(own=own, words=words or {}, allow=frozenset(allow))


def machine_words() -> dict[str, str]:
    """The user's and the machine's name, which paths and logs are full of, by value."""
    import getpass
    import socket

    found: dict[str, str] = {}
    for read, kind in ((getpass.getuser, "user"), (socket.gethostname, "host")):
        try:
            value = read()
        except (OSError, KeyError, ImportError):
            continue
        if len(value) >= 3 and value not in ("root", "user", "localhost", "runner"):
            found[value] = kind
    return found
