"""The budgets: window less reserves (generations 1 and 2), one limit (generation 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from promptdbg.engines.phronomy.errors import InvalidArgument, NoMethodError, UnknownModelError

_LEADING_INTEGER = re.compile(r"\s*([+-]?\d+(?:_\d+)*)")


def to_i(value: Any) -> int:
    """Ruby's ``to_i``: null is 0, a text gives the integer it begins with, else 0.

    Raises:
        NoMethodError: Ruby's value would not have it (a list, a table, true).
    """
    if value is None:
        return 0
    if isinstance(value, str):
        match = _LEADING_INTEGER.match(value)
        return int(match[1]) if match else 0
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise NoMethodError("no_conversion", type(value).__name__)
    if value != value or value in (float("inf"), float("-inf")):
        raise NoMethodError("no_conversion", str(value))
    return int(value)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A row of the model registry; tokens."""

    context_window: Any = None
    max_output_tokens: Any = None
    provider: str | None = None


Registry = Mapping[str, ModelInfo]


class TokenBudget:
    """Tokens for knowledge and messages (``context/token_budget.rb::TokenBudget``).

    Args:
        model: looked up in ``models`` when no window is given; also gives the reserve.
        context_window: the whole window; the reserve then is 0 unless it is given.
        max_output_tokens: reserved for the answer.
        overhead: reserved for anything else; a negative one widens the limit.
        models: the registry to look in.

    Raises:
        UnknownModelError: the registry does not have the model.
        InvalidArgument: neither a model nor a window is given.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        context_window: Any = None,
        max_output_tokens: Any = None,
        overhead: Any = 0,
        models: Registry | None = None,
    ) -> None:
        self.overhead = to_i(overhead)
        if context_window is not None and context_window is not False:
            self.context_window = to_i(context_window)
            self.max_output_tokens = to_i(max_output_tokens or 0)
        elif model:
            found = (models or {}).get(model)
            if found is None:
                raise UnknownModelError("unknown_model", model)
            given = max_output_tokens is not None and max_output_tokens is not False
            reserve = max_output_tokens if given else found.max_output_tokens
            self.context_window = to_i(found.context_window)
            self.max_output_tokens = to_i(reserve)
        else:
            raise InvalidArgument("budget_missing")

    @property
    def effective_input_limit(self) -> int:
        return max(self.context_window - self.max_output_tokens - self.overhead, 0)

    def available(self, used: Any = 0) -> int:
        """What is left of the limit; a negative ``used`` widens it."""
        return max(self.effective_input_limit - to_i(used), 0)


class InputBudget:
    """Generation 3: one limit, no reserve (``llm_context_window/token_budget.rb``).

    Raises:
        InvalidArgument: the limit is not positive.
    """

    def __init__(self, max_input_tokens: int) -> None:
        if max_input_tokens <= 0:
            raise InvalidArgument("limit_not_positive")
        self.effective_input_limit = max_input_tokens


def resolve_budget(model: str | None, provider: str | None, models: Registry) -> InputBudget | None:
    """The budget of a model (``agent/context_assembly/token_budget_resolver.rb``); none where the
    registry does not have it, or its window is not a positive integer."""
    found = models.get(model) if model else None
    if found is None or (provider and found.provider and found.provider != provider):
        return None
    window = found.context_window
    if isinstance(window, bool) or not isinstance(window, int) or window <= 0:
        return None
    return InputBudget(window)
