"""bee's own functions under Python names, for programs that build prompts.

Each gives the plain result. Those that assemble something take ``explain=True`` and then give the
``Assembly`` behind it: every section, every decision, to look at or to open in the debugger.
bee's prose is replaced by stand-ins of the same size, so sizes and decisions are bee's own.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal, overload

from promptdbg.engines.bee import history
from promptdbg.engines.bee.config import Config, active_profile
from promptdbg.engines.bee.context import (
    MAX_DEPTH,
    MOST_CANDIDATES,
    NAMES,
    PRUNED,
    BeeResolver,
    ContextFile,
    attached_paths,
    choose,
    expand_attachments,
    expander,
    read_imports,
)
from promptdbg.engines.bee.drafts import Desk
from promptdbg.engines.bee.engine import ENGINE
from promptdbg.engines.bee.fuzzy import Candidates, Match, rank
from promptdbg.engines.bee.gotext import estimate_bytes, to_bytes, wire
from promptdbg.engines.bee.inputs import BeeInputs, Place, Row
from promptdbg.engines.bee.knobs import DEEPEST
from promptdbg.engines.bee.knowledge import (
    MOST_RECORDS,
    Record,
    effective_limit,
    newest_first,
    rank_records,
)
from promptdbg.engines.bee.load import CONTEXT_FILE_BYTES
from promptdbg.engines.bee.manifest import Tool
from promptdbg.engines.bee.prompt import Prompt, PromptInputs, build
from promptdbg.engines.bee.store import read_store
from promptdbg.files.tree import DiskFiles, Limits, Mount, clean
from promptdbg.files.walkup import Candidate, candidates, folders
from promptdbg.model import Assembly, Json, Settings, TokenizerInfo
from promptdbg.paths import disk_root
from promptdbg.tokens import DEFAULT_ENCODING, TokenCounter, tokenizer

# ---- assembling -------------------------------------------------------------------------------------


@overload
def assemble(
    config: Config,
    tools: Iterable[Tool] = ...,
    skills_manifest: str = ...,
    records: Iterable[Record] = ...,
    context_files: Iterable[ContextFile] = ...,
    *,
    cwd: str | None = ...,
    git_root: str = ...,
    now: datetime | None = ...,
    explain: Literal[False] = ...,
) -> str: ...
@overload
def assemble(
    config: Config,
    tools: Iterable[Tool] = ...,
    skills_manifest: str = ...,
    records: Iterable[Record] = ...,
    context_files: Iterable[ContextFile] = ...,
    *,
    cwd: str | None = ...,
    git_root: str = ...,
    now: datetime | None = ...,
    explain: Literal[True],
    settings: Settings | None = ...,
    counter: TokenCounter | None = ...,
) -> Assembly: ...
def assemble(
    config: Config,
    tools: Iterable[Tool] = (),
    skills_manifest: str = "",
    records: Iterable[Record] = (),
    context_files: Iterable[ContextFile] = (),
    *,
    cwd: str | None = None,
    git_root: str = "",
    now: datetime | None = None,
    explain: bool = False,
    settings: Settings | None = None,
    counter: TokenCounter | None = None,
) -> str | Assembly:
    """The system prompt (``prompt.Assemble``).

    As in Go, ``config`` is used as it is: call ``apply_profile`` first where ``auto`` is to be resolved,
    and filter the tools first. Records and context files are taken in their order.

    Args:
        cwd: the working folder as the prompt names it; the process's own when not given.
        git_root: the repository's folder, empty outside one (bee asks git).
        now: what ages are measured by; the machine's clock when not given.
        explain: give the assembly instead of the text.
        settings, counter: the what-ifs and the tokenizer of that assembly.
    """
    inputs = BeeInputs(
        workspace=cwd or os.getcwd(),
        config=config,
        place=Place(cwd or os.getcwd(), git_root),
        now=now or datetime.now(UTC),
        context=tuple(context_files),
        records=tuple(records),
        chosen=True,
        filtered=False,
        apply_profile=False,
        tools=tuple(tools),
        skills=skills_manifest,
    )
    if explain:
        return ENGINE.assemble(inputs, settings or Settings(), counter or tokenizer(DEFAULT_ENCODING))
    return wire(built(inputs)[0].text)


class _NoTokens:
    """Counts nothing: for a plain result, which no tokenizer is needed for."""

    info = TokenizerInfo("none", exact=False)

    def count(self, text: str) -> int:
        return 0


def built(inputs: BeeInputs) -> tuple[Prompt, Desk]:
    """The prompt in bytes, and the desk with its drafts."""
    desk = Desk(_NoTokens())
    profile = active_profile(inputs.config)[1]
    prompt = build(
        PromptInputs(
            config=inputs.config,
            profile=profile,
            cwd=inputs.place.cwd,
            now=inputs.now,
            git_root=inputs.place.git_root,
            context=inputs.context or (),
            tools=inputs.tools,
            filtered=inputs.filtered,
            skills=to_bytes(inputs.skills),
            records=inputs.records,
        ),
        desk,
    )
    return prompt, desk


def estimate_tokens(text: str) -> int:
    """A quarter of the bytes, rounded down (``prompt.EstimateTokens``)."""
    return estimate_bytes(len(to_bytes(text)))


# ---- files ------------------------------------------------------------------------------------------


def disk(root: str | Path = "/") -> DiskFiles:
    """Files as the agent sees them when ``root`` is the root of its file system."""
    return DiskFiles(
        [Mount("/", Path(root))], limits=Limits(listed_per_folder=MOST_CANDIDATES), pruned=PRUNED
    )


@overload
def load_context_files(
    cwd: str,
    bee_home: str = ...,
    *,
    home: str | None = ...,
    files: DiskFiles | None = ...,
    explain: Literal[False] = ...,
) -> list[ContextFile]: ...
@overload
def load_context_files(
    cwd: str,
    bee_home: str = ...,
    *,
    home: str | None = ...,
    files: DiskFiles | None = ...,
    explain: Literal[True],
    settings: Settings | None = ...,
    counter: TokenCounter | None = ...,
) -> Assembly: ...
def load_context_files(
    cwd: str,
    bee_home: str = "",
    *,
    home: str | None = None,
    files: DiskFiles | None = None,
    explain: bool = False,
    settings: Settings | None = None,
    counter: TokenCounter | None = None,
) -> list[ContextFile] | Assembly:
    """AGENTS.md and CLAUDE.md from the root down to ``cwd``, imports expanded
    (``prompt.LoadContextFiles``).

    Args:
        bee_home: bee's own folder, looked at first; empty for none.
        home: what ``~`` means in an import; ``HOME`` when not given.
        files: where files are read from: ``disk(root)`` walks up to another root.
    """
    source = files or disk()
    start = clean(cwd if files else Path(os.path.abspath(cwd)).as_posix())
    known: dict[str, Candidates] = {}

    def below(folder: str) -> Candidates:
        if folder not in known:
            known[folder] = Candidates.of(source.below(folder))
        return known[folder]

    resolver = BeeResolver(source, below, home if home is not None else os.environ.get("HOME"))
    root = disk_root(start)
    chain = folders(root, start)
    found = _found(source, (bee_home, *chain) if bee_home else chain)
    if not explain:
        return _loaded(resolver, found)
    texts = [(entry.path, entry.entry.data) for entry in found if entry.entry.kind == "file"]
    read_imports(resolver, texts, DEEPEST)
    inputs = BeeInputs(
        workspace=start,
        config=Config(),
        place=Place(start, walk_from=root, chain=chain, home=resolver.home),
        now=datetime.now(UTC),
        tree=source.snapshot(),
        listings=MappingProxyType(known),
        candidates=found,
    )
    return ENGINE.assemble(inputs, settings or Settings(), counter or tokenizer(DEFAULT_ENCODING))


def _loaded(resolver: BeeResolver, found: Sequence[Candidate]) -> list[ContextFile]:
    walk = expander(resolver, MAX_DEPTH, lambda key, data: data)
    loaded: list[ContextFile] = []
    for entry in choose(found, lambda path: False):
        if isinstance(entry, Candidate):
            made = walk.expand(clean(entry.path), entry.folder, entry.entry.data)
            data, size = entry.entry.data, entry.entry.size
            loaded.append(ContextFile(entry.path, made.body, data, made.imports, size=size))
    return loaded


def _found(source: DiskFiles, where: Sequence[str]) -> tuple[Candidate, ...]:
    for folder in where:
        for name in NAMES:
            source.file(posixpath.join(folder, name), limit=CONTEXT_FILE_BYTES)
    return candidates(source, where, NAMES)


@overload
def expand_at_paths(
    text: str, cwd: str, *, files: DiskFiles | None = ..., explain: Literal[False] = ...
) -> str: ...
@overload
def expand_at_paths(
    text: str,
    cwd: str,
    *,
    files: DiskFiles | None = ...,
    explain: Literal[True],
    counter: TokenCounter | None = ...,
) -> Assembly: ...
def expand_at_paths(
    text: str,
    cwd: str,
    *,
    files: DiskFiles | None = None,
    explain: bool = False,
    counter: TokenCounter | None = None,
) -> str | Assembly:
    """A user's text with the files it names with ``@`` in place (``prompt.ExpandAtPaths``)."""
    source = files or disk()
    start = cwd if files else Path(os.path.abspath(cwd)).as_posix()
    if not explain:
        return wire(expand_attachments(to_bytes(text), start, source)[0])
    for path in attached_paths(to_bytes(text), start):
        source.file(path)
    inputs = BeeInputs(
        workspace=start,
        config=Config(),
        place=Place(start),
        now=datetime.now(UTC),
        tree=source.snapshot(),
        query=text,
    )
    return ENGINE.assemble(inputs, Settings(), counter or tokenizer(DEFAULT_ENCODING))


