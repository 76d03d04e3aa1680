"""Every rule of bee that a decision can name, read from checkout 187d9d32 (2026-05-30)."""

from __future__ import annotations

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.model import Boundary, Rule

VERSION = "187d9d32"


def _rule(name: str, title: str, source: str, note: str = "", boundary: Boundary | None = None) -> Rule:
    return Rule(f"bee.{name}", title, "bee", VERSION, source, note, boundary)


PROFILE_AUTO = _rule(
    "profile.auto",
    "Profile chosen from provider and model",
    "internal/config/profile.go::ResolveAutoProfileForProvider",
    "A local provider is always tiny, whatever the model's size.",
)
PROFILE_UNKNOWN = _rule(
    "profile.unknown",
    "Unknown profile name means normal",
    "internal/config/profile.go::ActiveProfile",
    "Tool filters test the name itself, so an unknown name lets every tool through.",
)
PROFILE_SCALE = _rule(
    "profile.scale",
    "Tiny budgets grow with a large context window",
    "internal/config/scale.go::ScaleProfileForContext",
    "The prompt budget first grows at a window of 60,020 tokens. A profile set to tiny by hand does not "
    "scale for a model that is not small.",
)
CAVEMAN = _rule(
    "caveman.level",
    "Level of the terseness rules",
    "internal/caveman/caveman.go::ParseLevel",
    "auto is not a level: unless the profile resolves it first there are no rules, yet the short identity.",
)
DISCIPLINE = _rule(
    "discipline.tiny",
    "Discipline block for the profile named tiny",
    "internal/prompt/assemble.go::tinyDiscipline",
    "It tests the profile's literal name; the documentation does not list the section. The documentation's "
    "seventh section, a closing nudge, does not exist in the source.",
)
CONTEXT_SHADOW = _rule(
    "context.shadow",
    "AGENTS.md hides CLAUDE.md in the same folder",
    "internal/prompt/context.go::tryLoad",
    "An empty AGENTS.md hides it too. The documentation names AGENTS.md alone for the global file; the "
    "source takes CLAUDE.md there as well.",
)
CONTEXT_UNREADABLE = _rule(
    "context.unreadable",
    "A context file that cannot be read is passed over",
    "internal/prompt/context.go::tryLoad",
)
CONTEXT_ROOT = _rule(
    "context.root",
    "The walk-up begins at the root of the file system",
    "internal/prompt/context.go::LoadContextFiles",
    "Here it begins at a virtual root, the workspace unless set otherwise, so that files above it stay out.",
)
CONTEXT_CAP = _rule(
    "context.cap",
    "A context file is cut at 8,192 bytes after its imports are in place",
    "internal/prompt/context.go::renderContextSection",
    "By bytes: the cut can split a line and a character. A note of 37 bytes follows it.",
)
IMPORT_EXACT = _rule(
    "import.exact", "An import of a file that is there", "internal/prompt/imports.go::resolveImport",
    "Empty files import too, although a comment in the source says otherwise.",
)  # fmt: skip
IMPORT_FUZZY = _rule(
    "import.fuzzy",
    "An import that fuzzily matches another file",
    "internal/prompt/imports.go::fuzzyResolve",
    "Any @word can match a file by accident, and naming a folder imports a file inside it. Ties keep the "
    "order of the walk with sahilm/fuzzy v0.1.2; older versions reverse them.",
)
IMPORT_CUT = _rule(
    "import.cut",
    "An imported file is cut at 65,536 bytes",
    "internal/prompt/imports.go::readImport",
    "Silently: no note is added. The cut can split a character.",
)
IMPORT_VISITED = _rule(
    "import.visited",
    "A file is imported once for each context file",
    "internal/prompt/imports.go::expandContextImports",
    "Depth first, in reading order: a file needed twice stands only where it is met first.",
)
IMPORT_DEPTH = _rule(
    "import.depth",
    "Imports nest five deep",
    "internal/prompt/imports.go::expandContextImports",
)
IMPORT_MISSING = _rule(
    "import.missing",
    "A reference to no file stays as typed",
    "internal/prompt/imports.go::resolveImport",
    "Absolute references and those to the home folder are never matched fuzzily. A full stop after a path "
    "belongs to the path.",
)
IMPORT_BINARY = _rule(
    "import.binary",
    "A binary file is not imported",
    "internal/prompt/atexpand.go::isBinaryBytes",
    "A NUL byte, or more than 30 % control characters, in the first 4,096 bytes. No second match is tried.",
)
IMPORT_REFUSED = _rule(
    "import.refused",
    "Not read here: a device, pipe, link to itself, or past the limits",
    "internal/prompt/imports.go::readImport",
    "bee itself would open it, and may hang.",
)
TOOLS_DISABLED = _rule(
    "tools.disabled", "A tool named in disabled_tools is hidden",
    "internal/loop/turn_profile_filter.go::filterToolSpecsDisabled",
)  # fmt: skip
TOOLS_PROFILE = _rule(
    "tools.profile",
    "Tiny and normal show only the tools on their list",
    "internal/loop/turn_profile_filter.go::filterToolSpecsForProfile",
    "Tools in extra_tools and user_tools pass. Large and unknown profiles have no list.",
)
TOOLS_MODE = _rule(
    "tools.mode",
    "Plan mode keeps tools that only read; other modes drop ask_user",
    "internal/loop/mode.go::filterToolSpecsForMode",
)
TOOLS_LINE = _rule(
    "tools.first-line",
    "Only the first line of a description is shown",
    "internal/prompt/assemble.go::toolsManifest",
    "The documentation speaks of up to two lines. A snippet is shown whole and takes its place.",
)
TOOLS_CAP = _rule(
    "tools.cap",
    "A tool's text is cut at tool_desc_chars bytes",
    "internal/prompt/assemble.go::toolsManifest",
    "The ellipsis comes after the cap. The cut can split a character.",
)
TOOLS_SCHEMA = _rule(
    "tools.schema",
    "Profile tiny sends schemas without their descriptions",
    "internal/loop/profile_tools.go::StripSchemaDescriptionsForProfile",
    "Every description inside the parameters goes; the tool's own stays.",
)
SKILLS_OFF = _rule(
    "skills.drop",
    "skill_manifest_chars below 0 leaves the skills out",
    "internal/prompt/assemble.go::truncateManifest",
)
SKILLS_CAP = _rule(
    "skills.cap",
    "Skills are listed while whole lines fit",
    "internal/prompt/assemble.go::truncateManifest",
    "Each line costs its bytes and one more, the first line too: one as long as the cap makes the whole "
    "section vanish. Profile normal allows 100 bytes in all.",
)
MEMORY_OFF = _rule(
    "memory.off", "memory.enabled is false", "cmd/bee/run_knowledge.go::Query",
)  # fmt: skip
MEMORY_SCAN = _rule(
    "memory.scan",
    "The newest 200 records are considered",
    "internal/knowledge/scan.go::ScanStore",
)
MEMORY_EXPIRED = _rule(
    "memory.expired",
    "An expired record is never chosen",
    "internal/knowledge/query.go::Query",
    "So the note about expiry, which the documentation describes, shows only on records handed in directly.",
)
MEMORY_SELECT = _rule(
    "memory.select",
    "The best records are chosen, memory.top_k of them",
    "internal/knowledge/query.go::Query",
    "A profile's memory_top_k is never read; memory.top_k is. A limit outside 1 to 5 is 5, and top_k of 0 or "
    "less is 3.",
)
MEMORY_HINTS = _rule(
    "memory.hints",
    "With fewer than two records a side call suggests tags",
    "cmd/bee/run_knowledge.go::Query",
    "The model's answer is not known here; the knob hint_tags gives one.",
)
MEMORY_BODY = _rule(
    "memory.body",
    "A record's body is cut at memory_body_chars bytes",
    "internal/prompt/assemble.go::truncateBody",
    "At the last space inside the cap, else at the cap, which can split a character. The ellipsis comes "
    "after.",
)
BUDGET_RECORDS = _rule(
    "budget.drop-records",
    "Over budget, records go first, from the end of the list",
    "internal/prompt/assemble.go::Assemble",
    "The order of the list decides, not the priority.",
)
BUDGET_SKILLS = _rule(
    "budget.drop-skills",
    "Still over budget, the skills section goes whole",
    "internal/prompt/assemble.go::Assemble",
    "The documentation says it is trimmed.",
)
BUDGET_CONTEXT = _rule(
    "budget.drop-context",
    "Still over budget, context files go, the nearest first",
    "internal/prompt/assemble.go::Assemble",
    "The file closest to the work is the last of the list and the first to be lost.",
)
BUDGET_OVER = _rule(
    "budget.over",
    "Still over budget, the prompt is sent as it is",
    "internal/prompt/assemble.go::Assemble",
    "Rules, identity, discipline and tools are never dropped; bee writes a line to its log.",
)
PROMPT_CACHE = _rule(
    "prompt.cache",
    "The prompt is cached by names and lengths",
    "internal/loop/turn_cache.go::sysPromptCacheKey",
    "Within a session an edit that keeps a context file's length is not noticed. A comment in the source "
    "lists the working folder among the keys; the code does not use it.",
)
MODE_PLAN = _rule(
    "mode.plan",
    "Plan mode puts a block before the system prompt, outside the budget",
    "internal/loop/mode.go::modePromptPrefix",
)
MODE_AUTO = _rule(
    "mode.auto",
    "Mode auto asks a model which mode the request needs",
    "internal/loop/mode.go::ClassifyMode",
    "The answer is not known here and taken to be edit; the knob mode sets it.",
)
ATTACH_EXACT = _rule(
    "attach.exact",
    "A file named with @ in the message is put in its place",
    "internal/prompt/atexpand.go::ExpandAtPaths",
    "Only in the new message, and not inside what was put in. No fuzzy search and no home folder, unlike "
    "imports.",
)
ATTACH_CUT = _rule(
    "attach.cut",
    "An attached file is cut at 65,536 bytes, with a note",
    "internal/prompt/atexpand.go::readForInline",
)
ATTACH_LITERAL = _rule(
    "attach.literal",
    "A reference that leads to no readable file below the working folder stays as typed",
    "internal/prompt/atexpand.go::readForInline",
)
SYSTEM = _rule(
    "history.system", "The system prompt comes first", "internal/loop/turn_run.go::RunWithContentDisplay"
)
CURRENT = _rule(
    "history.current", "The new message comes last", "internal/loop/turn_run.go::RunWithContentDisplay"
)
EPHEMERAL = _rule(
    "history.ephemeral", "Notes shown only on screen are not replayed", "internal/types/types.go::Message"
)
TOOL_RESULT = _rule(
    "tool-result.cut",
    "A tool result is cut at the smaller of the profile's and the tool's cap",
    "internal/tools/truncate.go::TruncateWithLimitSpill",
    "4 bytes a token. From the start, back to the last line end; bash keeps a head and a tail. bee saves the "
    "whole text to a file where it can and then names it in a longer note.",
)
CONTEXT_NOTICE = _rule(
    "notice.context",
    "At 70 % of the window a notice goes before the next tool result",
    "internal/prompt/context_warning.go::FormatContextWarning",
    "Once in a run. The share is clamped to 100 and the percentage rounded down.",
)
COMPACT = _rule(
    "compact.summary",
    "Over the threshold all but the last four messages become one summary",
    "internal/loop/compact.go::Compact",
    "Only their text reaches the summary: tool calls and results are lost, and a call can be parted from its "
    "result. A threshold of 0.75 or more is widened on large windows.",
    boundary=Boundary("summarised"),
)
COMPACT_NOT = _rule(
    "compact.unchanged",
    "Over the threshold, but nothing is compacted",
    "internal/loop/compact.go::Compact",
    "Four messages or fewer, or the summary failed.",
)
WIRE_THINKING = _rule(
    "wire.thinking",
    "Thinking is stored but never sent back",
    "internal/types/types.go::BlockThinking",
)

