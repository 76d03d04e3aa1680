"""Every rule a decision of this engine may name, in the order they apply in a turn.

Sources are ``file::function`` inside the package ``nanobot``. ``EVERY`` means the three dialects.
"""

from __future__ import annotations

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.model import Boundary, Evidence, Rule

EVERY = "0.2.2, main, 0.3.5"
MAIN = "main (3852956)"
OLD = "0.2.2"
NEW = "0.3.5"
LATER = "main, 0.3.5"
EARLIER = "0.2.2, main"


_LEFT_OUT = Boundary("left out")
_WIPED = Boundary("wiped")
_ARCHIVED = Boundary("archived", into=("recent_history",))


def _rule(
    name: str, title: str, version: str, source: str, note: str = "", boundary: Boundary | None = None
) -> Rule:
    return Rule(f"nanobot.{name}", title, "nanobot", version, source, note, boundary)


# ---- restoring a crashed turn --------------------------------------------------------------------
MIGRATED_CALL = _rule(
    "load.exec-session",
    "Old write_stdin calls are read as exec_session",
    NEW,
    "session/manager.py::_migrate_legacy_exec_session_records",
)
RESTORED = _rule(
    "restore.checkpoint",
    "Rows of a crashed turn are appended",
    EVERY,
    "agent/loop.py::_restore_runtime_checkpoint",
    "The longest overlap with the stored end is not appended again; unfinished tools get a fixed answer.",
)
CLOSED_TURN = _rule(
    "restore.pending-turn",
    "A turn that had no answer is closed",
    EVERY,
    "agent/loop.py::_restore_pending_user_turn",
)

# ---- consolidation -------------------------------------------------------------------------------
CONSOLIDATION = _rule(
    "consolidation.probe",
    "Old rows are archived when the next prompt would reach the budget",
    EARLIER,
    "agent/memory.py::Consolidator.maybe_consolidate_by_tokens",
    "Needs a model call. A fresh summary misses its own turn: the turn's summary was taken before. main "
    "and 0.2.2 show it through Recent History only.",
)
ARCHIVED_NOW = _rule(
    "consolidation.archive",
    "Rows before the boundary were archived",
    EARLIER,
    "agent/memory.py::Consolidator.archive_session",
    "A summary that fails still moves the boundary: the rows go to memory/history.jsonl as they are.",
    boundary=_ARCHIVED,
)
OVERFLOW_ARCHIVED = _rule(
    "consolidation.overflow",
    "Rows beyond the message limit are archived first",
    OLD,
    "agent/memory.py::Consolidator._consolidate_replay_overflow",
    boundary=_ARCHIVED,
)

