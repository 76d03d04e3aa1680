"""The three nanobot programs that are reproduced, as tables of what differs between them.

A *dialect* is a behaviour, not a release: ``main`` is the checkout 3852956 (its pyproject still says
0.3.0), the other two are the releases on PyPI. Every other module asks these fields; none compares
version names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

SAFETY_BUFFER = 1024
"""Tokens kept free of every budget (``context_governance.py::SNIP_SAFETY_BUFFER``)."""

TRUNCATED = "\n... (truncated)"
"""What stands after every cut (``utils/helpers.py::_TRUNCATED_SUFFIX``)."""

PREVIEW_CHARS = 1200
"""Code points of an offloaded result that stay (``helpers.py::_TOOL_RESULT_PREVIEW_CHARS``)."""

MICROCOMPACT_MIN_CHARS = 500
"""Shorter results are never compacted (``MICROCOMPACT_MIN_CHARS``)."""

MICROCOMPACT_KEEP = 10
"""0.2.2 leaves this many of the newest compactable results alone (``_MICROCOMPACT_KEEP_RECENT``)."""

INFLIGHT_TARGET = 0.85
"""main compacts down to this share of the budget (``INFLIGHT_COMPACT_TARGET_RATIO``)."""

COMPACTABLE_TOOLS = frozenset(
    {
        "read_file",
        "exec",
        "grep",
        "find_files",
        "web_search",
        "web_fetch",
        "list_dir",
        "list_exec_sessions",
    }
)
OFFLOAD_EXEMPT = "read_file"

REPLAY_SUFFIX = 8
"""main replays at least this many rows of an archived session (``MIN_COMPACTED_REPLAY_MESSAGES``)."""

RECENT_ENTRIES = 50
RECENT_TOKENS = 8_000
"""Caps of the Recent History section (``ContextBuilder._MAX_RECENT_HISTORY``, ``_MAX_HISTORY_TOKENS``)."""

CONSOLIDATION_ROUNDS = 5

DialectName: TypeAlias = Literal["main", "0.3.5", "0.2.2"]
Fallback: TypeAlias = Literal["bytes", "chars"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one version of nanobot does."""

    name: DialectName
    title: str
    newest: bool
    strict_rows: bool
    """A line that is not an object makes the whole session unreadable (0.2.2)."""
    archived_key: str | None
    """A newer name of ``last_consolidated`` that is read first (0.3.5)."""
    replay_suffix: int
    count_limit: bool
    """History is cut to ``maxMessages`` rows before anything else (0.2.2)."""
    token_cap: bool
    timestamps: bool
    """User rows are prefixed with their stored time, the message ends with a runtime block (0.2.2)."""
    recent_history: bool
    consolidates: bool
    """Older rows are archived before the turn when the prompt is too large."""
    compacts_requests: bool
    """Accepted history is summarised when a request is under pressure (0.3.5)."""
    merges_initial: bool
    strict_summary: bool
    """A malformed ``_last_summary`` raises (0.2.2)."""
    bootstrap_filters: bool
    """Blank and template-equal bootstrap files are skipped; SOUL and USER come from the agent workspace."""
    explicit_skills: bool
    skill_groups: bool
    """The skills list has one group per source with relative paths."""
    message_fallback: Fallback
    prompt_fallback: bool
    """Without a tokenizer the prompt is measured in bytes; else the estimate is 0."""
    block_limit: bool
    keeps_reference: bool
    """References to offloaded results are never cut, and list blocks are offloaded one by one (0.3.5)."""
    fresh_total: int
    fresh_tools: int
    """Estimated tokens of a default install for the message "hello", and the schemas' share of it."""


DIALECTS: dict[str, Dialect] = {
    "main": Dialect(
        name="main",
        title="nanobot main (3852956, August 2026)",
        newest=False,
        strict_rows=False,
        archived_key=None,
        replay_suffix=REPLAY_SUFFIX,
        count_limit=False,
        token_cap=True,
        timestamps=False,
        recent_history=True,
        consolidates=True,
        compacts_requests=False,
        merges_initial=True,
        strict_summary=False,
        bootstrap_filters=True,
        explicit_skills=True,
        skill_groups=True,
        message_fallback="bytes",
        prompt_fallback=True,
        block_limit=True,
        keeps_reference=False,
        fresh_total=8_362,
        fresh_tools=6_227,
    ),
    "0.3.5": Dialect(
        name="0.3.5",
        title="nanobot 0.3.5 (PyPI)",
        newest=True,
        strict_rows=False,
        archived_key="last_archived",
        replay_suffix=0,
        count_limit=False,
        token_cap=False,
        timestamps=False,
        recent_history=False,
        consolidates=False,
        compacts_requests=True,
        merges_initial=False,
        strict_summary=False,
        bootstrap_filters=True,
        explicit_skills=True,
        skill_groups=True,
        message_fallback="bytes",
        prompt_fallback=True,
        block_limit=False,
        keeps_reference=True,
        fresh_total=7_301,
        fresh_tools=5_353,
    ),
    "0.2.2": Dialect(
        name="0.2.2",
        title="nanobot 0.2.2 (PyPI)",
        newest=False,
        strict_rows=True,
        archived_key=None,
        replay_suffix=0,
        count_limit=True,
        token_cap=True,
        timestamps=True,
        recent_history=True,
        consolidates=True,
        compacts_requests=False,
        merges_initial=True,
        strict_summary=True,
        bootstrap_filters=False,
        explicit_skills=False,
        skill_groups=False,
        message_fallback="chars",
        prompt_fallback=False,
        block_limit=True,
        keeps_reference=False,
        fresh_total=9_353,
        fresh_tools=5_434,
    ),
}

NEWEST = next(dialect.name for dialect in DIALECTS.values() if dialect.newest)
