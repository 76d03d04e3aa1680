"""The answer: sections, the ledger, and the notices a user should not miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from promptdbg.engines.base import SWITCHED_OFF
from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.dialects import SAFETY_BUFFER
from promptdbg.engines.nanobot.estimate import FRAMING, Estimator, MeasureSource
from promptdbg.engines.nanobot.notices import surprises
from promptdbg.engines.nanobot.rows import Rows, dumps
from promptdbg.engines.nanobot.sections import Draft, Ink, finish, walk
from promptdbg.engines.nanobot.state import Turn
from promptdbg.engines.nanobot.tools import ordered, tool_id, tool_name, unknown_tools
from promptdbg.engines.nanobot.turn import session_turns
from promptdbg.model import (
    Action,
    Assembly,
    Budget,
    Counted,
    EngineInfo,
    Evidence,
    Json,
    Notice,
    Part,
    Section,
    SectionStatus,
)
from promptdbg.tokens import TokenCounter


def report(turn: Turn, counter: TokenCounter) -> Assembly:
    """The assembly of a turn, as far as it got."""
    sections = _sections(turn, counter)
    budget = _budget(turn)
    dialect = turn.options.dialect
    return Assembly(
        engine=EngineInfo("nanobot", "nanobot", dialect.name, turn.prose.fidelity),
        tokenizer=counter.info,
        workspace=turn.inputs.workspace,
        session=turn.inputs.session,
        settings=turn.settings,
        budget=budget,
        sections=tuple(sections),
        stages=tuple(turn.recorder.stages),
        decisions=turn.trace.decisions,
        rules=rules.CATALOGUE,
        warnings=(*turn.inputs.warnings, *turn.loaded.notices, *turn.seen.notices, *_notices(turn)),
        failure=turn.crash.failure() if turn.crash else None,
        turns=session_turns(turn.inputs, dialect.name),
    )


# ---- sections ------------------------------------------------------------------------------------


def _sections(turn: Turn, counter: TokenCounter) -> list[Section]:
    """System prompt, tools, and the message's own parts; of a failed turn what there is."""
    # A turn that failed while it was compacted ends with the list that had the first prompt.
    prompt = turn.first_prompt if turn.crash else turn.prompt
    drafts = prompt.drafts if prompt is not None else []
    sections = finish(drafts, Ink(counter, turn.estimator, turn.trace, "system"))
    tools = Ink(counter, turn.estimator, turn.trace, "tools")
    sections += finish([_tools(turn)], tools, first=len(sections))
    if turn.current is not None and any(stage.name == "initial" for stage in turn.recorder.stages):
        # Not the stage: what the message costs there is counted with the message, its parts left out.
        message = Ink(counter, turn.estimator, turn.trace, "system")
        sections += finish([turn.current.draft], message, first=len(sections))
    return sections


def _tools(turn: Turn) -> Draft:
    tools = turn.tools
    whole = Draft("tools", "tool schemas", "tools", tools.text, tools.text, place="tools")
    if not tools.known:
        whole.evidence = Evidence.UNKNOWN
        whole.status = SectionStatus.EMPTY
        return whole.note(rules.TOOLS_SENT, unknown_tools(turn.options.dialect))
    sent = ordered(turn.inputs.tools or ())
    if [tool_name(tool) for tool in sent] != list(dict.fromkeys(map(tool_name, turn.inputs.tools or ()))):
        whole.note(rules.TOOLS_ORDER, "they are given in another order than they are sent in")
    position = 1
    kept = {tool_id(tool) for tool in tools.definitions}
    for tool in sent:
        text = dumps(tool)
        child = Draft(tool_id(tool), tool_name(tool), "tool", text, text, place="tools")
        if child.id in kept:
            child.inner = position
            position += len(text) + 2
        else:
            child.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "switched off here")
        whole.children.append(child)
    if not tools.text:
        whole.status = SectionStatus.EMPTY
    return whole


# ---- ledger --------------------------------------------------------------------------------------


