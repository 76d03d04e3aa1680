"""The catalogue: every rule of AgentOS that a decision may name, in the order they apply."""

from __future__ import annotations

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.model import Boundary, Rule

PUBLISHED = "published"
NEWER = "newer"
VERSIONS = (PUBLISHED, NEWER)

_ENGINE = "src/core/llm/PromptEngine.ts"
_GMI = "src/cognition/substrate/GMI.ts"
_MEMORY = "src/cognition/memory/core/prompt/MemoryPromptAssembler.ts"
_BOTH = "0.9.164 and newer"
_NEWER = "newer than 0.9.164 (unpublished source)"


_LEFT_OUT = Boundary("left out")


def _rule(
    area: str,
    title: str,
    source: str,
    version: str = _BOTH,
    note: str = "",
    boundary: Boundary | None = None,
) -> Rule:
    return Rule(f"agentos.{area}", title, "agentos", version, source, note, boundary)


GMI_PROMPTS = _rule(
    "gmi.prompts",
    "The persona's base prompt and the turn's notes become system prompts of set priorities",
    f"{_GMI}::processTurnStream",
    note="Base prompt 1 (an array as given), rolling summary 50, capabilities 55, skills 57, profile 60.",
)
GMI_HISTORY = _rule(
    "gmi.history",
    "The GMI keeps only the newest messages, before the engine sees any",
    "src/cognition/substrate/ConversationHistoryManager.ts::update",
    note="20 unless a persona says otherwise; tool calls and their results are not kept together.",
    boundary=_LEFT_OUT,
)
GMI_MEMORY = _rule(
    "gmi.memory",
    "The memory text is put in front of the retrieved context",
    f"{_GMI}::processTurnStream",
    note="The interface's documentation says the template merges assembledMemoryContext; no template "
    "reads it. The caller joins the texts by a blank line, three dashes and a blank line.",
)
ELEMENT_CRITERIA = _rule(
    "elements.criteria",
    "A contextual element is used only when its criteria fit the context",
    f"{_ENGINE}::evaluateCriteria",
    note="An element without criteria never fits; workingMemoryQuery is not evaluated.",
)
ELEMENT_LIMIT = _rule(
    "elements.limit",
    "The ten fitting elements of the highest priority are used",
    f"{_ENGINE}::constructPrompt",
    note="The configured limits per type and the resolution strategies are never read.",
)
ELEMENT_SYSTEM = _rule(
    "elements.system",
    "An element of an instructing type becomes a system prompt, priority 100 unless it has one",
    f"{_ENGINE}::augmentBaseComponents",
    note="A priority of 0 counts as none, so it becomes 100 too.",
)
ELEMENT_INPUT = _rule(
    "elements.input",
    "A user prompt augmentation is written under the user input",
    f"{_ENGINE}::augmentBaseComponents",
)
ELEMENT_UNUSED = _rule(
    "elements.unused",
    "Elements of other types go to custom components, which no built-in template prints",
    f"{_ENGINE}::augmentBaseComponents",
    note="Few-shot examples, too. The documentation offers them to templates.",
)
PREFERENCE = _rule(
    "system.preference",
    "User preferences for length and format become system prompts of priority 90 and 91",
    f"{_ENGINE}::buildUserPreferencePrompts",
)
SYSTEM_ORDER = _rule(
    "system.order",
    "System prompts stand in ascending order of priority; a missing one counts 0",
    f"{_ENGINE}::augmentBaseComponents",
    note="The interface's documentation says a higher priority is usually placed earlier; in the "
    "prompt the highest priority stands last.",
)
SYSTEM_JOIN = _rule(
    "system.join",
    "System prompts are joined to one text, which the chat templates trim",
    f"{_ENGINE}::createOpenAIChatTemplate",
    note="Blank prompts still add their separator.",
)
UNUSED_COMPONENT = _rule(
    "components.unused",
    "These components reach no built-in template",
    f"{_ENGINE}::createOpenAIChatTemplate",
    note="assembledMemoryContext, toolSchemas, audioInput, taskSpecificData, customComponents.",
)
COMPONENT = _rule(
    "components.given",
    "A component of the prompt, as it goes into the token budget",
    f"{_ENGINE}::constructPrompt",
)
HISTORY_STEP = _rule(
    "history.step",
    "The history step runs when the history is over 35% of the budget or the total over all of it",
    f"{_ENGINE}::applyTokenBudget",
    note="The decision uses the model's divisor and 5 a message, the cut uses length / 4 and nothing a "
    "message: many short messages can be over the share and still all stay.",
)
HISTORY_TRUNCATE = _rule(
    "history.truncate",
    "The oldest messages go until a rough estimate (length / 4) fits the target",
    f"{_ENGINE}::truncateMessages",
    note="The published target is the history's share even when the rest of the prompt is too long; the "
    "newer one takes what the rest leaves. Content that is neither text nor parts counts 50 characters.",
    boundary=_LEFT_OUT,
)
HISTORY_MINIMUM = _rule(
    "history.minimum",
    "The last message stays whatever its size",
    f"{_ENGINE}::truncateMessages",
    note="Newer: only when there is neither a current turn nor user input.",
)
HISTORY_TURN_FILLS = _rule(
    "history.turn-fills",
    "Nothing is left for earlier messages, so they all go and nothing is summarized",
    f"{_ENGINE}::applyTokenBudget",
    _NEWER,
    boundary=_LEFT_OUT,
)
HISTORY_LEADING_TOOL = _rule(
    "history.leading-tool",
    "Tool results left first, without their call, go too",
    f"{_ENGINE}::truncateMessages",
    _NEWER,
    note="0.9.164 keeps them, and a provider then refuses the request.",
)
HISTORY_TURN = _rule(
    "history.turn",
    "The last currentTurnMessageCount messages are never reduced",
    f"{_ENGINE}::applyTokenBudget",
    _NEWER,
    note="In no published package up to 0.9.164, where the count is ignored.",
)
HISTORY_TOOL_ROUND = _rule(
    "history.tool-round",
    "A call whose result opens the current turn is kept with it",
    "documentation of IPromptEngine.ts::PromptComponents.currentTurnMessageCount",
    "documented only",
    note="Neither 0.9.164 nor the newer source does it; the knob keep_tool_rounds shows what it would do.",
)
HISTORY_SUMMARIZE = _rule(
    "history.summarize",
    "With a summarizer, history over the trigger ratio of its share is replaced by a summary",
    f"{_ENGINE}::applyTokenBudget",
    note="0.9.164 summarizes the current turn as well, and its target may be negative. The newer ratio "
    "test still uses the whole history, though only earlier messages are summarized.",
    boundary=Boundary("summarised"),
)
HISTORY_SUMMARY_FAILED = _rule(
    "history.summary-failed",
    "A summarizer that fails gives a warning, and the history is cut instead",
    f"{_ENGINE}::applyTokenBudget",
    note="Reported as truncated whether or not a message went.",
)
RETRIEVED_CUT = _rule(
    "retrieved.cut",
    "Retrieved context over 20% of the budget, or of a prompt still over it, is cut by length",
    f"{_ENGINE}::applyTokenBudget",
    note="Kept are floor(length * share / tokens) UTF-16 units, which may split a character. When the "
    "text is under its share the ratio is above 1: all stays, but it is reported as truncated.",
)
RETRIEVED_SOURCES = _rule(
    "retrieved.sources",
    "Retrieved documents that pass through the step become plain text without their sources",
    f"{_ENGINE}::applyTokenBudget",
)
RETRIEVED_SUMMARIZE = _rule(
    "retrieved.summarize",
    "With a summarizer, retrieved context is replaced by a summary, whatever the ratio",
    f"{_ENGINE}::applyTokenBudget",
    note="The target passed is the share less what the prompt is over, and may be negative.",
)
RETRIEVED_SUMMARY_FAILED = _rule(
    "retrieved.summary-failed",
    "A summarizer that fails gives a warning, and the retrieved context is cut instead",
    f"{_ENGINE}::applyTokenBudget",
)
BUDGET_OVER = _rule(
    "budget.over",
    "A prompt still over the budget is sent with a warning",
    f"{_ENGINE}::applyTokenBudget",
    note="System prompts, user input and tools have shares (20%, 15%, 10%) that nothing enforces.",
)
TEMPLATE_MESSAGE = _rule(
    "template.message",
    "A history message is written in the template's form",
    f"{_ENGINE}::createOpenAIChatTemplate",
    note="Roles the template does not know (error, thought) become user; object content becomes JSON; "
    "calls get string arguments.",
)
TEMPLATE_SUMMARY = _rule(
    "template.summary",
    "A summary message becomes system text under a heading",
    f"{_ENGINE}::createOpenAIChatTemplate",
)
TEMPLATE_INPUT = _rule(
    "template.input",
    "The user input, and images where the model takes them, become the last user message",
    f"{_ENGINE}::createOpenAIChatTemplate",
)
TEMPLATE_VISION = _rule(
    "template.vision",
    "Images are left out without a word when the model takes none",
    f"{_ENGINE}::createOpenAIChatTemplate",
)
TEMPLATE_RETRIEVED = _rule(
    "template.retrieved",
    "Retrieved context is written around the last message if that is a user's, else as a message",
    f"{_ENGINE}::createOpenAIChatTemplate",
    note="0.9.164 turns a last message of several parts into the text [object Object]; newer puts a text "
    "part in front.",
)
TEMPLATE_NO_RETRIEVED = _rule(
    "template.no-retrieved",
    "This template does not print retrieved context",
    f"{_ENGINE}::createAnthropicMessagesTemplate",
    note="It has been paid for in the budget all the same.",
)
TEMPLATE_SKIPPED = _rule(
    "template.skipped",
    "The Anthropic template leaves out system, error and thought messages of the history",
    f"{_ENGINE}::createAnthropicMessagesTemplate",
)
TEMPLATE_CALLS_LOST = _rule(
    "template.calls-lost",
    "The Anthropic template does not write an assistant's tool calls, but writes their results",
    f"{_ENGINE}::createAnthropicMessagesTemplate",
)
TEMPLATE_LINES = _rule(
    "template.lines",
    "The completion template writes one line per message, with its role in front",
    f"{_ENGINE}::createGenericCompletionTemplate",
)
TOOLS_UNSUPPORTED = _rule(
    "tools.unsupported",
    "No tools are sent when the model supports none",
    f"{_ENGINE}::formatToolSchemasForModel",
    note="Each still costs 50 tokens of the budget.",
)
TOOLS_OVERRIDE = _rule(
    "tools.override",
    "The persona's list for this model replaces the enabled list",
    f"{_ENGINE}::formatToolSchemasForModel",
)
TOOLS_ENABLED = _rule(
    "tools.enabled",
    "Only tools on the persona's enabled list are sent",
    f"{_ENGINE}::formatToolSchemasForModel",
    note="The manifest applies only after setCurrentExecutionContext; a context passed to the call does "
    "not count.",
)
TOOLS_DISABLED = _rule(
    "tools.disabled",
    "Tools on the persona's disabled list are removed last",
    f"{_ENGINE}::formatToolSchemasForModel",
)
CACHE_KEY = _rule(
    "cache.key",
    "Prompts with the same cache key are served from the cache",
    f"{_ENGINE}::generateCacheKey",
    note="0.9.164 hashes 50 characters per system prompt, 100 of the input, 50 of the last message and "
    "some ids to 32 bits, so unlike prompts share a key. Newer: SHA-256 over everything.",
)
MEMORY_PREAMBLE = _rule(
    "memory.preamble",
    "A preamble stands first when the budget is 100 tokens more than it costs",
    f"{_MEMORY}::assembleMemoryContext",
    note="A comment says it is taken off the budget before the shares; it is not.",
)
MEMORY_PERSISTENT = _rule(
    "memory.persistent",
    "The persistent text is cut at 4 characters a token of its share",
    f"{_MEMORY}::assembleMemoryContext",
)
MEMORY_WORKING = _rule(
    "memory.working",
    "The working memory goes in whole or not at all",
    f"{_MEMORY}::assembleMemoryContext",
)
MEMORY_MISFIT = _rule(
    "memory.misfit",
    "A list of memories ends at the first that does not fit its share",
    f"{_MEMORY}::assembleMemoryContext",
    note="Smaller ones after it are not tried. The semantic share grows by what the working memory and "
    "empty sources leave.",
)
MEMORY_SHORTENED = _rule(
    "memory.shortened",
    "A memory is written with at most 300 characters (350 in narrative style)",
    "src/cognition/memory/core/prompt/MemoryFormatters.ts::formatMemoryTrace",
)

