"""``check``: what must hold of a prompt, as a gate for CI."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from promptdbg.analysis.items import find_item, find_message, glob, need_texts
from promptdbg.analysis.lint import lint_assembly
from promptdbg.analysis.requests import Provider
from promptdbg.analysis.trace import Hit, trace
from promptdbg.analysis.tried import whole_items
from promptdbg.errors import InputError, UsageError
from promptdbg.files.scan import TextFile
from promptdbg.model import (
    LOSSES,
    Assembly,
    Decision,
    Json,
    Message,
    MessageStatus,
    Source,
    StageKind,
    settling,
)
from promptdbg.text import plural


@dataclass(frozen=True, slots=True)
class Demands:
    """What is demanded. ``max_sections`` maps an item to its most tokens; ``baseline`` is an
    earlier assembly document: what reached the model whole there must still do so."""

    must_reach: tuple[str, ...] = ()
    no_drop: tuple[str, ...] = ()
    max_tokens: int | None = None
    max_sections: Mapping[str, int] | None = None
    lint: tuple[Provider, ...] = ()
    baseline: Json = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One demand, or one breach of it: a stable code, whether it holds, one sentence, the place."""

    code: str
    ok: bool
    message: str
    item: str = ""
    source: Source | None = None


def check(
    assembly: Assembly, demands: Demands, unread: Callable[[], Iterable[TextFile]] = tuple
) -> tuple[Outcome, ...]:
    """Every demand's outcome; at least one for each demand.

    Args:
        unread: the text files that the engine does not read; looked at only for a text that is in
            nothing that was loaded, to say that it is in one of them.

    Raises:
        UsageError: a demand names an item that does not exist, or is about texts that were left out.
        InputError: the baseline is not an assembly document.
    """
    found: list[Outcome] = []
    if assembly.failure is not None:
        text = f"{assembly.engine.title} would fail here: {assembly.failure.message}"
        found.append(Outcome("failure", False, text))
    for text in demands.must_reach:
        found.append(_must_reach(assembly, text, unread))
    for pattern in demands.no_drop:
        found += _no_drop(assembly, pattern)
    if demands.max_tokens is not None:
        found.append(_max_tokens(assembly, demands.max_tokens))
    for name, limit in (demands.max_sections or {}).items():
        found.append(_max_section(assembly, name, limit))
    for provider in demands.lint:
        found += _lint(assembly, provider)
    if demands.baseline is not None:
        found += _baseline(assembly, demands.baseline)
    return tuple(found)


def _must_reach(assembly: Assembly, text: str, unread: Callable[[], Iterable[TextFile]]) -> Outcome:
    result = trace(assembly, text)
    seen: Hit | None = next((hit for hit in result.hits if hit.verdict == "seen"), None)
    if seen is not None and result.match != "words":
        return Outcome("must-reach", True, f"{text!r} reaches the model", seen.item, seen.source)
    if not result.hits or result.match == "words":
        result = trace(assembly, text, unread())
    if not result.hits or result.match == "words":
        nowhere = "is in nothing that was loaded, nor in another file of the workspace"
        return Outcome("must-reach", False, f"{text!r} {nowhere}")
    hit = result.hits[0]
    return Outcome(
        "must-reach",
        False,
        f"{text!r} does not reach the model: {hit.verdict} in {hit.item}: {hit.because}",
        hit.item,
        hit.source,
    )


def _no_drop(assembly: Assembly, pattern: str) -> Iterator[Outcome]:
    parents = {section.parent for section in assembly.sections if section.parent}
    fits = glob(pattern)
    matched = [s for s in assembly.sections if fits(s.id) or fits(s.name)]
    session = assembly.stage(StageKind.SESSION)
    messages = [m for m in (session.messages if session else ()) if fits(m.id)]
    if not matched and not messages:
        raise UsageError(f"no item matches {pattern!r}", where="--no-drop", hint="see: promptdbg inspect")
    lost = [s for s in matched if s.lost and s.id not in parents]
    decisions = assembly.decisions_by_item()
    for section in lost:
        text = f"{section.id} is {section.status.value}{_reason(decisions, section.id)}"
        yield Outcome("no-drop", False, text, section.id, section.source)
    whole = whole_items(assembly)
    gone = [m for m in messages if m.id not in whole]
    for message in gone:
        text = f"{message.id} is lost{_reason(decisions, message.id)}"
        yield Outcome("no-drop", False, text, message.id, message.source)
    if not lost and not gone:
        count = len(matched) + len(messages)
        said = f"all {count} items of {pattern!r} are" if count > 1 else f"the one item of {pattern!r} is"
        yield Outcome("no-drop", True, f"{said} whole")


def _reason(decisions: Mapping[str, tuple[Decision, ...]], item: str) -> str:
    settled = settling(decisions.get(item, ()))
    return f": {settled.because}" if settled else ""


