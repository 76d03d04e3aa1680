"""What AgentOS itself writes into a prompt: short stand-ins of exactly the real texts' lengths.

The framework's own prose is not copied. Each stand-in has the real text's UTF-16 length and as
many characters that JSON escapes, so every figure comes out the same. ``Texts`` is a parameter of
the engine, so the real texts can be put in their place (the differential tests do).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

Style: TypeAlias = str
"""How memories are written: ``structured``, ``narrative`` or ``emotional``."""


def _filled(text: str, length: int) -> str:
    """The text, made ``length`` characters long with full stops before a final line break."""
    end = text[len(text.rstrip("\n")) :]
    body = text.rstrip("\n")
    return body + "." * (length - len(body) - len(end)) + end


def _preamble(style: str, length: int) -> str:
    # Real one: 10 line breaks and one pair of double quotes.
    return _filled(f'## Notes on memory\n\n"{style}"' + "\n-" * 8 + " How each kind is to be used", length)


_PREAMBLES = {
    "structured": _preamble("structured", 752),
    "narrative": _preamble("narrative", 755),
    "emotional": _preamble("emotional", 771),
}
_HEADINGS = {
    "persistent": _filled("## Kept notes\n\n", 22),
    "working": _filled("## At work on now\n", 50),
    "semantic": _filled("## Facts that fit the question\n", 71),
    "episodic": _filled("## What happened before\n", 64),
    "prospective": _filled("## Things that are due\n", 49),
    "graph": _filled("## Facts beside those\n", 56),
    "observations": _filled("## Noticed\n", 16),
}


@dataclass(frozen=True)
class Texts:
    """Every text of the framework's own that the engine puts into a prompt."""

    concise: str = _filled("Preference of the user: short answers", 123)
    balanced: str = _filled("Preference of the user: answers of middling length", 104)
    detailed: str = _filled("Preference of the user: long answers", 108)
    format_before: str = _filled("Preference of the user, as to the form of answers: ", 65)
    format_after: str = "."
    summary_heading: str = _filled("Summary of what was said before\n", 38)
    rag_head: str = "Related:\n"
    rag_query_label: str = "\n\nThe prompt: "
    rag_query_label_multimodal: str = "\n\nThe prompt:"
    rag_alone_head: str = _filled("Answer from what follows here\n", 32)
    rag_alone_tail: str = _filled("\n\nAnswer what the user has asked, or what is meant", 56)
    rolling_summary: str = _filled("Summary of the conversation so far\n", 36)
    discovery: str = _filled("Capabilities found\n", 29)
    memory_preambles: Mapping[Style, str] = field(default_factory=lambda: MappingProxyType(_PREAMBLES))
    memory_headings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(_HEADINGS))
    memory_cut: str = "\n<!-- truncated -->"

    def preference_format(self, value: str) -> str:
        return f"{self.format_before}{value}{self.format_after}"

    def named(self, name: str, value: str = "") -> str:
        """A text by the name it has in reference cases, such as ``rag.head`` or ``pref.format``.

        Args:
            value: what ``pref.format`` is about.

        Raises:
            KeyError: there is none of that name.
        """
        if name == "pref.format":
            return self.preference_format(value)
        return str(
            {
                "pref.concise": self.concise,
                "pref.balanced": self.balanced,
                "pref.detailed": self.detailed,
                "summary.heading": self.summary_heading,
                "rag.head": self.rag_head,
                "rag.query_label": self.rag_query_label,
                "rag.query_label_multimodal": self.rag_query_label_multimodal,
                "rag.alone_head": self.rag_alone_head,
                "rag.alone_tail": self.rag_alone_tail,
            }[name]
        )


STAND_INS = Texts()
"""The texts used where nothing else is asked for."""
