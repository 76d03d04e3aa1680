"""bee's knowledge records: reading their headers, choosing them, telling their age.

Sources: ``internal/knowledge/{scan,query,age,paths}.go`` at 187d9d32.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

from promptdbg.files.frontmatter import FrontMatterError, Scalar, parse
from promptdbg.model import Json, Notice, Source

DEFAULT_PRIORITY = 3
MOST_RECORDS = 200
MOST_RESULTS = 5
HEADER_LINES = 30
_LEGACY = {
    "user": ("personal", 3),
    "feedback": ("guidance", 5),
    "project": ("project", 3),
    "reference": ("external", 2),
}
_NOT_RECORDS = frozenset({"INDEX.md", "MEMORY.md"})


@dataclass(frozen=True, slots=True)
class Record:
    """A knowledge record. ``body`` is bytes as on disk; ``modified`` and ``expires`` are aware times.

    ``key`` names the record in ids: its file's name, or the record's own where it has no file.
    """

    name: str
    body: bytes = b""
    priority: int = DEFAULT_PRIORITY
    modified: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    expires: datetime | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    path: str = ""
    key: str = ""


def is_record_name(name: str) -> bool:
    """Whether a scan takes a file of this name: any ``.md`` but the two indexes."""
    return name.lower().endswith(".md") and name not in _NOT_RECORDS


def read_record(path: str, data: bytes, modified: datetime) -> tuple[Record, Notice | None]:
    """A record from its file; a notice where the header cannot be read.

    Without a readable header bee takes the file's name and priority 3.
    """
    name = path.rpartition("/")[2]
    record = Record(
        name=name[: name.rfind(".")],
        body=record_body(data),
        modified=modified,
        path=path,
        key=name,
    )
    header = _header(data)
    if header is None:
        return record, None
    try:
        fields = _fields(parse(header))
    except FrontMatterError as error:
        what = f"front matter: {error.what} (column {error.column}); bee takes the file's name and priority 3"
        return record, Notice("bee.front-matter", what, Source(path, error.line, error.line))
    return _with_fields(record, fields), None


def _header(data: bytes) -> str | None:
    """The lines between ``---`` and ``---``, which must end within the first 30 lines."""
    lines = data[: 512 * 1024].split(b"\n", HEADER_LINES)[:HEADER_LINES]
    if not lines or lines[0].strip() != b"---":
        return None
    for index, line in enumerate(lines[1:], start=1):
        if line.strip() == b"---":
            return b"\n".join(entry.removesuffix(b"\r") for entry in lines[1:index]).decode(
                "utf-8", "replace"
            )
    return None


@dataclass(frozen=True, slots=True)
class _Fields:
    name: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    priority: int = 0
    expires: str = ""
    legacy: str = ""


def _fields(header: dict[str, Json]) -> _Fields:
    return _Fields(
        name=_text(header, "name"),
        description=_text(header, "description"),
        tags=_texts(header, "tags"),
        priority=_integer(header, "priority"),
        expires=_text(header, "expires"),
        legacy=_text(header, "type"),
    )


def _text(header: dict[str, Json], key: str) -> str:
    value = header.get(key)
    if value is None:
        return ""
    if isinstance(value, Scalar):
        return _scalar_text(value)
    raise FrontMatterError(f"field {key} is not a text", 2)


def _texts(header: dict[str, Json], key: str) -> tuple[str, ...]:
    value = header.get(key)
    if value is None or (isinstance(value, Scalar) and _is_null(value)):
        return ()
    if isinstance(value, tuple) and all(isinstance(entry, Scalar) for entry in value):
        return tuple(_scalar_text(entry) for entry in value)
    line = value.line if isinstance(value, Scalar) else 2
    raise FrontMatterError(f"field {key} is not a list of texts", line)


def _integer(header: dict[str, Json], key: str) -> int:
    value = header.get(key)
    if value is None:
        return 0
    if isinstance(value, Scalar):
        if _is_null(value):
            return 0
        number = _number(value.text)
        if number is not None:
            return int(number)
        raise FrontMatterError(f"field {key} is not a whole number", value.line)
    raise FrontMatterError(f"field {key} is not a whole number", 2)


_DECIMAL = re.compile(r"[+-]?(?:0|[1-9][0-9_]*)")
_BASED = re.compile(r"[+-]?0(?:[xX][0-9a-fA-F_]+|[oO]?[0-7_]+|[bB][01_]+)")
_FRACTION = re.compile(r"[+-]?[0-9]*\.[0-9]+")


def _number(text: str) -> int | float | None:
    """The number a plain scalar is for goccy/go-yaml, ``None`` when it is a text."""
    if _DECIMAL.fullmatch(text):
        return int(text.replace("_", ""))
    if _BASED.fullmatch(text):
        plain = text.replace("_", "")
        sign, digits = (plain[0], plain[1:]) if plain[0] in "+-" else ("", plain)
        return int(sign + (digits if not digits[1].isdigit() else "0o" + digits[1:]), 0)
    return float(text) if _FRACTION.fullmatch(text) else None


def _scalar_text(value: Scalar) -> str:
    """A scalar read into a text: a number in plain decimal digits, nothing for null."""
    if value.quoted:
        return value.text
    if _is_null(value):
        return ""
    number = _number(value.text)
    return value.text if number is None else format(Decimal(repr(number)).normalize(), "f")


def _is_null(value: Scalar) -> bool:
    return not value.quoted and value.text in ("", "~", "null", "Null", "NULL")


def _with_fields(record: Record, fields: _Fields) -> Record:
    tags = normal_tags(fields.tags)
    priority = fields.priority or DEFAULT_PRIORITY
    legacy = fields.legacy.strip().lower()
    if legacy in _LEGACY and not tags:
        tag, rank = _LEGACY[legacy]
        tags = (tag,)
        priority = fields.priority or rank
    return replace(
        record,
        name=fields.name.strip() or record.name,
        description=fields.description.strip(),
        tags=tags,
        priority=priority,
        expires=parse_expires(fields.expires),
    )


def normal_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Trimmed, lower case, each once."""
    return tuple(dict.fromkeys(tag for tag in (raw.strip().lower() for raw in tags) if tag))


