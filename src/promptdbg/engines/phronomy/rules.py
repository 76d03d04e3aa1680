"""Phronomy's rules, in the order they apply.

Read from Raizo-TCS/phronomy. Generation 1 is the Builder (2342f1be), 2 the Assembler in two variants
(241d2e7e trims, 38a3f622 raises), 3 the policy with plan, checks and manifest (f9e0e0a2, 16e6fcb2).
"""

from __future__ import annotations

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.model import Boundary, Rule

GEN_1 = "1 (2342f1be)"
GEN_2A = "2, trims (241d2e7e)"
GEN_2B = "2, raises (38a3f622)"
GEN_3 = "3 (f9e0e0a2, 16e6fcb2)"


_LEFT_OUT = Boundary("left out")


def _rule(
    name: str, title: str, version: str, source: str, note: str = "", boundary: Boundary | None = None
) -> Rule:
    return Rule(f"phronomy.{name}", title, "Phronomy", version, source, note, boundary)


JOIN = _rule(
    "system.join",
    "System text and knowledge, joined by blank lines, are the system prompt",
    f"{GEN_1}; {GEN_2A}; {GEN_2B}",
    "context/builder.rb::build",
    "It is never cut and never checked, although the documentation says that the tail of each section is "
    "truncated. An empty text is a part too, with its blank line.",
)
ESCAPE = _rule(
    "knowledge.escape",
    "Knowledge is wrapped in a context tag, its text escaped",
    f"{GEN_2A}; {GEN_2B}",
    "context/assembler.rb::xml_context_tag",
    "Escaping comes before the estimate, so it costs tokens.",
)
TRIM = _rule(
    "history.trim",
    "The on_trim callback removes messages by number",
    f"{GEN_2A}; {GEN_2B}",
    "context/trim_context.rb::remove",
    "Messages are numbered from 0; unknown numbers are ignored.",
    boundary=_LEFT_OUT,
)
COMPACT = _rule(
    "history.compact",
    "The on_compact callback replaces a range by a summary",
    f"{GEN_2A}; {GEN_2B}",
    "context/compaction_context.rb::compact",
    "Everything before the range is lost too, a second call starts again from the whole list, and a "
    "negative end puts the whole list behind the summary.",
    boundary=Boundary("summarised"),
)
FIT = _rule(
    "messages.fit",
    "Messages are taken from the newest until the first that does not fit",
    f"{GEN_1}; {GEN_2A}",
    "context/builder.rb::fit_messages_to_budget",
    "Equal is allowed. Older messages are not tried, even if one would fit. A message that costs nothing "
    "stays at 0 left. Calls and results are cut apart.",
    boundary=_LEFT_OUT,
)
CHECK = _rule(
    "messages.check",
    "Messages that do not fit raise ContextLengthError",
    GEN_2B,
    "llm_context_window/assembler.rb::build",
    "Nothing is trimmed, although the class comment says so. Without messages there is no check.",
)
TOOLS = _rule(
    "tools.cost",
    "A tool class costs its description and parameter names, an instance nothing",
    GEN_2B,
    "llm_context_window/assembler.rb::estimate_capability_tokens",
)
ASK = _rule(
    "agent.ask",
    "The question is sent after the assembled messages",
    f"{GEN_1}; {GEN_2A}; {GEN_2B}",
    "agent/base.rb",
    "It is not part of what is measured.",
)
DUPLICATE = _rule(
    "input.duplicate-id",
    "A second conversation item of one id is passed over",
    GEN_3,
    "context/context_policy_input_builder.rb::conversation_groups",
)
GROUP = _rule(
    "input.group",
    "An assistant with calls and the results of its calls are one group",
    GEN_3,
    "context/context_policy_input_builder.rb::conversation_groups",
    "Items are ordered by sequence, then by id; a missing sequence counts as 0. A group stands where its "
    "first member does.",
)
CURRENT_INPUT = _rule(
    "input.current",
    "In ask mode the current input is added, required, after everything else",
    GEN_3,
    "agent/context_assembly/initial_preparation.rb::current_input_item",
)
REQUIRED = _rule(
    "policy.required",
    "Instructions, all tools and what is required come first",
    GEN_3,
    "context/default_policy.rb::call",
    "More than the limit raises BudgetExceededError. In complete mode the framework itself requires this "
    "execution's working request and its latest tool group. Priorities and the mode forbidden are not read.",
)
CONVERSATION = _rule(
    "policy.conversation",
    "Conversation groups are taken from the newest until the first that does not fit",
    GEN_3,
    "context/default_policy.rb::select_recent_suffix",
    "First within 60 % of what is left, rounded down; then the leftover, from the group that did not fit.",
)
KNOWLEDGE = _rule(
    "policy.knowledge",
    "Knowledge is taken in input order, each item that fits",
    GEN_3,
    "context/default_policy.rb::select_stable_fit",
    "First within its share, then within the leftover once the conversation has had its second turn. What "
    "does not fit is passed over, not the end.",
)
PLAN = _rule(
    "plan.check",
    "A plan may add items of its own, but not change, split or leave out required ones",
    GEN_3,
    "context/context_plan_validator.rb::validate!",
)
FINAL = _rule(
    "final.check",
    "The final input is estimated once more, with the tool list",
    GEN_3,
    "context/final_budget_validator.rb::validate!",
    "The list is counted as JSON, so no tools at all cost one token: a plan exactly at its limit fails here. "
    "Until here declared estimates are trusted.",
)

CATALOGUE = (
    JOIN,
    ESCAPE,
    TRIM,
    COMPACT,
    TOOLS,
    FIT,
    CHECK,
    ASK,
    DUPLICATE,
    GROUP,
    CURRENT_INPUT,
    REQUIRED,
    CONVERSATION,
    KNOWLEDGE,
    PLAN,
    FINAL,
    SWITCHED_OFF,
    EDITED,
)