# ---- history -------------------------------------------------------------------------------------
HISTORY_START = _rule(
    "history.archived",
    "Replay starts after the archived rows",
    EVERY,
    "session/manager.py::Session.get_history",
    "main goes back to at least the last 8 rows, extended to a user row; 0.3.5 and 0.2.2 start exactly.",
    boundary=Boundary("archived", into=("archived_summary",), evidence=Evidence.RECORDED),
)
HISTORY_COUNT = _rule(
    "history.max-messages",
    "Only the newest rows are replayed",
    OLD,
    "session/manager.py::Session.get_history",
    boundary=_LEFT_OUT,
)
HISTORY_FIRST_USER = _rule(
    "history.first-user",
    "Replay starts at a user row",
    EVERY,
    "session/manager.py::Session.get_history",
    "An assistant row that was delivered on its own may stay in front of it.",
)
HISTORY_LEGAL = _rule(
    "history.legal-start",
    "A tool result without its call wipes every row before it",
    EVERY,
    "utils/helpers.py::find_legal_message_start",
    "The start moves past the stray result wherever it stands, and all calls declared so far are "
    "forgotten. The later step that drops orphans hardly ever sees such a row: it is gone before.",
    boundary=_WIPED,
)
HISTORY_COMMAND = _rule(
    "history.command",
    "Rows of slash commands are not replayed",
    EVERY,
    "session/manager.py::Session.get_history",
)
HISTORY_BLANK = _rule(
    "history.blank",
    "An assistant row without text, calls or reasoning is not replayed",
    EVERY,
    "session/manager.py::Session.get_history",
)
HISTORY_SCRUB = _rule(
    "history.scrub",
    "Artefacts in assistant text are removed on replay",
    EVERY,
    "session/manager.py::_sanitize_assistant_replay_text",
    "A leading time stamp, local image lines, echoed message() calls; every line separator becomes LF "
    "and the text is stripped.",
)
HISTORY_MEDIA = _rule(
    "history.media",
    "Images of earlier turns are only named",
    EVERY,
    "utils/helpers.py::content_with_media_breadcrumbs",
    "The image itself was sent in its own turn only, so the cached prefix changes here.",
)
HISTORY_ATTACHED = _rule(
    "history.attachments",
    "Attached apps and presets are named",
    EVERY,
    "session/manager.py::Session.get_history",
)
HISTORY_TIME = _rule(
    "history.message-time",
    "User rows begin with their stored time",
    OLD,
    "session/manager.py::Session._annotate_message_time",
)
HISTORY_CONTENT = _rule(
    "history.missing-content",
    "A row without content is replayed as empty text",
    EVERY,
    "session/manager.py::Session.get_history",
)
HISTORY_CAP = _rule(
    "history.token-cap",
    "Older history does not fit the replay budget",
    EARLIER,
    "session/manager.py::Session.get_history",
    "The budget ignores the system prompt and the tools, so a later step may cut again.",
    boundary=_LEFT_OUT,
)
HISTORY_CAP_USER = _rule(
    "history.cap-first-user",
    "What fits is cut to begin at a user row",
    EARLIER,
    "session/manager.py::Session.get_history",
    "Applies even when everything fits: a delivered row in front of the first user row goes here. When "
    "no user row fits, replay starts at the last one and may exceed the budget.",
)
HISTORY_CAP_LEGAL = _rule(
    "history.cap-legal-start",
    "A tool result cut from its call wipes the rows before it",
    EARLIER,
    "utils/helpers.py::find_legal_message_start",
    boundary=_WIPED,
)

