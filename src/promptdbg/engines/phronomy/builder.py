"""The framework's own interface: ``Builder``, ``Assembler`` and the policy, on our assemblies.

budget = TokenBudget(context_window=4096, max_output_tokens=512)
builder = Builder(budget=budget).add_system("Be brief.").add_knowledge("…").add_messages(messages)
builder.build()       # {"system": "…", "messages": […]}
builder.assembly()    # every message with the numbers that kept or dropped it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from promptdbg.engines.phronomy.assemble import assemble, assemble_result
from promptdbg.engines.phronomy.budget import InputBudget, TokenBudget
from promptdbg.engines.phronomy.chunks import Chunk, join
from promptdbg.engines.phronomy.direct import SYSTEM
from promptdbg.engines.phronomy.estimate import TokenEstimator, content_of
from promptdbg.engines.phronomy.inputs import Knowledge, PhronomyInputs, Tool
from promptdbg.engines.phronomy.items import (
    Item,
    PolicyInput,
    build_input,
    current_input,
    item_from,
    tool_from,
)
from promptdbg.engines.phronomy.load import keyed
from promptdbg.engines.phronomy.manifest import FinalEstimate, check_final, final_estimate, segments
from promptdbg.engines.phronomy.outcome import tool_cost
from promptdbg.engines.phronomy.plan_check import check_plan
from promptdbg.engines.phronomy.policy import Plan, PolicyResult, default_policy
from promptdbg.engines.rows import Row
from promptdbg.model import Assembly, Json, Settings, TokenizerInfo
from promptdbg.tokens import TokenCounter, tokenizer


class _NoCount:
    """Counts nothing: for a build whose tokens nobody asked for."""

    info = TokenizerInfo("none", exact=False)

    def count(self, text: str) -> int:
        return 0


class _Direct:
    """What the Builder and the Assembler share."""

    def __init__(self, budget: TokenBudget | None) -> None:
        self._budget = budget
        self._instruction: str | None = None
        self._knowledge: list[Chunk] = []
        self._messages: list[Any] = []
        self._tools: list[Tool] = []

    def _generation(self) -> str:
        raise NotImplementedError

    def _inputs(self) -> PhronomyInputs:
        budget = self._budget
        numbers: dict[str, Json] = {}
        if budget is not None:
            numbers = {
                "context_window": budget.context_window,
                "max_output_tokens": budget.max_output_tokens,
                "overhead": budget.overhead,
            }
        rows = [_row(index, message) for index, message in enumerate(self._messages)]
        return PhronomyInputs(
            workspace="",
            generation=self._generation(),
            budget=numbers,
            estimate=TokenEstimator.tokenizer,
            instruction=self._instruction,
            knowledge=tuple(
                Knowledge(f"knowledge/{index}", f"knowledge {index}", chunk)
                for index, chunk in enumerate(self._knowledge)
            ),
            tools=tuple(self._tools),
            rows=tuple(rows),
        )

    def _build(self) -> dict[str, Any]:
        result = assemble_result(self._inputs(), Settings(), _NoCount())
        if result.error is not None:
            raise result.error
        given = {f"m{index}": message for index, message in enumerate(self._messages)}
        messages = result.assembly.stages[-1].messages
        return {
            "system": messages[0].content if messages and messages[0].id == SYSTEM else None,
            "messages": [given[message.id] for message in messages if message.id in given],
        }

    def assembly(self, counter: TokenCounter | None = None, settings: Settings | None = None) -> Assembly:
        """The build with every section, decision and cost; a failure is told in it, not raised."""
        return assemble(self._inputs(), settings or Settings(), counter or tokenizer())


def _row(index: int, message: Any) -> Row:
    """Any object with ``role`` and ``content``, or a mapping, as a row."""
    if isinstance(message, Mapping):
        return Row(f"m{index}", {"role": message.get("role", "user"), **message})
    role = getattr(message, "role", "user")
    return Row(f"m{index}", {"role": str(role), "content": content_of(message)})


class Builder(_Direct):
    """Generation 1: the system text whole, and the newest messages that fit."""

    def __init__(self, *, budget: TokenBudget) -> None:
        super().__init__(budget)

    def _generation(self) -> str:
        return "1"

    def add_system(self, text: object) -> Builder:
        """Set the system text, in place of an earlier one."""
        self._instruction = str(text)
        return self

    def add_knowledge(self, text: object) -> Builder:
        """Append a knowledge text."""
        self._knowledge.append(Chunk(str(text)))
        return self

    def add_messages(self, messages: Sequence[Any]) -> Builder:
        """Set the messages, in place of earlier ones."""
        self._messages = list(messages)
        return self

    def build(self) -> dict[str, Any]:
        """``system`` (``None`` when there is nothing) and the ``messages`` that fit."""
        return self._build()


class Assembler(_Direct):
    """Generation 2.

    Args:
        budget: without one nothing is trimmed and nothing checked.
        variant: ``trims`` drops old messages, ``raises`` refuses what does not fit.
    """

    def __init__(
        self, *, budget: TokenBudget | None = None, variant: Literal["trims", "raises"] = "raises"
    ) -> None:
        super().__init__(budget)
        self._variant = variant

    def _generation(self) -> str:
        return f"2-{self._variant}"

    def add_instruction(self, text: object) -> Assembler:
        """Set the instruction, in place of an earlier one."""
        self._instruction = str(text)
        return self

    def add_knowledge(
        self,
        text: object,
        *,
        type: str,  # noqa: A002 - as there
        trusted: Json = False,
        source: str | None = None,
    ) -> Assembler:
        """Append a chunk; it is wrapped in a context tag and escaped."""
        self._knowledge.append(Chunk(str(text), str(type), trusted, source))
        return self

    def add_capability(self, tools: Sequence[Mapping[str, Json]]) -> Assembler:
        """Set the tools: ``description``, ``parameters`` (names), ``instance``."""
        self._tools = [tool_of(index, tool) for index, tool in enumerate(tools)]
        return self

    def add_messages(self, messages: Sequence[Any]) -> Assembler:
        """Set the messages, in place of earlier ones."""
        self._messages = list(messages)
        return self

    def available_for_messages(self) -> int | None:
        """Tokens left for messages; ``None`` without a budget."""
        if self._budget is None:
            return None
        instruction = [] if self._instruction is None else [self._instruction]
        system = join([*instruction, *(chunk.tag() for chunk in self._knowledge)])
        tools = sum(tool_cost(tool, TokenEstimator.estimate) for tool in self._tools)
        return self._budget.available(TokenEstimator.estimate(system or "") + tools)

    def build(self) -> dict[str, Any]:
        """``system`` and ``messages``.

        Raises:
            ContextLengthError: variant ``raises``, and the messages do not fit.
        """
        return self._build()


def tool_of(index: int, value: Mapping[str, Json]) -> Tool:
    """A tool of generation 2 from plain data."""
    parameters = value.get("parameters") or ()
    name = str(value.get("name", f"tool {index}"))
    return Tool(
        f"tools/{name}" if "name" in value else f"tools/{index}",
        name,
        str(value.get("description") or ""),
        tuple(str(entry) for entry in parameters),
        bool(value.get("instance", False)),
        dict(value),
    )


# ---- generation 3 ---------------------------------------------------------------------------------


Policy = Callable[[PolicyInput], Plan]


class PolicyBuilder:
    """Generation 3: candidates in, a plan out.

    Args:
        max_input_tokens: the limit; ``None`` takes everything.
        call_mode: ``ask`` adds the current input, ``complete`` requires what this execution works on.

    Raises:
        InvalidArgument: the limit is not positive.
    """

    def __init__(
        self,
        *,
        max_input_tokens: int | None = None,
        call_mode: Literal["ask", "complete"] = "ask",
        execution_id: str | None = None,
    ) -> None:
        self.budget = None if max_input_tokens is None else InputBudget(max_input_tokens)
        self._call_mode = call_mode
        self._execution_id = execution_id
        self._items: list[Item] = []
        self._tools: list[Item] = []
        self._current: Item | None = None

    def add_instruction(self, candidate: str | Mapping[str, Json]) -> PolicyBuilder:
        """Add an instruction: a text, or a candidate with ``id`` and ``tokens`` or ``content``."""
        value = (
            {"id": f"instruction-{len(self._items)}", "content": candidate}
            if isinstance(candidate, str)
            else candidate
        )
        return self._add({"category": "instruction", **value})

    def add_candidates(self, candidates: Sequence[Mapping[str, Json]]) -> PolicyBuilder:
        """Add candidates: ``id``, ``category``, ``tokens`` or ``content``, and what else they have.

        Raises:
            InvalidArgument: a category has no region, or an estimate is not valid.
        """
        for candidate in candidates:
            self._add(candidate)
        return self

    def _add(self, candidate: Mapping[str, Json]) -> PolicyBuilder:
        self._items.append(item_from(candidate, TokenEstimator.estimate))
        return self

    def add_tools(self, tools: Sequence[Mapping[str, Json]]) -> PolicyBuilder:
        """Add tools by their definitions."""
        self._tools += [tool_from(tool, TokenEstimator.estimate) for tool in tools]
        return self

    def set_current_input(self, value: str | Mapping[str, Json]) -> PolicyBuilder:
        """Set the question of ask mode."""
        self._current = current_input(value, self._execution_id, TokenEstimator.estimate)
        return self

    def input(self) -> PolicyInput:
        """What a policy sees.

        Raises:
            InvalidArgument: calls and results do not pair.
        """
        return build_input(
            keyed(self._items),
            tools=keyed(self._tools),
            current=self._current if self._call_mode == "ask" else None,
            budget=self.budget,
            call_mode=self._call_mode,
            execution_id=self._execution_id,
        )

    def select(self) -> PolicyResult:
        """The default policy's choice, with its first pass and a verdict on everything.

        Raises:
            BudgetExceededError: what is required does not fit.
        """
        return default_policy(self.input())

    def build(self, policy: Policy | None = None) -> Plan:
        """The plan, checked; of the default policy or of one's own.

        Raises:
            BudgetExceededError: what is required does not fit or is left out.
            InvalidArgument: the plan is not valid.
        """
        given = self.input()
        plan = policy(given) if policy else default_policy(given).plan
        return check_plan(given, plan)

    def final_check(self, plan: Plan) -> FinalEstimate:
        """The last estimate of a plan.

        Raises:
            BudgetExceededError: it is over the limit.
        """
        found = final_estimate(plan, TokenEstimator.estimate)
        check_final(self.budget, found)
        return found

    def assembly(self, counter: TokenCounter | None = None, settings: Settings | None = None) -> Assembly:
        """The default policy's run with every decision and cost; a failure is told in it, not raised."""
        limit = None if self.budget is None else self.budget.effective_input_limit
        inputs = PhronomyInputs(
            workspace="",
            generation="3",
            budget={} if limit is None else {"max_input_tokens": limit},
            estimate=TokenEstimator.tokenizer,
            items=keyed(self._items),
            tool_items=keyed(self._tools),
            current_input=self._current,
            call_mode=self._call_mode,
            execution_id=self._execution_id,
        )
        return assemble(inputs, settings or Settings(), counter or tokenizer())


def segment_order(plan: Plan) -> list[str]:
    """The ids of the final input, in order."""
    return [item.id for item in segments(plan)]
