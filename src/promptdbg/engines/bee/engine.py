"""bee as an engine: settings on inputs give an assembly."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from promptdbg.bulk import collector_at_rest
from promptdbg.engines.base import EDITED, Detection, LoadRequest, knob_values
from promptdbg.engines.bee import history
from promptdbg.engines.bee.attachments import draft_attachments
from promptdbg.engines.bee.configure import configure, whole_number
from promptdbg.engines.bee.context import (
    BeeResolver,
    ContextFile,
    Passed,
    choose,
    expand_attachments,
    expander,
)
from promptdbg.engines.bee.drafts import Desk
from promptdbg.engines.bee.gotext import estimate_bytes, to_bytes, wire
from promptdbg.engines.bee.inputs import BeeInputs, Row
from promptdbg.engines.bee.knobs import knobs
from promptdbg.engines.bee.knowledge import Record
from promptdbg.engines.bee.load import detect, load
from promptdbg.engines.bee.manifest import Tool
from promptdbg.engines.bee.memory import Offer, Query, wants_hints
from promptdbg.engines.bee.memory import choose as choose_records
from promptdbg.engines.bee.prompt import Prompt, PromptInputs, build
from promptdbg.engines.bee.rules import (
    CONTEXT_ROOT,
    MEMORY_HINTS,
    PROMPT_CACHE,
    RULES,
    VERSION,
)
from promptdbg.engines.bee.stages import CURRENT_ID, Request, Stages
from promptdbg.errors import UsageError
from promptdbg.files.imports import Expansion
from promptdbg.files.walkup import Candidate
from promptdbg.model import (
    Assembly,
    Budget,
    Counted,
    EngineInfo,
    Json,
    Knob,
    Part,
    Rule,
    Settings,
    Turn,
    Value,
)
from promptdbg.times import iso_time
from promptdbg.tokens import TokenCounter
from promptdbg.workspace import Workspace

INFO = EngineInfo(
    "bee", "bee", VERSION, "exact but for bee's own prose, which stand-ins of the same size replace"
)


class BeeEngine:
    """elhenro/bee at 187d9d32."""

    name = "bee"
    title = "bee"
    rules: tuple[Rule, ...] = RULES
    session_format: str | None = None

    def detect(self, workspace: Workspace) -> Detection | None:
        return detect(workspace)

    def load(self, workspace: Workspace, request: LoadRequest) -> BeeInputs:
        return load(workspace, request)

    def knobs(self, inputs: BeeInputs | None) -> tuple[Knob, ...]:
        return knobs(inputs)

    def turns(self, inputs: BeeInputs) -> tuple[Turn, ...]:
        found: list[Turn] = []
        for index, row in enumerate(inputs.messages):
            if row.begins_turn:
                found.append(Turn(len(found) + 1, row.title, index, history.text_of(row.value.get("ts"))))
        return tuple(found)

    @collector_at_rest
    def assemble(self, inputs: BeeInputs, settings: Settings, counter: TokenCounter) -> Assembly:
        return _Assembling(self, inputs, settings, counter).assembly()


ENGINE = BeeEngine()


@dataclass(frozen=True, slots=True)
class _Turn:
    """The messages of the turn to build."""

    rows: tuple[Row, ...]
    current: Mapping[str, Json] | None
    stored: Row | None = None
    """The row that the new message stands in; it has its attachments already."""


class _Assembling:
    """One assembly, from settings to stages."""

    def __init__(
        self, engine: BeeEngine, inputs: BeeInputs, settings: Settings, counter: TokenCounter
    ) -> None:
        self.engine = engine
        self.inputs = inputs
        self.settings = settings
        self.counter = counter
        self.values: dict[str, Value] = knob_values(knobs(inputs), settings)
        self.desk = Desk(counter)
        self.setup = configure(
            inputs.config,
            self.values,
            settings.values,
            inputs.context_window,
            self.desk,
            asks_mode=inputs.filtered,
        )
        self.now = parse_clock(str(self.values["clock"]))

    def assembly(self) -> Assembly:
        turn = self._turn()
        expanded = self._attach(turn)
        prompt = self._prompt(turn, expanded)
        stages = Stages(self._request(turn, expanded, prompt), self.desk.trace, self.counter).make()
        return Assembly(
            engine=INFO,
            tokenizer=self.counter.info,
            workspace=self.inputs.workspace,
            session=self.inputs.session,
            settings=self.settings,
            budget=self._budget(prompt),
            sections=self.desk.sections(prompt.text),
            stages=stages,
            decisions=self.desk.trace.decisions,
            rules=RULES,
            warnings=(*self.inputs.warnings, *self.desk.trace.notices),
            turns=self.engine.turns(self.inputs),
        )

    # ---- the turn -----------------------------------------------------------------------------------

    def _turn(self) -> _Turn:
        rows = self.inputs.messages
        number = self.settings.turn
        if number is not None:
            turns = self.engine.turns(self.inputs)
            if not 1 <= number <= len(turns):
                raise UsageError(f"there is no turn {number}", hint=f"turns are 1 to {len(turns)}")
            row = turns[number - 1].row
            return _Turn(rows[:row], _plain(rows[row].value), rows[row])
        query = self.inputs.query
        if CURRENT_ID in self.settings.off:
            query = None
        if CURRENT_ID in self.settings.texts:
            query = self.settings.texts[CURRENT_ID]
        if query is None:
            return _Turn(rows, None)
        return _Turn(rows, {"role": "user", "content": [{"type": "text", "text": query}]})

    def _attach(self, turn: _Turn) -> Mapping[str, Json] | None:
        """The new message with its attachments in place."""
        if turn.current is None or turn.stored is not None:
            return turn.current
        text = to_bytes(history.flat_raw(turn.current))
        prefix = "attachments/@"
        off = frozenset(item[len(prefix) :] for item in self.settings.off if item.startswith(prefix))
        expanded, found = expand_attachments(text, self.inputs.place.cwd, self.inputs.tree, off)
        draft_attachments(self.desk, found, self.inputs.tree, self.inputs.place.real_path)
        if not found:
            return turn.current
        return {"role": "user", "content": [{"type": "text", "text": wire(expanded)}]}

    # ---- the system prompt --------------------------------------------------------------------------

    def _prompt(self, turn: _Turn, expanded: Mapping[str, Json] | None) -> Prompt:
        inputs = self.inputs
        place = inputs.place
        return build(
            PromptInputs(
                config=self.setup.config,
                profile=self.setup.profile,
                cwd=place.cwd,
                now=self.now,
                level_of_profile=self.setup.level_of_profile,
                git_root=place.git_root if self.values["git_root"] else "",
                context=self._context(),
                tools=self._tools(),
                filtered=inputs.filtered,
                mode=self.setup.mode,
                skills=to_bytes(inputs.skills),
                records=self._records(turn, expanded),
                real_path=place.real_path,
                off=self.settings.off,
                texts=self.settings.texts,
            ),
            self.desk,
        )

    def _context(self) -> tuple[ContextFile | Passed, ...]:
        inputs = self.inputs
        order = self.values["context_order"]
        if inputs.context is not None:
            return _reordered(inputs.context, lambda file: file.key or file.path, order)
        start = str(self.values["walk_from"])
        chain = inputs.place.chain
        beyond = chain[: chain.index(start)] if start in chain else ()
        off = self.settings.off
        found = [candidate for candidate in inputs.candidates if candidate.folder not in beyond]
        chosen = choose(found, lambda path: f"context/{inputs.place.key(path)}" in off)
        if chain and start != chain[0]:
            because = f"The walk-up begins at {start}; {len(beyond)} folders above it are left out here."
            self.desk.note("context", CONTEXT_ROOT, because, measured=len(beyond), unit="count")
        files = [self._file(entry) for entry in chosen]
        return _reordered(files, _key, order)

    def _file(self, entry: Candidate | Passed) -> ContextFile | Passed:
        place = self.inputs.place
        if isinstance(entry, Passed):
            return replace(entry, key=place.key(entry.candidate.path))
        key = place.key(entry.path)
        item = f"context/{key}"
        text = entry.entry.data
        if item in self.settings.texts:
            text = to_bytes(self.settings.texts[item])
            self.desk.note(item, EDITED, "The text is edited here; what is on disk is not.")
        expansion = self._expanded(entry, text, note=True)
        if text != entry.entry.data:
            self._note_cache(item, len(expansion.body), len(self._expanded(entry, entry.entry.data).body))
        return ContextFile(entry.path, expansion.body, text, expansion.imports, key, entry.entry.size)

    def _expanded(self, entry: Candidate, text: bytes, *, note: bool = False) -> Expansion:
        item = f"context/{self.inputs.place.key(entry.path)}"
        depth = whole_number(self.values["import_depth"]) or 0
        walk = expander(self._resolver(item), depth, self._edited(item, note))
        return walk.expand(entry.path, posixpath.dirname(entry.path), text)

    def _note_cache(self, item: str, size: int, before: int) -> None:
        """bee's cache of the prompt would not see an edit that keeps the length."""
        if size == before:
            because = f"The file keeps its {size:,} bytes: a session that goes on keeps the old text."
            self.desk.note(item, PROMPT_CACHE, because, size, unit="bytes")

    def _resolver(self, item: str) -> BeeResolver:
        off = frozenset(name[len(item) :] for name in self.settings.off if name.startswith(item + "/@"))
        inputs = self.inputs
        return BeeResolver(inputs.tree, inputs.below, inputs.place.home, bool(self.values["fuzzy"]), off)

    def _edited(self, item: str, note: bool) -> Callable[[str, bytes], bytes]:
        texts = self.settings.texts

        def edited(key: str, data: bytes) -> bytes:
            text = texts.get(item + key)
            if text is None:
                return data
            if note:
                self.desk.note(item + key, EDITED, "The text is edited here; what is on disk is not.")
            return to_bytes(text)

        return edited

    def _tools(self) -> tuple[Tool, ...]:
        return _reordered(self.inputs.tools, lambda tool: tool.name, self.values["tool_order"])

    def _records(self, turn: _Turn, expanded: Mapping[str, Json] | None) -> tuple[Offer | Record, ...]:
        order = self.values["record_order"]
        records = self._prioritised()
        if self.inputs.chosen:
            return _reordered(records, _record_name, order)
        stored = (row.value for row in reversed(turn.rows) if row.value.get("role") == "user")
        query = Query(
            text=history.flat_raw(expanded or next(stored, {})),
            top_k=self.setup.config.memory.top_k,
            now=self.now,
            hint_tags=tuple(str(self.values["hint_tags"]).split()),
            enabled=self.setup.config.memory.enabled,
        )
        if wants_hints(records, query):
            because = "Fewer than two records came back: bee asks for tags. The knob hint_tags answers."
            self.desk.note("memory", MEMORY_HINTS, because)
        off = self.settings.off
        offers = choose_records(records, query, lambda record: f"memory/{_record_name(record)}" in off)
        return _reordered(offers, _record_name, order)

    def _prioritised(self) -> tuple[Record, ...]:
        """The records, with the priorities that were changed here."""
        changed = self.settings.priorities
        if not changed:
            return self.inputs.records
        records: list[Record] = []
        for record in self.inputs.records:
            item = f"memory/{_record_name(record)}"
            priority = changed.get(item, record.priority)
            if not math.isfinite(priority):
                raise UsageError("a priority must be a finite number", where=item)
            records.append(replace(record, priority=int(priority)))
        return tuple(records)

    # ---- the rest -----------------------------------------------------------------------------------

    def _request(self, turn: _Turn, expanded: Mapping[str, Json] | None, prompt: Prompt) -> Request:
        summarizer = self.values["summarizer"]
        return Request(
            system=prompt.text,
            rows=turn.rows,
            current=turn.current,
            current_id=turn.stored.id if turn.stored else CURRENT_ID,
            current_source=turn.stored.source if turn.stored else None,
            expanded=expanded,
            off=self.settings.off,
            texts=self.settings.texts,
            cut_results=bool(self.values["tool_results"]),
            tool_output_tokens=self.setup.profile.tool_output_tokens,
            input_tokens=whole_number(self.values["input_tokens"]) or 0,
            window=self.setup.window,
            compaction=self.setup.config.compaction.enabled,
            threshold=self.setup.config.compaction.threshold,
            summary={"works": self.inputs.summary or STAND_IN_SUMMARY, "empty": ""}.get(str(summarizer)),
        )

    def _budget(self, prompt: Prompt) -> Budget:
        limit = self.setup.profile.system_prompt_budget
        if prompt.over:
            used = estimate_bytes(len(prompt.body))
            message = f"the system prompt is estimated at {used:,} tokens, over its budget of {limit:,}"
            self.desk.trace.warn("bee.over-budget", message)
        sizes = [*prompt.sizes, ("joins", len(prompt.body) - sum(size for _, size in prompt.sizes))]
        parts: list[Part] = []
        before = 0
        for name, size in sizes:
            # Rounded down along the joined text, so that the parts sum to bee's own estimate.
            parts.append(Part(name, estimate_bytes(before + size) - estimate_bytes(before)))
            before += size
        reported = whole_number(self.values["input_tokens"]) or 0
        return Budget(
            limit if limit > 0 else None,
            estimate_bytes(len(prompt.body)),
            "tokens",
            tuple(parts),
            window=self.setup.window or None,
            counted=Counted(reported, "before") if reported > 0 else None,
            knob="budget",
        )


STAND_IN_SUMMARY = "(the summary a model would write)"


def _plain(value: Mapping[str, Json]) -> Mapping[str, Json]:
    return {"role": value.get("role"), "content": value.get("content")}


def _record_name(entry: Offer | Record) -> str:
    record = entry.record if isinstance(entry, Offer) else entry
    return record.key or record.name


def _key(entry: ContextFile | Passed) -> str:
    return entry.key


T = TypeVar("T")


def _reordered(items: Sequence[T], name: Callable[[T], str], order: Value) -> tuple[T, ...]:
    """The items named in ``order`` first, in that order; the rest as they were."""
    if not isinstance(order, tuple) or not order:
        return tuple(items)
    place = {wanted: index for index, wanted in enumerate(order)}
    return tuple(sorted(items, key=lambda item: place.get(name(item), len(place))))


def parse_clock(text: str) -> datetime:
    """An ISO 8601 time; without an offset it is UTC.

    Raises:
        UsageError: it is not one.
    """
    try:
        moment = iso_time(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a time", where="clock", hint="such as 2026-05-30T12:00:00Z"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