# ---- system prompt -------------------------------------------------------------------------------
FILE_MISSING = _rule(
    "prompt.missing", "The file does not exist", EVERY, "agent/context.py::_load_bootstrap_files"
)
FILE_BLANK = _rule(
    "prompt.blank",
    "A blank file is skipped",
    LATER,
    "agent/context.py::_load_bootstrap_files",
    "MEMORY.md is different: one space in it is enough for a Memory section.",
)
FILE_TEMPLATE = _rule(
    "prompt.template",
    "A file equal to nanobot's template is skipped",
    EVERY,
    "agent/context.py::_is_template_content",
    "Compared after stripping both. SOUL.md equal to the template of today is not skipped; 0.2.2 skips "
    "only MEMORY.md.",
)
SOUL_REPLACED = _rule(
    "prompt.legacy-soul",
    "An old default SOUL.md is replaced by the new default",
    LATER,
    "agent/context.py::_load_bootstrap_files",
)
FILE_ELSEWHERE = _rule(
    "prompt.project",
    "The project's copy is not read",
    LATER,
    "agent/context.py::_load_bootstrap_files",
    "AGENTS.md comes from the project, SOUL.md and USER.md from the agent workspace.",
)
MEMORY_OFF = _rule(
    "prompt.memory-off", "Memory is left out of this session", MAIN, "agent/context.py::build_system_prompt"
)
SKILL_DISABLED = _rule(
    "skills.disabled", "Disabled by the configuration", EVERY, "agent/skills.py::list_skills"
)
SKILL_SHADOWED = _rule(
    "skills.shadowed", "A workspace skill of the same name comes first", EVERY, "agent/skills.py::list_skills"
)
SKILL_UNAVAILABLE = _rule(
    "skills.unavailable",
    "A skill with unmet requirements is only listed",
    EVERY,
    "agent/skills.py::_check_requirements",
)
SKILL_EMPTY = _rule(
    "skills.empty", "An empty skill file gives no body", EVERY, "agent/skills.py::load_skills_for_context"
)
SKILL_LISTED = _rule(
    "skills.listed",
    "A skill is named; its text is read only on demand",
    EVERY,
    "agent/skills.py::build_skills_summary",
)
RECENT_INVALID = _rule(
    "recent.invalid",
    "A damaged history entry is ignored",
    EARLIER,
    "agent/memory.py::_iter_valid_entries",
    "cursor must be a whole number (true is not one), timestamp and content texts.",
)
RECENT_DREAMT = _rule(
    "recent.dreamt",
    "The entry was already worked into memory",
    EARLIER,
    "agent/memory.py::read_unprocessed_history",
)
RECENT_SESSION = _rule(
    "recent.session",
    "The entry belongs to another session",
    EARLIER,
    "agent/memory.py::read_recent_history_for_prompt",
)
RECENT_COUNT = _rule(
    "recent.newest", "Only the last 50 entries are shown", EARLIER, "agent/context.py::build_system_prompt"
)
RECENT_DUPLICATE = _rule(
    "recent.duplicate",
    "The entry is the archived summary, which has its own section",
    MAIN,
    "agent/context.py::_without_duplicate_session_summary",
)
RECENT_CUT = _rule(
    "recent.cap",
    "Recent History is cut at 8,000 tokens",
    EARLIER,
    "utils/helpers.py::truncate_text_to_tokens",
    "A prefix is kept, so the oldest entries survive and the newest are lost.",
)
RECENT_EPHEMERAL = _rule(
    "recent.ephemeral",
    "An ephemeral turn has no Recent History",
    EARLIER,
    "agent/loop.py::_build_initial_messages",
)
SUMMARY_INVALID = _rule(
    "summary.invalid",
    "The stored summary is not usable",
    LATER,
    "session/summary.py::session_summary_from_metadata",
)
SUMMARY_NOTHING = _rule(
    "summary.nothing",
    "A summary that says (nothing) is left out",
    NEW,
    "agent/context.py::build_system_prompt",
)
TOOLS_SENT = _rule(
    "tools.sent",
    "The schemas of all tools go with every request",
    EVERY,
    "agent/tools/registry.py::get_definitions",
    "They are made by the running program; a workspace has them only where tools.json was put into it.",
)
TOOLS_ORDER = _rule(
    "tools.order",
    "Tools are sorted by name, MCP tools after the others",
    EVERY,
    "agent/tools/registry.py::get_definitions",
)

# ---- initial list --------------------------------------------------------------------------------
SYSTEM_BUILT = _rule(
    "initial.system", "The system prompt comes first", EVERY, "agent/context.py::build_messages"
)
CURRENT_ADDED = _rule(
    "initial.current", "The new message comes last", EVERY, "agent/context.py::build_messages"
)
CURRENT_MERGED = _rule(
    "initial.merge",
    "The new message is merged into a user row before it",
    EARLIER,
    "agent/context.py::_merge_message_content",
    "Only this one boundary: older neighbours in the stored file stay apart.",
)
ATTACHMENT_NAMED = _rule(
    "current.attachment",
    "A file that is no image is only named",
    EVERY,
    "utils/document.py::reference_non_image_attachments",
    "0.2.2 puts the text of documents into the message instead.",
)
MEDIA_SKIPPED = _rule(
    "current.media-missing",
    "An image that cannot be read is skipped silently",
    EVERY,
    "agent/context.py::build_user_content",
)
RUNTIME_EMPTY = _rule(
    "current.runtime-empty",
    "An empty runtime-context block is dropped",
    LATER,
    "runtime_context.py::normalize_runtime_context_blocks",
)
TURN_ROW = _rule("turn.row", "A row of this turn is appended", EVERY, "agent/runner.py::_run_core")
TURN_NORMALIZED = _rule(
    "turn.tool-result",
    "A new tool result is normalised when it is appended",
    EVERY,
    "agent/context_governance.py::normalize_tool_result",
)
TURN_MERGED = _rule(
    "turn.injected",
    "A message sent during the turn is merged into the user row before it",
    EARLIER,
    "agent/runner.py::_append_injected_messages",
)

