"""Contextual elements and user preferences: which are used, and what becomes of them.

``PromptEngine.ts::constructPrompt`` (selection), ``evaluateCriteria``, ``augmentBaseComponents``,
``buildUserPreferencePrompts``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.components import Element, SystemPrompt
from promptdbg.engines.agentos.log import SYSTEM, Log
from promptdbg.engines.agentos.texts import Texts
from promptdbg.model import Action, Json

MAX_ELEMENTS = 10
DEFAULT_ELEMENT_PRIORITY = 100
VERBOSITY_PRIORITY, FORMAT_PRIORITY = 90, 91
VERBOSITY_ITEM, FORMAT_ITEM = "preference/verbosity", "preference/format"

SYSTEM_TYPES = frozenset(
    {
        "system_instruction_addon",
        "behavioral_guidance",
        "task_specific_instruction",
        "error_handling_guidance",
        "ethical_guideline",
        "output_format_spec",
        "reasoning_protocol",
    }
)
FEW_SHOT_TYPE = "few_shot_example"
INPUT_TYPE = "user_prompt_augmentation"
UNNAMED = "unnamed_contextual_element"

_VERBOSITY = {
    **dict.fromkeys(("low", "brief", "concise", "short", "minimal"), "concise"),
    **dict.fromkeys(("medium", "balanced", "normal", "default", "moderate"), "balanced"),
    **dict.fromkeys(("high", "verbose", "detailed", "comprehensive", "thorough"), "detailed"),
}
_EQUAL_BEFORE_HINT = (("mood", "currentMood"), ("userSkillLevel", "userSkillLevel"))
_EQUAL_AFTER_HINT = (("taskComplexity", "taskComplexity"), ("language", "language"))

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Augmented:
    """Base components with the elements applied. ``system`` is in its final order."""

    system: tuple[SystemPrompt, ...]
    user_input: Any
    custom: Mapping[str, Json]


def sorted_by(entries: Sequence[T], number: Callable[[T], float], *, descending: bool = False) -> list[T]:
    """``Array.prototype.sort`` with a difference as comparator: stable; NaN compares as equal."""
    keyed = [(number(entry), entry) for entry in entries]
    sign = -1 if descending else 1
    if all(key == key for key, _ in keyed):
        return [entry for _, entry in sorted(keyed, key=lambda pair: sign * pair[0])]

    def compare(left: tuple[float, T], right: tuple[float, T]) -> int:
        difference = sign * (left[0] - right[0])
        return 0 if difference != difference else (difference > 0) - (difference < 0)

    return [entry for _, entry in sorted(keyed, key=functools.cmp_to_key(compare))]


def _or_zero(priority: Any) -> float:
    return js.to_number(priority) if js.truthy(priority) else 0


def select(elements: Sequence[Element], context: Json, log: Log) -> list[Element]:
    """The elements that fit the context, by priority (highest first), ten at most.

    Raises:
        JsError: an element or its criteria cannot be read.
    """
    fitting: list[Element] = []
    for element in elements:
        criteria = js.get(element.raw, "criteria")
        misfit = _misfit(criteria, context) if js.truthy(criteria) else "it has no criteria"
        if misfit:
            because = f"Not used here: {misfit}."
            log.add(SYSTEM, Action.DROP, element.item, rules.ELEMENT_CRITERIA, because)
        else:
            fitting.append(element)
    fitting = sorted_by(fitting, lambda entry: _or_zero(js.get(entry.raw, "priority")), descending=True)
    for place, element in enumerate(fitting[MAX_ELEMENTS:], MAX_ELEMENTS + 1):
        log.add(
            SYSTEM,
            Action.DROP,
            element.item,
            rules.ELEMENT_LIMIT,
            f"It fits, but is number {place} by priority and only {MAX_ELEMENTS} are used.",
            measured=place,
            limit=MAX_ELEMENTS,
            unit="count",
        )
    return fitting[:MAX_ELEMENTS]


def _misfit(criteria: Any, context: Any) -> str:
    """Why criteria do not fit a context; empty when they do. Tested in the framework's order."""
    reason = _unequal(criteria, context, _EQUAL_BEFORE_HINT)
    if reason:
        return reason
    hint = js.get(criteria, "taskHint")
    if js.truthy(hint) and not js.includes(js.get(context, "taskHint"), hint):
        return f"the task hint does not contain {js.to_string(hint)!r}"
    reason = _unequal(criteria, context, _EQUAL_AFTER_HINT)
    if reason:
        return reason
    signals = js.get(criteria, "conversationSignals")
    if js.truthy(signals) and js.length(signals) > 0:
        there = js.get(context, "conversationSignals")
        for signal in js.array(signals, "every"):
            if not js.includes(there, signal):
                return f"the conversation signal {js.to_string(signal)!r} is missing"
    return ""


def _unequal(criteria: Any, context: Any, pairs: Sequence[tuple[str, str]]) -> str:
    for wanted_key, key in pairs:
        wanted = js.get(criteria, wanted_key)
        found = js.get(context, key)
        if js.truthy(wanted) and not js.strict_equal(found, wanted):
            there = "none" if js.nullish(found) else repr(js.to_string(found))
            return f"it wants {wanted_key} {js.to_string(wanted)!r}, the context has {there}"
    return ""