_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def parse_expires(text: str) -> datetime | None:
    """RFC 3339 or ``YYYY-MM-DD`` (midnight UTC); anything else, ``never`` included, is never."""
    text = text.strip()
    try:
        if _RFC3339.fullmatch(text):
            return datetime.fromisoformat(re.sub(r"[.,](\d{1,6})\d*", r".\1", text))
        if _DATE.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        pass
    return None


def record_body(data: bytes) -> bytes:
    """What follows the closing ``---`` line (``scan.go::Body``).

    It looks for the marks anew and less strictly than the header's reader: the opening one must be
    the very first bytes, the closing one need only begin a line.
    """
    if not data.startswith(b"---"):
        return data
    first = data.find(b"\n")
    if first < 0:
        return b""
    rest = data[first + 1 :]
    end = rest.find(b"\n---")
    if end < 0:
        return rest
    return rest[end + 4 :].removeprefix(b"\n").removeprefix(b"\r\n")


def newest_first(records: Iterable[Record]) -> list[Record]:
    """In the order of a scan: newest first. What comes after the first 200 is not considered."""
    return sorted(records, key=lambda record: record.modified, reverse=True)


# ---- selection --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scored:
    """A record's score for a query, and the addends in words."""

    record: Record
    score: int
    parts: tuple[str, ...] = field(default=())


def effective_limit(limit: int) -> int:
    """How many records a query gives for a limit: outside 1 to 5 it is 5."""
    return limit if 1 <= limit <= MOST_RESULTS else MOST_RESULTS


def expired(record: Record, now: datetime) -> bool:
    return record.expires is not None and record.expires <= now


def rank_records(
    records: Sequence[Record], query: str, hint_tags: Iterable[str], now: datetime
) -> list[Scored]:
    """Every record that has not expired, best first; the first ``effective_limit`` are taken."""
    tokens = tokenize(query)
    hints = frozenset(tag for tag in (raw.strip().lower() for raw in hint_tags) if tag)
    scored = [score(record, tokens, hints) for record in records if not expired(record, now)]
    return sorted(scored, key=lambda entry: (entry.score, entry.record.modified), reverse=True)


def score(record: Record, tokens: frozenset[str], hints: frozenset[str]) -> Scored:
    """A record's score: priority, kind, tags, name and description (``query.go::Query``)."""
    parts = [f"priority {record.priority}"]
    total = record.priority

    def add(points: int, why: str) -> None:
        nonlocal total
        if points:
            total += points
            parts.append(f"{why} {points}")

    if "guidance" in record.tags:
        add(2, "guidance")
    elif "personal" in record.tags:
        add(1, "personal")
    add(2 * sum(tag in hints for tag in record.tags), "hint tags")
    add(
        sum(tag in tokens or not tokens.isdisjoint(tokenize(tag)) for tag in record.tags), "tags in the query"
    )
    add(2 * len(tokens & tokenize(record.name)), "words of the name")
    add(len(tokens & tokenize(record.description)), "words of the description")
    return Scored(record, total, tuple(parts))


_WORD = re.compile(r"[A-Za-z0-9_-]+")
_SLUG = re.compile(r"[-_]+")


def tokenize(text: str) -> frozenset[str]:
    """The words of a text, lower case, 3 characters or more; joined ones whole and in parts."""
    found: set[str] = set()
    for match in _WORD.finditer(text):
        word = match[0].lower()
        found.add(word)
        found.update(_SLUG.split(word))
    return frozenset(word for word in found if len(word) >= 3)


# ---- age --------------------------------------------------------------------------------------------


def days_between(earlier: datetime, now: datetime) -> int:
    """Whole blocks of 24 hours, never less than 0."""
    days = (now - earlier).days
    return days if days > 0 else 0


def age_since(modified: datetime, now: datetime) -> str:
    """today, yesterday or N days ago; the future is today (``age.go::AgeSince``)."""
    days = days_between(modified, now)
    return "today" if days == 0 else "yesterday" if days == 1 else f"{days} days ago"


# ---- where records lie ------------------------------------------------------------------------------

_NOT_ALNUM = re.compile(r"[^a-zA-Z0-9]")
_MOST_SLUG = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def slug(path: str) -> str:
    """A path as the name of one folder (``paths.go::slugifyPath``)."""
    plain = _NOT_ALNUM.sub("-", path)
    if len(plain) <= _MOST_SLUG:
        return plain
    number = 5381
    for byte in path.encode("utf-8", "surrogateescape"):
        number = ((number * 33) ^ byte) & 0xFFFFFFFFFFFFFFFF
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return f"{plain[:_MOST_SLUG]}-{digits or '0'}"