def fuzzy_find(needle: str, paths: Sequence[str]) -> tuple[Match, ...]:
    """Every path that fuzzily matches, best first (sahilm/fuzzy's ``Find``)."""
    return rank(needle, paths)


# ---- knowledge --------------------------------------------------------------------------------------


def scan_store(folder: str | Path) -> list[Record]:
    """The records of a store, newest first, at most 200 (``knowledge.ScanStore``). A store that is not
    there has none; files that cannot be read are passed over."""
    return newest_first(read_store(Path(folder))[0])[:MOST_RECORDS]


def knowledge_query(
    folder: str | Path,
    query: str,
    limit: int = 0,
    *,
    hint_tags: Iterable[str] = (),
    now: datetime | None = None,
) -> list[Record]:
    """The records for a query, best first (``knowledge.Query``). A limit outside 1 to 5 is 5."""
    ranked = rank_records(scan_store(folder), query, hint_tags, now or datetime.now(UTC))
    return [entry.record for entry in ranked[: effective_limit(limit)]]


# ---- history ----------------------------------------------------------------------------------------


def should_warn(input_tokens: int, context_limit: int) -> bool:
    """Whether 70 % of the window are in use (``prompt.ShouldWarn``)."""
    return history.should_warn(input_tokens, context_limit)