def _max_tokens(assembly: Assembly, limit: int) -> Outcome:
    used, unit = assembly.budget.used, assembly.budget.unit
    held = used <= limit
    return Outcome("max-tokens", held, f"{used:,} {unit} used, {limit:,} allowed")


def _max_section(assembly: Assembly, name: str, limit: int) -> Outcome:
    item = find_item(assembly, name)
    section = assembly.section(item)
    if section is not None:
        tokens, source = section.tokens, section.source
    else:
        message = find_message(assembly, item)
        tokens, source = (message.tokens if message else 0), (message.source if message else None)
    text = f"{item} costs {plural(tokens, 'token')}, {limit:,} allowed"
    return Outcome("max-section", tokens <= limit, text, item, source)


def _lint(assembly: Assembly, provider: Provider) -> Iterator[Outcome]:
    need_texts(assembly, f"whether the rules of {provider} are kept")
    findings = lint_assembly(assembly, provider)
    for finding in findings:
        text = (
            f"message {finding.index}: {finding.message} ({finding.code}, "
            f"since {finding.introduced}); {finding.repair}"
        )
        yield Outcome(f"lint-{finding.code}", False, text, finding.item, finding.source)
    if not findings:
        yield Outcome("lint", True, f"the final list keeps the rules of {provider}")


def _baseline(assembly: Assembly, document: Json) -> Iterator[Outcome]:
    """New losses: items that were whole in the baseline and are not now."""
    if not isinstance(document, dict) or not isinstance(document.get("sections"), list):
        raise InputError(
            "is not an assembly document", where="--baseline", hint="made by: promptdbg inspect --json"
        )
    broken = [*_sections_lost_since(assembly, document), *_messages_lost_since(assembly, document)]
    yield from broken
    if not broken:
        yield Outcome("baseline", True, "nothing is lost that the baseline has whole")


def _sections_lost_since(assembly: Assembly, document: Mapping[str, Json]) -> Iterator[Outcome]:
    before = {_text(entry, "id"): _text(entry, "status") for entry in _objects(document["sections"])}
    parents = {section.parent for section in assembly.sections if section.parent}
    decisions = assembly.decisions_by_item()
    for section in assembly.sections:
        if before.get(section.id) in ("kept", "empty") and section.lost:
            reason = _reason(decisions, section.id)
            if not reason and section.id in parents:
                reason = ": parts of it are lost"
            text = f"{section.id} was whole in the baseline and is {section.status.value} now{reason}"
            yield Outcome("baseline", False, text, section.id, section.source)
    now = {section.id for section in assembly.sections}
    for item, status in before.items():
        if status == "kept" and item not in now:
            yield Outcome("baseline", False, f"{item} was whole in the baseline and is not there now", item)


def _messages_lost_since(assembly: Assembly, document: Mapping[str, Json]) -> Iterator[Outcome]:
    """Messages of the session; one that is not stored any more, or is another one now, is none."""
    session = assembly.stage(StageKind.SESSION)
    stored, reached = _messages_of(document)
    if session is None or not reached:
        return
    whole = whole_items(assembly)
    decisions = assembly.decisions_by_item()
    for message in session.messages:
        entry = stored.get(message.id)
        if message.id in whole or message.id not in reached or entry is None:
            continue
        if _is_same(message, entry, assembly.without_texts):
            text = f"{message.id} was whole in the baseline and is lost now{_reason(decisions, message.id)}"
            yield Outcome("baseline", False, text, message.id, message.source)


def _messages_of(document: Mapping[str, Json]) -> tuple[dict[str, Mapping[str, Json]], frozenset[str]]:
    """The session's messages of an assembly document by their ids, and the ids of all that reached
    the model whole there, as ``whole_items`` has them."""
    stages = {_text(stage, "kind"): stage for stage in _objects(document.get("stages"))}
    session, final = stages.get(StageKind.SESSION, {}), stages.get(StageKind.FINAL, {})
    stored = {_text(entry, "id"): entry for entry in _objects(session.get("messages"))}
    if document.get("failure") is not None:
        return stored, frozenset()
    reached: set[str] = set()
    for entry in _objects(final.get("messages")):
        sources = entry.get("sources")
        if entry.get("status") != MessageStatus.REWRITTEN:
            ids = [entry.get("id"), *(sources if isinstance(sources, list) else [])]
            reached.update(item for item in ids if isinstance(item, str))
    decisions = _objects(document.get("decisions"))
    lost = {_text(entry, "item") for entry in decisions if _text(entry, "action") in LOSSES}
    return stored, frozenset(reached - lost)


def _is_same(message: Message, entry: Mapping[str, Json], without_texts: bool) -> bool:
    if message.role != entry.get("role"):
        return False
    if without_texts or "content" not in entry:
        return message.tokens == entry.get("tokens")
    return bool(message.content == entry["content"])


def _objects(value: Json) -> list[Mapping[str, Json]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _text(entry: Mapping[str, Json], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