RULES = (
    PROFILE_AUTO, PROFILE_UNKNOWN, PROFILE_SCALE, CAVEMAN, DISCIPLINE,
    CONTEXT_ROOT, CONTEXT_SHADOW, CONTEXT_UNREADABLE,
    IMPORT_EXACT, IMPORT_FUZZY, IMPORT_CUT, IMPORT_VISITED, IMPORT_DEPTH, IMPORT_MISSING, IMPORT_BINARY,
    IMPORT_REFUSED, CONTEXT_CAP,
    TOOLS_DISABLED, TOOLS_PROFILE, TOOLS_MODE, TOOLS_LINE, TOOLS_CAP, TOOLS_SCHEMA,
    SKILLS_OFF, SKILLS_CAP,
    MEMORY_OFF, MEMORY_SCAN, MEMORY_EXPIRED, MEMORY_SELECT, MEMORY_HINTS, MEMORY_BODY,
    BUDGET_RECORDS, BUDGET_SKILLS, BUDGET_CONTEXT, BUDGET_OVER, PROMPT_CACHE, MODE_AUTO, MODE_PLAN,
    SYSTEM, CURRENT, EPHEMERAL, ATTACH_EXACT, ATTACH_CUT, ATTACH_LITERAL,
    TOOL_RESULT, CONTEXT_NOTICE, COMPACT, COMPACT_NOT, WIRE_THINKING,
    SWITCHED_OFF, EDITED,
)  # fmt: skip
