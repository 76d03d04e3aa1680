"""Orbiter's rules, in the order they apply.

Generation A was read from hazel-core/orbiter-ai (main, 563caeb0), generation B from
Midsphere-AI/orbiter-ai (the exo packages). Where its documentation says otherwise, the note does.
"""

from __future__ import annotations

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.model import Boundary, Rule

A = "orbiter-ai main 563caeb0"
B = "exo 7b8c8796"
BOTH = f"{A}; {B}"


_LEFT_OUT = Boundary("left out")


def _rule(
    name: str,
    title: str,
    source: str,
    note: str = "",
    version: str = BOTH,
    boundary: Boundary | None = None,
) -> Rule:
    return Rule(f"orbiter.{name}", title, "Orbiter", version, source, note, boundary)


def _ours(name: str, title: str, note: str) -> Rule:
    return Rule(f"orbiter.{name}", title, "promptdbg", "1", "an addition of promptdbg", note)


ADD = _rule(
    "builder.add",
    "A neuron is looked up by name when it is added",
    "context/prompt_builder.py::PromptBuilder.add",
    "An unknown name raises PromptBuilderError at once.",
)
ORDER_DOCUMENTED = _rule(
    "builder.order-documented",
    "High priorities first, as documented",
    "documentation page “Prompt Building”",
    "The code sorts the other way round (low numbers first), so the framework itself puts task first and "
    "system last. Set priority_order to “coded” to see that order.",
    "documentation",
)
ORDER_CODED = _rule(
    "builder.order-coded",
    "Low priority numbers first, ties in the order added",
    "context/prompt_builder.py::PromptBuilder.build",
    "The page “Prompt Building” says high numbers come first; the reference page of the same repository "
    "agrees with the code.",
)
EMPTY = _rule(
    "builder.empty",
    "A neuron that gives an empty text is left out",
    "context/prompt_builder.py::PromptBuilder.build",
    "No separator stands for it. A text of white space only is not empty and stays.",
)
CONDITION = _ours(
    "neuron.condition",
    "A custom neuron's condition on the state",
    "Stands for a format() that returns an empty text when the state does not have what it needs.",
)
HISTORY = _rule(
    "history.rounds",
    "The history neuron prints the last history_rounds × 2 messages",
    "context/neuron.py::HistoryNeuron.format",
    "Rounds are doubled without looking at roles. The agent's own window counts the same number as "
    "messages, not rounds.",
)
BUDGET = _ours(
    "neuron.budget",
    "A token budget over the neurons",
    "The framework has no budget for neurons. Off by default. Whole neurons go, the lowest priority first: "
    "the smallest number where high numbers come first, the largest where low numbers do; of equal ones the "
    "last added.",
)
JOIN = _rule(
    "builder.join",
    "The kept fragments, joined by the separator, are the system prompt",
    "context/prompt_builder.py::PromptBuilder.build",
)
VARIABLE_REGISTERED = _rule(
    "variables.registered",
    "A registered variable replaces its placeholder",
    "context/variables.py::DynamicVariableRegistry.resolve",
    "The whole path must match. What it gives is not expanded again.",
)
VARIABLE_STATE = _rule(
    "variables.state",
    "A path into the state replaces its placeholder",
    "context/variables.py::DynamicVariableRegistry._resolve_nested",
    "Runs over the whole final text, so a placeholder that a user typed into the history is replaced too. "
    "Lists cannot be indexed, and None prints as None.",
)
VARIABLE_MISSING = _rule(
    "variables.missing",
    "A placeholder that nothing resolves stays as typed",
    "context/variables.py::DynamicVariableRegistry.resolve_template",
)
INPUT = _rule(
    "agent.input",
    "The new user message is the last of the list",
    "core/agent.py::Agent._run_inner",
)
SYSTEM_FIRST = _rule(
    "window.system-first",
    "System messages move to the front",
    "core/agent.py::_apply_context_windowing",
    "Even when nothing is cut. Earlier summaries are system messages, so they move too and are never cut.",
)
OFFLOAD = _rule(
    "window.offload",
    "Far over the limit: only the last summary_threshold messages stay",
    "core/agent.py::_apply_context_windowing",
    "No summary is made in the same pass. Calls and results are cut apart without a look.",
    boundary=_LEFT_OUT,
)
TRIGGER = _rule(
    "window.summary-trigger",
    "A summary needs more than summary_threshold messages, or over 4,000 estimated tokens",
    "memory/summary.py::check_trigger",
    "The branch is entered at the threshold, the trigger is strict: at exactly the threshold only the token "
    "estimate, int(characters / 4), can fire.",
)
SUMMARY = _rule(
    "window.summary",
    "Old messages are replaced by a summary, a system message",
    "core/agent.py::_apply_context_windowing",
    "When the call fails the summary is empty and the old messages go all the same. When nothing is old "
    "enough, everything is summarized and kept, and the list grows.",
    boundary=Boundary("summarised"),
)
HISTORY_ROUNDS = _rule(
    "window.history-rounds",
    "The last history_rounds messages stay",
    "core/agent.py::_apply_context_windowing",
    "Messages, not rounds. A summary just made counts, and as the first it goes first.",
    boundary=_LEFT_OUT,
)
TRUNCATE = _rule(
    "window.truncate",
    "Overflow “truncate”: the last limit messages stay",
    "core/_internal/context_helpers.py::_apply_context_windowing",
    version=B,
    boundary=_LEFT_OUT,
)
NOT_RUN = _rule(
    "window.not-run",
    "No window at this step",
    "core/agent.py::Agent._run_inner",
    "After the first call the older generation windows only above token_budget_trigger. Overflow “hook” "
    "leaves the list to a hook, which cannot be run here.",
)
PRESSURE = _rule(
    "window.token-pressure",
    "Input tokens above the trigger's share of the model's window force a summary",
    "core/agent.py::Agent._run_inner",
    "Strictly above, and only for models with a known window. One stored version of generation B reads the "
    "older key on its path without streaming, so that its own token_pressure has no effect (0.8 holds).",
)
TAG = _rule(
    "tag.usage",
    "The usage tag in the first system message",
    "core/agent.py::_update_system_token_info",
    "From the second step on, for models with a known window. Lines that begin with [Context: are removed "
    "first, the percentage is rounded half to even.",
)

CATALOGUE = (
    ADD,
    ORDER_DOCUMENTED,
    ORDER_CODED,
    CONDITION,
    HISTORY,
    EMPTY,
    BUDGET,
    JOIN,
    VARIABLE_REGISTERED,
    VARIABLE_STATE,
    VARIABLE_MISSING,
    INPUT,
    PRESSURE,
    NOT_RUN,
    SYSTEM_FIRST,
    OFFLOAD,
    TRIGGER,
    SUMMARY,
    TRUNCATE,
    HISTORY_ROUNDS,
    TAG,
    SWITCHED_OFF,
    EDITED,
)
