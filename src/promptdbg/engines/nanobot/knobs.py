"""The live parameters, and their values for one assembly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from promptdbg.engines.base import knob_values
from promptdbg.engines.nanobot.config import Config
from promptdbg.engines.nanobot.dialects import DIALECTS, NEWEST, SAFETY_BUFFER, Dialect
from promptdbg.engines.nanobot.inputs import DEFAULT_MESSAGE, NanobotInputs
from promptdbg.engines.nanobot.rows import Row
from promptdbg.errors import UsageError
from promptdbg.model import Knob, Settings, Value
from promptdbg.times import is_iso_time

CONSOLIDATION = ("off", "predict", "succeeds", "fails")
DEFAULT_SUMMARY = "[a summary of the archived messages]"


@dataclass(frozen=True)
class Options:
    """Every knob's value, named. Budgets are in tokens, the result cap in code points."""

    dialect: Dialect
    window: int
    max_output: int
    block_limit: int | None
    result_cap: int
    compaction: bool
    consolidation: str
    consolidation_ratio: float
    summary: str
    max_messages: int
    message: str
    channel: str
    chat_id: str
    sender: str
    request: int
    ephemeral: bool
    unified: bool
    memory: bool
    disabled: frozenset[str]
    skill_order: str
    timezone: str
    now: str
    tokenizer: bool

    @property
    def input_budget(self) -> int:
        """What a request may cost (section 8.2)."""
        if not self.window:
            return 0
        if self.dialect.block_limit and self.block_limit:
            return max(0, self.block_limit)
        return max(0, self.consolidation_budget)

    @property
    def replay_budget(self) -> int:
        """What replayed history may cost (section 8.1); 0 means no cap."""
        if self.window <= 0:
            return 0
        budget = self.window - max(1, self.max_output) - SAFETY_BUFFER
        return budget if budget > 0 else max(128, self.window // 2)

    @property
    def consolidation_budget(self) -> int:
        """The prompt size that starts consolidation (section 8.3)."""
        return self.window - self.max_output - SAFETY_BUFFER

    @property
    def consolidation_target(self) -> int:
        return int(self.consolidation_budget * self.consolidation_ratio)


def requests_known(inputs: NanobotInputs) -> int:
    """Requests of a turn whose rows the manifest gives: one more than the answers among them."""
    return 1 + sum(bool(row.get("role") == "assistant") for row in inputs.inflight)


def declare(inputs: NanobotInputs | None) -> tuple[Knob, ...]:
    """The knobs; with inputs their defaults are the workspace's own."""
    config = inputs.config if inputs else Config()
    return (
        Knob(
            "dialect",
            "Version",
            "choice",
            inputs.dialect if inputs else NEWEST,
            "version",
            "Which program is reproduced; the three differ in most rules.",
            choices=tuple(DIALECTS),
        ),
        *_budget_knobs(config),
        *_turn_knobs(inputs, config),
        Knob(
            "memory",
            "Memory",
            "toggle",
            True,
            "prompt",
            "Off: the turn of a session that is not kept (main).",
        ),
        Knob(
            "disabled_skills",
            "Disabled skills",
            "order",
            config.disabled_skills,
            "prompt",
            "Skills removed from every list.",
        ),
        Knob(
            "skill_order",
            "Skill order",
            "choice",
            "directory",
            "prompt",
            "nanobot takes skills as the folder lists them, which differs between machines.",
            choices=("directory", "name"),
        ),
        Knob("timezone", "Time zone", "text", config.timezone, "clock", "An IANA name; 0.2.2 shows it."),
        Knob("now", "Clock", "text", inputs.now if inputs else "", "clock", "The clock, as an ISO time."),
        Knob(
            "tokenizer",
            "Tokenizer",
            "toggle",
            True,
            "estimate",
            "Off: nanobot could not load its encoding and counts bytes (0.2.2: nothing).",
        ),
    )


def _budget_knobs(config: Config) -> tuple[Knob, ...]:
    return (
        Knob(
            "context_window",
            "Context window",
            "number",
            config.context_window,
            "budget",
            "The least window of the model and its fallbacks; 0 switches off every budget.",
            unit="tokens",
            minimum=0,
            step=1_000,
            zero="no limit at all",
            role="window",
        ),
        Knob(
            "max_output",
            "Answer reserve",
            "number",
            config.max_output,
            "budget",
            "maxTokens of the model.",
            unit="tokens",
            minimum=0,
            step=256,
            role="answer",
        ),
        Knob(
            "block_limit",
            "Block limit",
            "number",
            config.block_limit,
            "budget",
            "contextBlockLimit: takes the place of window minus answer minus 1,024 for requests only.",
            unit="tokens",
            minimum=0,
            step=1_000,
            optional=True,
        ),
        Knob(
            "tool_result_cap",
            "Tool result cap",
            "number",
            config.tool_result_cap,
            "budget",
            "maxToolResultChars: longer results are stored in a file.",
            unit="chars",
            minimum=0,
            step=500,
            zero="no cap",
            caps=("message:tool",),
        ),
        Knob(
            "compaction",
            "Compaction",
            "toggle",
            True,
            "budget",
            "Off: as if this version never compacted results.",
        ),
        Knob(
            "consolidation",
            "Consolidation",
            "choice",
            "predict",
            "budget",
            "A summary needs a model: only say so, leave it out, or show what follows if it works or fails.",
            choices=CONSOLIDATION,
        ),
        Knob(
            "consolidation_ratio",
            "Consolidation ratio",
            "number",
            config.consolidation_ratio,
            "budget",
            "Consolidation archives until this share of the budget.",
            minimum=0.1,
            maximum=0.95,
            step=0.05,
        ),
        Knob(
            "summary",
            "Summary text",
            "text",
            DEFAULT_SUMMARY,
            "budget",
            "What the model would have answered.",
        ),
        Knob(
            "max_messages",
            "Replay limit",
            "number",
            config.max_messages,
            "budget",
            "0.2.2 replays at most so many rows.",
            unit="messages",
            minimum=0,
            step=10,
            zero="its default, 120",
        ),
    )


def _turn_knobs(inputs: NanobotInputs | None, config: Config) -> tuple[Knob, ...]:
    return (
        Knob(
            "message",
            "Message",
            "text",
            inputs.message if inputs else DEFAULT_MESSAGE,
            "turn",
            "What the user sends.",
        ),
        Knob(
            "channel",
            "Channel",
            "text",
            inputs.channel if inputs else "cli",
            "turn",
            "Changes the identity passage.",
        ),
        Knob("chat_id", "Chat", "text", inputs.chat_id if inputs else "direct", "turn", "0.2.2 shows it."),
        Knob("sender", "Sender", "text", inputs.sender if inputs else "user", "turn", "0.2.2 shows it."),
        Knob(
            "request",
            "Number of the request",
            "number",
            requests_known(inputs) if inputs else 1,
            "turn",
            "Which request of the turn: 1 is the first, each answer with tool calls is followed by another.",
            minimum=1,
            step=1,
            unit="count",
        ),
        Knob(
            "ephemeral",
            "Ephemeral turn",
            "toggle",
            False,
            "turn",
            "A turn that is not kept: no consolidation.",
        ),
        Knob(
            "unified_session",
            "Unified session",
            "toggle",
            config.unified_session,
            "turn",
            "One session for all channels.",
        ),
    )


def resolve(inputs: NanobotInputs, settings: Settings) -> Options:
    """The options of one assembly.

    Raises:
        UsageError: a setting names no knob or does not fit.
    """
    values = knob_values(declare(inputs), settings)
    if not isinstance(values["now"], str) or not is_iso_time(values["now"]):
        raise UsageError(
            f"knob now cannot be {values['now']!r}", hint="an ISO time such as 2026-08-20T09:30:00"
        )
    return Options(
        dialect=DIALECTS[str(values["dialect"])],
        window=_whole(values, "context_window"),
        max_output=_whole(values, "max_output"),
        block_limit=_whole(values, "block_limit") or None,
        result_cap=_whole(values, "tool_result_cap"),
        compaction=values["compaction"] is True,
        consolidation=str(values["consolidation"]),
        consolidation_ratio=_number(values, "consolidation_ratio"),
        summary=str(values["summary"]),
        max_messages=_whole(values, "max_messages"),
        message=str(values["message"]),
        channel=str(values["channel"]),
        chat_id=str(values["chat_id"]),
        sender=str(values["sender"]),
        request=_whole(values, "request"),
        ephemeral=values["ephemeral"] is True,
        unified=values["unified_session"] is True,
        memory=values["memory"] is True,
        disabled=frozenset(_names(values, "disabled_skills")),
        skill_order=str(values["skill_order"]),
        timezone=str(values["timezone"]),
        now=values["now"],
        tokenizer=values["tokenizer"] is True,
    )


def _number(values: Mapping[str, Value], name: str) -> float:
    value = values[name]
    return value if isinstance(value, (int, float)) else 0


def _whole(values: Mapping[str, Value], name: str) -> int:
    return int(_number(values, name))


def _names(values: Mapping[str, Value], name: str) -> tuple[str, ...]:
    value = values[name]
    return value if isinstance(value, tuple) else ()


def is_turn(row: Row) -> bool:
    """Whether a stored row opened a turn that a person can go back to."""
    value = row.value
    hidden = value.get("_command") or value.get("_hidden_history") or value.get("_automation_turn")
    return value.get("role") == "user" and not hidden
