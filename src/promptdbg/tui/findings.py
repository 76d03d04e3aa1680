"""What is wrong with a prompt beyond what was cut: provider rules it breaks, what its cache loses,
what is in it twice. One row each, with the paragraphs that explain it. Pure.

Every finding is the analysis' own; this orders them and says them in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from promptdbg.analysis.cache import Break, CacheReport
from promptdbg.analysis.duplicates import Duplicate
from promptdbg.analysis.lint import NOT_KNOWN, Finding
from promptdbg.analysis.requests import Provider
from promptdbg.model import Source
from promptdbg.text import one_line, pad, plural, safe
from promptdbg.tui.picture import Picture, messages_of
from promptdbg.tui.wrapping import Paragraph, say

PROVIDERS: dict[Provider, str] = {"openai-chat": "OpenAI", "anthropic": "Anthropic"}
"""Whose rules are looked at, and what they are called on screen."""

_LABEL = 12


class Group(StrEnum):
    """The three parts of the screen; the value is the heading."""

    LINT = "Provider rules"
    CACHE = "Prompt cache"
    TWICE = "In it twice"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The request against an earlier one, called ``name``; without a report, ``note`` says why."""

    name: str
    report: CacheReport | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that the analyses found. ``others`` is whether there is something to compare with that
    was not compared: a scenario, another turn. ``unknown`` is a recording without its texts."""

    lint: tuple[Finding, ...]
    comparisons: tuple[Comparison, ...]
    duplicates: tuple[Duplicate, ...]
    messages: int
    others: bool = False
    unknown: bool = False

    @property
    def compared(self) -> bool:
        """Whether any request was found to compare with: without one nothing is known of a cache."""
        return any(entry.report is not None for entry in self.comparisons)


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One row. A ``head`` opens its group; of others ``item`` is where it leads, and ``needle`` a
    text to go to in it. Texts are safe and of one line."""

    group: Group
    tag: str
    where: str
    title: str
    detail: tuple[Paragraph, ...]
    head: bool = False
    problem: bool = True
    item: str = ""
    needle: str = ""
    source: Source | None = None


def rows_of(found: Found, picture: Picture) -> list[FindingRow]:
    """The rows of the screen: each group with a heading that sums it up."""
    items = _Items(picture)
    rows: list[FindingRow] = []
    lint = list(_lint_rows(found.lint, items))
    rows += [_lint_head(found, len(lint)), *lint]
    cache = [_cache_row(entry, items) for entry in found.comparisons]
    rows += [_cache_head(found), *cache]
    twice = [_duplicate_row(entry, items) for entry in found.duplicates]
    rows += [_twice_head(found), *twice]
    return rows


