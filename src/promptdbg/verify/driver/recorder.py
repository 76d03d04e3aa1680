"""Notes what each of nanobot's own governance functions was given and gave back."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

# As the functions are called in nanobot 0.3.x (class ContextGovernor) and in 0.2.x (class
# AgentRunner); the names reported are the same without the leading underscore.
GOVERNOR_STEPS = (
    "strip_placeholder_assistant_messages",
    "strip_malformed_tool_calls",
    "drop_orphan_tool_results",
    "backfill_missing_tool_results",
    "apply_tool_result_budget",
    "compact_inflight_overflow",
    "snip_history",
    "_merge_adjacent_user_messages_for_model",
)
RUNNER_STEPS = (
    "_drop_orphan_tool_results",
    "_backfill_missing_tool_results",
    "_microcompact",
    "_apply_tool_result_budget",
    "_snip_history",
)
_SHORTER = {"merge_adjacent_user_messages_for_model": "merge_adjacent_user_messages"}


class Recorder:
    """The lists of one model request. ``measure`` gives a list its estimates, in nanobot's units."""

    def __init__(self) -> None:
        self.measure: Callable[[list[Any]], dict[str, Any]] = lambda messages: {}
        self.listening = False
        self.begin()

    def begin(self) -> None:
        """Forget everything: another turn."""
        self.first: dict[str, Any] | None = None
        self.next_request()

    def next_request(self) -> None:
        """Forget the steps: another model request of the same turn."""
        self.given: dict[str, Any] | None = None
        self.steps: list[dict[str, Any]] = []
        self._seen: Counter[str] = Counter()
        self._last: str | None = None

    def snapshot(self, messages: list[Any]) -> dict[str, Any]:
        """The list as it is now, as JSON text (it will go on changing), and its estimates."""
        return {"messages": json.dumps(messages, default=str), **self.measure(messages)}

    def before(self, messages: list[Any]) -> None:
        if self.given is None:
            self.given = self.snapshot(messages)
            self.first = self.first or self.given
            self._last = self.given["messages"]

    def after(self, name: str, messages: list[Any]) -> None:
        self._seen[name] += 1
        number = self._seen[name]
        text = json.dumps(messages, default=str)
        step = {"name": name if number == 1 else f"{name}_{number}", "changed": text != self._last}
        if step["changed"]:
            step.update(messages=text, **self.measure(messages))
        self._last = text
        self.steps.append(step)

    def watch(self, owner: Any, attribute: str) -> bool:
        """Wrap a step of a class, whichever kind of method it is. False where it has none."""
        raw = vars(owner).get(attribute)
        if raw is None:
            return False
        name = _SHORTER.get(attribute.lstrip("_"), attribute.lstrip("_"))
        kind = type(raw) if isinstance(raw, (staticmethod, classmethod)) else None
        function = raw.__func__ if kind else raw

        @functools.wraps(function)
        def noted(*arguments: Any, **named: Any) -> Any:
            if not self.listening:
                return function(*arguments, **named)
            self.before(next(item for item in arguments if isinstance(item, list)))
            result = function(*arguments, **named)
            self.after(name, result)
            return result

        setattr(owner, attribute, kind(noted) if kind else noted)
        return True

    def watch_compaction(self, owner: Any, attribute: str = "_compact_request_history") -> bool:
        """0.3.5 replaces accepted history by a summary: one step, whatever it calls inside."""
        function = vars(owner).get(attribute)
        if function is None:
            return False

        @functools.wraps(function)
        async def noted(*arguments: Any, **named: Any) -> Any:
            listening, self.listening = self.listening, False
            try:
                result = await function(*arguments, **named)
            finally:
                self.listening = listening
            if listening:
                self.after(attribute.lstrip("_"), result)
            return result

        setattr(owner, attribute, noted)
        return True