def augment(
    base: Sequence[SystemPrompt],
    user_input: Any,
    custom: Any,
    preferences: Sequence[SystemPrompt],
    selected: Sequence[Element],
    log: Log,
) -> Augmented:
    """Apply the selected elements to the base components, and put the system prompts in order.

    Raises:
        JsError: an element has no type.
    """
    system = [*base, *preferences]
    buckets: dict[str, Json] = dict(custom) if isinstance(custom, dict) else {}
    for element in selected:
        kind, content = js.get(element.raw, "type"), js.get(element.raw, "content")
        if isinstance(kind, str) and kind in SYSTEM_TYPES:
            system.append(_system_prompt(element, content, log))
        elif kind == INPUT_TYPE:
            before = js.to_string(user_input) if js.truthy(user_input) else ""
            user_input = js.trim(f"{before}\n{js.to_string(content)}")
            because = "Written under the user input."
            log.add(SYSTEM, Action.NOTE, element.item, rules.ELEMENT_INPUT, because)
        else:
            name = "fewShotExamples" if kind == FEW_SHOT_TYPE else _bucket(kind)
            _push(buckets, name, content)
            because = f"Put among the custom components as {name}, which no built-in template prints."
            log.add(SYSTEM, Action.DROP, element.item, rules.ELEMENT_UNUSED, because)
    for prompt in preferences:
        because = "Made from the user's preferences."
        log.add(SYSTEM, Action.KEEP, prompt.item, rules.PREFERENCE, because)
    ordered = sorted_by(system, lambda prompt: _or_zero(prompt.priority))
    _note_order(system, ordered, log)
    return Augmented(tuple(ordered), user_input, buckets)


def _note_order(given: Sequence[SystemPrompt], ordered: Sequence[SystemPrompt], log: Log) -> None:
    for place, (before, prompt) in enumerate(zip(given, ordered, strict=True), 1):
        if prompt is not before:
            because = f"Its priority {_or_zero(prompt.priority):g} makes it number {place} of {len(ordered)}."
            log.add(SYSTEM, Action.NOTE, prompt.item, rules.SYSTEM_ORDER, because)


def _system_prompt(element: Element, content: Any, log: Log) -> SystemPrompt:
    priority = js.get(element.raw, "priority")
    if not js.truthy(priority):
        if not js.nullish(priority):
            because = f"Its priority {js.to_string(priority)} counts as none and becomes 100."
            log.add(SYSTEM, Action.NOTE, element.item, rules.ELEMENT_SYSTEM, because)
        priority = DEFAULT_ELEMENT_PRIORITY
    because = f"It fits, and becomes a system prompt of priority {js.to_string(priority)}."
    log.add(SYSTEM, Action.KEEP, element.item, rules.ELEMENT_SYSTEM, because)
    name = js.get(element.raw, "id")
    label = name if js.truthy(name) else js.get(element.raw, "type")
    return SystemPrompt(element.item, content, priority, f"contextual:{js.to_string(label)}")


def _bucket(kind: Any) -> str:
    if js.nullish(kind):
        raise js.JsError("calls toString on an element without a type")
    return js.to_string(kind).lower().replace("_", "")


def _push(buckets: dict[str, Json], name: str, content: Any) -> None:
    there = buckets.get(name)
    entries = js.array(there, "push") if js.truthy(there) else []
    buckets[name] = [*entries, None if js.nullish(content) else content]


def preference_prompts(context: Json, texts: Texts) -> tuple[SystemPrompt, ...]:
    """System prompts from the user's preferences in the execution context."""
    preferences = js.maybe(context, "userPreferences")
    if not isinstance(preferences, (dict, list)):
        return ()
    prompts = []
    verbosity = verbosity_of(preferences)
    if verbosity:
        content = texts.named(f"pref.{verbosity}")
        prompts.append(SystemPrompt(VERBOSITY_ITEM, content, VERBOSITY_PRIORITY, "user_preference:verbosity"))
    form = format_of(preferences)
    if form:
        content = texts.preference_format(form)
        prompts.append(SystemPrompt(FORMAT_ITEM, content, FORMAT_PRIORITY, "user_preference:format"))
    return tuple(prompts)


def verbosity_of(preferences: Json) -> str | None:
    """``concise``, ``balanced`` or ``detailed``, from any of fifteen words."""
    word = js.get(preferences, "verbosity")
    return _VERBOSITY.get(js.trim(word).lower()) if isinstance(word, str) else None


def format_of(preferences: Json) -> str | None:
    """The preferred format: the first of three keys that is there, else the list of formats."""
    keys = ("preferredFormat", "responseFormat", "format")
    direct = next(
        (value for key in keys if not js.nullish(value := js.get(preferences, key))),
        None,
    )
    if isinstance(direct, str) and js.trim(direct):
        return js.trim(direct)
    several = js.get(preferences, "preferredFormats")
    if not isinstance(several, list):
        return None
    return " or ".join(filter(None, (js.trim(value) for value in several if isinstance(value, str)))) or None
