"""What Phronomy raises, as codes with numbers; ``ruby`` is the class there."""

from __future__ import annotations


class PhronomyError(Exception):
    """Base: a code, and the names and numbers that go with it.

    Args:
        code: stable, such as ``required_over``.
        values: what the framework puts into its sentence, in its order.
    """

    ruby = "Phronomy::Error"

    def __init__(self, code: str, *values: str | int) -> None:
        self.code = code
        self.values = values
        super().__init__(_SENTENCES[code].format(*values))


class InvalidArgument(PhronomyError):
    """Ruby's ArgumentError."""

    ruby = "ArgumentError"


class NoMethodError(PhronomyError):
    """Ruby's NoMethodError: a value without the conversion that is asked of it."""

    ruby = "NoMethodError"


class UnknownModelError(PhronomyError):
    """The model registry does not have the model."""

    ruby = "Phronomy::Context::UnknownModelError"


class ContextLengthError(PhronomyError):
    """The messages do not fit (Assembler, second variant)."""

    ruby = "Phronomy::ContextLengthError"


class BudgetExceededError(PhronomyError):
    """What must be in the input does not fit."""

    ruby = "Phronomy::Context::BudgetExceededError"


class MissingVariable(KeyError):
    """A template's variable has no value."""

    ruby = "KeyError"


_SENTENCES = {
    "assembler_over": "messages need {0} tokens and {1} are available (window {2}, system and tools {3})",
    "budget_missing": "a budget needs a context window or a model",
    "duplicate_call": "two assistant messages make the call {0}",
    "duplicate_ids": "the plan holds ids twice: {0}",
    "duplicate_result": "two results answer the call {0}",
    "call_without_result": "the call {0} has no result",
    "final_over": "the final input is estimated at {0} tokens, over the limit of {1}",
    "generated_invalid": "the plan's own group is not a valid exchange: {0}",
    "group_changed": "the plan splits, merges or reorders the group {0}",
    "invalid_call_mode": "call mode {0} is neither ask nor complete",
    "invalid_estimate": "the estimate of {0} is not a whole number",
    "invalid_item": "the plan's {0} holds something that does not belong there: {1}",
    "item_changed": "the plan changes the input item {0}",
    "limit_not_positive": "max_input_tokens must be above 0",
    "manifest_invalid": "the manifest is not valid: {0}",
    "negative_estimate": "the estimate of {0} is negative",
    "no_conversion": "{0} has no to_i",
    "orphan_tool_message": "the result {0} answers no call",
    "required_omitted": "the plan leaves out what is required: {0}",
    "required_over": "what is required costs {0} tokens, over the limit of {1}",
    "reserved_metadata": "the plan's own item {0} uses reserved metadata: {1}",
    "tool_message_without_id": "a tool message names no call",
    "tool_without_name": "a tool definition has no name",
    "unknown_category": "there is no region for the category {0}",
    "unknown_item": "the plan holds an unknown item in {0}: {1}",
    "unknown_model": "model {0} is not in the registry",
    "unknown_semantic_category": "there is no region {0}",
}