# ---- governance ----------------------------------------------------------------------------------
_GOVERNANCE = "agent/context_governance.py::"
PLACEHOLDER = _rule(
    "governance.placeholder",
    "A placeholder of an omitted assistant message is removed",
    LATER,
    _GOVERNANCE + "strip_placeholder_assistant_messages",
)
MALFORMED_CALL = _rule(
    "governance.malformed-call",
    "Calls without a usable name are removed",
    LATER,
    _GOVERNANCE + "strip_malformed_tool_calls",
)
ORPHAN = _rule(
    "governance.orphan",
    "A tool result without a call, or a second one, is removed",
    EVERY,
    _GOVERNANCE + "drop_orphan_tool_results",
    "0.2.2 removes only results of undeclared calls.",
)
BACKFILL = _rule(
    "governance.backfill",
    "A call without a result gets a fixed one",
    EVERY,
    _GOVERNANCE + "backfill_missing_tool_results",
)
EMPTY_RESULT = _rule(
    "governance.empty-result",
    "An empty tool result is replaced by a note",
    EVERY,
    "utils/runtime.py::ensure_nonempty_tool_result",
)
OFFLOADED = _rule(
    "governance.offload",
    "A tool result over the limit is stored in a file",
    EVERY,
    "utils/helpers.py::maybe_persist_tool_result",
    "The first 1,200 characters stay. read_file is exempt.",
)
REFERENCE_CUT = _rule(
    "governance.result-cut",
    "What is still over the limit is cut",
    EARLIER,
    "utils/helpers.py::truncate_text",
    "Below about 1,300 characters even nanobot's own reference is too long: it is cut, and because that "
    "is over the limit again, it is stored and referenced a second time at the next request.",
)
MICROCOMPACT = _rule(
    "governance.microcompact",
    "All but the newest 10 results of listed tools are reduced to a line",
    OLD,
    "agent/runner.py::_microcompact",
    boundary=Boundary("compacted"),
)
INFLIGHT = _rule(
    "governance.compact-inflight",
    "Results of this turn are compacted, oldest first, until the request fits",
    MAIN,
    _GOVERNANCE + "compact_inflight_overflow",
    "Goes on to 85 % of the budget; the newest goes only while the request is still over. Results of "
    "earlier turns are never touched.",
    boundary=Boundary("compacted"),
)
SNIP = _rule(
    "governance.snip",
    "Older messages do not fit beside the system prompt",
    EVERY,
    _GOVERNANCE + "snip_history",
    "Whether it acts is measured on the whole request, what it keeps on single messages by another "
    "estimate: it can do nothing while far over budget, and what it sends can still be over budget.",
    boundary=_LEFT_OUT,
)
SNIP_USER = _rule(
    "governance.snip-first-user",
    "What fits is cut to begin at a user row",
    EVERY,
    _GOVERNANCE + "_legal_history_tail",
)
SNIP_LEGAL = _rule(
    "governance.snip-legal-start",
    "A tool result cut from its call wipes the rows before it",
    EVERY,
    "utils/helpers.py::find_legal_message_start",
    boundary=_WIPED,
)
MERGED_USERS = _rule(
    "governance.merge-users",
    "Neighbouring user rows are merged",
    NEW,
    _GOVERNANCE + "_merge_adjacent_user_messages_for_model",
)
REQUEST_COMPACTED = _rule(
    "governance.compact-history",
    "Everything already sent is replaced by a summary",
    NEW,
    _GOVERNANCE + "_compact_request_history",
    "Of a request at or over its budget (request_pressure). Needs a model call; when it fails, a raw excerpt "
    "takes the summary's place.",
    boundary=Boundary("summarised", into=("archived_summary",)),
)

CATALOGUE: tuple[Rule, ...] = (
    *(
        value
        for value in tuple(globals().values())
        if isinstance(value, Rule) and value.framework == "nanobot"
    ),
    SWITCHED_OFF,
    EDITED,
)
