"""An assembly document as Markdown, for an issue: the numbers as tables, long texts folded away.

Works on the JSON document of any level, so a structure export and a full one read the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from promptdbg.export.document import Document
from promptdbg.marks import MESSAGE_MARKS, SECTION_MARKS, UNKNOWN, Mark
from promptdbg.model import SectionStatus, StageKind
from promptdbg.text import safe

_MARKS: Mapping[str, Mark] = {
    **{status.value: mark for status, mark in MESSAGE_MARKS.items()},
    **{status.value: mark for status, mark in SECTION_MARKS.items()},
}
# The words of the table above them: an action is called what it makes of its item.
_LOSS_WORDS = {
    "truncate": SECTION_MARKS[SectionStatus.TRUNCATED].word,
    "drop": SECTION_MARKS[SectionStatus.DROPPED].word,
    "shadow": SECTION_MARKS[SectionStatus.SHADOWED].word,
    "disable": SECTION_MARKS[SectionStatus.DISABLED].word,
    "literal": SECTION_MARKS[SectionStatus.LITERAL].word,
}


def markdown(document: Document, report: str = "") -> str:
    """The document as GitHub-flavoured Markdown. Text of the prompt is inert: fenced or escaped."""
    return "\n".join(_lines(document, report)) + "\n"


def _lines(document: Document, report: str) -> Iterator[str]:
    engine = document["engine"]
    yield f"# Prompt of {_cell(engine['title'])} {_cell(engine['version'])}".rstrip()
    yield ""
    if report:
        yield f"_{_cell(report)}._"
        yield ""
    yield from _facts(document)
    yield from _sections(document)
    yield from _stages(document)
    yield from _losses(document)
    yield from _warnings(document)
    yield from _texts(document)


def _facts(document: Document) -> Iterator[str]:
    budget, tokenizer = document["budget"], document["tokenizer"]
    limit = "no limit" if budget["limit"] is None else f"of {budget['limit']:,}"
    mark = "" if tokenizer["exact"] else "≈ "
    if document["engine"]["fidelity"] != "exact":
        yield f"- fidelity: {_cell(document['engine']['fidelity'])}"
    yield f"- budget: {budget['used']:,} {budget['unit']} used, {limit}"
    yield f"- tokens by: {mark}{_cell(tokenizer['name'])}"
    if document.get("turn") is not None:
        yield f"- turn: {document['turn']}"
    for part in budget["parts"]:
        yield f"  - {_cell(part['name'])}: {part['tokens']:,}"
    if document.get("failure"):
        yield f"- **the framework fails here:** {_cell(document['failure']['error'])}"
    yield ""


def _sections(document: Document) -> Iterator[str]:
    if not document["sections"]:
        return
    yield "## Sections"
    yield ""
    yield "| | section | kind | priority | tokens | of | lines |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: |"
    depth: dict[str, int] = {}
    for section in document["sections"]:
        depth[section["id"]] = depth.get(section["parent"], -1) + 1
        indent = "&nbsp;&nbsp;" * depth[section["id"]]
        lines = section["sizes"]["lines"] if "sizes" in section else _line_count(section.get("text") or "")
        priority = "" if section["priority"] is None else f"{section['priority']:g}"
        yield (
            f"| {_section_status(section)} | {indent}{_cell(section['name'])} | {_cell(section['kind'])} "
            f"| {priority} | {section['tokens']:,} | {section['tokens_original']:,} | {lines:,} |"
        )
    yield ""


def _line_count(text: str) -> int:
    return text.count("\n") + 1 if text else 0


def _stages(document: Document) -> Iterator[str]:
    if not document["stages"]:
        return
    yield "## Message lists"
    yield ""
    yield "| list | messages | tokens | what happened |"
    yield "| --- | ---: | ---: | --- |"
    for stage in document["stages"]:
        counts: dict[str, int] = {}
        for message in (*stage["messages"], *stage["dropped"]):
            if message["status"] != "kept":
                counts[message["status"]] = counts.get(message["status"], 0) + 1
        words = [f"{count} {status}" for status, count in counts.items()]
        happened = ", ".join(words) or _unchanged(stage, document)
        yield f"| {_cell(stage['name'])} | {len(stage['messages']):,} | {stage['tokens']:,} | {happened} |"
    yield ""


def _unchanged(stage: Document, document: Document) -> str:
    if stage["kind"] == StageKind.SESSION:
        return "as stored"
    return "no change" if len(document["stages"]) > 1 else "as recorded"


def _losses(document: Document) -> Iterator[str]:
    rules = {rule["id"]: rule for rule in document["rules"]}
    lost = [d for d in document["decisions"] if d["action"] in _LOSS_WORDS]
    if not lost:
        return
    yield "## What was lost, and why"
    yield ""
    for decision in lost:
        rule = rules.get(decision["rule"], {})
        named = " ".join(_cell(rule.get(key, "")) for key in ("framework", "version", "source")).strip()
        tail = f" ({named})" if named else ""
        what = _LOSS_WORDS[decision["action"]]
        yield f"- **{_cell(decision['item'])}** {what}, {_code(decision['rule'])}{tail}"
        if decision["because"]:
            yield f"  {_cell(decision['because'])}"
    yield ""


def _warnings(document: Document) -> Iterator[str]:
    if not document["warnings"]:
        return
    yield "## Warnings"
    yield ""
    for warning in document["warnings"]:
        source = warning["source"]
        where = (
            ""
            if source is None
            else f" {_cell(source['path'])}" + (f":{source['start_line']}" if source["start_line"] else "")
        )
        yield f"- {_code(warning['code'])}{where} {_cell(warning['message'])}".rstrip()
    yield ""


def _texts(document: Document) -> Iterator[str]:
    held = [section for section in document["sections"] if section.get("text")]
    if held:
        yield "## Texts"
        yield ""
    for section in held:
        name = f"{_cell(section['id'])} ({section['status']})"
        yield f"<details><summary>{name}</summary>"
        yield ""
        yield from _fenced(section["text"])
        yield ""
        yield "</details>"
        yield ""


def _fenced(text: str) -> Iterator[str]:
    """A fence longer than any run of backticks in the text, so nothing in it ends the block."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    yield safe(text).rstrip("\n")
    yield fence


def _section_status(section: Document) -> str:
    if section["status"] == "empty" and section.get("evidence") == "unknown":
        return f"{UNKNOWN.mark} {UNKNOWN.word}"
    return _status(section["status"])


def _status(status: str) -> str:
    mark = _MARKS.get(status)
    return f"{mark.mark} {mark.word}" if mark else _cell(status)


def _code(text: str) -> str:
    return f"`{safe(str(text), lines=False).replace('`', '´')}`"


_ESCAPED = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~!@"} | {"&": "&amp;"})


def _cell(text: Any) -> str:
    """A text on one line in which nothing acts: no markup, no mention, no cell border."""
    return safe(str(text), lines=False).translate(_ESCAPED)