class _Items:
    """The things that findings are about, by id: found once, because there may be thousands."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self._messages = {message.id: message for message in messages_of(picture.assembly)}

    def is_section(self, item: str) -> bool:
        return item in self.picture.sections

    def name(self, item: str) -> str:
        """What an item is called: a section by its name, a message by its role and id."""
        section = self.picture.sections.get(item)
        if section is not None:
            return one_line(section.name)
        message = self._messages.get(item)
        return one_line(f"{message.role} {item}" if message is not None and message.role != item else item)

    def source(self, item: str) -> Source | None:
        thing = self.picture.sections.get(item) or self._messages.get(item)
        return thing.source if thing is not None else None


def summary(rows: Iterable[FindingRow], found: Found) -> str:
    """How many problems there are, by group, as one sentence."""
    rows = list(rows)
    problems = [row.group for row in rows if row.problem and not row.head]
    if not problems:
        choose = " (s chooses with what)" if found.others else ""
        cache = "the cached prefix holds" if found.compared else f"no cache was compared{choose}"
        return f"no provider rule is broken, {cache}, nothing is in it twice"
    parts = [
        (problems.count(Group.LINT), "breach of provider rules", "breaches of provider rules"),
        (problems.count(Group.CACHE), "break of the cached prefix", "breaks of the cached prefix"),
        (problems.count(Group.TWICE), "text in it twice", "texts in it twice"),
    ]
    return " · ".join(plural(count, one, many) for count, one, many in parts if count)


def _muted(text: str, indent: int = 0) -> Paragraph:
    return say((safe(text, lines=False), "virtual--muted"), indent=indent)


def _labelled(label: str, text: str) -> Paragraph:
    return say((pad(label, _LABEL), "virtual--muted"), safe(text, lines=False), hang=_LABEL)


# -- provider rules


_UNKNOWN = "not known: this recording was written without its texts"


def _lint_head(found: Found, count: int) -> FindingRow:
    names = " and ".join(PROVIDERS.values())
    checked = plural(found.messages, "message")
    title = f"{plural(count, 'breach', 'breaches')} in {checked}" if count else f"none broken in {checked}"
    if found.unknown:
        detail = say(NOT_KNOWN)
        title = title if count else _UNKNOWN
        return FindingRow(Group.LINT, "", "", title, (detail,), head=True, problem=bool(count))
    detail = say(
        f"The final list is held against what {names} demand: calls and results in pairs and in place, "
        "roles, empty messages, images, sizes. Nothing is changed; the repair is the smallest one."
    )
    return FindingRow(Group.LINT, "", "", title, (detail,), head=True, problem=bool(count))


def _lint_rows(findings: Sequence[Finding], items: _Items) -> Iterator[FindingRow]:
    """One row for each breach; what several providers refuse is said once."""
    alike: dict[tuple[int, str, str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.index, finding.code, finding.call, finding.message)
        alike.setdefault(key, []).append(finding)
    for _, same in sorted(alike.items(), key=lambda entry: entry[0][0]):
        names = [PROVIDERS.get(finding.provider, finding.provider) for finding in same]
        tag = "all" if len(names) == len(PROVIDERS) else names[0]
        yield _lint_row(same[0], tag, " and ".join(names), items)


def _lint_row(finding: Finding, tag: str, providers: str, items: _Items) -> FindingRow:
    name = items.name(finding.item) if finding.item else f"message {finding.index}"
    title = safe(finding.message, lines=False)
    detail = [
        say((finding.code, "virtual--warning"), f"  {title}", hang=2),
        _labelled("Rules of", providers),
        _labelled("Message", f"{name}, number {finding.index:,} of the final list (from 0)"),
    ]
    if finding.call:
        detail.append(_labelled("Call", finding.call))
    detail.append(_labelled("Repair", finding.repair))
    stage = next((s for s in items.picture.assembly.stages if s.name == finding.introduced), None)
    if stage is not None:
        detail.append(_labelled("Since", f"{stage.title} ({stage.name})"))
    if finding.source is not None:
        detail.append(_labelled("From", items.picture.where(finding.source)))
    return FindingRow(
        Group.LINT, tag, name, f"{finding.code}: {title}", tuple(detail), item=finding.item,
        source=finding.source,
    )  # fmt: skip


# -- the cache


def _cache_head(found: Found) -> FindingRow:
    broken = any(entry.report is not None and entry.report.broken for entry in found.comparisons)
    if not found.compared:
        title = "not compared: " + (
            "s chooses with what" if found.others else "there is nothing to compare with"
        )
    else:
        title = "the prefix breaks" if broken else "whole prefix shared"
    detail = say(
        "A provider's cache serves the beginning that two requests share, up to the first byte that "
        "differs. Everything behind it is paid in full, however little changed."
    )
    return FindingRow(Group.CACHE, "", "", title, (detail,), head=True, problem=broken)


def _cache_row(entry: Comparison, items: _Items) -> FindingRow:
    name = one_line(entry.name)
    report = entry.report
    if report is None:
        note = safe(entry.note, lines=False)
        return FindingRow(Group.CACHE, "", name, note, (say(note),), problem=False)
    share = report.shared_tokens / report.total_tokens if report.total_tokens else 1
    head = f"{report.shared_tokens:,} of {plural(report.total_tokens, 'token')} ({share:.0%}) as in {name}"
    detail = [say((head, "virtual--strong"), f"; {report.lost_tokens:,} come after.")]
    broken = report.broken
    if broken is None:
        detail.append(say("It begins with the whole of the earlier request: the cache holds all of it."))
        title = f"{share:.0%} the same, {plural(report.lost_tokens, 'token')} after"
        return FindingRow(Group.CACHE, f"{share:.0%}", name, title, tuple(detail), problem=False)
    cause = safe(broken.cause, lines=False) or "the text differs"
    where = items.name(broken.item)
    detail += [
        _labelled("First", f"byte {broken.byte:,} of the request, in {where}: byte {broken.inside:,} of it"),
        _labelled("Cause", cause),
        *_sides(broken),
    ]
    title = f"against {name}: {cause}, {plural(report.lost_tokens, 'token')} after"
    needle = one_line(broken.after) if items.is_section(broken.item) else ""
    return FindingRow(
        Group.CACHE, f"{share:.0%}", where, title, tuple(detail), item=broken.item, needle=needle
    )


def _sides(broken: Break) -> Iterator[Paragraph]:
    """The text around the first difference, on both sides."""
    common = one_line(broken.common)
    for label, text, style in (
        ("Then", broken.before, "virtual--warning"),
        ("Now", broken.after, "virtual--accent"),
    ):
        shown = one_line(text) or "(nothing)"
        yield say((pad(label, _LABEL) + common, "virtual--muted"), (shown, style), hang=_LABEL)


# -- in it twice

_KINDS = {
    "text": "the same text",
    "file": "one file by two paths",
    "passage": "the same passage",
}


def _twice_head(findings: Found) -> FindingRow:
    found = findings.duplicates
    cost = sum(entry.tokens for entry in found)
    title = f"{plural(len(found), 'text')}, {plural(cost, 'token')}" if found else "nothing"
    if findings.unknown:
        title = _UNKNOWN
    detail = say(
        "Texts, files and long passages that reach the model more than once. The tokens are what all "
        "copies but the first cost."
    )
    return FindingRow(Group.TWICE, "", "", title, (detail,), head=True, problem=bool(found))


def _duplicate_row(entry: Duplicate, items: _Items) -> FindingRow:
    copy = entry.items[-1]
    title = f"{_KINDS[entry.kind]} as {items.name(entry.items[0])}, {plural(entry.tokens, 'token')}"
    detail = [
        say((_KINDS[entry.kind], "virtual--strong"), f", {plural(entry.tokens, 'token')} for the copies")
    ]
    for item, line in zip(entry.items, entry.lines, strict=True):
        at = f", line {line:,}" if entry.kind == "passage" else ""
        detail.append(say(f"{items.name(item)}{at}", indent=2, hang=2))
    detail.append(_muted(f"“{one_line(entry.excerpt)}”"))
    return FindingRow(
        Group.TWICE, entry.kind, items.name(copy), title, tuple(detail), item=copy,
        needle=one_line(entry.excerpt) if items.is_section(copy) else "",
        source=items.source(copy),
    )  # fmt: skip
