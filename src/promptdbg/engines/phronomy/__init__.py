"""Phronomy, Ruby: three generations of context assembly.

The framework's own interface, on our engine::

    from promptdbg.engines.phronomy import Builder, TokenBudget

    builder = Builder(budget=TokenBudget(context_window=4096, max_output_tokens=512))
    builder.add_system("Be brief.").add_knowledge("The shop opens at nine.").add_messages(messages)
    builder.build()        # {"system": "…", "messages": […]}
    builder.assembly()     # the same with every number and rule

``Assembler`` is generation 2, ``PolicyBuilder`` generation 3. Workspaces: ``phronomy.yaml`` with
``messages.jsonl`` (generations 1 and 2) or ``candidates.json`` (3).
"""

from __future__ import annotations

from promptdbg.engines.phronomy.budget import InputBudget, ModelInfo, TokenBudget, resolve_budget
from promptdbg.engines.phronomy.builder import Assembler, Builder, PolicyBuilder
from promptdbg.engines.phronomy.chunks import xml_tag
from promptdbg.engines.phronomy.engine import ENGINE
from promptdbg.engines.phronomy.errors import (
    BudgetExceededError,
    ContextLengthError,
    InvalidArgument,
    MissingVariable,
    PhronomyError,
    UnknownModelError,
)
from promptdbg.engines.phronomy.estimate import TOKENIZERS, TokenEstimator
from promptdbg.engines.phronomy.history import (
    CompactionContext,
    Range,
    TriggerContext,
    TrimContext,
    number,
)
from promptdbg.engines.phronomy.items import Item, PolicyInput, build_input
from promptdbg.engines.phronomy.manifest import final_estimate, manifest, segments
from promptdbg.engines.phronomy.plan_check import check_plan
from promptdbg.engines.phronomy.policy import Plan, default_policy
from promptdbg.engines.phronomy.template import PromptTemplate

__all__ = [
    "ENGINE",
    "TOKENIZERS",
    "Assembler",
    "BudgetExceededError",
    "Builder",
    "CompactionContext",
    "ContextLengthError",
    "InputBudget",
    "InvalidArgument",
    "Item",
    "MissingVariable",
    "ModelInfo",
    "PhronomyError",
    "Plan",
    "PolicyBuilder",
    "PolicyInput",
    "PromptTemplate",
    "Range",
    "TokenBudget",
    "TokenEstimator",
    "TriggerContext",
    "TrimContext",
    "UnknownModelError",
    "build_input",
    "check_plan",
    "default_policy",
    "final_estimate",
    "manifest",
    "number",
    "resolve_budget",
    "segments",
    "xml_tag",
]