def _budget(turn: Turn) -> Budget:
    """The framework's own estimate of the last list, in parts."""
    options = turn.options
    limit = options.input_budget or None
    reserved: tuple[Part, ...] = (Part("answer", options.max_output), Part("safety margin", SAFETY_BUFFER))
    block = options.block_limit if options.dialect.block_limit else None
    if block:
        reserved = (Part("outside the block limit", max(0, options.window - block)),)
    knob = "block_limit" if options.window and block else "context_window"
    rows = turn.recorder.rows if turn.initial else ()
    if not rows:
        return Budget(limit, 0, "tokens", (), options.window or None, reserved, knob=knob)
    reuse = turn.inputs.reuse
    estimate = reuse(turn.estimator.prompt, rows, turn.tools)
    produced = frozenset(f"t{index}" for index in range(len(turn.inputs.inflight)))
    produced |= {row.id for row in turn.seen.following}
    current = turn.seen.current.id if turn.seen.current else "current"
    parts = list(reuse(_parts, rows, turn.estimator, estimate.source, current, produced))
    tools = (
        turn.estimator.tools(turn.tools)
        if estimate.source == "tiktoken"
        else _bytes_of_tools(turn, estimate.source)
    )
    unknown = (
        "" if turn.tools.known else f" (unknown; a fresh install has about {options.dialect.fresh_tools:,})"
    )
    parts.append(Part(f"tool schemas{unknown}", tools))
    framing = FRAMING * len(rows) if estimate.tokens else 0
    parts.append(Part("message framing", framing))
    parts = [part for part in parts if part.tokens or part.name.startswith("tool schemas")]
    rest = estimate.tokens - sum(part.tokens for part in parts)
    if rest:
        parts.append(Part("joins", rest))
    window = options.window or None
    return Budget(limit, estimate.tokens, "tokens", tuple(parts), window, reserved, _counted(turn), knob)


def _counted(turn: Turn) -> Counted | None:
    """What the provider counted for the last request that was sent, as the session has it: of this
    request where it is the last one of the last stored turn, else of the one before."""
    usage = turn.loaded.metadata.get("_last_usage") if isinstance(turn.loaded.metadata, dict) else None
    tokens = _last_input(usage) if isinstance(usage, dict) else None
    turns = len(session_turns(turn.inputs, turn.options.dialect.name))
    if tokens is None or turn.settings.turn not in (None, turns):
        return None
    if turn.settings.turn is None:
        return Counted(tokens, "before")
    return Counted(tokens, "this") if turn.options.request >= turn.requests else None


def _last_input(usage: Mapping[str, Json]) -> int | None:
    """The input tokens of the last request; the sum of several says nothing about one."""
    if usage.get("request_count") in (None, 1):
        figures = [usage.get(key) for key in ("context_tokens", "input_tokens", "prompt_tokens")]
    else:
        figures = [usage.get("context_tokens")]
    return next((figure for figure in figures if type(figure) is int and figure > 0), None)


def _bytes_of_tools(turn: Turn, source: str) -> int:
    return len(turn.tools.text.encode("utf-8", "surrogatepass")) if source == "heuristic" else 0


def _parts(
    rows: Rows, estimator: Estimator, source: MeasureSource, current: str, produced: frozenset[str]
) -> tuple[Part, ...]:
    """What the rows cost by what they are; ``current`` and ``produced`` are ids of this turn's rows."""
    sums = {"system prompt": 0, "history": 0, "message": 0, "this turn": 0, "filled in": 0}
    for row in rows:
        size = estimator.share(row, source)
        if row.role == "system":
            sums["system prompt"] += size
        elif current in row.sources or row.id == current:
            sums["message"] += size
        elif row.id in produced:
            sums["this turn"] += size
        elif row.id.startswith(("backfill:", "continuation")):
            sums["filled in"] += size
        else:
            sums["history"] += size
    return tuple(Part(name, tokens) for name, tokens in sums.items())


def _notices(turn: Turn) -> tuple[Notice, ...]:
    return (*surprises(turn), *(_not_there(turn) if turn.settings.off and turn.prompt is not None else ()))


def _not_there(turn: Turn) -> Iterator[Notice]:
    """Items that are switched off and that nobody knows."""
    known = {section.id for section in walk(turn.prompt.drafts)} if turn.prompt else set()
    known |= {tool_id(tool) for tool in ordered(turn.inputs.tools or ())} | {"tools"}
    known |= {row.id for row in turn.loaded.rows}
    if turn.current is not None:
        known |= {draft.id for draft in walk([turn.current.draft])}
    for item in sorted(turn.settings.off - known):
        message = f"{item} cannot be switched off: it is nothing that is stored or configured"
        yield Notice("settings.not-there", message)