RULES = (
    GMI_PROMPTS,
    GMI_HISTORY,
    MEMORY_PREAMBLE,
    MEMORY_PERSISTENT,
    MEMORY_WORKING,
    MEMORY_MISFIT,
    MEMORY_SHORTENED,
    GMI_MEMORY,
    CACHE_KEY,
    ELEMENT_CRITERIA,
    ELEMENT_LIMIT,
    ELEMENT_SYSTEM,
    ELEMENT_INPUT,
    ELEMENT_UNUSED,
    PREFERENCE,
    SYSTEM_ORDER,
    SYSTEM_JOIN,
    COMPONENT,
    UNUSED_COMPONENT,
    HISTORY_STEP,
    HISTORY_TURN,
    HISTORY_TOOL_ROUND,
    HISTORY_TURN_FILLS,
    HISTORY_SUMMARIZE,
    HISTORY_SUMMARY_FAILED,
    HISTORY_TRUNCATE,
    HISTORY_MINIMUM,
    HISTORY_LEADING_TOOL,
    RETRIEVED_SUMMARIZE,
    RETRIEVED_SUMMARY_FAILED,
    RETRIEVED_CUT,
    RETRIEVED_SOURCES,
    BUDGET_OVER,
    TEMPLATE_MESSAGE,
    TEMPLATE_SUMMARY,
    TEMPLATE_INPUT,
    TEMPLATE_VISION,
    TEMPLATE_RETRIEVED,
    TEMPLATE_NO_RETRIEVED,
    TEMPLATE_SKIPPED,
    TEMPLATE_CALLS_LOST,
    TEMPLATE_LINES,
    TOOLS_UNSUPPORTED,
    TOOLS_OVERRIDE,
    TOOLS_ENABLED,
    TOOLS_DISABLED,
    SWITCHED_OFF,
    EDITED,
)
