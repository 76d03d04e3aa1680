"""The knowledge store: chunks of fixed length and keyword scores (``context/_internal/knowledge.py``).

Its documentation speaks of paragraph boundaries and of a norm by chunk length; the code has neither.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass


class KnowledgeError(Exception):
    """A store or a chunking is used against its rules."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of an artifact; ``start`` and ``end`` are code points in it."""

    artifact_name: str
    index: int
    content: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    chunk: Chunk
    score: float


def chunk_text(text: str, *, chunk_size: int = 512, chunk_overlap: int = 64) -> list[str]:
    """Split a text into overlapping stretches of ``chunk_size`` code points.

    Raises:
        KnowledgeError: the size is not positive, or the overlap not below it.
    """
    if chunk_size <= 0:
        raise KnowledgeError("chunk_size must be above 0")
    if not 0 <= chunk_overlap < chunk_size:
        raise KnowledgeError("chunk_overlap must be 0 or more and below chunk_size")
    step = chunk_size - chunk_overlap
    chunks = []
    for start in range(0, len(text), step):
        chunks.append(text[start : start + chunk_size])
        if start + chunk_size >= len(text):
            break
    return chunks


class KnowledgeStore:
    """Artifacts, chunked, in the order they were added."""

    def __init__(self, *, chunk_size: int = 512, chunk_overlap: int = 64) -> None:
        self.chunk_size = chunk_size
        self.chunk_overlap = chunk_overlap
        self._chunks: dict[str, list[Chunk]] = {}

    @property
    def artifact_names(self) -> list[str]:
        return list(self._chunks)

    def add(self, name: str, content: str) -> list[Chunk]:
        """Index an artifact, in place of an earlier one of that name.

        Raises:
            KnowledgeError: the name is empty, or the sizes do not fit.
        """
        if not name:
            raise KnowledgeError("an artifact needs a name")
        texts = chunk_text(content, chunk_size=self.chunk_size, chunk_overlap=self.chunk_overlap)
        step = self.chunk_size - self.chunk_overlap
        chunks = [
            Chunk(name, index, text, index * step, index * step + len(text))
            for index, text in enumerate(texts)
        ]
        self._chunks[name] = chunks
        return chunks

    def remove(self, name: str) -> bool:
        """Whether there was such an artifact."""
        return self._chunks.pop(name, None) is not None

    def get(self, name: str) -> list[Chunk]:
        return list(self._chunks.get(name, []))

    def get_range(self, name: str, start: int, end: int) -> list[Chunk]:
        """The chunks that touch the half-open range of code points."""
        return [chunk for chunk in self._chunks.get(name, []) if chunk.end > start and chunk.start < end]

    def total_chunks(self) -> int:
        return sum(map(len, self._chunks.values()))

    def __len__(self) -> int:
        return len(self._chunks)

    def search(self, query: str, *, top_k: int = 5) -> list[SearchResult]:
        """The best chunks: the sum over the query's words of ln(1 + count), ties in index order.

        A word that stands twice in the query counts twice.
        """
        words = _words(query)
        scored = [
            SearchResult(chunk, score)
            for chunks in self._chunks.values()
            for chunk in chunks
            if (score := _score(chunk.content, words)) > 0
        ]
        scored.sort(key=lambda result: result.score, reverse=True)
        return scored[:top_k]


_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return [match.group().lower() for match in _WORD.finditer(text)]


def _score(content: str, words: list[str]) -> float:
    counts = Counter(_words(content)) if words else Counter[str]()
    return sum((math.log(1 + counts[word]) for word in words if word in counts), 0.0)
