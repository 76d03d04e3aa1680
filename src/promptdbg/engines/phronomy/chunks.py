"""The system text: what it is joined from, and the context tag around knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promptdbg.model import Json

BLANK_LINE = "\n\n"

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of knowledge. ``type``, ``trusted`` and ``source`` are read from generation 2 on."""

    text: str
    type: str = ""
    trusted: Json = False
    source: str | None = None

    def tag(self) -> str:
        """The chunk in its tag (``context/assembler.rb::xml_context_tag``)."""
        return xml_tag(self.text, type=self.type, trusted=self.trusted, source=self.source)


def xml_tag(text: str, *, type: str, trusted: Json = False, source: str | None = None) -> str:  # noqa: A002 - as there
    """A text in a context tag, escaped; the source only where there is one (an empty one counts)."""
    origin = "" if source is None else f' source="{escape(source)}"'
    return f'<context type="{escape(type)}"{origin} trusted="{_word(trusted)}">\n{escape(text)}\n</context>'


def escape(text: str) -> str:
    """``& < > " '`` as entities, as Ruby's CGI.escapeHTML does."""
    return text.translate(_ESCAPES)


def _word(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def join(parts: Sequence[str]) -> str | None:
    """The parts joined by blank lines, empty ones too; ``None`` when that gives nothing."""
    return BLANK_LINE.join(parts) or None
