"""The agent's window as plain functions over message dictionaries, for Python programs and tests.

result = apply_context_windowing(messages, make_config("copilot"), summarize=lambda text: "…")
result.messages, result.actions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from promptdbg.engines.base import Trace
from promptdbg.engines.orbiter.config import AnyConfig
from promptdbg.engines.orbiter.window import Summarizer, Window, WindowAction, apply_tag, apply_window
from promptdbg.engines.rows import Row, message_of
from promptdbg.engines.stages import Stages
from promptdbg.model import Decision, Message, Notice, TokenizerInfo
from promptdbg.tokens import TokenCounter


class _NoCount:
    info = TokenizerInfo("none", exact=False)

    def count(self, text: str) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class WindowResult:
    """One pass: the new list, what was done, the text given to the summarizer, and every decision.

    ``messages`` are the given dictionaries themselves wherever they were not changed.
    """

    messages: list[Mapping[str, Any]]
    actions: tuple[WindowAction, ...]
    summarized: tuple[str, ...]
    decisions: tuple[Decision, ...]
    notices: tuple[Notice, ...]


def apply_context_windowing(
    messages: Sequence[Mapping[str, Any]],
    config: AnyConfig,
    *,
    force_summarize: bool = False,
    summarize: Summarizer | None = None,
    counter: TokenCounter | None = None,
) -> WindowResult:
    """One pass of the window, in the generation of the configuration.

    Args:
        summarize: answers the text of the old messages; ``None`` is a missing provider. What it raises
            counts as an empty answer, as in the framework.
    """
    window = _window(messages, counter)
    apply_window(window, config, forced=force_summarize, summarizer=summarize)
    return WindowResult(
        _plain(window.stages.messages, messages),
        tuple(window.actions),
        tuple(window.summarized),
        window.trace.decisions,
        window.trace.notices,
    )


def update_system_token_info(
    messages: Sequence[Mapping[str, Any]], used: int, total: int
) -> list[Mapping[str, Any]]:
    """The list with the usage tag in its first system message, or in one of its own in front."""
    window = _window(messages, None)
    apply_tag(window, used, total)
    return _plain(window.stages.messages, messages)


def _window(messages: Sequence[Mapping[str, Any]], counter: TokenCounter | None) -> Window:
    counter = counter or _NoCount()
    rows = (message_of(Row(f"m{n}", MappingProxyType(dict(m))), counter) for n, m in enumerate(messages))
    stages = Stages(counter, rows)
    stages.first("session", "Messages given")
    return Window(stages, Trace())


def _plain(result: Sequence[Message], given: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    by_id = {f"m{number}": message for number, message in enumerate(given)}
    plain = []
    for message in result:
        before = by_id.get(message.id)
        plain.append(
            before if before is not None and before.get("content") == message.content else message.to_json()
        )
    return plain