def format_context_warning(input_tokens: int, context_limit: int) -> str:
    """The notice for the next tool result, empty below 70 % (``prompt.FormatContextWarning``)."""
    return wire(history.context_notice(input_tokens, context_limit))


def truncate_with_limit(tool: str, content: str, limit_tokens: int = 0) -> tuple[str, bool]:
    """A tool's result under its cap, and whether it was cut (``tools.TruncateWithLimit``)."""
    cut = history.truncate_result(tool, to_bytes(content), limit_tokens)
    return wire(cut.output), cut.truncated


def estimate_message_tokens(message: Mapping[str, Json]) -> int:
    """bee's estimate of one message (``loop.estimateMessageTokens``)."""
    return history.estimate_message(message)


def should_auto_compact(
    system: str,
    messages: Sequence[Mapping[str, Json]],
    budget: int,
    threshold: float,
    *,
    actual_input_tokens: int = 0,
) -> bool:
    """Whether history is to be compacted (``loop.ShouldAutoCompactWithUsage``). The loop widens the
    threshold first: ``history.scaled_threshold``."""
    sizes = (history.estimate_message(message) for message in messages)
    total = history.request_tokens(to_bytes(system), sizes, actual_input_tokens)
    return history.should_compact(total, budget, threshold)


@overload
def compact(
    messages: Sequence[Mapping[str, Json]], summary: str | None, *, explain: Literal[False] = ...
) -> list[Mapping[str, Json]]: ...
@overload
def compact(
    messages: Sequence[Mapping[str, Json]],
    summary: str | None,
    *,
    explain: Literal[True],
    counter: TokenCounter | None = ...,
) -> Assembly: ...
def compact(
    messages: Sequence[Mapping[str, Json]],
    summary: str | None,
    *,
    explain: bool = False,
    counter: TokenCounter | None = None,
) -> list[Mapping[str, Json]] | Assembly:
    """The messages after a compaction (``loop.Compact``); ``summary`` is what the model answered,
    ``None`` when it failed, and then nothing changes."""
    if not explain:
        return list(history.compact(messages, summary).messages)
    inputs = BeeInputs(
        workspace=os.getcwd(),
        config=Config(profile="normal"),
        place=Place(os.getcwd()),
        now=datetime.now(UTC),
        messages=tuple(Row.of(f"m{index}", message) for index, message in enumerate(messages)),
        context_window=1,
        summary=summary or "",
    )
    settings = Settings(values={"summarizer": "works" if summary else "empty" if summary == "" else "fails"})
    return ENGINE.assemble(inputs, settings, counter or tokenizer(DEFAULT_ENCODING))
