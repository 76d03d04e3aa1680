"""The messages that a program gives to its provider, as a trace: a list of messages, or a request's body.

It is the least that a program has at hand. What was sent is all that is known of it, so there is one list,
the final one; the system prompt and the tools are sections, for their cost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from promptdbg.analysis.requests import counted_input, request_rows, text_of
from promptdbg.export.load import TRACE_SCHEMA
from promptdbg.model import Json

# Keys with a meaning of their own in a trace, which a provider's message may use otherwise.
_TRACE_KEYS = frozenset({"id", "sources", "tokens", "path", "line"})


def is_request(document: Json) -> bool:
    """Whether a document is a list of messages or a request's body, and neither a trace nor anything else."""
    if isinstance(document, dict) and ("schema" in document or "stages" in document):
        return False
    rows = request_rows(document)
    return bool(rows) and all(isinstance(row, dict) and ("role" in row or "type" in row) for row in rows)


def trace_of_request(body: Json) -> dict[str, Json]:
    """The trace of a request (see ``is_request``)."""
    rows: list[Mapping[str, Any]] = request_rows(body)
    about = body if isinstance(body, dict) else {}
    model = about.get("model")
    trace: dict[str, Json] = {
        "schema": TRACE_SCHEMA,
        "program": {"name": f"a request to {model}" if isinstance(model, str) and model else "a request"},
        "sections": [*_system(rows), *_tools(about.get("tools"))],
        "stages": [
            {"name": "sent", "kind": "final", "messages": [_message(n, r) for n, r in enumerate(rows)]}
        ],
    }
    if (tokens := counted_input(body)) is not None:
        trace["budget"] = {"counted": tokens}
    return trace


def _message(number: int, row: Mapping[str, Any]) -> dict[str, Json]:
    role = row.get("role", row.get("type"))
    kept = {key: value for key, value in row.items() if key not in _TRACE_KEYS}
    return {**kept, "role": str(role), "id": f"m{number}"}


def _system(rows: Sequence[Mapping[str, Any]]) -> list[Json]:
    texts = [text_of(row.get("content")) for row in rows if row.get("role") == "system"]
    names = [f"system {number}" if number > 1 else "system" for number in range(1, len(texts) + 1)]
    return [{"name": name, "text": text} for name, text in zip(names, texts, strict=True)]


def _tools(tools: Json) -> list[Json]:
    if not isinstance(tools, list) or not tools:
        return []
    return [{"name": "tools", "text": json.dumps(tools, ensure_ascii=False), "place": "tools"}]
