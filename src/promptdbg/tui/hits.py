"""What a search found, in words: whether the model saw it, where, or what took it away. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from promptdbg.analysis.excerpt import excerpt
from promptdbg.analysis.trace import Hit, SeenAt, TraceResult
from promptdbg.model import Assembly
from promptdbg.text import one_line, plural, safe, share
from promptdbg.tui.picture import Picture
from promptdbg.tui.why import rule_facts
from promptdbg.tui.wrapping import Paragraph, say

_EXCERPT = 2_000
"""Cells of the found text in full: a screen breaks it into lines."""

_MATCHES = {"exact": "", "folded": " · whatever the case and blanks", "words": " · all the words on a line"}


def hit_lines(hit: Hit, picture: Picture) -> list[Paragraph]:
    """One hit in full: where it stands, and where the model sees it or by which rule it does not."""
    place = f"line {hit.line:,}, column {hit.column:,}"
    where = f" · {picture.where(hit.source)}" if hit.source else ""
    before, found, after = excerpt(hit, _EXCERPT)
    lines = [
        say((verdict_word(hit), verdict_style(hit)), f"  {one_line(hit.item)}, {place}{where}", hang=2),
        say((before, "virtual--muted"), (found, "virtual--match"), (after, "virtual--muted")),
        say(safe(hit.because, lines=False)),
    ]
    if hit.seen_at is not None:
        lines.append(say(("Seen at  ", "virtual--muted"), seen_words(hit.seen_at, picture.assembly), hang=9))
    if hit.decision is not None:
        rule = picture.rules.get(hit.decision.rule)
        lines.append(say(("Stage    ", "virtual--muted"), safe(_stage(hit, picture), lines=False), hang=9))
        title = hit.decision.rule if rule is None else rule.title
        lines.append(say(("Rule     ", "virtual--muted"), one_line(title), hang=9))
        if rule is not None:
            lines.append(say((rule_facts(rule), "virtual--muted"), indent=9))
    return lines


def _stage(hit: Hit, picture: Picture) -> str:
    """The stage that took it, by its title where it has one of its own."""
    stages = picture.assembly.stages
    title = next((stage.title for stage in stages if stage.name == hit.stage), "")
    return f"{title} ({hit.stage})" if title and title != hit.stage else hit.stage


def verdict_word(hit: Hit) -> str:
    """``SEEN``, ``CUT``, ``NOT READ`` …"""
    return hit.verdict.upper()


def verdict_style(hit: Hit) -> str:
    """Told by the word too, never by the colour alone."""
    return {"seen": "status--add", "not read": "virtual--muted"}.get(hit.verdict, "status--cut")


def reason(hit: Hit, picture: Picture) -> str:
    """The same in one line: for what is seen where it stands, else the rule and why."""
    if hit.seen_at is not None:
        return seen_words(hit.seen_at, picture.assembly)
    if hit.decision is not None:
        return f"{hit.stage}: {hit.because}"
    return hit.because


def seen_words(at: SeenAt, assembly: Assembly) -> str:
    """Where in the final prompt it stands: the message, the offset, how far in that is."""
    whole = "window" if assembly.budget.window else "request"
    holder = "" if at.message == "system" else f" ({one_line(at.message)})"
    return (
        f"message {at.index:,}{holder}, character {at.offset + 1:,} · "
        f"{plural(at.tokens_before, 'token')} before it, {share(at.share)} into the {whole}"
    )


def summary(result: TraceResult) -> str:
    """How many hits there are, and what became of them."""
    if not result.hits:
        return "no hit in anything that was loaded, kept or lost, nor in another file"
    more = " at least" if result.more else ""
    parts = [f"{plural(len(result.hits), 'hit')}{more}: the model saw {_count(result.hits, 'seen'):,}"]
    unread = _count(result.hits, "not read")
    lost = len(result.hits) - unread - _count(result.hits, "seen")
    parts += [f"{lost:,} lost"] if lost else []
    parts += [f"{unread:,} in files that are not read"] if unread else []
    return ", ".join(parts) + _MATCHES[result.match]


def _count(hits: Iterable[Hit], verdict: str) -> int:
    return sum(1 for hit in hits if hit.verdict == verdict)
