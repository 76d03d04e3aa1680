"""Words that say nothing about a user, so that a structure export may hold them as they are: file
names every agent has, and the names that engines give to sections, stages and ledger lines."""

from __future__ import annotations

import builtins
import re

FILE_NAMES = frozenset(
    {
        *(
            "AGENTS.md",
            "AGENTS.override.md",
            "CLAUDE.md",
            "CLAUDE.local.md",
            "GEMINI.md",
            "SOUL.md",
            "USER.md",
        ),
        *(
            "MEMORY.md",
            "SKILL.md",
            "README.md",
            "HISTORY.md",
            "history.jsonl",
            "session.jsonl",
            "promptdbg.toml",
        ),
        *("tools.json", "config.json", "orbiter.yaml", "phronomy.yaml", "agentos.json", "components.json"),
        *(
            "state.json",
            "messages.json",
            "messages.jsonl",
            "candidates.json",
            "bee.toml",
            "query.txt",
            "skills.txt",
        ),
    }
)
"""Well-known file names."""

_SUFFIXES = frozenset(
    {"md", "txt", "json", "jsonl", "toml", "yaml", "yml", "py", "ts", "js", "go", "rb", "sh"}
)

ROLES = frozenset(
    {"system", "developer", "user", "assistant", "tool", "function", "summary", "error", "thought"}
)
"""Message roles of the frameworks and providers."""

BLOCK_TYPES = frozenset(
    {
        *("text", "input_text", "output_text", "image", "image_url", "input_image", "document", "file"),
        *("tool_use", "tool_result", "thinking", "redacted_thinking", "input_audio"),
    }
)
"""Types of content blocks."""

_NAMES = (
    "active_skills answer apply_tool_result_budget archived_summary artifact attachment attachments",
    "audioInput backfill_missing_tool_results base blocks bootstrap compact compact-history",
    "compact_inflight_overflow compact_request_history component context context-file context-notice",
    "conversation current custom discipline document drop_orphan_tool_results earlier element entities",
    "entity explicit_skills fact facts few-shot file filled final final-check fit format framing graph",
    "heading history identity image import in initial input instruction joins knowledge limits margin",
    "memory merge_adjacent_user_messages message messages microcompact neuron not-itemised observations",
    "offload output overhead persistent policy preamble preference profile prompt prospective rag recent",
    "recent_history record records reserve results retrieved rules runtime runtime-context safety schema",
    "schemas section sections semantic session skill skills snip_history source",
    "strip_malformed_tool_calls strip_placeholder_assistant_messages summarize summary system",
    "system-first task taskSpecificData template text todo todos tool tool-results tool_contract tools",
    "trim turn unused usage usage-tag user user_input verbosity vision window wire working workspace",
)
WORDS = frozenset(word for line in _NAMES for word in line.split())
"""Names the engines themselves give."""

_STEMS = WORDS | {"", "m", "d"}
"""What may stand before a number."""

_NUMBERED = re.compile(r"(?P<word>[a-z_-]*)[#:_]?(?P<number>\d{1,7})")


def is_plain(word: str) -> bool:
    """Whether one component of an id or a name may stand as it is: a known word, a number, or both
    (``m12``, ``fact#2``, ``drop_orphan_tool_results_2``)."""
    if word in WORDS or word in FILE_NAMES or word in ROLES:
        return True
    match = _NUMBERED.fullmatch(word)
    return match is not None and match["word"].rstrip("_") in _STEMS


def suffix(name: str) -> str:
    """A well-known file suffix with its dot, else nothing."""
    ending = name.rpartition(".")[2].lower()
    return f".{ending}" if "." in name and ending in _SUFFIXES else ""


_CODE_WORDS = frozenset(
    word
    for line in (
        "a absent adapter agentos all an architecture as asked assumed bad bee blank broken budget cache",
        "candidate case compact compaction config consolidation content context data directory",
        "documented dropped duplicate end entry error estimate exceeded exception failed fallback file",
        "found fragment front goal grows heuristic history id in inflight io json jsonl key kind large",
        "limit line loop manifest matter memory message messages missing moved names nanobot neuron no",
        "none not notice now number of offset opt orbiter order over overflow permission phronomy",
        "plugins post potential predicted preset priority problem project provider python rag read",
        "recent recorded regular repaired replaced requests results schema sequence session settings",
        "shown sidecar size skill skills skipped small special state summarization summarizer summary",
        "supported syntax system template there ties tiny to token tokenizer toml too tool tools trace",
        "trusted turn twice unhandled unknown unread unreadable unresolved usage utf8 value variable",
        "vision warning window wiped wrong yaml",
    )
    for word in line.split()
)
"""The words that the codes of our own notices and AgentOS's issues are made of."""

_ERRORS = frozenset(
    word
    for line in (
        "BudgetExceededError BuildError Context ContextError ContextLengthError ContextWindowExceededError",
        "ArgumentError Error KnowledgeError NoMethodError Phronomy ProcessorError PromptBuilderError",
        "RegistryError TemplateError TypeError UnknownModelError ValidationError VariableResolveError",
    )
    for word in line.split()
)
"""The exceptions that the frameworks raise, beside those of Python itself."""

_MEASURES = re.compile(r"(?:(?:utf16|bytes|chars) ?/ ?\d{1,2}(?:\.\d{1,3})?|tiktoken|heuristic|)")


def is_code(code: str) -> bool:
    """Whether a code is made of the words of ours alone (``bee.over-budget``)."""
    return all(word in _CODE_WORDS for word in re.split(r"[._-]", code.lower()))


def is_error(name: str) -> bool:
    """Whether it is the name of a class that a framework raises, and nothing of a workspace's own."""
    return all(part in _ERRORS or _is_exception(part) for part in name.split("::"))


def _is_exception(name: str) -> bool:
    found = vars(builtins).get(name)
    return isinstance(found, type) and issubclass(found, BaseException)


def is_measure(text: str) -> bool:
    """Whether it says how one of our engines measures (``bytes/4``)."""
    return _MEASURES.fullmatch(text) is not None


_DECISION = re.compile(r"d\d{1,9}")


def is_decision(ident: str) -> bool:
    """Whether it is the id that our engines give a decision."""
    return _DECISION.fullmatch(ident) is not None
